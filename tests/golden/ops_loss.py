# SPDX-License-Identifier: Apache-2.0
"""PyTorch's losses: cases of make_ops.py."""
import functools
import itertools

import torch
import torch.nn.functional as F

from ops_inputs import BATCHMEAN, INF, MEAN, NAN, NONE, REDUCTION, SUM, real, sixteenths


def cross_entropy(case, name, x, target, weight=None, ignore=-100, smoothing=0.0):
    for reduction in (MEAN, SUM, NONE):
        params = [("reduction", reduction), ("ignore_index", ignore),
                  ("label_smoothing", smoothing)]

        def run(x, target, weight=None, reduction=reduction):
            weight = weight.detach() if weight is not None else None
            return F.cross_entropy(x, target.detach(), weight=weight, ignore_index=ignore,
                                   label_smoothing=smoothing, reduction=REDUCTION[reduction])
        inputs = [x, target] + ([weight] if weight is not None else [])
        case("%s, %s" % (name, REDUCTION[reduction]), "cross_entropy", run, inputs, *params)


def entropies(case):
    x, w = sixteenths(5, 4), real([0.5, 2.0, 1.0, 0.25])
    q = torch.softmax(sixteenths(5, 4, seed=2), 1).mul(16).round() / 16
    for weighted, ignored, smoothing in itertools.product((0, 1), (0, 1), (0.0, 0.1)):
        target = torch.tensor([0, 3, -100, 1, -100] if ignored else [0, 3, 1, 1, 2])
        name = "labels%s%s%s" % (", weight" * weighted, ", ignored" * ignored,
                                 ", smoothing" if smoothing else "")
        cross_entropy(case, name, x, target, w if weighted else None, smoothing=smoothing)
    for weighted, smoothing in itertools.product((0, 1), (0.0, 0.1)):
        name = "probabilities%s%s" % (", weight" * weighted, ", smoothing" if smoothing else "")
        cross_entropy(case, name, x, q, w if weighted else None, smoothing=smoothing)
    x3, t3 = sixteenths(2, 4, 3, seed=3), torch.tensor([[0, 3, 7], [2, 7, 1]])
    cross_entropy(case, "K dimensions, labels, weight, ignore_index 7, smoothing", x3, t3, w, 7,
                  0.1)
    cross_entropy(case, "K dimensions, labels", x3, t3 % 4)
    q3 = torch.softmax(sixteenths(2, 4, 3, seed=4), 1).mul(16).round() / 16
    cross_entropy(case, "K dimensions, probabilities, weight, smoothing", x3, q3, w, -100, 0.1)
    cross_entropy(case, "one sample without batch, label", x[0], torch.tensor(2), w, -100, 0.1)
    cross_entropy(case, "one sample without batch, probabilities", x[0], q[0], w)
    cross_entropy(case, "every label ignored", x[:2], torch.tensor([-100, -100]))
    cross_entropy(case, "ignore_index is class 1", x, torch.tensor([0, 3, 1, 1, 2]), None, 1)
    cross_entropy(case, "huge logits", real([[1000, -1000, 0], [-1000, 1000, 1000]]),
                  torch.tensor([0, 0]))
    cross_entropy(case, "-inf beside the label", real([[1.0, -INF, 0.5]]), torch.tensor([0]))
    cross_entropy(case, "-inf at the label", real([[1.0, -INF, 0.5]]), torch.tensor([1]))


def linear_cross_entropy(case, name, x, linear, target, bias=None, weight=None, fixed=True,
                         reductions=(MEAN, SUM, NONE), **options):
    """A case for each reduction; the gradient of a target of probabilities unless it is fixed."""
    words = [(key, float(value)) for key, value in options.items()]
    for reduction in reductions:
        def run(x, linear, target, bias=None, weight=None, reduction=reduction):
            weight = weight.detach() if weight is not None else None
            return F.linear_cross_entropy(
                x, linear, target.detach() if fixed else target, linear_bias=bias, weight=weight,
                reduction=REDUCTION[reduction], **options)
        case("%s, %s" % (name, REDUCTION[reduction]), "linear_cross_entropy", run,
             [x, linear, target, bias, weight], *words, ("reduction", reduction))


