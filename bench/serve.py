# SPDX-License-Identifier: Apache-2.0
"""The peers' side of the protocol of train_bench.c."""
import resource
import sys

CNN = "cnn"  # in place of sizes: the network of examples/cnn_mnist, without dropout


def memory():
    """The most memory that the process had so far, in MiB."""
    return repr(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


OPTIMIZERS = ("adam", "adamw")


def sort_words(words):
    """What stands behind the loss: the device, the optimizer, and if products are in TF32."""
    optimizer = next((word for word in words if word in OPTIMIZERS), "adam")
    device = next((word for word in words if word not in (*OPTIMIZERS, "tf32")), "cpu")
    return device, optimizer, "tf32" in words


def serve(make_task, words):
    """Answers the requests on stdin; what goes wrong is one line on stderr."""
    try:
        sizes, batch, loss, *more = words
        if sizes != CNN:
            sizes = [int(size) for size in sizes.split(",")]
        task = make_task(sizes, int(batch), loss, more)
        for request in sys.stdin:
            word, *count = request.split()
            if word == "memory":
                print(memory(), flush=True)
                continue
            print(task.answer(word, int(count[0]) if count else 0), flush=True)
    except Exception as error:  # whatever a library raises
        first = (str(error).strip().splitlines() or ["no reason given"])[0]
        sys.exit(f"{type(error).__name__}: {first}")
