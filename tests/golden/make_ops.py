#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores PyTorch's results and gradients for the corner cases of the operations, and the dtypes in
which two operands meet: the families ops and promotion. scripts/golden.sh runs it.

Inputs are multiples of 1/16, so that they are the same number in every floating dtype.
"""
import itertools
import sys

sys.dont_write_bytecode = True

import torch
import torch.nn.functional as F

from golden import Golden, name_of
import ops_loss
from ops_inputs import INF, NAN, REDUCTION, real, sixteenths

FLOATS = (torch.float64, torch.float32)
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
          torch.uint8, torch.bool)
SEED = [1.0, -0.5, 0.75, 2.0, -1.25]
PROSE = """
A case calls `op` with the arrays in0, in1, .. and the words. out0, .. is what it gives, grad0 the
gradient of in0 when the backward starts from `seed` at out0. Float32 results are PyTorch's own in
float32, not rounded float64 ones.

The op is the name of tern's function without tern_. Words:
  value             the number of *_scalar and masked_fill
  axes              of a reduction; none: all axes
  dim, keepdim, correction, p, low, high, negative_slope, beta, threshold, label_smoothing,
  ignore_index, classes, alpha, lambd, lower, upper, eps: as in the function
  low, high         of hardtanh: min_val, max_val
  value             of threshold too
  factor            of the shuffles of pixels and channels
  margin, delta, full, log_input, log_target, swap, blank, zero_infinity: of losses, as in the
                    function
  reduction         1 mean, 2 sum, 3 none, 4 batchmean
  activation        of linear: 1 none, 2 relu, 3 gelu, 4 gelu_tanh, 5 silu, 6 tanh, 7 sigmoid
