# SPDX-License-Identifier: Apache-2.0
"""The peers' side of the protocol of train_bench.c."""
import sys


def serve(make_task, words):
    """Answers the requests on stdin; what goes wrong is one line on stderr."""
    try:
        sizes, batch, loss, *more = words
        task = make_task([int(size) for size in sizes.split(",")], int(batch), loss, more)
        for request in sys.stdin:
            word, *count = request.split()
            print(task.answer(word, int(count[0]) if count else 0), flush=True)
    except Exception as error:  # whatever a library raises
        first = (str(error).strip().splitlines() or ["no reason given"])[0]
        sys.exit(f"{type(error).__name__}: {first}")
