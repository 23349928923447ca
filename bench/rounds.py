# SPDX-License-Identifier: Apache-2.0
"""Rounds of blocks, of which compare.py and operations.py make their ratios."""
import datetime
import random
import statistics
import time
from itertools import product

from peer import keep


def interval(values, draws=2000):
    """The median and its 95 % bootstrap interval."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(draws))
    return statistics.median(values), medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def ratio(first, other):
    """How many times the first one's seconds the other's are, round by round, as interval()."""
    return interval([b / a for a, b in zip(first, other)])


def is_void(low, high):
    """Half of the interval of tern against itself, as it is printed, is over 3 %, or all of it is
    over 3 % off 1."""
    low, high = round(1000 * low), round(1000 * high)
    return high - low > 60 or low > 1030 or high < 970


def time_left(end):
    return end - time.perf_counter()


def play_round(peers, order):
    """Gives each peer the seconds of its better block. Returns those that are still there."""
    best = {peer: float("inf") for peer in peers}

    def play_block(peer):
        best[peer] = min(best[peer], peer.block())

    for _ in range(2):
        left = keep(order.sample(peers, len(peers)), play_block)
        peers = [peer for peer in peers if peer in left]
    for peer in peers:
        peer.seconds.append(best[peer])
    return peers


def play(peers, rounds, meter, order, end):
    """Rounds, as many as there is time for, and the meter's reading of each."""
    readings = [meter.read()]
    while len(readings) <= rounds and (len(readings) == 1 or time_left(end) > 0):
        peers = play_round(peers, order)
        readings.append(meter.read())
    return peers, [meter.of_round(pair) for pair in zip(readings, readings[1:])]


def play_until_steady(peers, rounds, meter, order, end):
    """play(), and once more as many where tern against itself came out void; all rounds count."""
    peers, readings = play(peers, rounds, meter, order, end)
    if is_void(*ratio(peers[0].seconds, peers[1].seconds)[1:]) and time_left(end) > 0:
        peers, more = play(peers, rounds, meter, order, end)
        readings += more
    return peers, readings


def machine():
    """The line of a run in a file of results, before its rows."""
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    return {"kind": "machine", "date": datetime.date.today().isoformat(),
            "processor": names[0] if names else "unknown"}


def record(row, peers, meter, readings):
    """The line of a row in a file of results."""
    return {
        **row,
        "peers": [{"variant": peer.name, "what": peer.info, "versions": peer.versions,
                   "ready_seconds": peer.ready, "mib": peer.memory(),
                   "step_seconds": peer.seconds, "disturbed_blocks": peer.disturbed}
                  for peer in peers],
        "pace": [dict(zip(meter.columns, reading)) for reading in readings],
    }


def python_peers(kind, pythons, script, variants, words, cores):
    """A peer of this kind for each variant and interpreter: PYTHON, or PYTHON=VARIANT,VARIANT."""
    named = []
    for python in pythons:
        python, _, own = python.partition("=")
        named += product([python], own.split(",") if own else variants)
    return [kind(variant, [python, script, variant, *words], cores) for python, variant in named]
