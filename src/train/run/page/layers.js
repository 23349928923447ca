// SPDX-License-Identifier: Apache-2.0
const SHOWN_LAYERS = 12;

// One histogram behind the other, the last one in front.
function ridges(run, of) {
  const width = 200, height = 128, count = of.rows.length;
  const most = Math.max(...of.rows.flatMap((row) => row.bins), 1e-12);
  const rise = count > 1 ? Math.min(58, 26 + 2.4 * count) : 10;
  const tall = Math.min(52, height - rise - 6);
  const paths = of.rows.map((row, k) => {
    const base = height - 1 - (count > 1 ? rise * (1 - k / (count - 1)) : 0);
    const step = width / row.bins.length;
    const tops = row.bins.map((bin, i) => `${((i + 0.5) * step).toFixed(1)} ` +
      (base - tall * bin / most).toFixed(1));
    return draw('path', {class: k === count - 1 ? 'now' : false,
      style: {'--of': run.colour, '--shade': (0.16 + 0.66 * (k + 1) / count).toFixed(2)},
      d: `M0 ${base.toFixed(1)}L${tops.join('L')}L${width} ${base.toFixed(1)}Z`},
    draw('title', {}, `step ${grouped(row.step)}: ${short(row.min)} to ${short(row.max)}`));
  });
  const last = of.rows[count - 1];
  return draw('svg', {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none',
    class: 'ridges', role: 'img', 'aria-label': `${of.tag}: from ${short(last.min)} to ` +
    `${short(last.max)} at step ${grouped(last.step)}`}, paths);
}

function layerPart(run, of) {
  const last = of.rows[of.rows.length - 1], odd = last.nan + last.inf;
  return make('div', {'data-tag': of.tag}, make('p', {}, of.kind,
    odd ? ` · ${grouped(odd)} NaN or infinite` : null), ridges(run, of),
  make('div', {class: 'ends'}, make('span', {}, short(of.low)), make('span', {}, short(of.high))));
}

// Weights and gradients of a parameter beside each other.
function layerCards(run) {
  const found = new Map();
  for (const histogram of run.histograms) {
    const at = histogram.tag.indexOf('/');
    const kind = at > 0 ? histogram.tag.slice(0, at) : 'values';
    const name = at > 0 ? histogram.tag.slice(at + 1) : histogram.tag;
    if (!found.has(name)) found.set(name, []);
    found.get(name).push({...histogram, kind});
  }
  return [...found].map(([name, list]) => make('div', {class: 'card layer'}, make('h3', {}, name),
    list.map((of) => layerPart(run, of))));
}

function layers(run) {
  const cards = layerCards(run);
  const grid = (list) => make('div', {class: 'grid small'}, list);
  const title_ = several ? make('h3', {style: {'margin-top': '1rem'}}, runLabel(run)) : null;
  const rest = cards.slice(SHOWN_LAYERS);
  return [title_, grid(cards.slice(0, SHOWN_LAYERS)), rest.length
    ? make('details', {id: `layers${run.number}`}, make('summary', {},
      `${rest.length} more parameters`), grid(rest)) : null];
}