def linear_entropies(case):
    x, w, b = sixteenths(5, 3, seed=23), sixteenths(4, 3, seed=24), sixteenths(4, seed=25)
    weight, some = real([0.5, 2.0, 1.0, 0.25]), torch.tensor([0, 3, -100, 1, -100])
    labels, q = some.abs() % 4, torch.softmax(sixteenths(5, 4, seed=26), 1).mul(16).round() / 16
    one = functools.partial(linear_cross_entropy, case)
    for biased, weighted, smoothing in itertools.product((0, 1), (0, 1), (0.0, 0.1)):
        name = "%s%s%s" % (", bias" * biased, ", weight" * weighted,
                           ", smoothing" if smoothing else "")
        one("labels" + name, x, w, some, b if biased else None, weight if weighted else None,
            label_smoothing=smoothing)
        one("%sprobabilities%s" % ("gradients of " * biased, name), x, w, q, b if biased else None,
            weight if weighted else None, not biased, label_smoothing=smoothing)
    one("ignore_index is class 1", x, w, labels, ignore_index=1)
    one("ignore_index is class 1, weight", x, w, labels, b, weight, ignore_index=1)
    one("ignore_index is -100", x, w, some, b, ignore_index=-100)
    one("one sample, label", x[0], w, torch.tensor(2), b, weight, label_smoothing=0.1)
    one("one sample, probabilities", x[0], w, q[0], b)
    w3, b3 = sixteenths(4, 2, 3, seed=27), sixteenths(4, 2, seed=28)
    t3, q3 = torch.tensor([[0, 3], [2, 1], [1, -100], [3, 3], [0, 0]]), sixteenths(5, 4, 2, seed=29)
    q3 = torch.softmax(q3, 1).mul(16).round() / 16
    one("K dimensions, labels", x, w3, t3)
    one("K dimensions, labels, bias, weight, smoothing", x, w3, t3, b3, weight,
        label_smoothing=0.1)
    one("K dimensions, probabilities, bias", x, w3, q3, b3)
    one("K dimensions, gradients of probabilities, bias, weight", x, w3, q3, b3, weight, False)
    one("more K dimensions", x, w3.reshape(2, 2, 2, 3), t3.reshape(5, 2, 1).expand(5, 2, 2) % 2)
    one("every label ignored", x[:2], w, some[[2, 4]], b)
    one("labels of no weight", x[:2], w, labels[:2], b, real([0.0, 1, 1, 0]))
    one("no samples", x[:0], w, labels[:0], b)
    one("no samples of probabilities", x[:0], w, q[:0])
    one("huge logits", x * 1024, w * 16, labels)
    one("infinity and NaN", torch.cat([x[:3], real([[INF, 0, 1], [NAN, 1, 1]])]), w.abs() + 1 / 16,
        torch.tensor([0, 1, -100, 2, 1]), None, None, True, (NONE,))
    # more than a chunk
    wide, many = sixteenths(256, 1, seed=30), torch.arange(385).mul(7) % 256
    one("many samples", sixteenths(385, 1, seed=31), wide, many, sixteenths(256, seed=32),
        sixteenths(256, seed=33).abs() + 1 / 16, True, (MEAN, NONE), ignore_index=77)


def distances(case):
    x, t = sixteenths(3, 2), sixteenths(3, 2, seed=1)
    edges = [real([1, 2, NAN, 3, 1.5, 0.5, 4, -4]), real([1, 3, 0, NAN, 1, 1, 0, 0])]
    each(case, "mse_loss", F.mse_loss, [x, t])
    each(case, "l1_loss", F.l1_loss, [x, t])
    case("l1_loss of equal elements and NaN", "l1_loss",
         lambda a, b: F.l1_loss(a, b, reduction="none"),
         [real([1, 2, NAN, 3]), real([1, 3, 0, NAN])], ("reduction", 3))
    for beta in (1.0, 0.5, 0.0, 3.0):
        each(case, "smooth_l1_loss", F.smooth_l1_loss, [x, t], beta=beta)
        each(case, "smooth_l1_loss", F.smooth_l1_loss, edges, "corners", (NONE,), beta=beta)
    for delta in (1.0, 0.5, 3.0):
        each(case, "huber_loss", F.huber_loss, [x, t], delta=delta)
        each(case, "huber_loss", F.huber_loss, edges, "corners", (NONE,), delta=delta)
    each(case, "huber_loss", F.huber_loss, [torch.zeros(0, 3), torch.zeros(0, 3)], "nothing",
         delta=1.0)


