# SPDX-License-Identifier: Apache-2.0
"""Training steps of an MLP in JAX on request: the work of train_bench.c, and its protocol.

    jax_peer.py jit|scan 784,512,512,10 64 cross_entropy [DEVICE] [tf32]

jit: one compiled step a call. scan: as many steps in one call as are asked for, up to a block of
them. Data and weights are those of train_bench.c: PyTorch's generator draws them, so that the
losses can be compared; without PyTorch this peer cannot be had.
"""
import io
import math
import os
import subprocess
import sys
import time
from functools import partial

import jax
import jax.numpy as jnp
import jaxlib
import numpy

from serve import CNN, serve

BLOCK = 64  # steps of one scan
BETA1, BETA2, EPS, LR = 0.9, 0.999, 1e-8, 1e-3
COARSE = 1 + 2**-12  # TF32 makes it 1


def draw(sizes, batch, loss):
    """Batches and weights, from another process: PyTorch's CUDA libraries stay out of this one."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "draws.py")
    words = [",".join(str(size) for size in sizes), str(batch), loss]
    drawn = subprocess.run([sys.executable, script, *words], capture_output=True, check=False)
    if drawn.returncode:
        raise RuntimeError("no data: " + drawn.stderr.decode().strip().splitlines()[-1])
    file = numpy.load(io.BytesIO(drawn.stdout))
    arrays = {name: jnp.array(array) for name, array in file.items()}
    weights = [(arrays[f"weight{i}"], arrays[f"bias{i}"]) for i in range(len(sizes) - 1)]
    return arrays["x"], arrays["y"], weights


def loss_of(weights, x, y, classes):
    for i, (weight, bias) in enumerate(weights):
        x = jax.nn.relu(x) if i else x
        x = x @ weight.T + bias
    if classes:
        return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], axis=1).mean()
    return jnp.square(x - y).mean()


def update(classes, xs, ys, state):
    """One step of Adam on the batch whose turn it is."""
    weights, first, second, step = state
    at = step % len(xs)
    loss, grads = jax.value_and_grad(loss_of)(weights, xs[at], ys[at], classes)
    step = step + 1
    mix = jax.tree_util.tree_map
    first = mix(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, grads)
    second = mix(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, grads)
    # 1 - beta ** step would lose digits in float32.
    correct1, correct2 = (-jnp.expm1(step * math.log(beta)) for beta in (BETA1, BETA2))
    weights = mix(lambda w, m, v: w - LR / correct1 * m / (jnp.sqrt(v / correct2) + EPS),
                  weights, first, second)
    return (weights, first, second, step), loss


class Task:
    def __init__(self, variant, sizes, batch, loss):
        xs, ys, self.weights = draw(sizes, batch, loss)
        one = partial(update, loss == "cross_entropy")

        def block(xs, ys, state):
            return jax.lax.scan(lambda state, _: one(xs, ys, state), state, None, length=BLOCK)

        # The batches are arguments: what a function closes over is compiled into it.
        self.one = partial(jax.jit(one, donate_argnums=2), xs, ys)
        self.block = partial(jax.jit(block, donate_argnums=2), xs, ys)
        self.scans = variant == "scan"
        self.reset()

    def reset(self):
        copy = jax.tree_util.tree_map
        zeros = copy(jnp.zeros_like, self.weights)
        self.state = (copy(jnp.copy, self.weights), zeros, copy(jnp.copy, zeros),
                      jnp.zeros((), jnp.int32))
        return "done"

    def step(self):
        self.state, loss = self.one(self.state)
        return loss

    def run(self, count):
        jax.block_until_ready(self.state)
        start = time.perf_counter()
        while count > 0:
            if self.scans and count >= BLOCK:
                self.state, _ = self.block(self.state)
                count -= BLOCK
            else:
                self.step()
                count -= 1
        jax.block_until_ready(self.state)
        return time.perf_counter() - start

    def answer(self, word, count):
        if word == "losses":
            return " ".join(repr(float(self.step())) for _ in range(count))
        if word == "run":
            return repr(self.run(count))
        return {"info": info, "reset": self.reset, "probe": probe, "versions": versions}[word]()


def info():
    return f"JAX {jax.__version__}, {jax.devices()[0]}"


def probe():
    product = jnp.full((64, 64), COARSE, jnp.float32) @ jnp.eye(64, dtype=jnp.float32)
    return repr(float(product[0, 0]) - 1)


def versions():
    return f"JAX {jax.__version__}, jaxlib {jaxlib.__version__}"


def make_task(sizes, batch, loss, more):
    if sizes == CNN:
        raise RuntimeError("this peer has no convolutional network")
    jax.config.update("jax_default_matmul_precision",
                      "tensorfloat32" if "tf32" in more else "float32")
    # Where the device cannot be had JAX would go on without it.
    on_cuda = any(word.startswith("cuda") for word in more)
    jax.config.update("jax_platforms", "cuda" if on_cuda else "cpu")
    try:
        jax.devices()
    except AssertionError as error:
        raise RuntimeError("this JAX knows no CUDA") from error
    return Task(sys.argv[1], sizes, batch, loss)


serve(make_task, sys.argv[2:])
