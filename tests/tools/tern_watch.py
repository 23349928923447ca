#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tern_watch.py PROGRAM: the program tern-watch in pseudo-terminals, and its manual. What is on the
screen is found by following the program's output, and curves by reading the dots."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'support'))

import on_terminal  # noqa: E402
import run_log  # noqa: E402

PROGRAM = Path(sys.argv[1]).resolve()
MANUAL = HERE.parents[1] / 'docs/tern-watch.1'
PLAIN = {**os.environ, 'TERM': 'xterm-256color'}
PLAIN.pop('NO_COLOR', None)
PLAIN.pop('COLUMNS', None)
SECONDS = 60  # that a slow machine may need for a picture
SEQUENCE = re.compile(r'\033\[(\??[0-9;]*)([A-Za-z])')


class Screen:
    """What a terminal shows of what was written to it."""
    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()

    def clear(self):
        self.lines = [[' '] * self.columns for _ in range(self.rows)]
        self.x = self.y = 0

    def write(self, text):
        at = 0
        while at < len(text):
            found = SEQUENCE.match(text, at)
            if found:
                self.sequence(*found.groups())
                at = found.end()
                continue
            self.character(text[at])
            at += 1

    def sequence(self, numbers, letter):
        if letter == 'H':
            self.x = self.y = 0
        elif letter == 'K':
            self.lines[self.y][self.x:] = [' '] * (self.columns - self.x)
        elif letter == 'J':
            if numbers == '2':
                self.clear()
                return
            self.lines[self.y][self.x:] = [' '] * (self.columns - self.x)
            for y in range(self.y + 1, self.rows):
                self.lines[y] = [' '] * self.columns
        else:
            assert letter in 'mhl', f'an unknown sequence: {numbers}{letter}'

    def character(self, character):
        if character == '\n':
            self.y += 1
            assert self.y < self.rows, 'the picture is higher than the terminal'
        elif character == '\r':
            self.x = 0
        else:
            assert character.isprintable(), f'{character!r} reached the terminal'
            assert self.x < self.columns, f'a line is wider than the terminal: {self.text()}'
            self.lines[self.y][self.x] = character
            self.x += 1

    def text(self):
        return '\n'.join(''.join(line).rstrip() for line in self.lines)


class Live:
    """The program on a terminal of its own."""
    def __init__(self, words, columns, rows=24, env=PLAIN):
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows, False)
        self.before = termios.tcgetattr(self.slave)
        self.seen = b''
        self.program = subprocess.Popen([PROGRAM, *words], stdin=self.slave, stdout=self.slave,
                                        stderr=subprocess.PIPE, env=env)

    def resize(self, columns, rows, tell=True):
        self.columns, self.rows = columns, rows
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack('4H', rows, columns, 0, 0))
        if tell:
            self.seen = b''
            self.program.send_signal(signal.SIGWINCH)

    def read(self, seconds=0.1):
        if select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 65536)

    def screen(self):
        screen = Screen(self.columns, self.rows)
        text = self.seen.decode(errors='ignore')
        screen.write(text[:max(0, text.rfind('\033[J'))])  # whole pictures
        return screen.text()

    def wait_for(self, words):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and self.program.poll() is None:
            self.read()
            if words in self.screen():
                return self.screen()
        raise AssertionError(f'{words!r} was not shown, but\n{self.screen()}')

    def kill(self):
        self.program.kill()
        self.program.communicate()

    def press(self, keys):
        os.write(self.master, keys)

    def end(self):
        """Exit status, and what was printed to stderr."""
        told = []
        until = time.monotonic() + SECONDS
        while self.program.poll() is None and time.monotonic() < until:
            self.read()
        told = self.program.communicate(timeout=SECONDS)[1].decode()
        self.read()
        after = termios.tcgetattr(self.slave)
        os.close(self.master)
        os.close(self.slave)
        assert after == self.before, 'the terminal is not as it was'
        return self.program.returncode, told


