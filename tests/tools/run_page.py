#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_page.py PROGRAM: the page that tern-watch --page writes, by its text, and, where Chromium is
installed, by what it makes of it: numbers are read back from the document, and hostile names must
not become part of it."""
import html
import html.parser
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import run_log  # noqa: E402

PROGRAM = Path(sys.argv[1]).resolve()
CHROMIUM = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome',
                                                'google-chrome-stable'))), None)
HOSTILE = '</script><script id="planted">document.title="planted"</script><img src=x onerror=1>&"\''
# Of the browser's own, not of the page.
ARGUMENTS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=4000',
             '--force-color-profile=srgb']


class Elements(html.parser.HTMLParser):
    """All elements of a document, (name, attributes, text), in the order of their beginnings."""
    EMPTY = {'meta', 'link', 'img', 'br', 'input', 'col'}

    def __init__(self, text):
        super().__init__()
        self.all, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        element = {'tag': tag, 'text': '', **dict(attrs)}
        self.all.append(element)
        if tag not in self.EMPTY:
            self.open.append(element)

    def handle_endtag(self, tag):
        while self.open and self.open.pop()['tag'] != tag:
            pass

    def handle_data(self, data):
        for element in self.open:
            element['text'] += data

    def find(self, **wanted):
        return [element for element in self.all
                if all(element.get(key.replace('_', '-')) == value
                       for key, value in wanted.items())]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page(self, *names):
        subprocess.run([PROGRAM, '--page', 'page.html', *names], cwd=self.folder, check=True,
                       timeout=60)
        return (self.folder / 'page.html').read_text(encoding='utf-8')

    def data(self, *names):
        elements = Elements(self.page(*names)).find(tag='script', id='data')
        self.assertEqual(1, len(elements))
        return json.loads(elements[0]['text'])['runs']

    def log(self, folder='a', **run):
        return run_log.Log(self.folder / folder, **run)

    def extreme(self):
        log = self.log()
        log.scalar('x', 2 ** 63 - 1, 1)
        log.scalar('y', 1, -1.7e308)
        log.scalar('y', 2, 1.7e308)
        for tag, low, high in (('tiny', 0, 1e-323), ('wide', -1.7e308, 1.7e308),
                               ('large', 1.7e308, 1.7e308)):
            middle = low / 2 + high / 2
            log.add('histogram', step=1, tag=tag, min=low, max=high, count=4, sum=0,
                    sum_squares=0, nan=0, inf=0, limits=[middle, high], counts=[1, 3])
        log.write()

    def hostile(self):
        log = run_log.Log(self.folder / 'a', name=HOSTILE, host=HOSTILE,
                          machine={'cpu': HOSTILE, HOSTILE: HOSTILE})
        log.add('settings', settings={HOSTILE: HOSTILE, 'list': [HOSTILE]})
        log.scalar('valid/' + HOSTILE, 1, 1)
        log.scalar(HOSTILE, 1, 1)
        log.add('text', step=1, tag=HOSTILE, text=HOSTILE)
        log.add('image', step=1, tag=HOSTILE, height=1, width=1, png=run_log.png(1, 1, [0]),
                text=HOSTILE)
        log.add('matrix', step=1, tag=HOSTILE, rows=2, columns=2, values=[1, 2, 3, 4],
                names=[HOSTILE, HOSTILE])
        log.histogram('weights/' + HOSTILE, 1, [1, 2, 3])
        log.add('pr_curve', step=1, tag=HOSTILE, precision=[1, 0.5], recall=[0, 1])
        log.write()


class Text(Case):
    def test_it_needs_no_network(self):
        run_log.example(self.folder / 'a')
        page = self.page('a')
        self.assertEqual({'http://www.w3.org/2000/svg'},
                         set(re.findall(r'https?://[^\'"\s)]+', page)))
        for element in Elements(page).all:
            for key in ('src', 'href'):
                self.assertRegex(element.get(key, 'data:'), '^data:')
        self.assertIn("default-src 'none'", page)
        self.assertNotIn('@import', page)
        self.assertNotIn('url(', page)

    def test_the_numbers_are_those_of_the_log(self):
        log = self.log()
        values = [0.1, 1 / 3, -1e300, 5e-324, 123456789.123456789, float('nan'), float('inf'),
                  float('-inf')]
        for step, value in enumerate(values):
            log.time += 1
            log.scalar('train/loss', 10 * step, value)
        log.add('settings', settings={'lr': 0.001, 'name': 'a "b"', 'on': True})
        log.add('matrix', step=3, tag='valid/confusion', rows=2, columns=2, values=[5, 1, 2, 7],
                names=['cat', 'dög'])
        log.add('end', status='failed')
        log.write()
        run, = self.data('a')
        curve, = run['curves']
        self.assertEqual([10 * i for i in range(8)], curve['steps'])
        self.assertEqual([float(i + 1) for i in range(8)], curve['times'])
        for value, shown in zip(values[:5], curve['values']):
            self.assertAlmostEqual(1, shown / value, places=6)
        self.assertEqual(['nan', 'inf', '-inf'], curve['values'][5:])
        self.assertEqual([20, -1e300], curve['min'])
        self.assertEqual([40, 123456789.123456789], curve['max'])
        self.assertEqual([40, 123456789.123456789], curve['last'])
        self.assertEqual((8, 3), (curve['count'], curve['gaps']))
        self.assertEqual(('failed', 70, 8), (run['status'], run['lastStep'], run['seconds']))
        self.assertEqual([['lr', '0.001'], ['name', 'a "b"'], ['on', 'true']], run['settings'])
        self.assertEqual(['cat', 'dög'], run['matrices'][0]['names'])
        self.assertEqual([5, 1, 2, 7], run['matrices'][0]['values'])

    def test_a_long_curve_is_thinned_and_its_extremes_stay(self):
        log = self.log()
        values = [math.sin(i / 500) for i in range(100000)]
        values[31234], values[70001], values[55555] = 50, -60, float('nan')
        for step, value in enumerate(values):
            log.scalar('x', step, value)
        log.write()
        curve = self.data('a')[0]['curves'][0]
        steps = curve['steps']
        self.assertLess(len(steps), 2000)
        self.assertEqual(100000, curve['count'])
        self.assertEqual((0, 99999), (steps[0], steps[-1]))
        self.assertEqual(sorted(set(steps)), steps)
        for step in (31234, 70001):
            self.assertIn(step, steps)
        self.assertEqual('nan', curve['values'][steps.index(55555)])
        for step, value in zip(steps, curve['values']):
            if step != 55555:
                self.assertAlmostEqual(values[step], value, places=6)
        for step, mean in zip(curve['means']['steps'], curve['means']['values']):
            if abs(step - 31234) > 300 and abs(step - 70001) > 300:
                self.assertAlmostEqual(math.sin(step / 500), mean, delta=0.1)

    def test_histograms_share_bins_and_lose_nothing(self):
        log = self.log()
        for step in range(3):
            log.histogram('weights/w', step, [0.01 * i * (step + 1) for i in range(-100, 101)], 20)
        log.write()
        of, = self.data('a')[0]['histograms']
        self.assertEqual([0, 1, 2], [row['step'] for row in of['rows']])
        self.assertAlmostEqual(-3, of['low'], delta=0.05)
        self.assertAlmostEqual(3, of['high'], delta=0.05)
        for step, row in enumerate(of['rows']):
            self.assertAlmostEqual(1, sum(row['bins']), places=2)
            width = (of['high'] - of['low']) / len(row['bins'])
            inside = [share for i, share in enumerate(row['bins'])
                      if abs(of['low'] + (i + 0.5) * width) < step + 1]
            self.assertAlmostEqual(1, sum(inside), delta=0.12)

    def test_extreme_numbers_are_numbers(self):
        self.extreme()
        for of in self.data('a')[0]['histograms']:
            self.assertAlmostEqual(1, sum(of['rows'][0]['bins']), places=2, msg=of)
            self.assertLess(of['low'], of['high'])

    def test_hostile_names_stay_texts(self):
        self.hostile()
        page = self.page('a')
        elements = Elements(page)
        self.assertEqual([], elements.find(id='planted'))
        self.assertEqual([HOSTILE], [e['text'] for e in elements.find(tag='title')])
        numbers, = elements.find(tag='script', id='data')
        self.assertNotRegex(numbers['text'], '[<>&]')  # not even a comment begins
        self.assertEqual(2, len(elements.find(tag='script')))
        self.assertEqual(HOSTILE, self.data('a')[0]['curves'][1]['tag'])


def dump(path, width=1280, *arguments):
    """The document that Chromium makes of a page."""
    with tempfile.TemporaryDirectory() as profile:
        ended = subprocess.run(
            [CHROMIUM, *ARGUMENTS, f'--user-data-dir={profile}', f'--window-size={width},900',
             *arguments, '--dump-dom', f'file://{path}'], capture_output=True, text=True,
            check=False, timeout=120, env={**os.environ, 'TZ': 'UTC'})
    assert 'data-ready="yes"' in ended.stdout, ended.stderr + ended.stdout[-3000:]
    return Elements(ended.stdout)


@unittest.skipUnless(CHROMIUM, 'Chromium is not installed')
class Document(Case):
    def document(self, *names, width=1280, script=''):
        page = self.page(*names)
        path = self.folder / 'page.html'
        path.write_text(page.replace('</body>', f'<script>{script}</script></body>'))
        return dump(path, width)

    def test_the_document_has_the_numbers_of_the_log(self):
        run_log.example(self.folder / 'a', 1, epochs=3, steps=40)
        run, = self.data('a')
        document = self.document('a')
        self.assertEqual('a', document.find(tag='h1')[0]['text'])
        self.assertEqual('finished', document.find(tag='span', **{'class': 'pill finished'})[0][
            'data-status'])
        for curve in run['curves']:
            self.assertEqual(1, len(document.find(tag='tr', data_tag=curve['tag'])), curve['tag'])
        cells = [element for element in document.all if 'data-step' in element]
        for curve in run['curves']:
            for pair in (curve['last'], curve['min'], curve['max']):
                found = [c for c in cells if int(c['data-step']) == pair[0] and
                         float(c['data-value']) == pair[1]]
                self.assertTrue(found, (curve['tag'], pair))
        accuracy = next(c for c in run['curves'] if c['tag'] == 'valid/accuracy')
        best = [e for e in document.all if 'data-best' in e]
        self.assertEqual(accuracy['max'][1], float(best[0]['data-best']))
        table, = document.find(tag='table', data_tag='valid/confusion')
        shown = [int(n) for n in re.findall(r'\d+', ' '.join(
            e['text'] for e in document.find(tag='td') if 'taken for' in (e.get('title') or '')))]
        self.assertEqual([v for v in run['matrices'][0]['values'] if v], shown)
        self.assertIn('T-shirt', table['text'])
        self.assertEqual(8, len([e for e in document.find(tag='div') if e.get('data-tag', '')
                                 .startswith(('weights/', 'gradients/'))]))
        for name, text in run['settings']:
            found, = document.find(tag='dd', data_setting=name)
            self.assertEqual({'true': 'yes', 'false': 'no'}.get(text, text), found['text'])
        self.assertEqual(1, len(document.find(tag='img')))

    def test_curves_are_drawn_where_their_numbers_are(self):
        log = self.log()
        for step, value in enumerate([0, 4, 2, float('nan'), 2, 4]):
            log.scalar('valid/x', step, value)
        log.write()
        paths = [e for e in self.document('a').find(tag='path') if e.get('class') == 'main']
        self.assertEqual(1, len(paths))
        parts = re.findall(r'([ML])([\d.]+) ([\d.]+)', paths[0]['d'])
        self.assertEqual('MLLML', ''.join(letter for letter, _, _ in parts))
        x, y = [float(x) for _, x, _ in parts], [float(y) for _, _, y in parts]
        unit = (y[0] - y[1]) / 4
        for value, at in zip((0, 4, 2, 2, 4), y):
            self.assertAlmostEqual(y[0] - unit * value, at, delta=0.2)
        for step, at in zip((0, 1, 2, 4, 5), x):
            self.assertAlmostEqual(x[0] + (x[-1] - x[0]) * step / 5, at, delta=0.2)

    def test_extreme_numbers_have_a_page(self):
        self.extreme()
        self.assertEqual(3, len(self.document('a').find(tag='svg', **{'class': 'ridges'})))

    def test_hostile_names_stay_texts(self):
        self.hostile()
        document = self.document('a')
        self.assertEqual([], document.find(id='planted'))
        self.assertEqual(HOSTILE, document.find(tag='h1')[0]['text'])
        self.assertEqual([], [e for e in document.find(tag='img') if e.get('src') == 'x'])
        self.assertEqual(1, len([e for e in document.find(tag='pre') if e['text'] == HOSTILE]))

    def test_nothing_is_wider_than_the_window(self):
        run_log.example(self.folder / 'a', 1, epochs=2, steps=20)
        run_log.example(self.folder / 'b', 2, epochs=2, steps=20)
        log = self.log('c', name='a-name-without-any-space-' * 8)
        log.scalar('valid/' + 'long_metric_' * 20, 1, 1)
        log.add('settings', settings={'setting' * 20: 'value' * 60})
        log.add('text', step=1, tag='t', text='x' * 500)
        log.add('matrix', step=1, tag='m', rows=100, columns=100, values=[1] * 10000, names=None)
        log.write()
        measure = ('const root = document.documentElement; setTimeout(() => {'
                   ' parent.document.documentElement.dataset.ready = "yes"; '
                   'parent.document.body.dataset.inner = innerWidth; parent.document.body.dataset'
                   '.wide = [...document.querySelectorAll("body *")].filter((e) => !e.closest('
                   '".sr, svg") && e.getBoundingClientRect().right > innerWidth + 1).map((e) => '
                   'e.className + e.tagName).join(" "); }, 500)')
        path = self.folder / 'frame.html'
        for names in (['c'], ['a', 'b', 'c']):
            page = self.page(*names).replace('</body>', f'<script>{measure}</script></body>')
            for width in (400, 800, 1400):  # a window of the browser has at least 500
                path.write_text('<!DOCTYPE html><meta charset="utf-8"><body><iframe height="900" '
                                f'width="{width}" style="border: 0; overflow-y: hidden" '
                                f'scrolling="no" srcdoc="{html.escape(page)}"></iframe>')
                body, = dump(path, 1600).find(tag='body', data_inner=str(width))
                self.assertEqual('', body['data-wide'], (names, width))

    def test_several_runs_stand_beside_each_other(self):
        for name, seed in (('a', 1), ('b', 2)):
            run_log.example(self.folder / name, seed, epochs=2, steps=20, lr=0.001 * seed)
        document = self.document('a', 'b')
        self.assertEqual(['a', 'b'], [e['data-run'] for e in document.find(tag='article')])
        self.assertEqual(2, len(document.find(tag='tr', data_tag='valid/loss')))
        differing = next(e for e in document.find(tag='div', **{'class': 'card'})
                         if e['text'].startswith('Settings that differ'))
        self.assertRegex(differing['text'], r'lr *0\.001 in a *0\.002 in b')
        self.assertNotIn('adam', differing['text'])

    def test_a_run_that_goes_on_says_so_and_one_that_ended_does_not(self):
        run_log.example(self.folder / 'a', epochs=1, steps=10, ended='')
        run_log.example(self.folder / 'b', epochs=1, steps=10)
        self.assertEqual(1, len(self.document('a').find(tag='span', **{'class': 'live'})))
        self.assertEqual(0, len(self.document('b').find(tag='span', **{'class': 'live'})))


if __name__ == '__main__':
    del sys.argv[1]
    unittest.main(verbosity=2)
