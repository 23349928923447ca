#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs of recorded and in-place operations over views, in tern and in PyTorch (float64).
Each ends in one or two backwards from tensors of the program, also from views. Values and gradients
must agree; a program that only PyTorch refuses is judged by finite differences, and one that tern
refuses is no mistake. Skipped where PyTorch is not installed.

usage: inplace_programs.py LIBTERN.SO FIRST COUNT"""
import collections
import ctypes as c
import math
import random
import sys

try:
    import numpy as np
    import torch
except ImportError as reason:
    print(f'skipped: {reason}')
    sys.exit(77)
if not hasattr(torch.Tensor, 'untyped_storage'):
    print(f'skipped: PyTorch {torch.__version__} is older than 2.0')
    sys.exit(77)

FLOAT64 = 2  # of tern_dtype
LEAVES = (((2, 3), True), ((3,), True), ((2, 3), False))  # shape, requires_grad
STEP, RTOL, ATOL = 1e-6, 1e-9, 1e-10


class Refused(Exception):
    """tern does not do what the program asks for."""


class Overlap(Exception):
    """An operand shares elements with what is written: PyTorch's result depends on its order."""


# ---- tern through its C functions ------------------------------------------------------------


class Shape(c.Structure):
    _fields_ = [('rank', c.c_int), ('dim', c.c_int64 * 8)]


class Axes(c.Structure):
    _fields_ = [('count', c.c_int), ('axis', c.c_int * 8)]


class Scalar(c.Structure):
    _fields_ = [('integer', c.c_int64), ('floating', c.c_double), ('is_integer', c.c_bool)]


class Device(c.Structure):
    _fields_ = [('type', c.c_int), ('index', c.c_int)]


class FromData(c.Structure):
    _fields_ = [('dtype', c.c_int), ('device', Device), ('requires_grad', c.c_bool),
                ('reserved', c.c_char), ('shape', Shape), ('data', c.c_void_p)]


class Backward(c.Structure):
    _fields_ = [('gradient', c.c_void_p), ('retain_graph', c.c_bool), ('reserved', c.c_char),
                ('loss', c.c_void_p)]


def shape_of(sizes):
    return Shape(len(sizes), (c.c_int64 * 8)(*sizes))


def argument(value):
    if isinstance(value, tuple):
        return shape_of(value)
    return Scalar(0, value, False) if isinstance(value, float) else c.c_int64(value)


class Tern:
    def __init__(self, path):
        self.library = c.CDLL(path)
        self.library.tern_error_message.restype = c.c_char_p
        self.library.tern_scope_open.restype = c.c_uint64
        self.library.tern_from_data_defaults.restype = FromData
        self.library.tern_shape_of.restype = Shape

    def status(self, name, *arguments):
        if getattr(self.library, 'tern_' + name)(*arguments):
            self.refuse()

    def refuse(self):
        sentence = self.library.tern_error_message().decode()
        self.library.tern_error_clear()
        raise Refused(sentence)

    def call(self, name, *arguments):
        function = getattr(self.library, 'tern_' + name)
        function.restype = c.c_void_p
        return c.c_void_p(function(*arguments) or self.refuse())

    def tensor(self, values, requires_grad=False):
        values = np.ascontiguousarray(values, dtype=np.float64)
        options = self.library.tern_from_data_defaults()
        options.dtype, options.requires_grad = FLOAT64, requires_grad
        options.shape, options.data = shape_of(values.shape), values.ctypes.data
        return self.call('from_data_with', c.byref(options))

    def values(self, tensor):
        shape = self.library.tern_shape_of(tensor)
        values = np.empty(tuple(shape.dim[:shape.rank]))
        self.status('to_host', tensor, values.ctypes.data_as(c.c_void_p), c.c_size_t(values.nbytes))
        return values

    def gradient(self, leaf):
        self.library.tern_grad.restype = c.c_void_p
        gradient = self.library.tern_grad(leaf)
        return self.values(c.c_void_p(gradient)) if gradient else None

    def operation(self, op, x, other):
        if op.name in ('sum', 'add_'):
            extra = (Axes(1, (c.c_int * 8)(op.arguments[0])), op.arguments[1]) \
                if op.name == 'sum' else (other, c.c_double(op.arguments[0]))
        elif op.name == 'cat':
            return self.call('cat', (c.c_void_p * 2)(x, other), c.c_int64(2), 0)
        else:
            extra = [argument(value) for value in op.arguments]
            extra = [other, *extra] if other else extra
        return self.call(op.name, x, *extra)

    def run(self, program, leaves):
        tensors = [self.tensor(values, learns) for values, (_, learns) in zip(leaves, LEAVES)]
        for op in program.operations:
            self.library.tern_set_grad_enabled(not op.no_grad)
            try:
                y = self.operation(op, tensors[op.x], None if op.y is None else tensors[op.y])
            finally:
                self.library.tern_set_grad_enabled(True)
            if not op.name.endswith('_'):
                tensors.append(y)
        values = [self.values(tensor) for tensor in tensors]
        for i, root in enumerate(program.roots):
            weights = self.tensor(program.weights(values[root].shape))
            loss, gradient = tensors[root], weights
            if not program.direct:
                loss, gradient = self.call('sum_all', self.call('mul', loss, weights)), None
            self.status('backward_with', c.byref(Backward(gradient, i + 1 < len(program.roots),
                                                          b'\0', loss)))
        return values, [self.gradient(tensor) for tensor in tensors[:2]]