def dots(line):
    """Of a line of braille: its columns of dots, each a set of rows, 0 above."""
    bits = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
    columns = []
    for character in line:
        code = ord(character) - 0x2800 if 0x2800 <= ord(character) <= 0x28FF else 0
        columns += [{row for row in range(4) if code & half[row]} for half in bits]
    return columns


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_it(self, *words, **more):
        """Status, stdout, stderr, without a terminal."""
        more = {'env': PLAIN, **more}
        ended = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                               cwd=self.folder, timeout=SECONDS, **more)
        return ended.returncode, ended.stdout, ended.stderr

    def example(self, name='a', seed=1, **more):
        run_log.example(self.folder / name, seed, epochs=4, steps=50, **more)
        return self.folder / name

    def log(self, name='a'):
        return run_log.Log(self.folder / name)


class Pictures(Case):
    def test_a_picture_is_as_wide_as_the_terminal(self):
        runs = [self.example('a', 1), self.example('b', 2)]
        for columns in (25, 60, 80, 119, 120, 200):
            for given in (runs[:1], runs):
                seen, _, status = on_terminal.run([PROGRAM, '--once', *given], columns, ['stdout'],
                                                  env={**PLAIN, 'NO_COLOR': '1'})
                self.assertEqual(0, status)
                lines = seen.replace('\r\n', '\n').split('\n')
                self.assertEqual([], [line for line in lines if len(line) > columns])
                self.assertTrue(any('⠤' in line or '⠉' in line for line in lines), seen)
                self.assertRegex(seen, r'(?m)^(1 )?a +(finished|$|\r)' if columns > 25 else 'a')

    def test_charts_stand_beside_each_other_where_there_is_space(self):
        run = self.example()
        for columns, across in ((80, 1), (119, 1), (120, 2), (200, 3)):
            out = self.run_it('--once', run, env={**PLAIN, 'COLUMNS': str(columns)})[1]
            line = next(line for line in out.split('\n') if line.startswith('loss'))
            self.assertEqual(across, 1 + ('accuracy' in line) + ('lr' in line), out)

    def test_titles_have_the_last_values(self):
        log = self.log()
        for step, value in ((1, 5.0), (2, 0.25)):
            log.scalar('train/loss', step, value)
            log.scalar('valid/loss', step, value + 1)
            log.scalar('resources/resident_bytes', step, 1536 * 1024)
        log.add('end', status='stopped')
        log.write()
        out = self.run_it('--once', 'a')[1]
        self.assertIn('loss  1 train 0.25  2 valid 1.25', out)
        self.assertIn('1.5 MiB', out)
        self.assertRegex(out, 'a  stopped  step 2')

    def test_axes_have_their_units(self):
        log = self.log()
        for step, size, share in ((1, 1000 * 1024, 9), (2, 1023 * 1024, 15.9)):
            log.scalar('resident_bytes', step, size)
            log.scalar('cpu_share', step, share)
        log.write()
        out = self.run_it('--once', 'a')[1]
        for label in ('1000 KiB', '1023 KiB', '   900 %', '  1590 %'):
            self.assertIn(f'\n{label} ', out)

    def test_the_largest_numbers_have_a_picture(self):
        for values in ([-1.7e308, 1.7e308] * 20, [1.5e308] * 1000):
            log = self.log()
            for step, value in enumerate(values):
                log.scalar('x', step, value)
            log.write()
            status, out, _ = self.run_it('--once', 'a')
            self.assertEqual(0, status)
            self.assertIn('e+308', out)
            self.assertNotIn('NaN', out)

    def curve(self, values, *words):
        """The row of dots of each column, 0 above; None where there is none."""
        log = self.log()
        for step, value in enumerate(values):
            log.scalar('x', step, value)
        log.write()
        out = self.run_it('--once', 'a', *words)[1].split('\n')
        top = next(i for i, line in enumerate(out) if line.startswith('x'))
        rows = [dots(line[9:]) for line in out[top + 1:top + 11]]
        columns = [[4 * k + dot for k, row in enumerate(rows) for dot in row[i]]
                   for i in range(len(rows[0]))]
        return columns, out

    def test_a_line_goes_from_one_corner_to_the_other(self):
        columns = self.curve([i / 999 for i in range(1000)])[0]
        self.assertEqual(142, len(columns))
        self.assertEqual([39], columns[0])
        self.assertEqual([0], columns[-1])
        for i, rows in enumerate(columns):
            self.assertLessEqual(abs(sum(rows) / len(rows) - 39 * (1 - i / 141)), 1, i)

    def test_a_power_is_a_line_on_a_logarithmic_scale(self):
        columns = self.curve([10 ** (i / 100) for i in range(1000)], '--log')[0]
        for i, rows in enumerate(columns):
            self.assertLessEqual(abs(sum(rows) / len(rows) - 39 * (1 - i / 141)), 1, i)

    def test_what_is_not_finite_is_a_gap_with_a_mark(self):
        values = [float('nan') if 400 <= i < 600 else 1 + i for i in range(1000)]
        columns, out = self.curve(values)
        for i, rows in enumerate(columns):
            self.assertEqual(57 <= i < 85, not rows, i)
        self.assertEqual(15, out[3].count('x'), out[3])

    def test_a_terminal_of_20_columns_has_one_line_of_numbers(self):
        run = self.example()
        for columns in (1, 10, 20, 24):
            seen, _, status = on_terminal.run([PROGRAM, '--once', run], columns, ['stdout'],
                                              env=PLAIN)
            self.assertEqual(0, status)
            self.assertLessEqual(len(seen.strip('\r\n')), columns)
        self.assertRegex(seen, r'^[0-9.]+ loss 200\r\n$')

    def test_colours_are_for_terminals_that_want_them(self):
        run = self.example()
        def seen(**more):
            return on_terminal.run([PROGRAM, '--once', run], 80, ['stdout'],
                                   env={**PLAIN, **more})[0]
        self.assertIn('\033[38;5;', seen())
        self.assertIn('━ \033[0mtrain', seen())
        for more in ({'NO_COLOR': '1'}, {'TERM': 'dumb'}):
            self.assertNotIn('\033', seen(**more))
        self.assertNotIn('\033', self.run_it(run)[1])

    def test_control_characters_of_names_do_not_reach_the_terminal(self):
        log = run_log.Log(self.folder / 'a\033[2J', name='n\033]0;title\007\u009b2J\u202e')
        log.scalar('train/\033[31mred\r\n\u200b', 1, 1)
        log.scalar('\u65e5\u672c' * 60, 1, 1)
        log.write()
        status, out, _ = self.run_it('--once', 'a\033[2J')
        self.assertEqual(0, status)
        self.assertEqual([], [c for c in out if c != '\n' and not c.isprintable()])
        self.assertIn('n?]0;title??2J?', out)
        self.assertIn('?[31mred???', out)
        status, _, errors = self.run_it('--once', 'b\033[2J')
        self.assertEqual(2, status)
        self.assertNotIn('\033', errors)

    def test_tags_are_chosen_by_patterns(self):
        run = self.example()
        out = self.run_it('--once', run, '--tag', '*/loss', '--tag', 'lr')[1]
        self.assertIn('loss', out)
        self.assertIn('lr', out)
        self.assertNotIn('accuracy', out)

    def test_a_run_without_curves_says_so(self):
        self.log().write()
        for columns in ('80', '20'):
            status, out, _ = self.run_it('--once', 'a', env={**PLAIN, 'COLUMNS': columns})
            self.assertEqual(0, status)
            self.assertIn('no curves yet', out)


