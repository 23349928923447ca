// SPDX-License-Identifier: Apache-2.0
const MARGIN = {left: 52, right: 12, top: 10, bottom: 24};

// Multiples of 1, 2, 2.5 or 5 times a power of ten, `count` of them at most.
function ticks(low, high, count, whole) {
  const power = Math.log10((high - low) / count);
  const step = 10 ** (whole ? Math.max(0, Math.floor(power)) : Math.floor(power));
  const wanted = [1, 2, 2.5, 5, 10].map((k) => k * step)
    .find((s) => (high - low) / s <= count && (!whole || Number.isInteger(s)));
  const found = [];
  // Where numbers are too large to be counted by ones, k + 1 is k.
  for (let k = Math.ceil(low / wanted - 1e-9); k * wanted <= high + 1e-9 * wanted &&
       found.length <= count; k++)
    found.push(Number((k * wanted).toPrecision(12)));
  return [...new Set(found)];
}

function logTicks(low, high) {
  const found = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power++)
    for (const k of high - low < 1.5 ? [1, 2, 5] : [1]) found.push(k * 10 ** power);
  const inside = found.filter((v) => Math.log10(v) >= low - 1e-9 && Math.log10(v) <= high + 1e-9);
  const every = Math.ceil(inside.length / 6);
  return inside.filter((_, i) => i % every === 0);
}

// An exponential mean over `reach` of the axis, whatever the distance between points is: curves of
// few points stay as they are. Weights as of Adam's first moment, without its bias to zero.
function smoothed(xs, values, reach) {
  let mean = 0, weight = 0, before = xs[0];
  return values.map((value, i) => {
    if (!Number.isFinite(value)) return value;
    const keep = i > 0 && reach > 0 ? Math.exp(-Math.max(0, xs[i] - before) / reach) : 0;
    before = xs[i];
    mean = keep * mean + (1 - keep) * value;
    weight = keep * weight + (1 - keep);
    return weight > 0 ? mean / weight : value;
  });
}

function line(xs, ys) {
  let text = '', pen = false;
  for (let i = 0; i < xs.length; i++) {
    const fits = Number.isFinite(ys[i]);
    if (fits) text += `${pen ? 'L' : 'M'}${xs[i].toFixed(1)} ${ys[i].toFixed(1)}`;
    pen = fits;
  }
  return text;
}

class Chart {
  constructor(chart, id) {
    Object.assign(this, chart, {id, write: writer(chart.metric)});
    this.series = this.series.map((s) => ({...s, ...look(s)}));
    this.plot = draw('svg', {class: 'plot', tabindex: 0, role: 'group'});
    this.tip = make('div', {class: 'tip', hidden: true, 'aria-live': 'polite'});
    this.log = make('button', {type: 'button', 'aria-pressed': 'false',
      'aria-label': `Logarithmic scale of ${title(this.metric)}`}, 'log');
    this.node = make('div', {class: 'card chart', id, 'data-metric': this.metric},
      make('div', {class: 'head'}, make('h3', {}, title(this.metric)), this.legend(), this.log),
      this.plot, this.tip, this.table());
    this.listen();
  }

  legend() {
    return make('ul', {class: 'legend'}, this.series.map((s) => make('li', {},
      make('span', {class: `swatch${s.thin ? ' thin' : ''}`, style: {'--of': s.colour}}),
      s.label, ' ', make('b', {}, s.curve.last ? this.write(s.curve.last[1]) : '–'))));
  }

  // The numbers of the picture, also for who does not see it.
  table() {
    const cell = (pair) => (pair ? `${this.write(pair[1])}` : '–');
    const at = (pair) => (pair ? {title: `step ${grouped(pair[0])}`, 'data-step': pair[0],
      'data-value': pair[1]} : {});
    const row = ({label, curve}) => make('tr', {'data-tag': curve.tag}, make('th', {scope: 'row'},
      label), make('td', at(curve.last), cell(curve.last)), make('td', at(curve.min),
      cell(curve.min)), make('td', at(curve.max), cell(curve.max)),
    make('td', {}, grouped(curve.count)));
    const heads = ['Curve', 'Last', 'Least', 'Greatest', 'Points'];
    const odd = this.series.filter((s) => s.curve.gaps > 0).map((s) =>
      make('p', {}, `${s.label}: ${grouped(s.curve.gaps)} ${s.curve.gaps === 1 ? 'value is'
        : 'values are'} NaN or infinite (×)`));
    return make('details', {id: `${this.id}-numbers`}, make('summary', {}, 'Numbers'),
      make('table', {class: 'numbers'}, make('thead', {}, make('tr', {}, heads.map((head) =>
        make('th', {scope: 'col'}, head)))), make('tbody', {}, this.series.map(row))), odd);
  }