ctc_loss takes the log_softmax of in0. Arrays of losses: input, target, what else they take, weight
(may be missing); of linear_cross_entropy: input, linear_weight, target, linear_bias, weight, and
without the word ignore_index there is none; of binary_cross_entropy_with_logits: input, target,
weight, pos_weight; of linear: x, weight, bias (may be missing); of masked_fill: x, mask; of gather
and index_select: x, index; of where: condition, a, b. out of max, min, sort and topk: values,
indices. to_dtype converts to the dtype of out0.
"""
golden = Golden("ops", "make_ops.py", PROSE)


def numbered(name, tensors):
    return [(name + str(i), t) for i, t in enumerate(tensors) if t is not None]


def record(name, op, inputs, words, outputs, seed, grads):
    arrays = numbered("in", inputs) + numbered("out", outputs)
    if any(g is not None for g in grads):
        arrays += [("seed", seed)] + numbered("grad", grads)
    dtypes = ", ".join(dict.fromkeys(name_of(t.dtype) for t in inputs if t is not None))
    golden.case(f"{op}: {name}, {dtypes}", [("op", op), *words], arrays)


def case(name, op, fn, inputs, *params, dtypes=FLOATS, grad=True):
    """Runs fn on the inputs, floating ones in each of the dtypes; None leaves them as they are."""
    for dtype in dtypes:
        args = []
        for t in inputs:
            t = t.detach().clone() if t is not None else None
            real_number = t is not None and t.is_floating_point()
            t = t.to(dtype) if dtype and real_number else t
            args.append(t.requires_grad_(grad) if real_number else t)
        out = fn(*args)
        outs = list(out) if isinstance(out, tuple) else [out]
        seed, grads = None, [None] * len(args)
        if outs[0].requires_grad:
            seed = torch.tensor([s for s, _ in zip(itertools.cycle(SEED), range(outs[0].numel()))])
            seed = seed.to(outs[0].dtype).reshape(outs[0].shape)
            outs[0].backward(seed)
            grads = [t.grad if t is not None else None for t in args]
        record(name, op, args, params, outs, seed, grads)


def fixed(name, op, fn, inputs, *params, grad=True):
    """A case whose inputs stay in the dtypes they have."""
    case(name, op, fn, inputs, *params, dtypes=(None,), grad=grad)


POINTS = real([-INF, -30, -20.5, -5, -1, -0.5, -0.0, 0.0, 0.0625, 0.5, 1, 5, 20, 20.0625, 30, INF,
               NAN])


def elementwise():
    unary = dict(neg=torch.neg, abs=torch.abs, sqrt=torch.sqrt, rsqrt=torch.rsqrt, exp=torch.exp,
                 log=torch.log, log1p=torch.log1p, tanh=torch.tanh, sigmoid=torch.sigmoid,
                 relu=torch.relu, gelu=F.gelu, silu=F.silu, hardswish=F.hardswish,
                 round=torch.round,
                 gelu_tanh=lambda x: F.gelu(x, approximate="tanh"))
    for op, fn in unary.items():
        points = POINTS[1:-2] if op in ("gelu", "gelu_tanh", "silu") else POINTS
        case("%s at special points" % op, op, fn, [points])
    case("hardswish around its corners", "hardswish", F.hardswish,
         [real([-4, -3.0625, -3, -2.9375, -1.5, 1.5, 2.9375, 3, 3.0625, 4])])
    case("sin", "sin", torch.sin, [POINTS[1:-2]])
    case("cos", "cos", torch.cos, [POINTS[1:-2]])
    case("isfinite", "isfinite", torch.isfinite, [POINTS], grad=False)
    case("round half to even", "round", torch.round,
         [real([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 0.4375, -0.4375, 2.75])])
    for slope in (0.01, 0.2, 0.0):
        case("leaky_relu %g" % slope, "leaky_relu", lambda x: F.leaky_relu(x, slope), [POINTS],
             ("negative_slope", slope))
    for beta, threshold in ((1, 20), (2, 3), (0.5, 20)):
        case("softplus beta %g threshold %g" % (beta, threshold), "softplus",
             lambda x: F.softplus(x, beta, threshold),
             [real([-30, -1, 0, 1.5, 1.5625, 20, 20.0625, 50])],
             ("beta", beta), ("threshold", threshold))
    x = real([-2, -1, -0.5, 0, 0.5, 1, 2, NAN, INF, -INF])
    for low, high in ((-1, 1), (-1, INF), (-INF, 0.5), (1, -1), (0.5, 0.5)):
        case("clamp to [%g, %g]" % (low, high), "clamp", lambda x: torch.clamp(x, low, high), [x],
             ("low", low), ("high", high))
    for op, number in itertools.product(("add", "sub", "mul", "div"), (2, -0.75, 0)):
        case("%s_scalar %g" % (op, number), op + "_scalar",
             lambda x: getattr(torch, op)(x, number), [POINTS], ("value", number))
    x = real([-2, -1, -0.0, 0, 0.5, 1, 2, INF, NAN])
    for e in (0, 0.5, 1, 2, 3, -1, -2, 2.5, -0.5):
        case("pow_scalar %g" % e, "pow_scalar", lambda x: torch.pow(x, e), [x], ("value", e))


def activations():
    points = real([-INF, -200, -30, -3, -1, -0.5, -0.0, 0.0, 0.5, 1, 3, 6, 30, INF, NAN])
    plain = dict(relu6=F.relu6, hardsigmoid=F.hardsigmoid, selu=F.selu, logsigmoid=F.logsigmoid)
    for op, fn in plain.items():
        case("%s at special points" % op, op, fn, [points])
    # at infinity and NaN PyTorch's gradients of these are NaN
    for op, fn in dict(mish=F.mish, softsign=F.softsign, tanhshrink=F.tanhshrink).items():
        case("%s at special points" % op, op, fn, [points[1:-2]])
        case("%s at infinity" % op, op, fn, [points[[0, -2, -1]]], grad=False)
    for alpha in (1, 1.5, -0.5):
        case("elu %g" % alpha, "elu", lambda x: F.elu(x, alpha), [points], ("alpha", alpha))
        case("celu %g" % alpha, "celu", lambda x: F.celu(x, alpha), [points[2:]], ("alpha", alpha))
    for lambd in (0.5, 3, 0):
        for op in ("hardshrink", "softshrink"):
            case("%s %g" % (op, lambd), op, lambda x: getattr(F, op)(x, lambd), [points],
                 ("lambd", lambd))
    case("hardshrink of a negative lambda", "hardshrink", lambda x: F.hardshrink(x, -0.5),
         [points], ("lambd", -0.5))
    for low, high in ((-1, 1), (-3, 0.5), (1, 1)):
        case("hardtanh from %g to %g" % (low, high), "hardtanh",
             lambda x: F.hardtanh(x, low, high), [points], ("low", low), ("high", high))
    for threshold, value in ((0.5, 20), (3, -1)):
        case("threshold %g value %g" % (threshold, value), "threshold",
             lambda x: F.threshold(x, threshold, value), [points], ("threshold", threshold),
             ("value", value))
    for lower, upper in ((1 / 8, 1 / 3), (-1, 0.5)):
        case("rrelu from %g to %g in evaluation" % (lower, upper), "rrelu",
             lambda x: F.rrelu(x, lower, upper), [points], ("lower", lower), ("upper", upper))
    w = real([0.25, -0.5, 2])
    for name, x, weight in (("one slope", points[:-1], w[:1]), ("of NaN", points[-1:], w[:1]),
                            ("three slopes", sixteenths(4, 3), w),
                            ("three slopes of maps", sixteenths(2, 3, 2, 3), w),
                            ("one slope of maps", sixteenths(2, 3, 2), w[2:]),
                            ("one slope without a dimension", sixteenths(2, 3), w[1])):
        case("prelu: " + name, "prelu", F.prelu, [x, weight])
    for dim in (0, 1, -1):
        case("glu over dim %d" % dim, "glu", lambda x: F.glu(x, dim), [sixteenths(4, 2, 6)],
             ("dim", dim))
        case("softmin over dim %d" % dim, "softmin", lambda x: F.softmin(x, dim),
             [sixteenths(4, 2, 6)], ("dim", dim))
    case("glu of -inf, NaN and large numbers", "glu", lambda x: F.glu(x, 0),
         [real([1, -INF, 2, 3, 30, -200, NAN, -30])], ("dim", 0))


def shuffles():
    case("pixel_shuffle 2", "pixel_shuffle", lambda x: F.pixel_shuffle(x, 2),
         [sixteenths(1, 8, 2, 3)], ("factor", 2))
    case("pixel_shuffle 3 without batch", "pixel_shuffle", lambda x: F.pixel_shuffle(x, 3),
         [sixteenths(9, 1, 2)], ("factor", 3))
    case("pixel_unshuffle 2", "pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2),
         [sixteenths(2, 1, 4, 6)], ("factor", 2))
    case("channel_shuffle 2", "channel_shuffle", lambda x: F.channel_shuffle(x, 2),
         [sixteenths(2, 4, 3)], ("factor", 2))
    case("channel_shuffle 3", "channel_shuffle", lambda x: F.channel_shuffle(x, 3),
         [sixteenths(1, 6, 2, 2)], ("factor", 3))


def normalized():
    x = sixteenths(4, 3)
    for p, dim in itertools.product((1, 2, 3, INF), (0, 1)):
        case("normalize p %g over dim %d" % (p, dim), "normalize",
             lambda x: F.normalize(x, p, dim), [x], ("p", p), ("dim", dim), ("eps", 1e-12))
    case("normalize of zeros", "normalize", F.normalize, [real([[0, 0], [3, 4]])], ("p", 2),
         ("dim", 1), ("eps", 1e-12))
    case("normalize of small rows", "normalize", lambda x: F.normalize(x, 2, 1, 5),
         [real([[3, 4], [1, 2], [6, 8]])], ("p", 2), ("dim", 1), ("eps", 5))


def two_operands():
    base = real([0, 0, 0, 0, 2, 2, -2, -2, 1, 4])
    exponent = real([0, 1, 2, -1, 0, 3, 2, 0.5, 7, 0.5])
    case("pow at zero and below", "pow", torch.pow, [base, exponent])
    case("pow broadcasts", "pow", torch.pow, [real([[0], [1], [2]]), real([0, 1, 2])])
    a, b = real([1, 2, 3, NAN, 1, NAN, INF, -0.0]), real([1, 3, 2, 1, NAN, NAN, INF, 0.0])
    for op in ("minimum", "maximum"):
        case(op + " with ties", op, getattr(torch, op), [a[[0, 1, 2, 6, 7]], b[[0, 1, 2, 6, 7]]])
        case(op + " with NaN", op, getattr(torch, op), [a[3:6], b[3:6]])
    case("maximum broadcasts", "maximum", torch.maximum, [real([[1], [2]]), real([0, 1, 2])])
    for op in ("add", "sub", "mul", "div"):
        fn = getattr(torch, op)
        case("%s broadcasts" % op, op, fn, [sixteenths(2, 1, 3), sixteenths(4, 1, seed=1)])
        case("%s with a 0-dim operand" % op, op, fn, [real(1.5), sixteenths(2, 3)])
        case("%s of no elements" % op, op, fn, [torch.zeros(0, 3), sixteenths(3)])
        for half in (torch.float16, torch.bfloat16):
            case("%s of %s" % (op, name_of(half)), op, fn,
                 [sixteenths(8) * 1.25, sixteenths(8, seed=1) * 1.75], dtypes=(half,), grad=False)
    case("div by zero", "div", torch.div, [real([1, -1, 0, INF]), real([0, 0, 0, INF])])
    condition = torch.tensor([[True], [False], [True]])
    case("where broadcasts", "where", torch.where, [condition, sixteenths(4), sixteenths(3, 4)])
    case("where keeps NaN out", "where", torch.where,
         [torch.tensor([True, False]), real([1, NAN]), real([NAN, 2])])
    mask = torch.tensor([True, False, False, True])
    case("masked_fill broadcasts its mask", "masked_fill", lambda x, m: x.masked_fill(m, -INF),
         [sixteenths(3, 4), mask], ("value", -INF))
    case("masked_fill over NaN", "masked_fill", lambda x, m: x.masked_fill(m, 0.5),
         [real([NAN, 1, NAN, INF]), mask], ("value", 0.5))
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        case("%s with NaN" % op, op, getattr(torch, op), [a, b], grad=False)
        case("%s_scalar with NaN" % op, op + "_scalar", lambda x: getattr(torch, op)(x, 2.0), [a],
             ("value", 2.0), grad=False)
    for op in ("logical_and", "logical_or"):
        case(op, op, getattr(torch, op), [real([0, 0, -0.0, NAN, 2]), real([0, 1, 0, 0, 0.5])],
             grad=False)
    case("logical_not", "logical_not", torch.logical_not, [real([0, -0.0, NAN, 2])], grad=False)


def reductions():
    x = sixteenths(2, 3, 4)
    axes = ((), (0,), (1,), (2,), (0, 2), (-1,), (1, 2))
    for dims, keepdim in itertools.product(axes, (False, True)):
        words = [("axes", dims), ("keepdim", keepdim)][not dims:]
        every = dims or (0, 1, 2)
        name = "over %s%s" % (" and ".join(map(str, dims)) or "all", ", keepdim" * keepdim)
        case("sum " + name, "sum", lambda x: x.sum(every, keepdim), [x], *words)
        if keepdim == (dims == (1,)):
            case("mean " + name, "mean", lambda x: x.mean(every, keepdim), [x], *words)
        if dims not in ((), (1,), (0, 2)) or keepdim != (dims == (0, 2)):
            continue
        for op, c in itertools.product(("var", "std"), (0, 1)):
            case("%s correction %d %s" % (op, c, name), op,
                 lambda x: getattr(torch, op)(x, every, correction=c, keepdim=keepdim), [x],
                 ("correction", c), *words)
    ties = real([[1, 3, 3, 2], [3, 0, 3, 3], [0, 0, 0, 0]])
    for dims in ((), (0,), (1,)):
        words = [("axes", dims)][not dims:]
        for op in ("amax", "amin"):
            case("%s of ties over %s" % (op, dims[0] if dims else "all"), op,
                 lambda x: getattr(torch, op)(x, dims or (0, 1)), [ties], ("keepdim", 0), *words)
    hole = real([[1, NAN, 3], [2, 2, 2], [NAN, 5, NAN]])
    for op in ("amax", "amin"):
        case(op + " with NaN", op, lambda x: getattr(x, op)(1), [hole], ("axes", 1), ("keepdim", 0),
             grad=False)
    inputs = (("ties", ties), ("NaN", hole), ("infinities", real([[-INF, -INF]])))
    for op, (name, t), dim in itertools.product(("max", "min"), inputs, (0, 1)):
        case("%s of %s over %d" % (op, name, dim), op,
             lambda x: tuple(getattr(torch, op)(x, dim)), [t], ("dim", dim), ("keepdim", 0))
        case("arg%s of %s over %d" % (op, name, dim), "arg" + op,
             lambda x: getattr(torch, "arg" + op)(x, dim, True), [t], ("dim", dim), ("keepdim", 1),
             grad=False)
    flat = real([[4, 4, 4, 4], [1, 2, 3, 4]])
    case("std of equal values", "std", lambda x: torch.std(x, 1, correction=0), [flat],
         ("correction", 0), ("axes", 1), ("keepdim", 0))
    case("var of one value, correction 1", "var", lambda x: torch.var(x, 1, correction=1),
         [real([[2.5]])], ("correction", 1), ("axes", 1), ("keepdim", 0))
    case("var with a large mean", "var", lambda x: torch.var(x, 0, correction=1),
         [real([4096, 4096.5, 4097, 4097.5])], ("correction", 1), ("axes", 0), ("keepdim", 0))
    for op in ("sum", "mean"):
        case(op + " of no elements", op, lambda x: getattr(x, op)((0, 1)), [torch.zeros(0, 3)],
             ("keepdim", 0))
        case(op + "_all", op + "_all", getattr(torch, op), [x])
        case(op + "_all with NaN", op + "_all", getattr(torch, op), [hole])
    case("accuracy", "accuracy", lambda x, y: (x.argmax(1) == y).float().mean(),
         [sixteenths(5, 3), torch.tensor([0, 2, 1, 1, 0])], grad=False)
    case("accuracy of more dimensions", "accuracy", lambda x, y: (x.argmax(1) == y).float().mean(),
         [x, torch.tensor([[0, 2, 1, 1], [2, 2, 0, 1]])], grad=False)
    for op in ("any", "all"):
        case("%s over 1" % op, op, lambda x: getattr(x != 0, op)(1),
             [real([[0, 0, 0], [0, 1, 0], [NAN, 2, -1]])], ("axes", 1), ("keepdim", 0), grad=False)
    for dim in (0, 1, -1):
        case("cumsum over %d" % dim, "cumsum", lambda x: x.cumsum(dim), [x], ("dim", dim))


def orders():
    """topk's ties may come in any order in PyTorch: where indices count there are none."""
    ties = real([[1, 3, -0.0, 2, 0.0, 3, NAN, -2], [INF, 0.0, -INF, -0.0, NAN, 5, NAN, INF]])
    single = real([[0.5, -3, 2, 7, -1], [NAN, 4, -INF, INF, 0]])
    for dim, descending in itertools.product((0, 1), (False, True)):
        words = ("dim", dim), ("descending", int(descending))
        name = "of ties and NaN over %d%s" % (dim, ", descending" * descending)
        case("sort " + name, "sort",
             lambda x: tuple(x.sort(dim=dim, descending=descending, stable=True)), [ties], *words)
        case("argsort " + name, "argsort",
             lambda x: x.argsort(dim=dim, descending=descending, stable=True), [ties], *words,
             grad=False)
    for largest, k in itertools.product((True, False), (0, 1, 3, 5)):
        case("topk %d over -1%s" % (k, ", largest" * largest), "topk",
             lambda x: tuple(x.topk(k, -1, largest)), [single], ("k", k), ("dim", -1),
             ("largest", int(largest)))
    case("topk over 0", "topk", lambda x: tuple(x.topk(1, 0)), [single], ("k", 1), ("dim", 0),
         ("largest", 1))
    for t in (torch.tensor([[3, -1, 3, 0, 7], [2, 2, -9, 2, 1]]), torch.tensor([[0, 255, 7, 7]],
              dtype=torch.uint8), torch.tensor([[True, False, True, False]])):
        fixed("sort of integers", "sort", lambda x: tuple(x.sort(dim=1, stable=True)), [t],
              ("dim", 1), ("descending", 0))
    fixed("sort of a 0-dim tensor", "sort", lambda x: tuple(x.sort(dim=0)), [real(3.0)], ("dim", 0),
          ("descending", 0))
    fixed("topk of a 0-dim tensor", "topk", lambda x: tuple(x.topk(1, -1)), [real(3.0)], ("k", 1),
          ("dim", -1), ("largest", 1))