class LiveCase(Case):
    def live(self, *words, **more):
        live = Live(words, **{'columns': 80, **more})
        self.addCleanup(lambda: live.program.poll() is None and live.kill())
        return live

    def test_a_growing_log_is_drawn_anew(self):
        log = self.log()
        log.scalar('train/loss', 1, 4)
        log.write()
        live = self.live(self.folder / 'a')
        live.wait_for('train 4')
        log.scalar('train/loss', 2, 0.125)
        log.write(mode='a', end='')
        time.sleep(0.5)
        log.lines = ['']
        log.write(mode='a')
        live.wait_for('train 0.125')
        live.press(b'q')
        self.assertEqual((0, ''), live.end())
        self.assertIn(b'\033[?1049h', live.seen)
        self.assertTrue(live.seen.rstrip().endswith(b'\033[?1049l'), live.seen[-60:])

    def test_signals_end_it_quietly_with_the_terminal_as_it_was(self):
        run = self.example()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            live = self.live(run)
            live.wait_for('loss')
            live.program.send_signal(number)
            self.assertEqual((0, ''), live.end())
            self.assertIn(b'\033[?25h\033[?1049l', live.seen)

    def test_another_size_is_another_picture(self):
        live = self.live(self.example(), columns=60, rows=30)
        live.wait_for('loss')
        for columns, rows in ((200, 50), (80, 24), (20, 24), (40, 10), (25, 3), (60, 20)):
            live.resize(columns, rows)
            live.wait_for('loss')
        live.press(b'q')
        self.assertEqual(0, live.end()[0])

    def test_keys_show_more_charts_and_change_the_scale(self):
        live = self.live(self.example())
        self.assertIn('1 to 3 of 7 charts', live.wait_for('loss'))
        live.press(b' ')
        live.wait_for('4 to 6 of 7 charts')
        live.press(b'  ')
        live.wait_for('1 to 3 of 7 charts')
        live.press(b'l')
        live.wait_for('l: linear')
        live.press(b'q')
        self.assertEqual(0, live.end()[0])

    def test_a_log_that_is_not_there_yet_is_waited_for(self):
        live = self.live(self.folder / 'late')
        live.wait_for('waiting for its log')
        self.example('late')
        live.wait_for('loss')
        live.press(b'q')
        self.assertEqual((0, ''), live.end())

    def test_a_log_is_not_read_again(self):
        log = self.log()
        for step in range(40000):
            log.scalar('train/loss', step, 1)
        size = log.write().stat().st_size
        live = self.live(self.folder / 'a')
        live.wait_for('train 1')
        def bytes_read():
            return int(Path(f'/proc/{live.program.pid}/io').read_text().split()[1])
        before = bytes_read()
        for step in range(5):
            log.scalar('train/loss', 40000 + step, 2 + step)
            log.write(mode='a')
            live.wait_for(f'train {2 + step}')
        self.assertLess(bytes_read() - before, size / 10)
        live.press(b'q')
        live.end()


