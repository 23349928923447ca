// SPDX-License-Identifier: Apache-2.0
'use strict';
const SVG = 'http://www.w3.org/2000/svg';

// All that comes from a log goes through here or through textContent, never through innerHTML.
function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  return fill(node, attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'style')
      for (const [property, text] of Object.entries(value)) node.style.setProperty(property, text);
    else if (value === true) node.setAttribute(key, '');
    else if (value !== false && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// Four significant digits, as short as that allows.
function short(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
    const [digits, power] = value.toExponential(2).split('e');
    return minus(`${String(Number(digits))}e${Number(power)}`);
  }
  if (Number.isInteger(value)) return grouped(value);
  return size >= 10000 ? grouped(Math.round(value)) : minus(String(Number(value.toPrecision(4))));
}

function minus(text) {
  return text.replace(/-/g, '−');
}

// Thin spaces between thousands.
function grouped(value) {
  return minus(String(value).replace(/\B(?=(\d{3})+$)/g, '\u202f'));
}

function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let power = 0;
  while (Math.abs(value) >= 1024 && power < units.length - 1) {
    value /= 1024;
    power++;
  }
  return `${short(Number(value.toPrecision(3)))} ${units[power]}`;
}

function percent(value) {
  return `${short(Number((100 * value).toPrecision(3)))} %`;
}

function span(seconds) {
  if (seconds < 1) return `${short(Number(seconds.toPrecision(2)))} s`;
  if (seconds < 60) return `${short(Number(seconds.toFixed(seconds < 10 ? 1 : 0)))} s`;
  const whole = Math.round(seconds);
  const parts = [[Math.floor(whole / 86400), 'd'], [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'], [whole % 60, 's']];
  const first = parts.findIndex(([count]) => count > 0);
  return parts.slice(first, first + 2).filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`).join(' ');
}

function date(seconds) {
  const at = new Date(1000 * seconds);
  if (!(seconds > 0) || Number.isNaN(at.getTime())) return 'at an unknown time';
  return at.toLocaleString('en-GB', {day: 'numeric', month: 'short', year: 'numeric',
    hour: '2-digit', minute: '2-digit'});
}

// "peak_bytes" reads as "Peak bytes", unless it has a name of its own.
const NAMES = {samples_per_second: 'Samples a second', lr: 'Learning rate',
  resident_bytes: 'Resident memory', device_bytes: 'Device memory', cpu_share: 'Processor share',
  wait_share: 'Waiting for data', joules: 'Energy', auroc: 'AUROC', f1: 'F1', r2: 'R²',
  mae: 'Mean absolute error', mse: 'Mean squared error', pid: 'Process', cpu: 'CPU', cpus: 'CPUs',
  tern: 'tern', isa: 'Instruction set'};

function title(name) {
  if (NAMES[name]) return NAMES[name];
  const words = name.replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// How the values of a metric are written.
function writer(metric) {
  if (/bytes$/.test(metric)) return bytes;
  if (/share$/.test(metric)) return percent;
  if (/seconds$/.test(metric) && !/per_/.test(metric)) return span;
  return short;
}