def norms():
    x = real([[3, 0, -4, 1], [0, 0, 0, 0], [2, -2, 2, 0.5], [-1, 1, -1, 1]])
    for p in (0, 0.5, 1, 2, 3, INF, -INF):
        fn = torch.linalg.vector_norm
        case("norm %g over 1" % p, "norm", lambda x: fn(x, p, 1), [x], ("p", p), ("axes", 1),
             ("keepdim", 0))
        case("norm %g over all, keepdim" % p, "norm", lambda x: fn(x, p, (0, 1), True), [x],
             ("p", p), ("keepdim", 1))
        case("norm %g of zeros" % p, "norm", lambda x: fn(x, p), [real([0, 0, 0])], ("p", p),
             ("keepdim", 0))
        case("norm %g of NaN" % p, "norm", lambda x: fn(x, p, 0), [real([1, NAN])], ("p", p),
             ("axes", 0), ("keepdim", 0), grad=False)


MATMULS = [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 2)),
           ((2, 2, 3), (3,)), ((3,), (2, 3, 2)), ((2, 3), (2, 3, 2)), ((2, 2, 3), (2, 3, 2)),
           ((1, 2, 3), (3, 3, 2)), ((2, 1, 2, 3), (3, 3, 2)), ((1, 1), (1, 1)), ((2, 0), (0, 3)),
           ((0, 2), (2, 3))]