class Words(Case):
    def test_wrong_words_are_refused_in_one_sentence(self):
        for words, part in (((), 'no folder'), (('--colour', 'a'), '--colour: no such option'),
                            (('a', '--tag'), '--tag: needs a value'),
                            (('a',) * 33, 'more than 32 runs'),
                            (('--once', 'none'), 'cannot open none/log.jsonl')):
            status, out, errors = self.run_it(*words)
            self.assertEqual((2, ''), (status, out))
            self.assertIn(part, errors)
            self.assertEqual(1, errors.count('\n'))

    def test_a_page_is_written_and_replaces_the_old_one(self):
        self.example()
        page = self.folder / 'page.html'
        page.write_text('old')
        self.assertEqual((0, '', ''), self.run_it('--page', 'page.html', 'a'))
        self.assertTrue(page.read_text().startswith('<!DOCTYPE html>'))
        status, _, errors = self.run_it('--page', 'none/page.html', 'a')
        self.assertEqual(2, status)
        self.assertIn('run_page_write', errors)
        self.assertEqual(['a', 'page.html'], sorted(path.name for path in self.folder.iterdir()))

    def test_the_help_and_the_manual_name_every_option(self):
        status, out, _ = self.run_it('--help')
        self.assertEqual(0, status)
        manual = MANUAL.read_text().replace('\\-', '-')
        self.assertEqual(set(re.findall(r'--[a-z]+', out)) | {'--help'},
                         set(re.findall(r'--[a-z]+', manual)))
        self.assertRegex(self.run_it('--version')[1], r'^tern-watch \d+\.\d+\.\d+\n$')

    @unittest.skipUnless(shutil.which('man'), 'no man')
    def test_the_manual_is_well_formed(self):
        ended = subprocess.run(['man', '--warnings', '-l', str(MANUAL)], capture_output=True,
                               text=True, check=False, env={**os.environ, 'MANWIDTH': '80'})
        self.assertEqual('', ended.stderr)
        self.assertIn('TERN-WATCH', ended.stdout)


if __name__ == '__main__':
    del sys.argv[1]
    unittest.main(verbosity=2)
