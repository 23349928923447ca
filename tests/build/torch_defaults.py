#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options are, unless said, what PyTorch's are: torch_defaults.json, which make_torch_defaults.py
wrote, is compared with the description of the headers.

    torch_defaults.py TORCH_DEFAULTS.JSON TERN.JSON
"""
import json
import math
import sys

# Words of PyTorch, and what tern calls them.
WORDS = {"zeros": "TERN_PAD_ZEROS", "mean": "TERN_REDUCTION_MEAN", "nearest": "TERN_NEAREST",
         "none": "TERN_APPROXIMATE_NONE", "cos": "TERN_ANNEAL_COS", "min": "TERN_MIN",
         "rel": "TERN_THRESHOLD_REL", "triangular": "TERN_CYCLIC_TRIANGULAR",
         "fan_in": "TERN_FAN_IN", "leaky_relu": "TERN_NONLINEARITY_LEAKY_RELU"}
# What None is here: nothing that is said.
NONE = (None, "NAN", 0, "TERN_DTYPE_UNSPECIFIED", "TERN_SAME_AS_KERNEL", "TERN_SAME_AS_FIRST",
        "TERN_DEVICE_UNSPECIFIED", "TERN_REDUCTION_UNSPECIFIED", "TERN_LINE_SEARCH_NONE",
        "TERN_IGNORE_INDEX_UNSPECIFIED", "TERN_MUON_ORIGINAL")

def first(told):
    """Of sizes that are all the same, the one; of a device, its type."""
    if isinstance(told, list) and all(one == "TERN_SAME_AS_FIRST" for one in told[1:]):
        return told[0]
    return told[0] if isinstance(told, list) and told[0] == "TERN_DEVICE_UNSPECIFIED" else told


def same(torch, told):
    told = first(told)
    if torch is None:
        return told in NONE or told == [0]
    if isinstance(torch, str):
        return torch in WORDS and told == WORDS[torch]
    if isinstance(torch, (list, tuple)):
        if not torch:
            return told == 0  # of no sizes: the rank
        return [-1 if one is None else one for one in torch] == told  # of Adafactor's eps
    return isinstance(told, (bool, int, float)) and math.isclose(torch, told, rel_tol=1e-15)


def main(stored, description):
    with open(stored, encoding="utf-8") as file:
        torch = json.load(file)["calls"]
    with open(description, encoding="utf-8") as file:
        calls = {call["name"]: call["values"] for call in json.load(file)["calls"]}
    pairs = [(call, name, value, calls[call][name]) for call, values in torch.items()
             for name, value in values.items() if name in calls[call]]
    wrong = [pair for pair in pairs if not same(pair[2], pair[3])]
    planted = [pair for pair in pairs if same("another", pair[3])]
    for call, name, value, told in wrong:
        print(f"{call}: {name} is {value} in PyTorch and {told} here")
    print(f"{len(pairs)} options of {len(torch)} calls, {len(wrong)} differ")
    return 1 if wrong or planted or len(pairs) < 200 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