def products():
    for a, b in MATMULS:
        name = "matmul %s x %s" % tuple("(" + ", ".join(map(str, s)) + ")" for s in (a, b))
        case(name, "matmul", torch.matmul, [sixteenths(*a), sixteenths(*b, seed=1)])
    case("matmul lets NaN through zeros", "matmul", torch.matmul,
         [real([[0, 1], [0, 0]]), real([[NAN, 1], [2, INF]])])
    acts = [lambda x: x, torch.relu, F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.silu,
            torch.tanh, torch.sigmoid]
    names = ["none", "relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"]
    w, b = sixteenths(3, 4, seed=1), sixteenths(3, seed=2)
    for i, act in enumerate(acts):
        case("linear, activation %s" % names[i], "linear", lambda x, w, b: act(F.linear(x, w, b)),
             [sixteenths(5, 4), w, b], ("activation", i + 1))
    case("linear without bias", "linear", F.linear, [sixteenths(5, 4), w], ("activation", 1))
    case("linear of 1 dimension", "linear", F.linear, [sixteenths(4), w, b], ("activation", 1))
    case("linear of 3 dimensions", "linear", F.linear, [sixteenths(2, 2, 4), w, b],
         ("activation", 1))
    case("linear of no samples", "linear", F.linear, [torch.zeros(0, 4), w, b], ("activation", 1))
    x = sixteenths(2, 3, 4)
    lost = real([[1, -INF, 0.5], [-INF, -INF, -INF], [1000, 0, -1000], [2, NAN, 0], [INF, 0, 1]])
    for op, fn in (("softmax", torch.softmax), ("log_softmax", torch.log_softmax)):
        for dim in (0, 1, 2, -1):
            case("%s over %d" % (op, dim), op, lambda x: fn(x, dim), [x], ("dim", dim))
        case("%s of infinities over 1" % op, op, lambda x: fn(x, 1), [lost], ("dim", 1))
        case("%s of infinities over 0" % op, op, lambda x: fn(x, 0), [lost[:3]], ("dim", 0))
        case("%s of a 0-dim tensor" % op, op, lambda x: fn(x, 0), [real(3.0)], ("dim", 0))


