// SPDX-License-Identifier: Apache-2.0
const STORE = `tern:${location.pathname}`;
const RELOAD_SECONDS = 5;
const ui = {smooth: 0.01, axis: 'step', hidden: [], log: {}, open: {}, paused: false};
try {
  Object.assign(ui, JSON.parse(sessionStorage.getItem(STORE) || '{}'));
} catch { /* a browser that stores nothing begins anew with each load */ }
const drawn = [];

function keep() {
  try {
    sessionStorage.setItem(STORE, JSON.stringify(ui));
  } catch { /* likewise */ }
}

function redraw() {
  keep();
  drawn.forEach((chart) => chart.render());
}

function section(heading, text, ...children) {
  const content = children.flat(2).filter(Boolean);
  if (!content.length) return null;
  return make('section', {}, make('h2', {}, heading), text ? make('p', {}, text) : null, content);
}

function grid(list, size = '') {
  return list.length ? make('div', {class: `grid ${size}`}, list) : null;
}

// ---- the bar ------------------------------------------------------------------------------------

function smoothing() {
  // A cube: small reaches need a fine hand.
  const input = make('input', {type: 'range', min: 0, max: 100, step: 1, id: 'smooth',
    value: String(Math.round(100 * Math.cbrt(ui.smooth / 0.2)))});
  const steps = Math.max(1, ...data.runs.map((run) => run.lastStep));
  const output = make('output', {for: 'smooth'});
  const say = () => {
    const reach = Math.round(ui.smooth * steps);
    output.textContent = reach ? `${grouped(reach)} step${reach === 1 ? '' : 's'}` : 'off';
    input.setAttribute('aria-valuetext', output.textContent);
  };
  input.addEventListener('input', () => {
    ui.smooth = 0.2 * (Number(input.value) / 100) ** 3;
    say();
    redraw();
  });
  say();
  return make('label', {}, 'Smoothing', input, output);
}

function choice(name, value, text) {
  const input = make('input', {type: 'radio', name, value, checked: ui[name] === value});
  input.addEventListener('change', () => {
    ui[name] = value;
    redraw();
  });
  return make('label', {}, input, text);
}

function runChoice(run) {
  const input = make('input', {type: 'checkbox', checked: !ui.hidden.includes(run.number)});
  input.addEventListener('change', () => {
    ui.hidden = ui.hidden.filter((number) => number !== run.number);
    if (!input.checked) ui.hidden.push(run.number);
    redraw();
  });
  return make('label', {}, input, make('span', {class: 'swatch', style: {'--of': run.colour}}),
    run.name);
}

function bar() {
  return make('nav', {class: 'bar', 'aria-label': 'How curves are drawn'}, make('div', {},
    smoothing(),
    make('fieldset', {}, make('legend', {class: 'sr'}, 'Along the axis'),
      choice('axis', 'step', 'Steps'), choice('axis', 'time', 'Time')),
    several ? make('fieldset', {}, make('legend', {class: 'sr'}, 'Runs that are shown'),
      data.runs.map(runChoice)) : null));
}

// ---- a run that goes on -------------------------------------------------------------------------

function live() {
  if (!data.runs.some((run) => run.status === 'running')) return null;
  const text = make('span', {});
  const button = make('button', {type: 'button'});
  const say = () => {
    const age = Date.now() / 1000 - data.written;
    text.textContent = age > 60 ? `No news for ${span(age)} ` : ui.paused ? 'Paused ' : 'Live ';
    button.textContent = ui.paused ? 'Go on' : 'Pause';
    button.setAttribute('aria-label', ui.paused ? 'Load the page again every few seconds'
      : 'Stop loading the page again');
  };
  button.addEventListener('click', () => {
    ui.paused = !ui.paused;
    keep();
    say();
  });
  setInterval(() => {
    say();
    const busy = document.hidden || document.querySelector('.plot:hover, input:active, .tip:not(' +
      '[hidden])') || String(getSelection());
    if (!ui.paused && !busy) location.reload();
  }, 1000 * RELOAD_SECONDS);
  say();
  return make('span', {class: 'live'}, text, button);
}

