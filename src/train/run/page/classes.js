// SPDX-License-Identifier: Apache-2.0
const MAX_NUMBERS = 24; // classes whose cells have numbers
const MAX_CELLS = 64; // classes that are drawn one by one; more are summed up

function rowSums(matrix) {
  return Array.from({length: matrix.rows}, (_, i) =>
    matrix.values.slice(i * matrix.columns, (i + 1) * matrix.columns).reduce((a, b) => a + b, 0));
}

function nameOf(matrix, i) {
  return matrix.names && matrix.names[i] !== undefined ? matrix.names[i] : String(i);
}

// Classes that are next to each other, summed, where there are too many to be drawn.
function coarse(matrix) {
  const by = Math.ceil(Math.max(matrix.rows, matrix.columns) / MAX_CELLS);
  if (by === 1) return matrix;
  const rows = Math.ceil(matrix.rows / by), columns = Math.ceil(matrix.columns / by);
  const values = new Array(rows * columns).fill(0);
  matrix.values.forEach((value, k) => {
    const i = Math.floor(Math.floor(k / matrix.columns) / by);
    values[i * columns + Math.floor((k % matrix.columns) / by)] += value;
  });
  const names = Array.from({length: rows}, (_, i) => `${nameOf(matrix, i * by)} …`);
  return {...matrix, rows, columns, values, names, by};
}

// Rows are what was there, columns what was predicted; a cell's shade is its share of the row, of
// mistakes the square root, so that rare ones are seen.
function matrixTable(whole) {
  const matrix = coarse(whole), sums = rowSums(matrix), numbers = matrix.rows <= MAX_NUMBERS;
  const cell = (i, j) => {
    const value = matrix.values[i * matrix.columns + j], share = sums[i] ? value / sums[i] : 0;
    const shade = i === j ? share : Math.sqrt(share) * 0.9;
    const mix = `color-mix(in srgb, var(${i === j ? '--hit' : '--miss'}) ` +
      `${(100 * shade).toFixed(1)}%, var(--paper))`;
    return make('td', {style: {background: mix}, class: shade > 0.62 && i === j ? 'dark' : false,
      title: `${nameOf(matrix, i)} taken for ${nameOf(matrix, j)}: ${grouped(value)} ` +
        `(${percent(share)})`}, numbers ? (value ? String(value) : '') :
      make('span', {class: 'sr'}, String(value)));
  };
  const table = make('table', {class: 'matrix', 'data-tag': whole.tag});
  const labels = matrix.rows <= 32;
  table.append(make('caption', {class: 'sr'}, 'Confusion matrix: rows are targets, columns ' +
    'predictions'));
  if (labels)
    table.append(make('colgroup', {}, make('col', {class: 'name'})),
      make('thead', {}, make('tr', {}, make('td', {}), Array.from({length: matrix.columns},
        (_, j) => make('th', {scope: 'col', title: nameOf(matrix, j)},
          make('span', {}, nameOf(matrix, j)))))));
  table.append(make('tbody', {}, Array.from({length: matrix.rows}, (_, i) => make('tr', {},
    labels ? make('th', {scope: 'row', title: nameOf(matrix, i)}, nameOf(matrix, i)) : null,
    Array.from({length: matrix.columns}, (__, j) => cell(i, j))))));
  const across = matrix.columns + (labels ? 3 : 0);
  table.style.setProperty('--cell', `min(2.6rem, ${(92 / across).toFixed(2)}cqw)`);
  if (matrix.columns > 14) table.style.fontSize = '0.62rem';
  return table;
}

function ranked(rows, colour) {
  return make('ol', {class: 'rank'}, rows.map(({text, more, share}) => make('li', {},
    make('span', {}, text), make('em', {}, more),
    make('i', {style: {'--share': `${(100 * share).toFixed(1)}%`, '--of': colour}}))));
}

function mistakes(matrix, sums) {
  const found = [];
  matrix.values.forEach((value, k) => {
    const i = Math.floor(k / matrix.columns), j = k % matrix.columns;
    if (i !== j && value > 0) found.push({i, j, value, share: value / sums[i]});
  });
  return found.sort((a, b) => b.value - a.value).slice(0, 6).map(({i, j, value, share}) => ({share,
    text: `${nameOf(matrix, i)} taken for ${nameOf(matrix, j)}`,
    more: `${grouped(value)} · ${percent(share)}`}));
}

function weakest(matrix, sums) {
  const found = sums.map((sum, i) => ({i, sum, share: sum ? matrix.values[i * matrix.columns + i] /
    sum : NaN})).filter(({share}) => Number.isFinite(share));
  return found.sort((a, b) => a.share - b.share).slice(0, 5).map(({i, share, sum}) => ({share,
    text: nameOf(matrix, i), more: `${percent(share)} of ${grouped(sum)}`}));
}

function matrixCard(run, matrix) {
  const sums = rowSums(matrix), total = sums.reduce((a, b) => a + b, 0);
  const right = sums.reduce((a, _, i) => a + (matrix.values[i * matrix.columns + i] || 0), 0);
  const lists = make('div', {});
  const wrong = mistakes(matrix, sums);
  if (wrong.length)
    lists.append(make('p', {class: 'rank-title'}, 'Most frequent mistakes'),
      ranked(wrong, 'var(--miss)'));
  lists.append(make('p', {class: 'rank-title'}, 'Classes that are found least'),
    ranked(weakest(matrix, sums), 'var(--hit)'));
  return make('div', {class: 'card holds-classes'}, make('h3', {}, several ? runLabel(run) : null,
    several ? ' ' : null, `${percent(total ? right / total : 0)} of ${grouped(total)} right`),
  make('p', {class: 'axes'}, `${matrix.tag}, step ${grouped(matrix.step)}. Rows: what it is. ` +
    'Columns: what it was taken for.' + (coarse(matrix).by ? ` Each cell sums ${coarse(matrix).by
    } × ${coarse(matrix).by} classes.` : '')),
  make('div', {class: 'classes'}, matrixTable(matrix), lists));
}

function prCard(run, curve) {
  const chart = new PrChart(run, curve);
  return chart.node;
}

// Precision over recall.
class PrChart {
  constructor(run, curve) {
    const box = {left: 40, right: 390, top: 8, bottom: 190};
    const x = (v) => box.left + (box.right - box.left) * v;
    const y = (v) => box.bottom - (box.bottom - box.top) * v;
    const path = line(curve.recall.map(x), curve.precision.map(y));
    const rules = [0, 0.25, 0.5, 0.75, 1].flatMap((v) => [
      draw('line', {class: 'rule', x1: box.left, x2: box.right, y1: y(v), y2: y(v)}),
      draw('text', {x: box.left - 7, y: y(v) + 4, 'text-anchor': 'end'}, short(v)),
      draw('text', {x: x(v), y: box.bottom + 16, 'text-anchor': 'middle'}, short(v))]);
    this.node = make('div', {class: 'card chart small'}, make('h3', {},
      several ? runLabel(run) : null, several ? ' ' : null, curve.tag),
    make('p', {class: 'axes'}, 'Precision (upwards) over recall'),
    draw('svg', {viewBox: '0 0 400 212', class: 'plot', role: 'img', style: {height: 'auto'},
      'aria-label': `Precision over recall of ${curve.tag}`}, rules,
    draw('path', {class: 'main', d: path, style: {'--of': run.colour}})));
  }
}