def indexing():
    x = sixteenths(3, 4)
    case("gather over 0, repeated, narrower", "gather", lambda x, i: x.gather(0, i),
         [x, torch.tensor([[0, 2, 0], [0, 1, 2]])], ("dim", 0))
    case("gather over 1, repeated, longer", "gather", lambda x, i: x.gather(1, i),
         [x, torch.tensor([[3, 3, 0, 1, 3], [2, 2, 2, 2, 2]])], ("dim", 1))
    for dim in (0, 1, -1):
        case("index_select over %d, repeated" % dim, "index_select",
             lambda x, i: x.index_select(dim, i), [x, torch.tensor([2, 0, 2, 2])], ("dim", dim))
    case("index_select of nothing", "index_select", lambda x, i: x.index_select(0, i),
         [x, torch.tensor([], dtype=torch.int64)], ("dim", 0))
    fixed("one_hot", "one_hot", lambda t: F.one_hot(t, 4), [torch.tensor([[0, 3], [2, 2]])],
          ("classes", 4))


def integers():
    a, b = torch.tensor([7, -7, 7, -7, 0, 1]), torch.tensor([2, 2, -2, -2, 0, 0])
    for dtype in (torch.int64, torch.int32):
        x, y = a.to(dtype), b.to(dtype)
        fixed("div of integers is true division", "div", torch.div, [x, y])
        fixed("div_scalar of integers", "div_scalar", lambda x: x / 2, [x], ("value", 2))
        for op in ("neg", "abs", "relu"):
            fixed(op + " of integers", op, getattr(torch, op), [x])
        fixed("clamp of integers", "clamp", lambda x: x.clamp(-1, 3), [x], ("low", -1), ("high", 3))
        fixed("pow_scalar of integers", "pow_scalar", lambda x: x.pow(3), [x], ("value", 3))
        fixed("pow of integers", "pow", torch.pow,
              [torch.tensor(t, dtype=dtype) for t in ([2, -2, 1, -1, 2, 0], [3, 3, -1, -3, -1, 0])])
        fixed("exp of integers gives float32", "exp", torch.exp,
              [torch.tensor([0, 1, -1], dtype=dtype)])
    u, v = (torch.tensor(t, dtype=torch.uint8) for t in ([200, 1, 0, 16], [100, 2, 1, 16]))
    for op in ("add", "sub", "mul", "div", "maximum"):
        fixed(op + " of uint8", op, getattr(torch, op), [u, v])
    fixed("neg of uint8 wraps", "neg", torch.neg, [v])
    t, f = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    for op in ("add", "mul", "div", "maximum", "eq", "lt", "logical_and"):
        fixed(op + " of bool", op, getattr(torch, op), [t, f])
    for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool):
        x = torch.tensor([[3, 1, 3], [0, 2, 2]]).to(dtype)
        words = ("axes", 1), ("keepdim", 0)
        fixed("sum of integers gives int64", "sum", lambda x: x.sum((1,)), [x], *words)
        fixed("cumsum of integers gives int64", "cumsum", lambda x: x.cumsum(1), [x], ("dim", 1))
        fixed("amax of integers", "amax", lambda x: x.amax(1), [x], *words)
        if dtype != torch.bool:
            fixed("argmax of integers", "argmax", lambda x: x.argmax(1), [x], ("dim", 1),
                  ("keepdim", 0))
    big = torch.tensor([16777217, -5])
    fixed("eq of int64 and float64", "eq", torch.eq, [big, real([16777217, -5])], grad=False)
    fixed("lt of int64 and float32", "lt", torch.lt, [big, torch.tensor([16777216.0, 0.5])],
          grad=False)