def each(case, op, fn, inputs, name="", reductions=(MEAN, SUM, NONE), fixed=(), **options):
    """A case for each reduction; no gradient flows to the inputs of the numbers in `fixed`."""
    words = [(key, float(value)) for key, value in options.items()]
    said = ["%s %g" % word for word in words]
    for reduction in reductions:
        def run(*inputs, reduction=reduction):
            inputs = [t.detach() if i in fixed and t is not None else t
                      for i, t in enumerate(inputs)]
            return fn(*inputs, reduction=REDUCTION[reduction], **options)
        case(", ".join(filter(None, [name, *said, REDUCTION[reduction]])), op, run, inputs, *words,
             ("reduction", reduction))


def probabilities(case):
    p = torch.sigmoid(sixteenths(4, 3)).mul(16).round() / 16
    y = torch.sigmoid(sixteenths(4, 3, seed=1)).mul(16).round() / 16
    ends = [real([0, 0, 0, 1, 1, 1, 0.5, 0.25]), real([0, 1, 0.5, 0, 1, 0.5, 0, 1])]
    w, row = sixteenths(4, 3, seed=2).abs(), real([0.5, 2, 1])

    def bce(x, y, weight=None, **options):
        return F.binary_cross_entropy(x, y, weight, **options)
    each(case, "binary_cross_entropy", bce, [p, y])
    each(case, "binary_cross_entropy", bce, ends, "ends", (NONE,))
    each(case, "binary_cross_entropy", bce, [p, y, w], "weight", fixed=(2,))
    each(case, "binary_cross_entropy", bce, [p, y, row], "weight that broadcasts", fixed=(2,))
    each(case, "binary_cross_entropy", bce, [p[:0], y[:0]], "nothing")

    def with_logits(x, y, weight=None, pos_weight=None, **options):
        return F.binary_cross_entropy_with_logits(x, y, weight, pos_weight=pos_weight, **options)
    z, op = sixteenths(4, 3, seed=3), "binary_cross_entropy_with_logits"
    far = real([-200, -90, -20, 0, 0.5, 20, 90, 200])
    each(case, op, with_logits, [z, y])
    each(case, op, with_logits, [far, real([0, 1, 0.5, 0, 1, 1, 0.25, 0])], "far", (NONE,))
    each(case, op, with_logits, [z, y, w], "weight", fixed=(2, 3))
    each(case, op, with_logits, [z, y, None, row], "pos_weight", fixed=(2, 3))
    each(case, op, with_logits, [z, y, row, w], "both weights", fixed=(2, 3))
    each(case, op, with_logits, [far, real([0, 1, 0.5, 0, 1, 1, 0.25, 0]), None, real(3.0)],
         "far, pos_weight", (NONE,), fixed=(2, 3))

    q = torch.softmax(sixteenths(4, 3, seed=4), 1).mul(16).round() / 16
    log_p, log_q = -sixteenths(4, 3, seed=5).abs(), -sixteenths(4, 3, seed=6).abs()
    every = (MEAN, SUM, NONE, BATCHMEAN)
    each(case, "kl_div", F.kl_div, [log_p, q + 1 / 16], "", every)
    each(case, "kl_div", F.kl_div, [log_p, log_q], "", every, log_target=True)
    each(case, "kl_div", F.kl_div, [log_p[0], real([0, 1, NAN])], "zero", (NONE,), fixed=(1,))
    each(case, "kl_div", F.kl_div, [torch.zeros(0, 3), torch.zeros(0, 3)], "nothing", every)


def counts(case):
    x, t = sixteenths(4, 3, seed=7), real([[0, 1, 2], [3, 0.5, 1], [7, 20, 0], [1, 1, 4]])
    for full in (False, True):
        each(case, "poisson_nll_loss", F.poisson_nll_loss, [x, t], fixed=(1,), log_input=True,
             full=full, eps=1e-8)
        each(case, "poisson_nll_loss", F.poisson_nll_loss, [x.abs(), t], fixed=(1,),
             log_input=False, full=full, eps=0.5)
    # of targets that are 0, PyTorch's gradient in the target is NaN
    each(case, "poisson_nll_loss", F.poisson_nll_loss, [x, t + 0.5], "gradient of the target",
         log_input=True, full=True, eps=1e-8)
    each(case, "poisson_nll_loss", F.poisson_nll_loss, [x.abs(), t + 0.5],
         "gradient of the target", log_input=False, full=True, eps=0.5)
    y, v = sixteenths(4, 3, seed=8), sixteenths(4, 3, seed=9).abs()
    for full in (False, True):
        each(case, "gaussian_nll_loss", F.gaussian_nll_loss, [x, y, v + 1 / 16], full=full,
             eps=1e-6)
    for name, var in (("clamped", v), ("a column", v[:, :1] + 1),
                      ("without the last size", v[:, 0] + 1)):
        each(case, "gaussian_nll_loss", F.gaussian_nll_loss, [x, y, var], name, full=False,
             eps=0.5)


