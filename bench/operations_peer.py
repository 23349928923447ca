# SPDX-License-Identifier: Apache-2.0
"""The other side of operations_bench.c, in PyTorch and JAX.

    operations_peer.py eager|compile|jit

JAX takes the operands that PyTorch's generator draws, so that the results can be compared.
"""
import os
import resource
import sys
import time

import torch

TENSORS = 10000
COLUMNS = {"gather": 1, "index_select": 0}  # dimension of the first operand that indices are in


def composed_layer_norm(x):
    centred = x - x.mean(1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(1, keepdim=True) + 1e-5)


F = torch.nn.functional
TORCH = {
    "exp": torch.exp, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "silu": F.silu, "relu": torch.relu,
    "logsigmoid": F.logsigmoid, "sin": torch.sin, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "log": torch.log, "add": torch.add, "mul": torch.mul,
    "randn": lambda x: torch.randn(x.shape), "uniform": lambda x: torch.rand(x.shape),
    "dropout": lambda x: F.dropout(x, 0.5, True), "glu": F.glu,
    "sum_rows": lambda x: x.sum(1), "sum_columns": lambda x: x.sum(0), "sum_all": torch.sum,
    "amax_rows": lambda x: x.amax(1), "argmax_rows": lambda x: x.argmax(1),
    "cumsum_rows": lambda x: x.cumsum(1), "cumsum_columns": lambda x: x.cumsum(0),
    "norm": lambda x: torch.linalg.vector_norm(x), "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "composed_layer_norm": composed_layer_norm,
    "gather": lambda x, i: x.gather(1, i), "index_select": lambda x, i: x.index_select(0, i),
    "from_uint8": lambda x: x.to(torch.float32), "to_bfloat16": lambda x: x.to(torch.bfloat16),
    "to_float16": lambda x: x.to(torch.float16),
    "copy_transposed": lambda x: x.transpose(0, 1).contiguous(),
    "matmul": torch.matmul, "matmul_transposed": lambda x, y: x.transpose(0, 1) @ y,
    "chain": lambda x: x @ x @ x @ x,
}


def operands(name, sizes):
    """What operations_bench.c draws."""
    torch.manual_seed(0)
    x = [torch.randn([int(size) for size in text.split(",")]) for text in sizes]
    if name in ("sqrt", "rsqrt", "log"):
        x[0] = x[0].abs() + 0.1
    if name == "from_uint8":
        x[0] = (x[0].abs() * 50).to(torch.uint8)
    if name in COLUMNS:
        torch.manual_seed(1)
        x[1] = torch.randint(0, x[0].shape[COLUMNS[name]], x[1].shape)
    return x


class Torch:
    def __init__(self, variant):
        self.compiles = variant == "compile"
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        self.versions = f"PyTorch {torch.__version__}"
        self.info = f"{self.versions}, {variant}, {torch.get_num_threads()} thread(s)"

    def take(self, words):
        name, *sizes = words
        self.backward = name.startswith("grad:")
        name = name.removeprefix("grad:")
        self.x = operands(name, sizes)
        torch.set_grad_enabled(self.backward)
        if name.startswith("sgd"):
            return self.take_optimizer(TENSORS if name == "sgd_many" else 1)
        self.function = torch.compile(TORCH[name]) if self.compiles else TORCH[name]
        y = self.function(*self.x)
        self.dy = torch.randn(y.shape)
        for x in self.x:
            x.requires_grad_(self.backward and x.is_floating_point())
        self.call = self.call_backward if self.backward else lambda: self.function(*self.x)
        return y.detach().double().abs().mean().item()

    def take_optimizer(self, count):
        self.list = [self.x[0].clone().requires_grad_() for _ in range(count)]
        for x in self.list:
            x.grad = self.x[0].clone()
        for words in ({"fused": True}, {"foreach": True}, {}):  # fused: since 2.4
            try:
                optimizer = torch.optim.SGD(self.list, lr=1e-9, **words)
                optimizer.step()
                break
            except (TypeError, RuntimeError):
                continue
        self.call = optimizer.step
        return self.x[0].double().abs().mean().item()

    def call_backward(self):
        self.function(*self.x).backward(self.dy)
        for x in self.x:
            x.grad = None

    def run(self, count):
        begun = time.perf_counter()
        for _ in range(count):
            self.call()
        return time.perf_counter() - begun