# ---- PyTorch ---------------------------------------------------------------------------------


def torch_slice(x, dim, start, end, step):
    index = [slice(None)] * x.dim()
    index[dim] = slice(start, end, step)
    return x[tuple(index)]


TORCH = {
    'relu': torch.relu, 'add_scalar_': torch.Tensor.add_, 'mul_scalar_': torch.Tensor.mul_,
    'slice': torch_slice, 'matmul': torch.matmul, 'mul_scalar': torch.mul,
    'silu': torch.nn.functional.silu,
    'view': torch.Tensor.view, 'reshape': torch.Tensor.reshape, 'expand': torch.Tensor.expand,
    'add_': lambda x, other, alpha: x.add_(other, alpha=alpha),
    'cat': lambda x, other: torch.cat([x, other]),
    'sum': lambda x, dim, keepdim: x.sum(dim, keepdim=keepdim),
}


def check_overlap(op, x, other):
    """PyTorch refuses some, and reads what it has just written for the rest."""
    if op.name in ('add_', 'mul_', 'copy_') and x.data_ptr() and \
            x.untyped_storage().data_ptr() == other.untyped_storage().data_ptr() and \
            (x.shape, x.stride(), x.data_ptr()) != (other.shape, other.stride(), other.data_ptr()):
        raise Overlap


def torch_tensors(program, leaves, recording):
    tensors = [torch.tensor(values, requires_grad=learns and recording)
               for values, (_, learns) in zip(leaves, LEAVES)]
    for op in program.operations:
        x = tensors[op.x]
        others = [] if op.y is None else [tensors[op.y]]
        if others:
            check_overlap(op, x, others[0])
        with torch.set_grad_enabled(recording and not op.no_grad):
            y = TORCH.get(op.name, getattr(torch.Tensor, op.name, None))(x, *others, *op.arguments)
        if not op.name.endswith('_'):
            tensors.append(y)
    return tensors


def run_torch(program, leaves):
    tensors = torch_tensors(program, leaves, True)
    values = [tensor.detach().numpy().copy() for tensor in tensors]
    for i, root in enumerate(program.roots):
        weights = torch.tensor(program.weights(values[root].shape))
        loss, gradient = tensors[root], weights
        if not program.direct:
            loss, gradient = (loss * weights).sum(), None
        loss.backward(gradient, retain_graph=i + 1 < len(program.roots))
    return values, [None if leaf.grad is None else leaf.grad.numpy() for leaf in tensors[:2]]


