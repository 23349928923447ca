#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs that `test_programs write` writes on PyTorch, in float64, and compares every
tensor and every gradient with the reference's. Skipped where PyTorch is not installed.

usage: torch_programs.py TEST_PROGRAMS FIRST COUNT"""
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError as reason:
    print(f'skipped: {reason}')
    sys.exit(77)

MASK = (1 << 64) - 1
RTOL = ATOL = 1e-8


class Refused(Exception):
    """PyTorch does not let a program change a tensor in place."""


class Differs(Exception):
    """PyTorch gave something else than the reference."""


# ---- the numbers of program.c ----------------------------------------------------------------


def element_of(seed, i):
    z = (seed * 1000003 + i + 0x9e3779b97f4a7c15) & MASK
    z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & MASK
    z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & MASK
    return ((z ^ (z >> 31)) % 65 - 32) / 16


def elements(seed, shape):
    numel = 1
    for size in shape:
        numel *= size
    values = [element_of(seed, i) for i in range(numel)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


class Instruction:
    def __init__(self, line):
        words = line.split()
        self.op = words[0]
        self.out, self.a, self.b, self.c = map(int, words[1:5])
        self.number = float(words[5])
        self.no_grad, self.flag = (word == '1' for word in words[6:8])
        self.seed = int(words[9])
        self.n = [int(word) for word in words[10:]]


# ---- operations ------------------------------------------------------------------------------


def reduce_by(call):
    return lambda i, a, b, c: call(a, i.n or list(range(a.dim())), i.flag)


def strided(i, a, b, c):
    dim, start, length, step = i.n
    index = [slice(None)] * a.dim()
    index[dim] = slice(start, start + (length - 1) * step + 1, step)
    return a[tuple(index)]


def hooked(i, a, b, c):
    return torch.tanh(2 * a) + 1


def loaded(i, a, b, c):
    size, drop = i.n
    count = a.shape[0] - (a.shape[0] % size if drop else 0)
    return a.detach()[:count].clone()


def clamp(i, a, b, c):
    if torch.__version__.startswith('1.'):  # which passes the gradient at a bound
        return torch.where(a.abs() < 1, a, a.detach().clamp(-1, 1))
    return a.clamp(-1, 1)


def linear(i, a, b, c):
    y = F.linear(a, b, c)
    return torch.relu(y) if i.n[0] else y


UNARY = {name: getattr(torch, name) for name in (
    'neg abs sqrt rsqrt exp log log1p sin cos tanh sigmoid relu clone detach').split()}
BINARY = {name: getattr(torch, name) for name in (
    'add sub mul div minimum maximum matmul').split()}
OPERATIONS = {
    'gelu': lambda i, a, b, c: F.gelu(a),
    'gelu_tanh': lambda i, a, b, c: F.gelu(a, approximate='tanh'),
    'silu': lambda i, a, b, c: F.silu(a),
    'add_scalar': lambda i, a, b, c: a + i.number,
    'sub_scalar': lambda i, a, b, c: a - i.number,
    'mul_scalar': lambda i, a, b, c: a * i.number,
    'div_scalar': lambda i, a, b, c: a / i.number,
    'pow_scalar': lambda i, a, b, c: a ** i.number,
    'leaky_relu': lambda i, a, b, c: F.leaky_relu(a, i.number),
    'softplus': lambda i, a, b, c: F.softplus(a, 2, 1e4),
    'clamp': clamp,
    'sum': reduce_by(lambda a, dims, keep: a.sum(dims, keep) if dims else a.clone()),
    'mean': reduce_by(lambda a, dims, keep: a.mean(dims, keep) if dims else a.clone()),
    'var': lambda i, a, b, c: a.var(i.n or list(range(a.dim())), correction=int(i.number),
                                    keepdim=i.flag),
    'norm': reduce_by(lambda a, dims, keep: torch.linalg.vector_norm(a, 2, dims, keep)),
    'amax': reduce_by(lambda a, dims, keep: a.amax(dims, keep)),
    'amin': reduce_by(lambda a, dims, keep: a.amin(dims, keep)),
    'softmax': lambda i, a, b, c: a.softmax(i.n[0]),
    'log_softmax': lambda i, a, b, c: a.log_softmax(i.n[0]),
    'cumsum': lambda i, a, b, c: a.cumsum(i.n[0]),
    'reshape': lambda i, a, b, c: a.reshape(i.n),
    'transpose': lambda i, a, b, c: a.transpose(i.n[0], i.n[1]),
    'narrow': lambda i, a, b, c: a.narrow(i.n[0], i.n[1], i.n[2]),
    'slice': strided,
    'select': lambda i, a, b, c: a.select(i.n[0], i.n[1]),
    'expand': lambda i, a, b, c: a.expand(i.n),
    'unsqueeze': lambda i, a, b, c: a.unsqueeze(i.n[0]),
    'squeeze': lambda i, a, b, c: a.squeeze(i.n[0]),
    'index_select': lambda i, a, b, c: a.index_select(i.n[0], torch.tensor(i.n[1:])),
    'cat': lambda i, a, b, c: torch.cat([a, b], i.n[0]),
    'stack': lambda i, a, b, c: torch.stack([a, b], i.n[0]),
    'linear': linear,
    'where': lambda i, a, b, c: torch.where(a > 0, b, c),
    'mse_loss': lambda i, a, b, c: F.mse_loss(a, b),
    'cross_entropy': lambda i, a, b, c: F.cross_entropy(a, torch.tensor(i.n),
                                                        label_smoothing=i.number),
    'hooked': hooked,
    'loader': loaded,
    'constant': lambda i, a, b, c: elements(i.seed, i.n),
    'copy_': lambda i, a, b, c: a.copy_(b),
    'fill_': lambda i, a, b, c: a.fill_(i.number),
    'zero_': lambda i, a, b, c: a.zero_(),
    'add_': lambda i, a, b, c: a.add_(b, alpha=i.number),
    'mul_': lambda i, a, b, c: a.mul_(b),
    'add_scalar_': lambda i, a, b, c: a.add_(i.number),
    'mul_scalar_': lambda i, a, b, c: a.mul_(i.number),
}
OPERATIONS.update({name: lambda i, a, b, c, call=call: call(a) for name, call in UNARY.items()})
OPERATIONS.update({name: lambda i, a, b, c, call=call: call(a, b) for name, call in BINARY.items()})
NOTHING = {'open', 'close', 'dead', 'mistake'}


# ---- running ---------------------------------------------------------------------------------


class Run:
    def __init__(self):
        self.reg, self.leaves, self.optim = {}, [], None

    def make_optim(self, kind):
        adam = {'lr': 0.0625, 'betas': (0.875, 0.9375), 'eps': 0.25, 'weight_decay': 0.125}
        if kind < 2:
            self.optim = torch.optim.SGD(self.leaves, lr=0.0625, momentum=0.75,
                                         weight_decay=0.125, nesterov=kind == 1)
        else:
            self.optim = [torch.optim.Adam, torch.optim.AdamW][kind - 2](self.leaves, **adam)

    def backward(self, i):
        loss = self.reg[i.a]
        gradient = None if loss.numel() == 1 else elements(i.seed, list(loss.shape))
        loss.backward(gradient, retain_graph=i.flag)

    def run(self, i):
        if i.op == 'leaf':
            self.reg[i.out] = elements(i.seed, i.n).requires_grad_()
            self.leaves.append(self.reg[i.out])
        elif i.op == 'optim':
            self.make_optim(i.n[0])
        elif i.op == 'step':
            self.optim.step()
        elif i.op == 'zero_grad':
            self.optim.zero_grad(set_to_none=True)
        elif i.op == 'clip':
            torch.nn.utils.clip_grad_norm_(self.leaves, i.number)
        elif i.op == 'backward':
            self.backward(i)
        elif i.op not in NOTHING:
            with torch.set_grad_enabled(not i.no_grad):
                operands = [self.reg.get(number) for number in (i.a, i.b, i.c)]
                y = OPERATIONS[i.op](i, *operands)
            if i.out >= 0:
                self.reg[i.out] = y


def compare(what, actual, numbers):
    expected = torch.tensor(numbers, dtype=torch.float64)
    flat = actual.detach().reshape(-1)
    if flat.shape != expected.shape or not torch.allclose(flat, expected, RTOL, ATOL):
        raise Differs(f'{what} is {flat.tolist()}, the reference says {numbers}')


def check(run, i, words):
    if words[0] == 'value':
        compare(f'register {i.out}', run.reg[i.out], [float(word) for word in words[1:]])
        return
    leaf, numbers = run.leaves[int(words[1])], [float(word) for word in words[3:]]
    compare(f'leaf {words[1]}', leaf, numbers[0::2])
    if words[2] == '1' and leaf.grad is None:
        raise Differs(f'leaf {words[1]} has no gradient')
    if leaf.grad is not None:
        compare(f'the gradient of leaf {words[1]}', leaf.grad, numbers[1::2])


def run_program(lines):
    """How many numbers were compared."""
    run, compared, i = Run(), 0, None
    for line in lines:
        words = line.split()
        if words[0] in ('value', 'gradient'):
            check(run, i, words)
            compared += len(words) - 1
            continue
        i = Instruction(line)
        try:
            run.run(i)
        except RuntimeError as error:
            # What a backward needs was changed, or what tern allows with views made under no_grad.
            if 'inplace' not in str(error):
                raise
            raise Refused from error
    return compared


def main():
    program, first, count = sys.argv[1:]
    torch.set_num_threads(1)
    text = subprocess.run([program, 'write', first, count], check=True, capture_output=True,
                          text=True).stdout
    programs = text.split('program ')[1:]
    wrong = refused = compared = 0
    for text in programs:
        seed, *lines = text.strip().split('\n')
        try:
            compared += run_program(lines)
        except Refused:
            refused += 1
        except (Differs, RuntimeError) as reason:
            wrong += 1
            print(f'TERN_TEST_SEED={seed}: {type(reason).__name__}: {reason}')
    print(f'{len(programs)} programs, {compared} numbers, {wrong} wrong, {refused} refused by '
          f'PyTorch {torch.__version__}')
    return 1 if wrong or not compared or refused > len(programs) / 20 else 0


if __name__ == '__main__':
    sys.exit(main())