class Jax:
    def __init__(self, _):
        import jax

        jax.config.update("jax_platforms", "cpu")
        self.jax, self.functions = jax, jax_functions(jax)
        self.versions = f"JAX {jax.__version__}"
        self.info = f"{self.versions}, jit"

    def take(self, words):
        jax = self.jax
        name, *sizes = words
        backward = name.startswith("grad:")
        name = name.removeprefix("grad:")
        if name not in self.functions:
            raise KeyError(f"no {name}")
        function = self.functions[name]
        self.x = [jax.numpy.array(x.numpy()) for x in operands(name, sizes)]
        y = jax.jit(function)(*self.x)
        if backward:
            def both(dy, x, *rest):
                if rest and jax.numpy.issubdtype(rest[0].dtype, jax.numpy.floating):
                    y, back = jax.vjp(function, x, *rest)
                else:
                    y, back = jax.vjp(lambda x: function(x, *rest), x)
                return y, back(dy)
            self.call = jax.jit(both)
            self.x = [jax.random.normal(jax.random.key(0), y.shape), *self.x]
        else:
            self.call = jax.jit(function)
        return float(jax.numpy.abs(y.astype("float32")).mean())

    def run(self, count):
        jax = self.jax
        begun = time.perf_counter()
        for _ in range(count):
            y = self.call(*self.x)
        jax.block_until_ready(y)
        return time.perf_counter() - begun


def jax_functions(jax):
    jnp, nn = jax.numpy, jax.nn

    def layer_norm(x):
        centred = x - x.mean(1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(1, keepdims=True) + 1e-5)

    def dropout(x):
        return jnp.where(jax.random.bernoulli(jax.random.key(0), 0.5, x.shape), 2 * x, 0)

    return {
        "exp": jnp.exp, "gelu": lambda x: nn.gelu(x, approximate=False),
        "gelu_tanh": lambda x: nn.gelu(x, approximate=True), "tanh": jnp.tanh,
        "sigmoid": nn.sigmoid, "silu": nn.silu, "relu": nn.relu, "logsigmoid": nn.log_sigmoid,
        "sin": jnp.sin, "sqrt": jnp.sqrt, "rsqrt": jax.lax.rsqrt, "log": jnp.log,
        "add": jnp.add, "mul": jnp.multiply,
        "randn": lambda x: jax.random.normal(jax.random.key(0), x.shape),
        "uniform": lambda x: jax.random.uniform(jax.random.key(0), x.shape),
        "dropout": dropout, "glu": nn.glu, "sum_rows": lambda x: x.sum(1),
        "sum_columns": lambda x: x.sum(0), "sum_all": jnp.sum, "amax_rows": lambda x: x.max(1),
        "argmax_rows": lambda x: x.argmax(1), "cumsum_rows": lambda x: x.cumsum(1),
        "cumsum_columns": lambda x: x.cumsum(0), "norm": lambda x: jnp.sqrt((x * x).sum()),
        "softmax": nn.softmax, "log_softmax": nn.log_softmax, "layer_norm": layer_norm,
        "composed_layer_norm": layer_norm,
        "gather": lambda x, i: jnp.take_along_axis(x, i, 1),
        "index_select": lambda x, i: jnp.take(x, i, 0),
        "from_uint8": lambda x: x.astype(jnp.float32),
        "to_bfloat16": lambda x: x.astype(jnp.bfloat16),
        "to_float16": lambda x: x.astype(jnp.float16), "copy_transposed": lambda x: x.T + 0,
        "matmul": jnp.matmul, "matmul_transposed": lambda x, y: x.T @ y,
        "chain": lambda x: x @ x @ x @ x, "sgd": lambda x: x - 1e-9 * x,
    }


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    peer = (Jax if sys.argv[1] == "jit" else Torch)(sys.argv[1])
    for request in sys.stdin:
        word, *words = request.split()
        if word == "take":
            print(repr(peer.take(words)), flush=True)
        elif word == "run":
            print(repr(peer.run(int(words[0]))), flush=True)
        elif word == "memory":
            print(memory(), flush=True)
        else:
            print({"versions": peer.versions, "info": peer.info}[word], flush=True)


main()