def margins(case):
    x, y = sixteenths(4, 3, seed=10), torch.sign(sixteenths(4, 3, seed=11)) + 0.0
    y = torch.where(y == 0, torch.ones_like(y), y)
    each(case, "soft_margin_loss", F.soft_margin_loss, [x, y], fixed=(1,))
    each(case, "soft_margin_loss", F.soft_margin_loss,
         [real([-80, 80, 0, 2]), real([1, 1, -1, 0.5])], "far", (NONE,), fixed=(1,))
    for margin in (1.0, 0.5):
        each(case, "hinge_embedding_loss", F.hinge_embedding_loss, [x, y], fixed=(1,),
             margin=margin)
    each(case, "hinge_embedding_loss", F.hinge_embedding_loss,
         [real([1, 0.5, 2, -1, NAN, NAN]), real([-1, -1, -1, 1, 1, -1])], "kink", (NONE,),
         fixed=(1,), margin=1.0)
    for margin in (0.0, 0.5):
        each(case, "margin_ranking_loss", F.margin_ranking_loss, [x, sixteenths(4, 3, seed=12), y],
             margin=margin)
    each(case, "margin_ranking_loss", F.margin_ranking_loss,
         [real([1, 1, 2, 0.5]), real([1, 0.5, 1, 1]), real([1, 1, -1, -1])], "kink", (NONE,),
         margin=0.5)


def likelihoods(case):
    x, w = -sixteenths(5, 4, seed=13).abs(), real([0.5, 2.0, 1.0, 0.25])
    labels, some = torch.tensor([0, 3, 1, 1, 2]), torch.tensor([0, 3, -100, 1, -100])
    x3, t3 = -sixteenths(2, 4, 3, seed=14).abs(), torch.tensor([[0, 3, 1], [2, 1, 1]])

    def nll(x, target, weight=None, **options):
        return F.nll_loss(x, target, weight, **options)
    for name, x_, target, weight, ignored in (
            ("labels", x, labels, None, -100), ("some ignored, weight", x, some, w, -100),
            ("ignore_index is class 1", x, labels, None, 1),
            ("K dimensions, weight", x3, t3, w, 2), ("one sample", x[0], labels[1], w, -100),
            ("every label ignored", x[:2], some[[2, 4]], None, -100),
            ("no samples", x[:0], labels[:0], None, -100)):
        each(case, "nll_loss", nll, [x_, target, weight], name, fixed=(2,), ignore_index=ignored)
    each(case, "nll_loss", nll, [real([[-INF, -0.5], [-INF, 3], [NAN, -1]]),
                                 torch.tensor([0, 1, 1])], "-inf and NaN", (NONE,),
         ignore_index=-100)


def classes(case):
    x, w = sixteenths(5, 4, seed=15), real([0.5, 2.0, 1.0, 0.25])
    labels = torch.tensor([0, 3, 1, 1, 2])

    def multi(x, target, weight=None, **options):
        return F.multi_margin_loss(x, target, weight=weight, **options)
    for power, margin, weight in ((1, 1.0, None), (2, 1.0, None), (1, 0.5, w), (2, 0.25, w)):
        each(case, "multi_margin_loss", multi, [x, labels, weight],
             "weight" if weight is not None else "", fixed=(2,), p=power, margin=margin)
    each(case, "multi_margin_loss", multi, [x[0], labels[1], w], "one sample", fixed=(2,), p=1,
         margin=1.0)
    each(case, "multi_margin_loss", multi, [real([[1, 0, 2]]), torch.tensor([0])], "kink", (NONE,),
         p=1, margin=1.0)
    each(case, "multi_margin_loss", multi, [sixteenths(3, 70, seed=16), torch.tensor([69, 0, 32])],
         "many classes", p=2, margin=1.0)
    lists = torch.tensor([[3, 0, -1, 1], [0, -1, 2, 2], [1, 2, 3, 0], [-1, 0, 1, 2], [2, 1, 0, -1]])
    each(case, "multilabel_margin_loss", F.multilabel_margin_loss, [x, lists])
    each(case, "multilabel_margin_loss", F.multilabel_margin_loss, [x[0], lists[0]], "one sample")
    each(case, "multilabel_margin_loss", F.multilabel_margin_loss,
         [sixteenths(2, 70, seed=17), torch.cat([torch.randperm(
             70, generator=torch.Generator().manual_seed(3)), torch.arange(70)]).reshape(2, 70)
             .where(torch.arange(70) < 5, -1)], "many classes")
    y = torch.sigmoid(sixteenths(5, 4, seed=18)).mul(16).round() / 16

    def soft(x, y, weight=None, **options):
        return F.multilabel_soft_margin_loss(x, y, weight, **options)
    each(case, "multilabel_soft_margin_loss", soft, [x, y])
    each(case, "multilabel_soft_margin_loss", soft, [x, y, w], "weight", fixed=(2,))
    each(case, "multilabel_soft_margin_loss", soft, [x[0], y[0]], "one sample")
    each(case, "multilabel_soft_margin_loss", soft, [x.reshape(5, 2, 2), y.reshape(5, 2, 2)],
         "K dimensions")


