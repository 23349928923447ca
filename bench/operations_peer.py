# SPDX-License-Identifier: Apache-2.0
"""The other side of operations_bench.c, in PyTorch and JAX.

    operations_peer.py eager|compile|jit

JAX takes the operands that PyTorch's generator draws, so that the results can be compared.
"""
import os
import sys
import time

import torch

from serve import memory

TENSORS = 10000
COLUMNS = {"gather": 1, "index_select": 0}  # dimension of the first operand that indices are in


def composed_layer_norm(x):
    centred = x - x.mean(1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(1, keepdim=True) + 1e-5)


F, nn = torch.nn.functional, torch.nn
TORCH = {
    "exp": torch.exp, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "silu": F.silu, "relu": torch.relu,
    "logsigmoid": F.logsigmoid, "sin": torch.sin, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt,
    "log": torch.log, "add": torch.add, "mul": torch.mul, "clone": torch.clone,
    "randn": lambda x: torch.randn(x.shape), "uniform": lambda x: torch.rand(x.shape),
    "dropout": lambda x: F.dropout(x, 0.5, True), "glu": F.glu,
    "sum_rows": lambda x: x.sum(1), "sum_columns": lambda x: x.sum(0), "sum_all": torch.sum,
    "amax_rows": lambda x: x.amax(1), "argmax_rows": lambda x: x.argmax(1),
    "cumsum_rows": lambda x: x.cumsum(1), "cumsum_columns": lambda x: x.cumsum(0),
    "sort_rows": lambda x: x.sort(-1).values, "topk_rows": lambda x: x.topk(5, -1).values,
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
LAYERS = {  # of the numbers behind the name
    "conv2d": lambda n: nn.Conv2d(n[0], n[1], n[2], stride=n[3], padding=n[4], groups=n[5]),
    "batch_norm2d": lambda n: nn.BatchNorm2d(n[0]),
    "group_norm": lambda n: nn.GroupNorm(n[0], n[1]),
    "max_pool2d": lambda n: nn.MaxPool2d(n[0], stride=n[1], padding=n[2]),
    "avg_pool2d": lambda n: nn.AvgPool2d(n[0], stride=n[1], padding=n[2]),
    "adaptive_avg_pool2d": lambda n: nn.AdaptiveAvgPool2d(n[0]),
}


def read(words):
    """The name, if it is forward and backward, the numbers of a layer, and the sizes."""
    name, *sizes = words
    backward = name.startswith("grad:")
    name, _, numbers = name.removeprefix("grad:").partition(":")
    return name, backward, [int(number) for number in numbers.split(",") if number], sizes


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
        name, self.backward, numbers, sizes = read(words)
        self.x = operands(name, sizes)
        torch.set_grad_enabled(self.backward)
        if name.startswith("sgd"):
            return self.take_optimizer(TENSORS if name == "sgd_many" else 1)
        function = LAYERS[name](numbers) if numbers else TORCH[name]
        self.parameters = list(function.parameters()) if numbers else []
        self.function = torch.compile(function) if self.compiles else function
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
        for x in (*self.x, *self.parameters):
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
        name, backward, numbers, sizes = read(words)
        function = self.functions.get(name)
        if not function:
            raise KeyError(f"no {name}")
        x = operands(name, sizes)
        if numbers:
            function = function(*numbers)
            x += LAYERS[name](numbers).parameters()
        x = [jax.numpy.array(x.detach().numpy()) for x in x]
        y = jax.jit(function)(*x)
        if not backward:
            self.x, self.call = x, jax.jit(function)
        else:
            self.x = [jax.random.normal(jax.random.key(0), y.shape), *x]
            self.call = jax.jit(lambda dy, *x: self.both(function, dy, x))
        return float(jax.numpy.abs(y.astype("float32")).mean())

    def both(self, function, dy, x):
        """The result, and the gradients of what is floating."""
        jax = self.jax
        floats = sum(jax.numpy.issubdtype(x.dtype, jax.numpy.floating) for x in x)  # come first
        y, back = jax.vjp(lambda *first: function(*first, *x[floats:]), *x[:floats])
        return y, back(dy)

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
        return normalize(x, (1,))

    def dropout(x):
        return jnp.where(jax.random.bernoulli(jax.random.key(0), 0.5, x.shape), 2 * x, 0)

    def conv2d(_in, _out, _kernel, stride, padding, groups):
        return lambda x, weight, bias: jax.lax.conv_general_dilated(
            x, weight, (stride, stride), [(padding, padding)] * 2,
            feature_group_count=groups) + bias[:, None, None]

    def normalize(x, axes):
        centred = x - x.mean(axes, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(axes, keepdims=True) + 1e-5)

    def batch_norm2d(_):
        return lambda x, weight, bias: (
            normalize(x, (0, 2, 3)) * weight[:, None, None] + bias[:, None, None])

    def group_norm(groups, _):
        def compute(x, weight, bias):
            y = normalize(x.reshape(len(x), groups, -1), (2,)).reshape(x.shape)
            return y * weight[:, None, None] + bias[:, None, None]
        return compute

    def pool(reduce, start, kernel, stride, padding):
        around = ((0, 0), (0, 0), (padding, padding), (padding, padding))
        return lambda x: jax.lax.reduce_window(
            x, start, reduce, (1, 1, kernel, kernel), (1, 1, stride, stride), around)

    def avg_pool2d(kernel, stride, padding):
        add = pool(jax.lax.add, 0.0, kernel, stride, padding)
        return lambda x: add(x) / kernel**2

    return {
        "conv2d": conv2d, "batch_norm2d": batch_norm2d, "group_norm": group_norm,
        "max_pool2d": lambda *n: pool(jax.lax.max, -jnp.inf, *n), "avg_pool2d": avg_pool2d,
        "adaptive_avg_pool2d": lambda _: lambda x: x.mean((2, 3), keepdims=True),
        "exp": jnp.exp, "gelu": lambda x: nn.gelu(x, approximate=False),
        "gelu_tanh": lambda x: nn.gelu(x, approximate=True), "tanh": jnp.tanh,
        "sigmoid": nn.sigmoid, "silu": nn.silu, "relu": nn.relu, "logsigmoid": nn.log_sigmoid,
        "sin": jnp.sin, "sqrt": jnp.sqrt, "rsqrt": jax.lax.rsqrt, "log": jnp.log,
        "add": jnp.add, "mul": jnp.multiply, "clone": jnp.copy,
        "randn": lambda x: jax.random.normal(jax.random.key(0), x.shape),
        "uniform": lambda x: jax.random.uniform(jax.random.key(0), x.shape),
        "dropout": dropout, "glu": nn.glu, "sum_rows": lambda x: x.sum(1),
        "sum_columns": lambda x: x.sum(0), "sum_all": jnp.sum, "amax_rows": lambda x: x.max(1),
        "argmax_rows": lambda x: x.argmax(1), "cumsum_rows": lambda x: x.cumsum(1),
        "cumsum_columns": lambda x: x.cumsum(0), "norm": lambda x: jnp.sqrt((x * x).sum()),
        "sort_rows": lambda x: jnp.take_along_axis(x, jnp.argsort(x, -1), -1),
        "topk_rows": lambda x: jax.lax.top_k(x, 5)[0],
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


def main():
    peer = (Jax if sys.argv[1] == "jit" else Torch)(sys.argv[1])
    for request in sys.stdin:
        word, *words = request.split()
        if word == "take":
            answer = repr(peer.take(words))
        elif word == "run":
            answer = repr(peer.run(int(words[0])))
        elif word == "memory":
            answer = memory()
        else:
            answer = {"versions": peer.versions, "info": peer.info}[word]
        print(answer, flush=True)


main()
