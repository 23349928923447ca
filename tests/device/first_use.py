#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public call that takes a device works as the first one of a process that uses it.

    first_use.py TERN.JSON PROGRAM FOLDER

The calls come from the description of the headers; PROGRAM has a case for each.
"""
import json
import subprocess
import sys

DEVICES = ("tern_device", "const tern_device *", "tern_device *")
NUMBERED = ("cuda.h", "cuda_graph.h", "device.h")  # there an `index` is that of a device
NAMED = ("map_location",)  # texts that name devices


def takes_device(fields, header):
    return any(field["type"] in DEVICES or field["name"] in NAMED
               or (field["name"], field["type"]) == ("index", "int") and header in NUMBERED
               for field in fields)


def calls(told):
    """The names of those with a device among the parameters or options."""
    structs = {struct["name"]: struct["fields"] for struct in told["structs"]}
    structs |= {alias["name"]: structs[alias["type"]] for alias in told["aliases"]
                if alias["type"] in structs}
    found = {item["name"] for item in told["functions"]
             if takes_device(item["parameters"], item["header"])}
    return found | {call["name"] for call in told["calls"]
                    if takes_device(structs[call["options"]], "")}


def failures(program, names, folder):
    for name in names:
        for index in "01":
            done = subprocess.run([program, name, index, folder], check=False, timeout=60)
            if done.returncode != 0:
                yield f"{name} as the first use of cuda:{index} ends with {done.returncode}"


def main(description, program, folder):
    with open(description, encoding="utf-8") as file:
        wanted = calls(json.load(file))
    listed = subprocess.run([program, "list"], check=True, capture_output=True, text=True)
    there = set(listed.stdout.split())
    wrong = [f"{name} takes a device and has no case in first_use.c" for name in wanted - there]
    wrong += [f"{name} has a case in first_use.c and takes no device" for name in there - wanted]
    wrong += list(failures(program, sorted(there), folder))
    print("\n".join(sorted(wrong)) or f"{len(there)} calls on two devices")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