def differences(program, leaves):
    """d (sum of weighted roots) / d leaf for the leaves that learn."""
    def loss(changed):
        tensors = torch_tensors(program, changed, False)
        return sum((tensors[root].numpy() * program.weights(tensors[root].shape)).sum()
                   for root in program.roots)

    gradients = [np.zeros_like(leaf) for leaf in leaves[:2]]
    for i, gradient in enumerate(gradients):
        for at in np.ndindex(gradient.shape):
            sides = []
            for step in (STEP, -STEP):
                changed = [leaf.copy() for leaf in leaves]
                changed[i][at] += step
                sides.append(loss(changed))
            gradient[at] = (sides[0] - sides[1]) / (2 * STEP)
    return gradients


# ---- programs --------------------------------------------------------------------------------


Op = collections.namedtuple('Op', 'name x y arguments no_grad')
UNARY = ('sin', 'cos', 'tanh', 'exp', 'sigmoid', 'neg', 'abs', 'relu', 'silu', 'contiguous',
         'clone', 'detach')


class Program:
    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)
        self.shapes = [shape for shape, _ in LEAVES]
        self.operations = []
        for leaf in range(2):
            self.add('mul_scalar', leaf, None, (1.0,), self.shapes[leaf])
        for _ in range(self.random.randint(3, 14)):
            while not self.draw():
                pass
        self.roots = [self.random.randrange(len(LEAVES), len(self.shapes))
                      for _ in range(self.random.choice((1, 1, 2)))]
        self.direct = self.random.random() < 0.5

    def add(self, name, x, y, arguments, shape=None):
        no_grad = len(self.operations) > 2 and self.random.random() < 0.08
        self.operations.append(Op(name, x, y, arguments, no_grad))
        if shape is not None:
            self.shapes.append(shape)
        return True

    def draw(self):
        """Adds one operation; False where what was drawn does not fit."""
        x = self.random.randrange(len(self.shapes))
        family = self.random.choice((self.unary, self.binary, self.binary, self.in_place,
                                     self.in_place, self.in_place, self.view, self.view,
                                     self.view, self.reduce, self.join))
        return family(x, self.shapes[x])

    def unary(self, x, shape):
        return self.add(self.random.choice(UNARY), x, None, (), shape)

    def binary(self, x, shape):
        y = self.random.randrange(len(self.shapes))
        try:
            result = np.broadcast_shapes(shape, self.shapes[y])
        except ValueError:
            return False
        name = self.random.choice(('add', 'sub', 'mul', 'maximum', 'minimum'))
        return self.add(name, x, y, (), result)

    def in_place(self, x, shape):
        if x < len(LEAVES) and self.random.random() < 0.97:
            return False  # refused, but under no_grad
        name = self.random.choice(('add_', 'mul_', 'copy_', 'add_scalar_', 'mul_scalar_', 'fill_'))
        number = self.random.choice((0.5, -1.5, 1.0, 0.0))
        if name in ('add_scalar_', 'mul_scalar_', 'fill_'):
            return self.add(name, x, None, (number,))
        y = self.random.randrange(len(self.shapes))
        try:
            fits = np.broadcast_shapes(shape, self.shapes[y]) == shape
        except ValueError:
            return False
        return fits and self.add(name, x, y, (number,) if name == 'add_' else ())

    def view(self, x, shape):
        name = self.random.choice(('select', 'narrow', 'slice', 'transpose', 'view', 'reshape',
                                   'expand', 'unsqueeze', 'squeeze'))
        if name in ('view', 'reshape'):
            numel = math.prod(shape)
            sizes = self.random.choice([(numel,), (1, numel), (numel, 1), shape[::-1]])
            return self.add(name, x, None, (sizes,), sizes)
        if name == 'expand':
            sizes = (self.random.randint(1, 2), *shape)
            return len(shape) < 3 and self.add(name, x, None, (sizes,), sizes)
        if name == 'unsqueeze':
            dim = self.random.randint(0, len(shape))
            return len(shape) < 4 and self.add(name, x, None, (dim,),
                                               (*shape[:dim], 1, *shape[dim:]))
        return bool(shape) and self.part(name, x, shape, self.random.randrange(len(shape)))

    def part(self, name, x, shape, dim):
        size, before, after = shape[dim], shape[:dim], shape[dim + 1:]
        start = self.random.randrange(size)
        if name == 'select':
            return self.add(name, x, None, (dim, start), before + after)
        if name == 'narrow':
            length = self.random.randint(1, size - start)
            return self.add(name, x, None, (dim, start, length), (*before, length, *after))
        if name == 'slice':
            step = self.random.randint(1, 3)
            length = len(range(start, size, step))
            return self.add(name, x, None, (dim, start, size, step), (*before, length, *after))
        if name == 'squeeze':
            return size == 1 and self.add(name, x, None, (dim,), before + after)
        other = self.random.randrange(len(shape))
        sizes = list(shape)
        sizes[dim], sizes[other] = sizes[other], sizes[dim]
        return self.add('transpose', x, None, (dim, other), tuple(sizes))

    def reduce(self, x, shape):
        if not shape:
            return False
        dim = self.random.randrange(len(shape))
        if self.random.random() < 0.5:
            name = self.random.choice(('cumsum', 'softmax'))
            return self.add(name, x, None, (dim,), shape)
        keepdim = self.random.random() < 0.5
        kept = (1,) if keepdim else ()
        return self.add('sum', x, None, (dim, keepdim), shape[:dim] + kept + shape[dim + 1:])

    def join(self, x, shape):
        y = self.random.randrange(len(self.shapes))
        other = self.shapes[y]
        if self.random.random() < 0.5:
            return bool(shape) and other == shape and self.add(
                'cat', x, y, (), (2 * shape[0], *shape[1:]))
        fits = len(shape) == 2 and len(other) in (1, 2) and other[0] == shape[1]
        return fits and self.add('matmul', x, y, (), (shape[0], *other[1:]))

    def leaves(self):
        numbers = np.random.RandomState(self.seed)
        return [numbers.uniform(-1.5, 1.5, shape) for shape, _ in LEAVES]

    def weights(self, shape):
        return np.random.RandomState(self.seed + 1).uniform(-1, 1, tuple(shape))

    def is_differentiable(self):
        """Where not, finite differences see what a backward must not."""
        return not any(op.no_grad or op.name == 'detach' for op in self.operations)


