# SPDX-License-Identifier: Apache-2.0
"""Training steps of an MLP in JAX on request: the work of train_bench.c, and its protocol.

    jax_peer.py jit|scan 784,512,512,10 64 cross_entropy [DEVICE] [tf32]

jit: one compiled step a call. scan: as many steps in one call as are asked for, up to a block of
them. Data and weights are those of train_bench.c: PyTorch's generator draws them, so that the
losses can be compared; without PyTorch this peer cannot be had.
"""
import sys
import time
from functools import partial

import jax
import jax.numpy as jnp
import torch

POOL = 8
BLOCK = 64  # steps of one scan
BETA1, BETA2, EPS, LR = 0.9, 0.999, 1e-8, 1e-3


def draw(sizes, batch, classes):
    """Batches and weights, with the draws of torch_peer.py."""
    torch.manual_seed(0)
    x = torch.rand(POOL * batch, sizes[0])
    if classes:
        y = torch.randint(0, sizes[-1], (POOL * batch,))
    else:
        y = torch.rand(POOL * batch, sizes[-1])
    torch.manual_seed(1)
    layers = [torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
    weights = [(jnp.array(layer.weight.detach().numpy()), jnp.array(layer.bias.detach().numpy()))
               for layer in layers]
    shape = (POOL, batch)
    return (jnp.array(x.numpy()).reshape(*shape, -1),
            jnp.array(y.numpy()).reshape(*shape, *y.shape[1:]), weights)


def loss_of(weights, x, y, classes):
    for i, (weight, bias) in enumerate(weights):
        x = jax.nn.relu(x) if i else x
        x = x @ weight.T + bias
    if classes:
        return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], axis=1).mean()
    return jnp.square(x - y).mean()


def update(classes, xs, ys, state, _):
    """One step of Adam on the batch whose turn it is."""
    weights, first, second, step = state
    at = step % POOL
    loss, grads = jax.value_and_grad(loss_of)(weights, xs[at], ys[at], classes)
    step = step + 1
    mix = jax.tree_util.tree_map
    first = mix(lambda m, g: BETA1 * m + (1 - BETA1) * g, first, grads)
    second = mix(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, second, grads)
    correct1, correct2 = 1 - BETA1 ** step, 1 - BETA2 ** step
    weights = mix(lambda w, m, v: w - LR / correct1 * m / (jnp.sqrt(v / correct2) + EPS),
                  weights, first, second)
    return (weights, first, second, step), loss


class Task:
    def __init__(self, variant, sizes, batch, loss):
        classes = loss == "cross_entropy"
        xs, ys, self.weights = draw(sizes, batch, classes)
        one = partial(update, classes, xs, ys)
        self.one = jax.jit(lambda state: one(state, None), donate_argnums=0)
        self.block = jax.jit(lambda state: jax.lax.scan(one, state, None, length=BLOCK),
                             donate_argnums=0)
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
        if word == "info":
            return f"JAX {jax.__version__}, {jax.devices()[0]}"
        if word == "reset":
            return self.reset()
        if word == "losses":
            return " ".join(repr(float(self.step())) for _ in range(count))
        return repr(self.run(count))


def main():
    variant, sizes, batch, loss, *more = sys.argv[1:]
    jax.config.update("jax_default_matmul_precision",
                      "tensorfloat32" if "tf32" in more else "float32")
    if not any(word.startswith("cuda") for word in more):
        jax.config.update("jax_platforms", "cpu")
    task = Task(variant, [int(size) for size in sizes.split(",")], int(batch), loss)
    for request in sys.stdin:
        word, *count = request.split()
        print(task.answer(word, int(count[0]) if count else 0), flush=True)


main()