def conversions():
    tiny = 2.0**-24
    halves = real([65504, 65519, 65520, 1e6, tiny, tiny / 2, tiny * 0.75, tiny * 1.5, 1 + 2**-11,
                   1 + 3 * 2**-11, 1 / 3, NAN, -INF, -0.0])
    brains = real([1 + 2**-8, 1 + 3 * 2**-8, 1 / 3, 3.4e38, 1e-40, 1e39, NAN, INF, -0.0])
    for t, dtype in ((halves, torch.float16), (brains, torch.bfloat16)):
        case("to_dtype %s rounds to even" % name_of(dtype), "to_dtype", lambda x: x.to(dtype), [t],
             grad=False)
    x = real([-2.75, -0.5, 0.0, 0.5, 2.75, 200])
    for dtype in (torch.int64, torch.int32):
        case("to_dtype %s cuts towards zero" % name_of(dtype), "to_dtype", lambda x: x.to(dtype),
             [x], grad=False)
    case("to_dtype bool", "to_dtype", lambda x: x.to(torch.bool), [real([0, -0.0, 0.5, NAN, -1])],
         grad=False)
    fixed("to_dtype float32 rounds int64", "to_dtype", lambda x: x.float(),
          [torch.tensor([16777217, 16777219, -5])])
    fixed("to_dtype float32 and its gradient", "to_dtype", lambda x: x.float(), [sixteenths(4)])


def promotion():
    """Result dtypes of add (which is the common dtype) and div: a word a row."""
    tables = Golden("promotion", "make_ops.py", """
A word is a row: the dtype of a, then that of a + b (or a / b) for each dtype of b, which come in
the order of the rows.
""")
    for name, rank_a, rank_b, fn in (
            ("both with dimensions", 1, 1, torch.add), ("a of 0 dimensions", 0, 1, torch.add),
            ("b of 0 dimensions", 1, 0, torch.add), ("both of 0 dimensions", 0, 0, torch.add),
            ("division", 1, 1, torch.div)):
        rows = []
        for a in DTYPES:
            x = torch.ones([2] * rank_a).to(a)
            rows.append((name_of(a), [name_of(fn(x, torch.ones([2] * rank_b).to(b)).dtype)
                                      for b in DTYPES]))
        tables.case(name, rows)
    tables.write()


def main():
    ops_loss.cases(case)
    for family in (elementwise, activations, shuffles, two_operands, reductions, norms, orders,
                   normalized, products, indexing, integers, conversions):
        family()
    golden.write()
    promotion()


if __name__ == "__main__":
    main()