# ---- judging ---------------------------------------------------------------------------------


def agree(ours, theirs, rtol=RTOL, atol=ATOL):
    pairs = ((np.zeros_like(b) if a is None and b is not None else a,
              np.zeros_like(a) if b is None and a is not None else b)
             for a, b in zip(ours, theirs))
    return all(a is None or np.allclose(a, b, rtol, atol, equal_nan=True) for a, b in pairs)


def judge(tern, program):
    leaves = program.leaves()
    try:
        theirs = run_torch(program, leaves)
    except Overlap:
        return 'overlapping'
    except RuntimeError:
        theirs = None
    try:
        ours = tern.run(program, leaves)
    except Refused:
        return 'refused by tern' if theirs else 'refused by both'
    if theirs:
        return 'agree' if all(map(agree, ours, theirs)) else 'wrong'
    if not program.is_differentiable():
        return 'refused by PyTorch'
    try:
        right = agree(ours[1], differences(program, leaves), 1e-4, 1e-5)
    except RuntimeError:
        return 'refused by PyTorch'
    return 'agree with finite differences' if right else 'wrong'


def main():
    path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    tern = Tern(path)
    verdicts = collections.Counter()
    for seed in range(first, first + count):
        scope = tern.library.tern_scope_open()
        verdict = judge(tern, Program(seed))
        tern.library.tern_scope_close(c.c_uint64(scope))
        verdicts[verdict] += 1
        if verdict == 'wrong':
            print(f'wrong: inplace_programs.py {path} {seed} 1')
    print(f'{count} programs beside PyTorch {torch.__version__}: '
          + ', '.join(f'{number} {verdict}' for verdict, number in verdicts.most_common()))
    return 1 if verdicts['wrong'] or verdicts['agree'] < count / 3 else 0


if __name__ == '__main__':
    sys.exit(main())
