# SPDX-License-Identifier: Apache-2.0
"""How fast the machine itself was in each round of compare.py: a core's peak, or a GPU's clock.

A meter has `columns`, the names of what it reads; `read()`, a tuple of that, its pace first; and
`of_round()`, which makes one of a round's readings. Where there is nothing to read it is ().
"""
import math
import operator
import os
import statistics
import subprocess
from functools import reduce

IDLE = 1  # a reason for a low clock, but none that slows work down


def odd_rounds(rounds):
    """The pace that the rounds had, and in how many it was over 3 % off that."""
    paces = [reading[0] for reading in rounds]
    steady = statistics.median(paces)
    odd = sum(abs(pace - steady) > 0.03 * steady for pace in paces)
    return steady, f"over 3 % off in {odd} of {len(rounds)} rounds"


def combine(functions, readings):
    return tuple(reduce(function, values) for function, values in zip(functions, zip(*readings)))


class Peak:
    """The multiply-adds of a core, which tern measures."""
    columns = ["peak_gflops"]

    def __init__(self, tern):
        self.tern = tern

    def read(self):
        return (float(self.tern.ask("peak")),)

    def of_round(self, readings):
        return combine([max], readings)

    def share(self, rounds, flops, threads):
        """What a rate of `flops` is of it, in percent."""
        steady = odd_rounds(rounds)[0]
        return 100 * flops / (steady * 1e9 * threads) if steady else 0

    def words(self, rounds, flops, threads):
        """What a rate of `flops` is beside it."""
        steady, odd = odd_rounds(rounds)
        return (f"{self.share(rounds, flops, threads):.1f} % of the peak "
                f"({steady:.0f} GFLOP/s a core; {odd})")


def nvidia_smi(fields, index):
    """The values of a GPU's fields, or [] where they cannot be had."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    which = visible[index].strip() if index < len(visible) else ""
    try:
        answer = subprocess.run(
            ["nvidia-smi", f"--id={which or index}", "--query-gpu=" + fields,
             "--format=csv,noheader,nounits"],
            capture_output=True, text=True, errors="replace", timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    values = [value.strip() for value in answer.stdout.strip().split(",")]
    return values if len(values) == len(fields.split(",")) else []


def number(text, base=None):
    """0 for "[N/A]" and what else is no number."""
    try:
        value = int(text, base) if base else float(text)
    except ValueError:
        return 0
    return value if math.isfinite(value) else 0


class Clock:
    """The clock, the power and what holds the clock back of a GPU, as nvidia-smi tells them."""
    columns = ["sm_mhz", "watts", "held_back"]
    reasons = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")  # new, old drivers

    def __init__(self, device):
        self.index = int(device.partition(":")[2] or 0)
        self.device = ", driver ".join(nvidia_smi("name,driver_version", self.index))
        self.reason = next((name for name in self.reasons if self.values(name)), None)

    def heading(self):
        if self.reason:
            return self.device
        return (self.device or "no nvidia-smi") + ": no clock and power to be read"

    def values(self, reason):
        mhz, watts, mask = nvidia_smi("clocks.sm,power.draw," + reason, self.index) or [""] * 3
        if not number(mhz):
            return ()
        return number(mhz), number(watts), number(mask, 16) & ~IDLE

    def read(self):
        return self.values(self.reason) if self.reason else ()

    def of_round(self, readings):
        return combine([max, max, operator.or_], [reading for reading in readings if reading])

    def words(self, rounds, flops, _):
        rounds = [reading for reading in rounds if reading]
        rate = f"{flops / 1e12:.2f} TFLOP/s"
        if not rounds:
            return rate
        steady, odd = odd_rounds(rounds)
        watts = statistics.median(reading[1] for reading in rounds)
        held = [reading[2] for reading in rounds if reading[2]]
        why = f"; held back in {len(held)}: 0x{reduce(operator.or_, held):x}" if held else ""
        power = f", {watts:.0f} W" if watts else ""
        return f"{rate}, SM at {steady:.0f} MHz ({odd}{why}){power}"