  listen() {
    this.log.addEventListener('click', () => {
      ui.log[this.key] = !ui.log[this.key];
      keep();
      this.render();
    });
    this.plot.addEventListener('pointermove', (event) => {
      const box = this.plot.getBoundingClientRect();
      this.point(event.clientX - box.left);
    });
    for (const name of ['pointerleave', 'blur'])
      this.plot.addEventListener(name, () => this.leave());
    this.plot.addEventListener('keydown', (event) => this.key_down(event));
  }

  key_down(event) {
    const {width} = this.size, right = width - MARGIN.right;
    const step = (right - MARGIN.left) / 60;
    const at = this.at === undefined ? right : this.at;
    const next = {ArrowLeft: at - step, ArrowRight: at + step, Home: MARGIN.left, End: right};
    if (event.key === 'Escape') this.leave();
    if (next[event.key] === undefined) return;
    event.preventDefault();
    this.point(Math.min(right, Math.max(MARGIN.left, next[event.key])));
  }

  // What is drawn of a curve: its points, and the smoothed ones where that says more.
  prepare(s) {
    const {curve, run} = s, byTime = ui.axis === 'time';
    const xs = byTime ? curve.times : curve.steps;
    const thinned = curve.means !== undefined;
    const steps = thinned ? curve.means.steps : curve.steps;
    const means = thinned ? curve.means.values : curve.values;
    const reach = ui.smooth * this.range;
    const dense = steps.length > 2 && (steps[steps.length - 1] - steps[0]) / steps.length < reach;
    const smooth = dense ? smoothed(steps, means, reach) : null;
    return {...s, xs, values: curve.values, smooth, run,
      smoothXs: thinned && byTime ? curve.means.times : thinned ? steps : xs};
  }

  domain() {
    const finiteOnes = this.shown.flatMap((s) => s.values.filter((v) => this.fits(v)));
    let low = finiteOnes.reduce((a, b) => Math.min(a, this.scale(b)), Infinity);
    let high = finiteOnes.reduce((a, b) => Math.max(a, this.scale(b)), -Infinity);
    if (low > high) [low, high] = [0, 1];
    if (low === high) {
      const half = Math.abs(low) / 2 || 0.5;
      [low, high] = [low - half, high + half];
    }
    const space = 0.06 * (high - low);
    if (!this.isLog && low >= 0 && low - space < 0) low = space;
    return [low - space, high + space];
  }

  fits(value) {
    return Number.isFinite(value) && (!this.isLog || value > 0);
  }

  scale(value) {
    return this.isLog ? Math.log10(value) : value;
  }

  render() {
    const box = this.plot.getBoundingClientRect();
    this.size = {width: Math.max(120, box.width), height: Math.max(80, box.height)};
    this.isLog = Boolean(ui.log[this.key]);
    this.log.setAttribute('aria-pressed', String(this.isLog));
    const visible = this.series.filter((s) => !ui.hidden.includes(s.run.number));
    this.range = Math.max(1, ...visible.map(({curve: {steps}}) => steps[steps.length - 1] -
                                                                steps[0]));
    this.shown = visible.map((s) => this.prepare(s));
    const xs = this.shown.flatMap((s) => [s.xs[0], s.xs[s.xs.length - 1]]);
    this.x = [Math.min(...xs), Math.max(...xs)];
    if (!(this.x[1] > this.x[0])) this.x = [this.x[0] - 1, this.x[0] + 1];
    if (!Number.isFinite(this.x[0])) this.x = [0, 1];
    this.y = this.domain();
    this.plot.replaceChildren(...this.axes(), ...this.shown.flatMap((s) => this.curve(s)));
    this.plot.setAttribute('aria-label', `${title(this.metric)}: ${this.shown.map((s) =>
      `${s.label} ${s.curve.last ? this.write(s.curve.last[1]) : 'nothing'}`).join(', ')}. ` +
      'Arrow keys read values.');
  }

  left(x) {
    const inner = this.size.width - MARGIN.left - MARGIN.right;
    return MARGIN.left + inner * (x - this.x[0]) / (this.x[1] - this.x[0]);
  }

  top(value) {
    if (!this.fits(value)) return NaN;
    const inner = this.size.height - MARGIN.top - MARGIN.bottom;
    return MARGIN.top + inner * (this.y[1] - this.scale(value)) / (this.y[1] - this.y[0]);
  }

  axes() {
    const {width, height} = this.size, bottom = height - MARGIN.bottom;
    const rows = this.isLog ? logTicks(...this.y) : ticks(...this.y, height > 180 ? 6 : 4);
    const columns = ticks(...this.x, Math.max(2, Math.floor(width / 85)),
      ui.axis === 'step');
    const label = ui.axis === 'time' ? span : short;
    return [
      ...rows.flatMap((value) => [
        draw('line', {class: 'rule', x1: MARGIN.left, x2: width - MARGIN.right,
          y1: this.top(value), y2: this.top(value)}),
        draw('text', {x: MARGIN.left - 8, y: this.top(value) + 4, 'text-anchor': 'end'},
          this.write(value))]),
      draw('line', {class: 'axis', x1: MARGIN.left, x2: width - MARGIN.right, y1: bottom,
        y2: bottom}),
      ...columns.map((x) => draw('text', {x: this.left(x), y: height - 6,
        'text-anchor': this.left(x) > width - 30 ? 'end' : 'middle'}, label(x)))];
  }

