# SPDX-License-Identifier: Apache-2.0
"""Training steps in JAX on request: the work of train_bench.c, and its protocol.

    jax_peer.py jit|scan 784,512,512,10 64 cross_entropy [DEVICE] [adam|adamw] [tf32]

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

from serve import CNN, serve, sort_words

BLOCK = 64  # steps of one scan
BETA1, BETA2, EPS, LR, DECAY = 0.9, 0.999, 1e-8, 1e-3, 1e-2
MOMENTUM, VARIANCE_EPS = 0.1, 1e-5  # of batch normalisation
COARSE = 1 + 2**-12  # TF32 makes it 1


def draw(sizes, batch, loss):
    """Batches and weights, from another process: PyTorch's CUDA libraries stay out of this one."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "draws.py")
    text = sizes if sizes == CNN else ",".join(str(size) for size in sizes)
    words = [text, str(batch), loss]
    drawn = subprocess.run([sys.executable, script, *words], capture_output=True, check=False)
    if drawn.returncode:
        raise RuntimeError("no data: " + drawn.stderr.decode().strip().splitlines()[-1])
    file = numpy.load(io.BytesIO(drawn.stdout))
    arrays = {name: jnp.array(array) for name, array in file.items()}
    return arrays.pop("x"), arrays.pop("y"), arrays


def linear(weights, layer, x):
    return x @ weights[f"{layer}.weight"].T + weights[f"{layer}.bias"]


def mlp(weights, statistics, x):
    layers = sorted({int(name.partition(".")[0]) for name in weights})
    for layer in layers:
        x = linear(weights, layer, jax.nn.relu(x) if layer else x)
    return x, statistics


def conv(weights, layer, x):
    y = jax.lax.conv_general_dilated(x, weights[f"{layer}.weight"], (1, 1), "SAME")
    return y + weights[f"{layer}.bias"][:, None, None]


def batch_norm(weights, statistics, layer, x):
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    scale = weights[f"{layer}.weight"] * jax.lax.rsqrt(variance + VARIANCE_EPS)
    shift = weights[f"{layer}.bias"] - mean * scale
    count = x.size / x.shape[1]
    seen = jnp.stack([mean, variance * count / (count - 1)])
    statistics = {**statistics, layer: (1 - MOMENTUM) * statistics[layer] + MOMENTUM * seen}
    return x * scale[:, None, None] + shift[:, None, None], statistics


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def cnn(weights, statistics, x):
    for layer in (0, 4):
        x = conv(weights, layer, x)
        x, statistics = batch_norm(weights, statistics, layer + 1, x)
        x = max_pool(jax.nn.relu(x))
    x = jax.nn.relu(linear(weights, 9, x.reshape(len(x), -1)))
    return linear(weights, 12, x), statistics


def loss_of(net, classes, weights, statistics, x, y):
    x, statistics = net(weights, statistics, x)
    if classes:
        loss = -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], axis=1).mean()
    else:
        loss = jnp.square(x - y).mean()
    return loss, statistics


def update(loss_of, decay, xs, ys, state):
    """One step of Adam on the batch whose turn it is."""
    weights, statistics, first, second, step = state
    at = step % len(xs)
    both = jax.value_and_grad(loss_of, has_aux=True)
    (loss, statistics), grads = both(weights, statistics, xs[at], ys[at])
    step = step + 1
    mix = jax.tree_util.tree_map
    first = mix(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, grads)
    second = mix(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, grads)
    # 1 - beta ** step would lose digits in float32.
    correct1, correct2 = (-jnp.expm1(step * math.log(beta)) for beta in (BETA1, BETA2))
    weights = mix(
        lambda w, m, v: w * (1 - LR * decay) - LR / correct1 * m / (jnp.sqrt(v / correct2) + EPS),
        weights, first, second)
    return (weights, statistics, first, second, step), loss


class Task:
    def __init__(self, variant, sizes, batch, loss, optimizer):
        xs, ys, self.weights = draw(sizes, batch, loss)
        self.statistics = {}
        if sizes == CNN:  # means and variances of two layers
            self.statistics = {layer: jnp.stack([jnp.zeros(count), jnp.ones(count)])
                               for layer, count in ((1, 32), (5, 64))}
        compute = partial(loss_of, cnn if sizes == CNN else mlp, loss == "cross_entropy")
        one = partial(update, compute, DECAY if optimizer == "adamw" else 0)

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
        self.state = (copy(jnp.copy, self.weights), copy(jnp.copy, self.statistics), zeros,
                      copy(jnp.copy, zeros), jnp.zeros((), jnp.int32))
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
    device, optimizer, tf32 = sort_words(more)
    jax.config.update("jax_default_matmul_precision", "tensorfloat32" if tf32 else "float32")
    # Where the device cannot be had JAX would go on without it.
    jax.config.update("jax_platforms", "cuda" if device.startswith("cuda") else "cpu")
    try:
        jax.devices()
    except AssertionError as error:
        raise RuntimeError("this JAX knows no CUDA") from error
    return Task(sys.argv[1], sizes, batch, loss, optimizer)


serve(make_task, sys.argv[2:])
