# SPDX-License-Identifier: Apache-2.0
"""A run that logs is killed in the middle of writing, again and again, and goes on.

    logger_chaos.py WRITER SCHEMA KILLS [SEED]

Every other kill also tears the files: a beginning of another entry comes behind what they have.
After each kill the files have whole entries but for a torn end, and all that was flushed; a run
that goes on has every step once in each of them, whatever step it goes on from.
"""
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import log_reader

LAST = 10 ** 9
KILLS_OF_RUN = 20


def of_files(read, torn_may_be):
    """What `read` gives, also of a file that ends within an entry."""
    try:
        return read()
    except log_reader.Torn as tear:
        assert torn_may_be, 'a torn end where nothing was killed'
        return tear.entries
    except FileNotFoundError:
        return []


def check_steps(name, steps, least):
    last = len(steps)
    assert steps == list(range(1, last + 1)), f'{name}: steps are {steps[:20]} .. {steps[-20:]}'
    assert last >= least, f'{name}: step {least} was flushed, but it ends at {last}'
    return last


def tear(folder):
    """What a kill within write(2) leaves, which rarely happens by itself."""
    for path in (folder / 'log.jsonl', folder / 'log.csv', *log_reader.event_files(folder)[-1:]):
        data = path.read_bytes() if path.exists() else b''
        if path.suffix in ('.jsonl', '.csv'):
            entries = [line + b'\n' for line in data.split(b'\n')[:-1]]
        else:
            entries = [data[at:at + size] for at, size in log_reader.places(data)]
        if entries and sum(map(len, entries)) == len(data): # else it is torn already
            entry = random.choice(entries)
            path.write_bytes(data + entry[:random.randrange(1, len(entry))])


# Files of processes that ended, which stay as they are.
READ = {}


def events_of(path, torn_may_be):
    size = path.stat().st_size
    if READ.get(path, (None,))[0] != size:
        READ[path] = size, of_files(lambda: log_reader.read_events(path), torn_may_be)
    return READ[path][1]


def check(folder, schema, flushed, torn_may_be):
    """The least of the last steps that each file has."""
    lines = of_files(lambda: log_reader.read_lines(folder / 'log.jsonl', schema), torn_may_be)
    rows = of_files(lambda: log_reader.read_csv(folder / 'log.csv'), torn_may_be)
    files = log_reader.event_files(folder)
    events = [events_of(file, torn_may_be and file == files[-1]) for file in files]
    assert not any(line['kind'] == 'dropped' for line in lines), 'entries were dropped'
    points = [line for line in lines if line.get('tag') == 'a']
    assert all(point['value'] == point['step'] for point in points)
    kept = [event for file in events for event in file if event.get('tag') == 'a']
    assert kept == [event for event in log_reader.after_purges(events) if event['tag'] == 'a']
    assert all(event['scalar'] == event['step'] for event in kept)
    return min(check_steps('log.jsonl', [point['step'] for point in points], flushed),
               check_steps('log.csv', [row[1] for row in rows if row[2] == 'a'], flushed),
               check_steps('event files', [event['step'] for event in kept], flushed))


def run_and_kill(command, seconds):
    """The last step that it said is in the files."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as run:
        time.sleep(seconds)
        assert run.poll() is None, run.communicate()
        run.kill()
        said, errors = run.communicate()
    assert not errors, errors
    whole = said.split('\n')[:-1]
    return int(whole[-1]) if whole else 0


def kill_and_go_on(writer, schema, folder, kills):
    """One run; the step that it ends with."""
    first, flushed, resume = 1, 0, -1
    for kill in range(kills):
        command = [writer, str(folder), str(resume), str(first), str(LAST)]
        flushed = max(flushed, run_and_kill(command, random.uniform(0, 0.15)))
        if kill % 2 and folder.exists():
            tear(folder)
        last = check(folder, schema, flushed, True)
        # as from a checkpoint: of the last step or one before
        first = max(last - random.choice((0, 0, 1, 7, 30)), 0) + 1
        flushed = first - 1
        is_new = not any(folder.glob('*')) if folder.exists() else True
        resume = -1 if is_new else first - 1
        print(f'kill {kill + 1}: up to step {last}, goes on from {first}', flush=True)
    subprocess.run([writer, str(folder), str(resume), str(first), str(first + 25)], check=True,
                   stdout=subprocess.DEVNULL)
    assert check(folder, schema, first + 25, False) == first + 25
    return first + 25


def main(writer, schema, kills, seed):
    print('seed', seed)
    random.seed(seed)
    schema = log_reader.Schema(schema)
    for begun in range(0, kills, KILLS_OF_RUN):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / 'run'
            steps = kill_and_go_on(writer, schema, folder, min(KILLS_OF_RUN, kills - begun))
            lines = log_reader.read_lines(folder / 'log.jsonl', schema)
            assert lines[-1]['kind'] == 'end' and lines[-1]['status'] == 'finished'
            left = sorted(path.name for path in folder.iterdir()
                          if not path.name.startswith(('events.', 'log.')))
            assert not left, left
            print(f'a run of {steps} steps')
    print(f'{kills} kills')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]),
         int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(10 ** 6))
