#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""log_interop.py WRITER: TensorBoard, pandas and jq read what a logger wrote.

The program of logger_writer.c makes a run that was resumed, and a second one. What SummaryWriter
makes of the same values is beside them. TensorBoard's reader reads the files, and TensorBoard
itself, started here, shows them over HTTP. scripts/log_interop.sh runs it.
Ends with 0, or 1 with what differed."""
import contextlib
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np
import pandas
import PIL.Image
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata
from tensorboard.util import tensor_util
from torch.utils.tensorboard import SummaryWriter

LAST = 49
SETTINGS = {'lr': 0.125, 'optimizer': 'adam', 'epochs': 5, 'augment': True}
WEIGHTS = np.arange(-1000, 1048, dtype=np.float64) / 8
IMAGE = np.arange(144, dtype=np.uint8).reshape(3, 8, 6)
MATRIX = [[5, 1, 0], [2, 7, 1], [0, 0, 9]]
LABELS, PREDICTIONS = np.array([0, 1, 1, 0]), np.array([0.125, 0.75, 0.5, 0.625])
QUOTED = 'b, "quoted"'
LARGE_STEPS = [0, 10, 20, 30, 40]
checks = 0


def check(found, expected, what):
    global checks
    checks += 1
    if found != expected:
        sys.exit(f'log_interop: {what}: {str(found)[:300]}, not {str(expected)[:300]}')


def point(step):
    return 1 / (step + 1) if step % 7 else math.nan


def same_numbers(found, expected):
    return len(found) == len(expected) and all(
        a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(found, expected))


# ---- the runs -----------------------------------------------------------------------------------

def write(writer, folder, *words):
    done = subprocess.run([writer, str(folder), *map(str, words)], capture_output=True, text=True)
    check((done.returncode, done.stderr, done.stdout.splitlines()[-1]), (0, '', 'dropped 0'),
          f'{folder.name} was written')


def write_reference(folder):
    """By torch.utils.tensorboard, the same values."""
    with SummaryWriter(str(folder)) as log:
        log.add_histogram('weights', WEIGHTS, 0, bins=64)
        log.add_pr_curve('curve', LABELS, PREDICTIONS, 0)
        log.add_text('text', '# Step 0\n<script>', 0)
        log.add_image('image', IMAGE, 0)
        log.add_scalar('a', 0.0, 0)


def read(folder):
    found = EventAccumulator(str(folder), size_guidance={
        kind: 0 for kind in ('scalars', 'histograms', 'images', 'tensors')})
    found.Reload()
    return found


# ---- TensorBoard's reader -----------------------------------------------------------------------

def check_scalars(run):
    for tag, value in (('a', float), (QUOTED, lambda step: float(np.float32(point(step))))):
        events = run.Scalars(tag)
        check([event.step for event in events], list(range(LAST + 1)), f'steps of {tag}')
        check(same_numbers([event.value for event in events],
                           [value(step) for step in range(LAST + 1)]), True, f'values of {tag}')


def check_histograms(run, reference):
    events, ours = run.Histograms('weights'), reference.Histograms('weights')[0].histogram_value
    check([event.step for event in events], LARGE_STEPS, 'steps of the histograms')
    for event in events:
        check(event.histogram_value, ours, 'a histogram and that of SummaryWriter')


def check_images(run, reference):
    events = run.Images('image')
    check([event.step for event in events], LARGE_STEPS, 'steps of the images')
    pixels = np.asarray(PIL.Image.open(io.BytesIO(events[0].encoded_image_string)))
    check(pixels.tolist(), IMAGE.transpose(1, 2, 0).tolist(), 'pixels')
    other = reference.Images('image')[0]
    check((events[0].width, events[0].height), (other.width, other.height), 'sides of an image')
    matrix = PIL.Image.open(io.BytesIO(run.Images('matrix')[0].encoded_image_string))
    check(matrix.size, (318, 318), 'sides of the picture of a matrix')
    check(matrix.getpixel((317, 317)), (8, 48, 107), 'a class that is always right')
    check(matrix.getpixel((317, 0)), (255, 255, 255), 'a class that is never taken for another')


def content_of(run, tag):
    return run.SummaryMetadata(tag).plugin_data.content


def check_tensors(run, reference):
    for tag, name in (('curve', 'pr_curves'), ('text/text_summary', 'text')):
        ours, other = run.Tensors(tag), reference.Tensors(tag)[0]
        check([event.step for event in ours], LARGE_STEPS, f'steps of {tag}')
        check(tensor_util.make_ndarray(ours[0].tensor_proto).tolist(),
              tensor_util.make_ndarray(other.tensor_proto).tolist(), f'{tag} and SummaryWriter\'s')
        for found in (run, reference):
            check(found.SummaryMetadata(tag).plugin_data.plugin_name, name, f'plugin of {tag}')
    check(content_of(run, 'curve'), content_of(reference, 'curve'), 'what the curve says of itself')
    table = tensor_util.make_ndarray(run.Tensors('matrix/text_summary')[0].tensor_proto)[0].decode()
    check('| T-shirt | 5 | 1 | 0 |' in table, True, 'the table of a matrix')


def check_settings(run):
    start = metadata.parse_session_start_info_plugin_data(
        content_of(run, metadata.SESSION_START_INFO_TAG))
    found = {name: getattr(value, value.WhichOneof('kind'))
             for name, value in start.hparams.items()}
    check(found, SETTINGS, 'hyper-parameters')
    end = metadata.parse_session_end_info_plugin_data(
        content_of(run, metadata.SESSION_END_INFO_TAG))
    check(end.status, 1, 'status of the session')


# ---- TensorBoard itself -------------------------------------------------------------------------

@contextlib.contextmanager
def tensorboard(folder, *words):
    """Its address."""
    command = [sys.executable, '-m', 'tensorboard.main', '--logdir', str(folder), '--port', '0',
               '--reload_interval', '1', '--samples_per_plugin',
               'scalars=1000,images=1000,histograms=1000,text=1000,pr_curves=1000', *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, 'PYTHONWARNINGS': 'ignore'}) as server:
        stop = threading.Timer(240, server.kill)
        stop.start()
        try:
            said = []
            for line in server.stderr:
                said.append(line)
                address = re.search(r'TensorBoard \S+ at (http://\S+)', line)
                if address:
                    threading.Thread(target=server.stderr.read, daemon=True).start()
                    yield address.group(1).replace('localhost', '127.0.0.1').rstrip('/')
                    return
            sys.exit('log_interop: TensorBoard does not start: ' + ''.join(said))
        finally:
            stop.cancel()
            server.kill()


def ask(address, path, post=None, **words):
    query = '?' + urllib.parse.urlencode(words) if words else ''
    request = urllib.request.Request(
        f'{address}/data/{path}{query}', None if post is None else json.dumps(post).encode(),
        {'Content-Type': 'application/json'} if post is not None else {})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return reply.read()


def ask_json(*words, **more):
    return json.loads(ask(*words, **more))


def wait_for_runs(address):
    for _ in range(60):
        tags = ask_json(address, 'plugin/scalars/tags')
        curves = ask_json(address, 'plugin/pr_curves/tags')
        if {'a', 'b'} <= tags.keys() and 'curve' in curves.get('a', {}):
            return tags
        threading.Event().wait(1)
    sys.exit(f'log_interop: TensorBoard has no runs: {tags}')


def check_server(address):
    tags = wait_for_runs(address)
    check(sorted(tags['a']), ['a', QUOTED], 'tags of scalars')
    scalars = ask_json(address, 'plugin/scalars/scalars', run='a', tag='a')
    check([(step, value) for _, step, value in scalars], [(i, i) for i in range(LAST + 1)],
          'scalars over HTTP')
    histograms = ask_json(address, 'plugin/histograms/histograms', run='a', tag='weights')
    check([histogram[1] for histogram in histograms], LARGE_STEPS, 'histograms over HTTP')
    check(sum(right for _, _, right in histograms[0][2]), len(WEIGHTS), 'elements of a histogram')
    images = ask_json(address, 'plugin/images/images', run='a', tag='image', sample=0)
    check([image['step'] for image in images], LARGE_STEPS, 'images over HTTP')
    png = ask(address, 'plugin/images/' + 'individualImage?' + images[0]['query'])
    check(np.asarray(PIL.Image.open(io.BytesIO(png))).shape, (8, 6, 3), 'an image over HTTP')
    texts = ask_json(address, 'plugin/text/text', run='a', tag='text/text_summary')
    check([text['step'] for text in texts], LARGE_STEPS, 'texts over HTTP')
    check('<h1>Step 0</h1>' in texts[0]['text'] and '<script>' not in texts[0]['text'], True,
          f'a text as TensorBoard shows it: {texts[0]["text"]}')
    curve = ask_json(address, 'plugin/pr_curves/pr_curves', run='a', tag='curve')['a'][0]
    # TensorBoard leaves out thresholds above all predictions
    check(len(curve['precision']), math.floor(0.75 * 126) + 1, 'thresholds of a curve over HTTP')
    check(max(curve['true_positives']), 2, 'positives of a curve over HTTP')
    check_hparams(address)


def check_hparams(address):
    experiment = ask_json(address, 'plugin/hparams/experiment', post={})
    check(sorted(info['name'] for info in experiment['hparamInfos']), sorted(SETTINGS),
          'hyper-parameters over HTTP')
    groups = ask_json(address, 'plugin/hparams/session_groups', post={
        'startIndex': 0, 'sliceSize': 10, 'allowedStatuses':
        ['STATUS_SUCCESS', 'STATUS_FAILURE', 'STATUS_RUNNING', 'STATUS_UNKNOWN'],
        'colParams': [{'metric': {'tag': 'a', 'group': ''}, 'includeInResult': True},
                      *({'hparam': name, 'includeInResult': True} for name in SETTINGS)]})
    check([group['hparams'] for group in groups['sessionGroups']], [SETTINGS] * 2,
          'hyper-parameters of each run over HTTP')
    sessions = [session for group in groups['sessionGroups'] for session in group['sessions']]
    check(sorted((session['name'], session['status']) for session in sessions),
          [('a', 'STATUS_SUCCESS'), ('b', 'STATUS_SUCCESS')], 'sessions over HTTP')
    check({session['metricValues'][0]['value'] for session in sessions}, {LAST, 9.0},
          'the last value of a metric')


# ---- pandas and jq ------------------------------------------------------------------------------

def check_pandas(folder):
    path, tag = folder / 'log.jsonl', 'a'
    lines = pandas.read_json(path, lines=True)
    curve = lines[lines['tag'] == tag].set_index('step')['value']
    check(curve.index.astype(int).tolist(), list(range(LAST + 1)), 'pandas: steps in JSON')
    check(curve.tolist(), list(range(LAST + 1)), 'pandas: values in JSON')
    rows = pandas.read_csv(folder / 'log.csv')
    check(list(rows.columns), ['time', 'step', 'tag', 'value'], 'pandas: columns')
    for tag, value in (('a', float), (QUOTED, point)):
        part = rows[rows['tag'] == tag]
        check(part['step'].tolist(), list(range(LAST + 1)), f'pandas: steps of {tag}')
        check(same_numbers(part['value'].tolist(), [value(i) for i in range(LAST + 1)]), True,
              f'pandas: values of {tag}')
    histogram = lines[lines['kind'] == 'histogram'].iloc[0]
    counts, edges = np.histogram(WEIGHTS, 64)
    check((histogram['counts'], histogram['limits']), (counts.tolist(), edges[1:].tolist()),
          'a histogram and numpy.histogram')
    check((histogram['sum'], histogram['sum_squares']), (WEIGHTS.sum(), WEIGHTS.dot(WEIGHTS)),
          'sums of a histogram')


def jq(folder, program):
    done = subprocess.run(['jq', '-c', program, str(folder / 'log.jsonl')], capture_output=True,
                          text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_jq(folder):
    check(jq(folder, 'select(.kind == "scalar" and .tag == "a") | .value'),
          list(range(LAST + 1)), 'jq: values')
    check(jq(folder, 'select(.kind == "scalar" and .value == null) | .text'), ['nan'] * 8,
          'jq: numbers that are none')
    check(jq(folder, 'select(.kind == "matrix" and .step == 0) | .values, .names'),
          [sum(MATRIX, []), ['T-shirt', '<script>', 'a|b']], 'jq: a matrix')
    check(jq(folder, 'select(.kind == "settings") | .settings'), [SETTINGS] * 2, 'jq: settings')
    check(jq(folder, 'select(.kind == "image") | .png | startswith("iVBORw0KGgo")'),
          [True] * len(LARGE_STEPS), 'jq: images')


def main(writer):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(writer, folder / 'a', -1, 0, 39)
        write(writer, folder / 'a', 29, 30, LAST)
        write(writer, folder / 'b', -1, 0, 9)
        write_reference(folder / 'reference')
        run, reference = read(folder / 'a'), read(folder / 'reference')
        check_scalars(run)
        check_histograms(run, reference)
        check_images(run, reference)
        check_tensors(run, reference)
        check_settings(run)
        check_pandas(folder / 'a')
        if shutil.which('jq'):
            check_jq(folder / 'a')
        else:
            print('log_interop: left out: there is no jq')
        shutil.rmtree(folder / 'reference')
        for words in ([], ['--load_fast=false']):
            with tensorboard(folder, *words) as address:
                check_server(address)
    print(f'log_interop: {checks} comparisons, all the same')


if __name__ == '__main__':
    main(os.path.abspath(sys.argv[1]))
