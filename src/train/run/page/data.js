// SPDX-License-Identifier: Apache-2.0
const data = JSON.parse(document.getElementById('data').textContent);
const WORDS = {nan: NaN, inf: Infinity, '-inf': -Infinity};
const SPLITS = ['train', 'valid', 'val', 'validation', 'test', 'eval'];
const several = data.runs.length > 1;

function finite(values) {
  return values.map((value) => (typeof value === 'string' ? WORDS[value] : value));
}

for (const [number, run] of data.runs.entries()) {
  run.number = number;
  run.colour = `var(--run${number % 8})`;
  run.curves.forEach((curve) => { curve.values = finite(curve.values); });
  run.byTag = new Map(run.curves.map((curve) => [curve.tag, curve]));
}

// "valid/top5_accuracy" is the split "valid" of the metric "top5_accuracy".
function parts(tag) {
  const at = tag.indexOf('/');
  const before = at > 0 ? tag.slice(0, at) : '';
  if (SPLITS.includes(before)) return {group: 'metrics', split: before, metric: tag.slice(at + 1)};
  if (tag === 'lr' || before === 'lr') return {group: 'rate', split: '', metric: tag};
  return {group: before, split: '', metric: before ? tag.slice(at + 1) : tag};
}

function lowerIsBetter(metric) {
  return /loss|error|\bmae\b|mse|perplexity|nll|\bwer\b|\bcer\b/.test(metric);
}

function extreme(curve) {
  return lowerIsBetter(parts(curve.tag).metric) ? curve.min : curve.max;
}

// What a run is judged by: a metric of the last split that it has, accuracy before all, loss last.
function headlineTag(runs) {
  const tags = runs.flatMap((run) => run.curves.filter((c) => c.min).map((c) => c.tag));
  for (const split of [...SPLITS.slice(1), 'train']) {
    const metrics = tags.filter((tag) => parts(tag).split === split);
    const rank = (tag) => (tag.endsWith('/accuracy') ? 0 : tag.endsWith('/loss') ? 2 : 1);
    if (metrics.length) return metrics.sort((a, b) => rank(a) - rank(b))[0];
  }
  return null;
}

// An epoch ends with a validation.
function epochs(run) {
  const counted = run.byTag.get('epoch');
  const setting = run.settings.find(([name]) => name === 'epochs');
  const valid = run.curves.filter((c) => ['valid', 'val'].includes(parts(c.tag).split));
  const done = counted && counted.last ? counted.last[1]
    : Math.max(0, ...valid.map((curve) => curve.count));
  return {done, of: setting ? Number(setting[1]) : NaN};
}

// Charts in the order in which they are shown: {key, group, metric, series}.
function charts() {
  const found = new Map();
  for (const run of data.runs) {
    for (const curve of run.curves) {
      const {group, split, metric} = parts(curve.tag);
      const key = `${group}/${metric}`;
      if (!found.has(key)) found.set(key, {key, group, metric, series: []});
      found.get(key).series.push({run, curve, split});
    }
  }
  const rank = (chart) => (chart.metric === 'loss' ? 0 : chart.metric === 'accuracy' ? 1 : 2);
  for (const chart of found.values())
    chart.series.sort((a, b) => a.run.number - b.run.number ||
                                SPLITS.indexOf(a.split) - SPLITS.indexOf(b.split));
  return [...found.values()].sort((a, b) => rank(a) - rank(b));
}

// One run: a colour for each split. Several: a colour for each run, train dashed.
function look(series) {
  if (several)
    return {colour: series.run.colour, thin: series.split === 'train',
      label: series.split ? `${series.run.name} ${series.split}` : series.run.name};
  return {colour: `var(--run${series.split === 'train' || !series.split ? 0 : 1})`, thin: false,
    label: series.split || 'last'};
}