  curve(s) {
    const style = {'--of': s.colour}, thin = s.thin ? ' thin' : '';
    const xs = s.xs.map((x) => this.left(x)), ys = s.values.map((v) => this.top(v));
    const nodes = [draw('path', {class: s.smooth ? 'raw' : `main${thin}`, style,
      d: line(xs, ys)})];
    if (s.smooth)
      nodes.push(draw('path', {class: `main${thin}`, style, d: line(s.smoothXs.map((x) =>
        this.left(x)), s.smooth.map((v) => this.top(v)))}));
    if (s.values.length === 1 && Number.isFinite(ys[0]))
      nodes.push(draw('circle', {class: 'only', style, cx: xs[0], cy: ys[0], r: 3.5}));
    return [...nodes, ...this.best(s), ...this.gaps(s, xs)];
  }

  // Where a curve of an evaluation was at its best.
  best(s) {
    const pair = s.split && s.split !== 'train' ? extreme(s.curve) : null;
    const at = pair ? s.curve.steps.indexOf(pair[0]) : -1;
    if (at < 0 || !this.fits(pair[1])) return [];
    return [draw('circle', {class: 'dot', style: {'--of': s.colour}, r: 4,
      cx: this.left(s.xs[at]), cy: this.top(pair[1])}, draw('title', {},
      `${s.label}: best ${this.write(pair[1])} at step ${grouped(pair[0])}`))];
  }

  // Values that have no place on the axis: a mark at its upper or lower end.
  gaps(s, xs) {
    const {height} = this.size, marks = new Map();
    s.values.forEach((value, i) => {
      if (Number.isFinite(value)) return;
      const y = value === -Infinity ? height - MARGIN.bottom - 5 : MARGIN.top + 3;
      marks.set(`${Math.round(xs[i] / 4)} ${y}`, [xs[i], y, short(value), s.curve.steps[i]]);
    });
    return [...marks.values()].map(([x, y, text, step]) => draw('path', {class: 'gap',
      style: {'--of': s.colour},
      d: `M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`}, draw('title', {},
      `${s.label}: ${text} at step ${grouped(step)}`)));
  }

  nearest(xs, x) {
    let low = 0, high = xs.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (xs[middle] < x) low = middle;
      else high = middle;
    }
    return Math.abs(xs[low] - x) <= Math.abs(xs[high] - x) ? low : high;
  }

  point(left) {
    if (!this.shown.length) return;
    this.at = left;
    const inner = this.size.width - MARGIN.left - MARGIN.right;
    const x = this.x[0] + (left - MARGIN.left) / inner * (this.x[1] - this.x[0]);
    const rows = this.shown.map((s) => {
      const i = this.nearest(s.xs, x);
      const j = s.smooth ? this.nearest(s.smoothXs, x) : -1;
      return {s, x: s.xs[i], step: s.curve.steps[i], raw: s.values[i],
        value: s.smooth ? s.smooth[j] : s.values[i]};
    });
    const closest = rows.reduce((a, b) => (Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a));
    this.plot.querySelectorAll('.cursor, .at').forEach((node) => node.remove());
    this.plot.append(draw('line', {class: 'cursor', x1: this.left(closest.x),
      x2: this.left(closest.x), y1: MARGIN.top, y2: this.size.height - MARGIN.bottom}),
    ...rows.filter((row) => this.fits(row.value)).map((row) => draw('circle', {class: 'dot at',
      style: {'--of': row.s.colour}, cx: this.left(row.x), cy: this.top(row.value), r: 3.5})));
    this.say(rows, closest);
  }

  say(rows, closest) {
    const when = ui.axis === 'time' ? `${span(closest.x)}, step ${grouped(closest.step)}`
      : `Step ${grouped(closest.step)}`;
    this.tip.replaceChildren(make('div', {}, when), ...rows.map(({s, raw, value}) => make('div', {},
      make('span', {class: `swatch${s.thin ? ' thin' : ''}`, style: {'--of': s.colour}}), s.label,
      make('b', {}, s.smooth ? `${this.write(value)} (${this.write(raw)})` : this.write(raw)))));
    this.tip.hidden = false;
    const plot = this.plot.getBoundingClientRect(), card = this.node.getBoundingClientRect();
    const center = this.left(closest.x) + plot.left - card.left;
    const width = this.tip.offsetWidth, space = card.width;
    const beside = center + 14 + width < space ? center + 14 : center - 14 - width;
    this.tip.style.left = `${Math.max(8, Math.min(beside, space - width - 8))}px`;
    this.tip.style.top = `${plot.top - card.top + 4}px`;
  }

  leave() {
    this.at = undefined;
    this.tip.hidden = true;
    this.plot.querySelectorAll('.cursor, .at').forEach((node) => node.remove());
  }
}