// ---- the page -----------------------------------------------------------------------------------

function curves() {
  const all = charts().map((chart, i) => new Chart(chart, `chart${i}`));
  drawn.push(...all);
  const of = (group) => all.filter((chart) => chart.group === group).map((chart) => chart.node);
  const known = ['metrics', 'rate', 'resources', ''];
  const others = [...new Set(all.map((chart) => chart.group))].filter((g) => !known.includes(g));
  return [
    section('Curves', all.length ? null : 'Nothing has been logged yet.', all.length
      ? grid(of('metrics')) : make('span', {})),
    section('More curves', null, grid(of(''), 'small')),
    ...others.map((group) => section(title(group), null, grid(of(group), 'small'))),
    section('Learning rate and resources', null,
      grid([...of('rate'), ...of('resources')], 'small'))];
}

function picture(image, size) {
  return [make('img', {src: `data:image/png;base64,${image.png}`, alt: image.text || image.tag,
    width: image.width, height: image.height, style: size}),
  image.text ? make('figcaption', {}, image.text) : null];
}

function pictureCard(run, name, images) {
  const heading = make('h3', {}, several ? runLabel(run) : null, several ? ' ' : null,
    `${name === 'valid/mistakes' ? 'Worst mistakes' : name}, step ${grouped(images[0].step)}`);
  if (images.length === 1) {
    return make('figure', {class: 'card', 'data-tag': images[0].tag}, heading,
      picture(images[0], {'max-width': `${Math.max(4 * images[0].width, 280)}px`, height: 'auto'}));
  }
  return make('div', {class: 'card'}, heading, make('div', {class: 'gallery'},
    images.map((image) => make('figure', {'data-tag': image.tag}, picture(image, {})))));
}

// Images of one name, "valid/mistakes/01" and on, share a card.
function pictures() {
  return data.runs.flatMap((run) => {
    const names = new Map();
    run.images.forEach((image) => {
      const name = image.tag.replace(/\/\d+$/, '');
      names.set(name, [...(names.get(name) || []), image]);
    });
    return [...names].map(([name, images]) => pictureCard(run, name, images));
  });
}

function texts() {
  return data.runs.flatMap((run) => run.texts.map((text) => make('div', {class: 'card'},
    make('h3', {}, several ? runLabel(run) : null, several ? ' ' : null, text.tag),
    make('pre', {}, text.text))));
}

function footer() {
  const lines = data.runs.reduce((sum, run) => sum + run.lines, 0);
  return make('footer', {}, `Written ${date(data.written)} by tern ${data.tern} from ` +
    `${grouped(lines)} line${lines === 1 ? '' : 's'} of log.`);
}

function page() {
  const main = document.querySelector('main');
  if (several) document.body.className = 'several';
  document.querySelector('header.top').append(...headline(), ...notes());
  document.querySelector('.brand').append(live() || '');
  main.before(bar());
  const matrices = data.runs.flatMap((run) => run.matrices.map((of) => matrixCard(run, of)));
  const images = pictures();
  main.append(...[
    ...curves(),
    section('Classes', null, grid(matrices, matrices.length === 1 ? 'wide' : 'beside'),
      grid(data.runs.flatMap((run) => run.prCurves.map((curve) => prCard(run, curve))), 'small')),
    section('Images', null, grid(images, images.length === 1 ? 'wide' : '')),
    section('Layers', 'How weights and gradients are distributed: the newest in front.',
      ...data.runs.filter((run) => run.histograms.length).map(layers)),
    section('Settings and machine', null, grid([facts('Settings', 'settings'),
      facts('Machine', 'facts')].flat().filter(Boolean))),
    section('Texts', null, grid(texts())),
    footer()].filter(Boolean));
  document.querySelectorAll('details').forEach((node) => {
    node.open = Boolean(ui.open[node.id]);
    node.addEventListener('toggle', () => {
      ui.open[node.id] = node.open;
      keep();
    });
  });
  redraw();
  new ResizeObserver(redraw).observe(main);
  document.documentElement.dataset.ready = 'yes';
}
page();
