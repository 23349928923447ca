#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what torchmetrics makes of batches: the family metrics. scripts/golden.sh runs it."""
import itertools
import sys
import warnings

sys.dont_write_bytecode = True

import torch
import torchmetrics

from golden import Golden

PROSE = f"""
The metric `kind` of torchmetrics {torchmetrics.__version__} with options that are words, updated
with the batches preds0, target0, preds1, ..; `expected` is what it computes. mean is MeanMetric,
whose target is the weight, or missing, and standard_error is s / sqrt(n) with an unbiased s, by
hand.
"""
SIZES = (5, 8, 3) # of the batches: the last one is smaller
CLASSES, LABELS, COLUMNS = 6, 3, 2
AVERAGES = ("micro", "macro", "weighted", "none")
KINDS = {"accuracy": "Accuracy", "precision": "Precision", "recall": "Recall", "f1": "F1Score",
         "confusion_matrix": "ConfusionMatrix", "auroc": "AUROC"}


class Draw:
    """Batches from one seed: (preds, target) of each size."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape):
        return torch.randn(shape, generator=self.generator)

    def integers(self, low, high, *shape):
        return torch.randint(low, high, shape, generator=self.generator)

    def classes(self, form, rows):
        """Class 4 is nowhere, class 3 is predicted but never so, class 5 the other way round."""
        shape = (rows,) + ((COLUMNS,) if form.endswith("columns") else ())
        target = torch.tensor([0, 1, 2, 5])[self.integers(0, 4, *shape)]
        if form.startswith("classes"):
            return self.integers(0, 4, *shape), target
        scores = self.normal(rows, CLASSES, *shape[1:])
        scores[:, 4:] -= 20
        if form.startswith("probabilities"):
            scores = scores.softmax(1)
        if form.startswith("tied"): # many equal scores, all between 0 and 1
            scores = (scores.softmax(1) * 4).round() / 4
        return scores, target

    def truths(self, form, shape):
        target = self.integers(0, 2, *shape)
        if form == "classes":
            return self.integers(0, 2, *shape), target
        scores = self.normal(*shape)
        if form == "probabilities":
            scores = scores.sigmoid()
        if form == "tied":
            scores = (scores.sigmoid() * 5).round() / 5
        return scores, target


def with_ignored(batches, index, every):
    """Some targets of each batch are `index`."""
    if index is not None:
        for _, target in batches:
            target.view(-1)[::every] = index
    return batches


def run(golden, name, kind, metric, words, batches, more=()):
    arrays = list(more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, (preds, target) in enumerate(batches):
            metric.update(*[t for t in (preds, target) if t is not None])
            arrays.append((f"preds{i}", preds))
            if target is not None:
                arrays.append((f"target{i}", target))
        expected = metric.compute()
    words = [("kind", kind), ("batches", len(batches))] + [(k, v) for k, v in words.items()
                                                          if v is not None]
    golden.case(f"{kind} {name}", words, arrays + [("expected", expected)])


def classification(golden, kind, task, name, batches, **options):
    extra = {"multiclass": dict(num_classes=CLASSES), "multilabel": dict(num_labels=LABELS),
             "binary": {}}[task]
    metric = getattr(torchmetrics, KINDS[kind])(task=task, **extra, **options)
    text = " ".join([task, name] + [f"{k}={v}" for k, v in options.items()])
    run(golden, text, kind, metric, dict(task=task, **extra, **options), batches)


def several_classes(golden):
    seeds = itertools.count()
    for kind, average in itertools.product(list(KINDS)[:4], AVERAGES):
        for form in ("logits", "probabilities columns", "classes columns"):
            for ignored in (None, 1, -1):
                draw = Draw(next(seeds))
                batches = with_ignored([draw.classes(form, n) for n in SIZES], ignored, 3)
                classification(golden, kind, "multiclass", form, batches, average=average,
                               ignore_index=ignored)
                if not form.startswith("classes"):
                    classification(golden, kind, "multiclass", form, batches, average=average,
                                   ignore_index=ignored, top_k=3)


def yes_or_no(golden):
    seeds = itertools.count(1000)
    for kind in list(KINDS)[:4]:
        for form, ignored in itertools.product(("logits", "probabilities", "classes"), (None, -1)):
            draw = Draw(next(seeds))
            batches = [draw.truths(form, (n, COLUMNS)) for n in SIZES]
            classification(golden, kind, "binary", form, with_ignored(batches, ignored, 3),
                           threshold=0.4, ignore_index=ignored)
            for average in AVERAGES:
                batches = [draw.truths(form, (n, LABELS, COLUMNS)) for n in SIZES]
                classification(golden, kind, "multilabel", form, with_ignored(batches, ignored, 4),
                               average=average, ignore_index=ignored)


def matrices(golden):
    for i, normalize in enumerate((None, "true", "pred", "all")):
        for ignored in (None, 2):
            draw = Draw(2000 + i)
            batches = with_ignored([draw.classes("logits", n) for n in SIZES], ignored, 3)
            classification(golden, "confusion_matrix", "multiclass", "logits", batches,
                           normalize=normalize, ignore_index=ignored)
        draw = Draw(2100 + i)
        classification(golden, "confusion_matrix", "binary", "logits",
                       [draw.truths("logits", (n,)) for n in SIZES], normalize=normalize)
        classification(golden, "confusion_matrix", "multilabel", "probabilities",
                       with_ignored([draw.truths("probabilities", (n, LABELS)) for n in SIZES], -1,
                                    4), normalize=normalize, ignore_index=-1)


def areas(golden):
    seeds = itertools.count(3000)
    for form, ignored in itertools.product(("logits", "probabilities", "tied"), (None, -1)):
        for average in ("macro", "weighted", "none"):
            for columns in ("", " columns"):
                draw = Draw(next(seeds))
                batches = [draw.classes(form + columns, n) for n in SIZES]
                classification(golden, "auroc", "multiclass", form + columns,
                               with_ignored(batches, ignored, 3), average=average,
                               ignore_index=ignored)
        draw = Draw(next(seeds))
        classification(golden, "auroc", "binary", form,
                       with_ignored([draw.truths(form, (n,)) for n in SIZES], ignored, 3),
                       ignore_index=ignored)
        for average in AVERAGES:
            classification(golden, "auroc", "multilabel", form,
                           with_ignored([draw.truths(form, (n, LABELS)) for n in SIZES], ignored,
                                        4), average=average, ignore_index=ignored)
    only = [(torch.rand(4, generator=draw.generator), torch.full((4,), v)) for v in (0, 1)]
    classification(golden, "auroc", "binary", "only negatives", only[:1])
    classification(golden, "auroc", "binary", "only positives", only[1:])


def pairs(draw, *shape):
    """Predictions that are near the targets, around 3."""
    target = draw.normal(*shape) * 2 + 3
    return target + draw.normal(*shape) * 0.5, target


def regression(golden):
    draw = Draw(4000)
    kinds = [("mean_absolute_error", torchmetrics.MeanAbsoluteError, [{}]),
             ("mean_squared_error", torchmetrics.MeanSquaredError, [{}, dict(squared=False)])]
    for kind, make, options in kinds:
        for option in options:
            for shape in ((), (COLUMNS, 2)):
                run(golden, f"{option} {len(shape) + 1} dimensions", kind, make(**option), option,
                    [pairs(draw, n, *shape) for n in SIZES])
            several = dict(option, num_outputs=LABELS)
            run(golden, f"{several}", kind, make(**several), several,
                [pairs(draw, n, LABELS) for n in SIZES])
    for adjusted, output in itertools.product((0, 2, 15), ("uniform_average", "raw_values",
                                                           "variance_weighted")):
        options = dict(adjusted=adjusted, multioutput=output)
        run(golden, f"{options}", "r2_score", torchmetrics.R2Score(**options),
            dict(options, num_outputs=LABELS), [pairs(draw, n, LABELS) for n in SIZES])
    run(golden, "one output", "r2_score", torchmetrics.R2Score(), {},
        [pairs(draw, n) for n in SIZES])
    constant = [(torch.full((n,), 2.0), torch.full((n,), 2.0)) for n in SIZES]
    run(golden, "constant, met", "r2_score", torchmetrics.R2Score(), {}, constant)
    run(golden, "constant, missed", "r2_score", torchmetrics.R2Score(), {},
        [(preds + 1, target) for preds, target in constant])


def standard_error(batches):
    """Of all values together, where n is that of Kish."""
    x = torch.cat([v.flatten() for v, _ in batches]).double()
    w = torch.cat([(torch.ones_like(v) if t is None else t.expand_as(v)).flatten()
                   for v, t in batches]).double()
    mean, n = (w * x).sum() / w.sum(), w.sum() ** 2 / (w * w).sum()
    variance = (w * (x - mean) ** 2).sum() / w.sum() * n / (n - 1)
    return (variance / n).sqrt()


def text_and_values(golden):
    draw = Draw(5000)
    for ignored in (None, -1, 2):
        batches = [(draw.normal(n, 4, 7), draw.integers(0, 7, n, 4)) for n in SIZES]
        run(golden, f"ignore_index={ignored}", "perplexity",
            torchmetrics.text.Perplexity(ignore_index=ignored), dict(ignore_index=ignored),
            with_ignored(batches, ignored, 3))
    for weights in (None, (), (2,)):
        batches = [(draw.normal(n, 2), None if weights is None else draw.normal(*weights).abs())
                   for n in SIZES]
        run(golden, f"weights {weights}", "mean", torchmetrics.MeanMetric(), {}, batches,
            [("standard_error", standard_error(batches))])
    holes = [(draw.normal(n), None) for n in SIZES]
    for values, _ in holes:
        values[1] = float("nan")
    run(golden, "with NaN", "mean", torchmetrics.MeanMetric(nan_strategy="ignore"),
        dict(ignore_nan=True), holes)


golden = Golden("metrics", "make_metrics.py", PROSE)
for make in (several_classes, yes_or_no, matrices, areas, regression, text_and_values):
    make(golden)
golden.write()
