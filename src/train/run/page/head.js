// SPDX-License-Identifier: Apache-2.0
const MARKS = {finished: 'M3 8.5l3.5 3.5L13 4.5', running: 'M8 4a4 4 0 1 0 .01 0',
  stopped: 'M5.5 4v8M10.5 4v8', failed: 'M4 4l8 8M12 4l-8 8', killed: 'M8 3v6M8 12.4v.2'};

function pill(status) {
  return make('span', {class: `pill ${status}`, 'data-status': status},
    draw('svg', {viewBox: '0 0 16 16', 'aria-hidden': 'true'}, draw('path', {d: MARKS[status]})),
    title(status));
}

function runLabel(run) {
  return make('span', {}, make('span', {class: 'swatch', style: {'--of': run.colour}}), ' ',
    run.name);
}

function splitTitle(tag) {
  const {split, metric} = parts(tag);
  return split ? `${title(split)} ${metric.replace(/_/g, ' ')}` : title(metric);
}

function epochText({done, of}) {
  return Number.isFinite(of) ? [String(done), make('small', {}, ` of ${of}`)] : [String(done)];
}

function figure(label, value, more, first) {
  return make('div', {class: first ? 'first' : false}, make('dt', {}, label),
    make('dd', {}, value), more ? make('p', {}, more) : null);
}

function bestFigure(run, tag, first) {
  const curve = run.byTag.get(tag), pair = curve && extreme(curve);
  if (!pair) return null;
  const write = writer(parts(tag).metric);
  const node = figure(`Best ${splitTitle(tag).toLowerCase()}`, write(pair[1]),
    `step ${grouped(pair[0])}, last ${write(curve.last[1])}`, first);
  node.dataset.best = pair[1];
  return node;
}

function figures(run) {
  const best = headlineTag([run]), loss = best && `${parts(best).split}/loss`;
  const speed = run.byTag.get('resources/samples_per_second');
  const counted = epochs(run);
  return make('dl', {class: 'figures'},
    best ? bestFigure(run, best, true) : null,
    loss && loss !== best ? bestFigure(run, loss, false) : null,
    counted.done > 0 ? figure('Epochs', epochText(counted)) : null,
    figure(run.status === 'running' ? 'Time so far' : 'Time', span(run.seconds),
      run.processes > 1 ? `${run.processes} processes, pauses left out` : null),
    run.lastStep >= 0 ? figure('Steps', grouped(run.lastStep)) : null,
    speed && speed.last ? figure('Speed', [short(Math.round(speed.last[1])),
      make('small', {}, ' samples/s')]) : null);
}

// Of all runs that have the tag.
function isBest(run, tag) {
  const values = data.runs.map((other) => other.byTag.get(tag)).filter((c) => c && c.min)
    .map((curve) => extreme(curve)[1]);
  const best = lowerIsBetter(parts(tag).metric) ? Math.min(...values) : Math.max(...values);
  return values.length > 1 && extreme(run.byTag.get(tag))[1] === best;
}

function runCard(run, tag) {
  const pair = (label, value, name) => [make('dt', {}, label),
    make('dd', {class: name || false}, value)];
  const metrics = [tag, tag && `${parts(tag).split}/loss`, 'train/loss'];
  const bests = [...new Set(metrics)].filter((t) => t && run.byTag.get(t) && run.byTag.get(t).min)
    .flatMap((t) => pair(`Best ${splitTitle(t).toLowerCase()}`,
      [writer(parts(t).metric)(extreme(run.byTag.get(t))[1]), isBest(run, t)
        ? make('span', {title: 'best of these runs'}, ' ★') : null],
      isBest(run, t) ? 'best' : false));
  const {done, of} = epochs(run);
  const own = differing('settings').filter((row) => row.differs).slice(0, 8);
  return make('article', {class: 'run', style: {'--of': run.colour}, 'data-run': run.name},
    make('h2', {}, run.name, pill(run.status)), make('dl', {}, bests,
      done ? pair('Epochs', Number.isFinite(of) ? `${done} of ${of}` : done) : null,
      pair('Steps', grouped(run.lastStep)), pair('Time', span(run.seconds)),
      pair('Begun', date(run.started)),
      own.length ? make('div', {class: 'rule'}) : null,
      own.flatMap(({name, values}) => pair(name, valueText(values[run.number]), 'own'))));
}

function hostOf(run) {
  const fact = run.facts.find(([name]) => name === 'host');
  return fact ? ` on ${fact[1]}` : '';
}

function headline() {
  if (several) {
    const tag = headlineTag(data.runs);
    return [make('div', {class: 'title'}, make('h1', {}, `${data.runs.length} runs`)),
      make('p', {class: 'under'}, data.runs.map((run) => run.folder).join(', ')),
      make('div', {class: 'runs'}, data.runs.map((run) => runCard(run, tag)))];
  }
  const run = data.runs[0];
  return [make('div', {class: 'title'}, make('h1', {}, run.name), pill(run.status)),
    make('p', {class: 'under'}, `Begun ${date(run.started)}${hostOf(run)} · ${run.folder}`),
    figures(run)];
}

// What is not as it should be.
function notes() {
  return data.runs.flatMap((run) => {
    const of = several ? `${run.name}: ` : '', found = [];
    if (run.damaged > 0)
      found.push(`${of}${grouped(run.damaged)} of ${grouped(run.lines)} lines of the log are ` +
        'damaged, and left out.');
    if (run.dropped > 0)
      found.push(`${of}${grouped(run.dropped)} values were not logged: they came faster than ` +
        'the disk took them.');
    if (run.status === 'killed')
      found.push(`${of}The log has no end, and its process is gone: it was killed, or the ` +
        'machine went down.');
    return found.map((text) => make('p', {class: 'note', role: 'note'}, text));
  });
}

// Of a value as JSON writes it.
function valueText(text) {
  if (text === undefined) return '–';
  if (/^\[/.test(text)) {
    try {
      return JSON.parse(text).join(', ');
    } catch { /* a text that only looks like a list */ }
  }
  if (text.length > 10 && /^-?\d+\.\d+$/.test(text)) return short(Number(text));
  return {true: 'yes', false: 'no'}[text] || text;
}

function differing(key) {
  const names = [...new Set(data.runs.flatMap((run) => run[key].map(([name]) => name)))];
  return names.map((name) => {
    const values = data.runs.map((run) => (run[key].find(([other]) => other === name) || [])[1]);
    return {name, values, differs: new Set(values).size > 1};
  });
}

// One run: all of a list. Several: what differs first, each with the runs' colours.
function facts(heading, key) {
  const rows = differing(key);
  const value = ({values, differs}) => (differs ? make('div', {class: 'values'},
    values.map((text, i) => make('span', {}, make('span', {class: 'swatch',
      style: {'--of': data.runs[i].colour}, title: data.runs[i].name}),
    valueText(text), make('span', {class: 'sr'},
      ` in ${data.runs[i].name}`)))) : valueText(values[0]));
  const card = (text, chosen) => (chosen.length ? make('div', {class: 'card'},
    make('h3', {}, text), make('dl', {class: 'facts'}, chosen.flatMap((row) => [make('dt', {},
      key === 'settings' ? row.name : title(row.name)), make('dd', {'data-setting': row.name},
      value(row))]))) : null);
  if (!several) return card(heading, rows);
  return [card(`${heading} that differ`, rows.filter((row) => row.differs)),
    card(`${heading} in common`, rows.filter((row) => !row.differs))];
}