def embeddings(case):
    a, b, c = (sixteenths(4, 3, seed=s) for s in (19, 20, 21))
    y = real([1, -1, 1, -1])
    for margin in (0.0, 0.5):
        each(case, "cosine_embedding_loss", F.cosine_embedding_loss, [a, b, y], fixed=(2,),
             margin=margin)
    each(case, "cosine_embedding_loss", F.cosine_embedding_loss, [a[0], b[0], y[1]], "one sample",
         fixed=(2,), margin=-0.5)
    each(case, "cosine_embedding_loss", F.cosine_embedding_loss,
         [real([[0, 0], [1, 0]]), real([[1, 2], [0, 1]]), y[:2]], "zeros, kink", (NONE,),
         fixed=(2,), margin=0.0)
    for power, swap in ((2, False), (1, True), (3, True)):
        each(case, "triplet_margin_loss", F.triplet_margin_loss, [a, b, c], margin=1.0, p=power,
             eps=1e-6, swap=swap)
    each(case, "triplet_margin_loss", F.triplet_margin_loss, [a[0], b[0], c[0]], "one sample",
         margin=2.0, p=2, eps=0.5, swap=False)
    for swap in (False, True):
        each(case, "triplet_margin_with_distance_loss", F.triplet_margin_with_distance_loss,
             [a, b, c], margin=0.5, swap=swap)


def sequences(case):
    x = torch.log_softmax(sixteenths(6, 3, 4, seed=22), 2)
    rows, row = torch.tensor([[1, 2, 2], [3, 1, 0], [0, 0, 0]]), torch.tensor([1, 2, 2, 3, 1])
    lengths, counts = torch.tensor([6, 4, 3]), torch.tensor([3, 2, 0])

    def ctc(x, targets, lengths, counts, **options):
        return F.ctc_loss(x.log_softmax(-1), targets, lengths, counts,
                          **{k: v for k, v in options.items()})
    for name, targets in (("rows", rows), ("one row of all", row)):
        each(case, "ctc_loss", ctc, [x, targets, lengths, counts], name, blank=0,
             zero_infinity=False)
    each(case, "ctc_loss", ctc, [x, torch.tensor([[0, 1, 1], [2, 0, 0], [1, 0, 1]]), lengths,
                                 torch.tensor([3, 1, 2])], "the last class is blank", blank=3,
         zero_infinity=False)
    # labels that do not fit in: infinity
    few = torch.tensor([6, 1, 0])
    each(case, "ctc_loss", ctc, [x, rows, few, torch.tensor([3, 2, 0])], "too short", (SUM, NONE),
         blank=0, zero_infinity=True)
    each(case, "ctc_loss", ctc, [x, rows, few, torch.tensor([3, 2, 0])], "too short", (NONE,),
         blank=0, zero_infinity=False)
    lost = x.clone()
    lost[2, 1, 1] = torch.nan
    each(case, "ctc_loss", ctc, [lost, rows, lengths, counts], "a NaN", blank=0, zero_infinity=True)
    each(case, "ctc_loss", ctc, [x[:, 0], rows[0], lengths[:1], counts[:1]], "one sample", blank=0,
         zero_infinity=False)


def cases(case):
    for family in (entropies, linear_entropies, distances, probabilities, counts, margins,
                   likelihoods, classes, embeddings, sequences):
        family(case)
