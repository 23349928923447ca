#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores the learning rates of PyTorch's schedulers: the family sched. scripts/golden.sh runs
it."""
import math
import sys
import warnings

sys.dont_write_bytecode = True

import torch
from torch.optim import lr_scheduler as lr
from torch.optim.swa_utils import SWALR

from golden import Golden, f64

STEPS = 200
RATES = [0.1, 0.02]
PROSE = """
200 steps of a scheduler over two groups, of lr 0.1 and 0.02. rates: those of both groups, after
construction and after each step. momentum: likewise momentum or betas[0] of the first, where it is
cycled. epochs: what each step is given, nan where nothing is. metrics: likewise.
"""


def sgd():
    groups = [{"params": [torch.nn.Parameter(torch.zeros(1))], "lr": rate} for rate in RATES]
    return torch.optim.SGD(groups, momentum=0.9)


def adam():
    groups = [{"params": [torch.nn.Parameter(torch.zeros(1))], "lr": rate} for rate in RATES]
    return torch.optim.Adam(groups)


def decays(k):
    return 0.95 ** k


def inverse(k):
    return 1 / (k + 1)


# The test has a constructor for each name.
CASES = {
    "lambda": lambda o: lr.LambdaLR(o, [decays, inverse]),
    "multiplicative": lambda o: lr.MultiplicativeLR(o, lambda k: 0.97),
    "step": lambda o: lr.StepLR(o, 30, gamma=0.5),
    "step every": lambda o: lr.StepLR(o, 1),
    "multi_step": lambda o: lr.MultiStepLR(o, [150, 30, 80, 80], gamma=0.3),
    "multi_step from 0": lambda o: lr.MultiStepLR(o, [0, 7]),
    "exponential": lambda o: lr.ExponentialLR(o, 0.97),
    "constant": lambda o: lr.ConstantLR(o),
    "constant for 20": lambda o: lr.ConstantLR(o, factor=0.6, total_iters=20),
    "linear": lambda o: lr.LinearLR(o),
    "linear to 0.6": lambda o: lr.LinearLR(o, start_factor=0.1, end_factor=0.6, total_iters=50),
    "linear down": lambda o: lr.LinearLR(o, start_factor=1.0, end_factor=0.0, total_iters=150),
    "polynomial": lambda o: lr.PolynomialLR(o),
    "polynomial of power 2.5": lambda o: lr.PolynomialLR(o, total_iters=150, power=2.5),
    "cosine": lambda o: lr.CosineAnnealingLR(o, 50),
    "cosine to 0.001": lambda o: lr.CosineAnnealingLR(o, 37, eta_min=0.001),
    "warm_restarts": lambda o: lr.CosineAnnealingWarmRestarts(o, 10),
    "warm_restarts doubling": lambda o: lr.CosineAnnealingWarmRestarts(o, 7, T_mult=2,
                                                                       eta_min=0.001),
    "one_cycle": lambda o: lr.OneCycleLR(o, 0.5, total_steps=STEPS + 1),
    "one_cycle in three": lambda o: lr.OneCycleLR(
        o, [0.5, 0.3], epochs=3, steps_per_epoch=67, pct_start=0.4, anneal_strategy="linear",
        base_momentum=0.6, max_momentum=0.99, div_factor=10, final_div_factor=100,
        three_phase=True),
    "one_cycle of adam": lambda o: lr.OneCycleLR(o, 0.01, total_steps=250, cycle_momentum=True),
    "one_cycle alone": lambda o: lr.OneCycleLR(o, 0.5, total_steps=STEPS + 1,
                                               cycle_momentum=False),
    "cyclic": lambda o: lr.CyclicLR(o, 0.01, 0.2, step_size_up=30),
    "cyclic halving": lambda o: lr.CyclicLR(o, [0.01, 0.002], [0.2, 0.1], step_size_up=20,
                                            step_size_down=35, mode="triangular2",
                                            base_momentum=0.5, max_momentum=0.95),
    "cyclic of adam": lambda o: lr.CyclicLR(o, 0.01, 0.2, step_size_up=30, mode="exp_range",
                                            gamma=0.99),
    "cyclic by a function": lambda o: lr.CyclicLR(o, 0.01, 0.2, step_size_up=30,
                                                  scale_fn=inverse, scale_mode="iterations",
                                                  cycle_momentum=False),
    "cyclic by a function of cycles": lambda o: lr.CyclicLR(o, 0.01, 0.2, step_size_up=30,
                                                            scale_fn=inverse),
    "swa": lambda o: SWALR(o, 0.05),
    "swa along a line": lambda o: SWALR(o, [0.5, 0.001], anneal_epochs=50,
                                        anneal_strategy="linear"),
    "swa at once": lambda o: SWALR(o, 0.05, anneal_epochs=0),
    "sequential": lambda o: lr.SequentialLR(
        o, [lr.LinearLR(o, start_factor=0.1, total_iters=20), lr.CosineAnnealingLR(o, 100)], [20]),
    "sequential of three": lambda o: lr.SequentialLR(
        o, [lr.ConstantLR(o, factor=0.1, total_iters=30), lr.ExponentialLR(o, 0.9),
            lr.StepLR(o, 20)], [30, 90]),
    "sequential without closed forms": lambda o: lr.SequentialLR(
        o, [lr.MultiplicativeLR(o, lambda k: 0.97), lr.CosineAnnealingWarmRestarts(o, 7),
            lr.MultiplicativeLR(o, lambda k: 0.9), SWALR(o, 0.05)], [15, 50, 80]),
    "sequential of cycles": lambda o: lr.SequentialLR(
        o, [lr.LambdaLR(o, [decays, inverse]), lr.OneCycleLR(o, 0.5, total_steps=60),
            lr.CyclicLR(o, 0.01, 0.2, step_size_up=30, cycle_momentum=False)], [40, 90]),
    "chained": lambda o: lr.ChainedScheduler(
        [lr.ConstantLR(o, factor=0.5, total_iters=30), lr.ExponentialLR(o, 0.98)]),
    "chained with sequential": lambda o: lr.ChainedScheduler(
        [lr.SequentialLR(o, [lr.LinearLR(o, total_iters=20), lr.PolynomialLR(o, 150)], [20]),
         lr.StepLR(o, 50)]),
    "warmup": lambda o: lr.SequentialLR(
        o, [lr.LinearLR(o, start_factor=1.0 / 11, total_iters=10), lr.CosineAnnealingLR(o, 190)],
        [10]),
}
# Of "a name, .epoch": at these the closed forms are asked for.
EPOCHS = [3, math.nan, math.nan, 40, math.nan, 12, 0, 100, math.nan, 5]
FRACTIONS = [3.25, math.nan, 12.5, 12.75, math.nan, 0.5, 60, math.nan, 7, 6.5]
AT_EPOCHS = {"step": EPOCHS, "multi_step": EPOCHS, "exponential": EPOCHS, "constant": EPOCHS,
             "linear to 0.6": EPOCHS, "polynomial of power 2.5": EPOCHS, "cosine": EPOCHS,
             "lambda": EPOCHS, "one_cycle": EPOCHS, "cyclic": EPOCHS,
             "warm_restarts": FRACTIONS, "warm_restarts doubling": FRACTIONS}
PLATEAUS = {
    "plateau": lambda o: lr.ReduceLROnPlateau(o),
    "plateau of a maximum": lambda o: lr.ReduceLROnPlateau(
        o, "max", factor=0.5, patience=3, threshold=0.05, threshold_mode="abs", cooldown=4,
        min_lr=[0.01, 0.0001], eps=0.002),
    "plateau of a maximum, relative": lambda o: lr.ReduceLROnPlateau(o, "max", patience=5,
                                                                     threshold=0.1),
    "plateau of a minimum, absolute": lambda o: lr.ReduceLROnPlateau(
        o, "min", patience=0, factor=0.9, threshold=0.01, threshold_mode="abs"),
}


def momentum_of(group):
    return group["betas"][0] if "betas" in group else group["momentum"]


def run(golden, name, make, optimizer, arguments, words=(), arrays=()):
    scheduler = make(optimizer)
    optimizer.step()
    rates, momenta = [], []
    for step in range(len(arguments) + 1):
        rates.append([group["lr"] for group in optimizer.param_groups])
        momenta.append(momentum_of(optimizer.param_groups[0]))
        if step < len(arguments):
            scheduler.step(*arguments[step])
    golden.case(name, words, [("rates", f64(rates)), ("momentum", f64(momenta)), *arrays])


warnings.simplefilter("ignore", UserWarning)  # .epoch is deprecated
golden = Golden("sched", "make_sched.py", PROSE)
for name, make in CASES.items():
    run(golden, name, make, adam() if "adam" in name else sgd(), [()] * STEPS)
for name, epochs in AT_EPOCHS.items():
    run(golden, name + ", .epoch", CASES[name], sgd(),
        [() if math.isnan(e) else (e,) for e in epochs], [("scheduler", name)],
        [("epochs", f64(epochs))])
generator = torch.Generator().manual_seed(1)
noise = torch.randn(STEPS, generator=generator, dtype=torch.float64)
metrics = 1 + torch.exp(-torch.arange(STEPS) / 40.0).double() + 0.02 * noise
metrics[60] = math.nan
for name, make in PLATEAUS.items():
    values = metrics if "maximum" not in name else 3 - metrics
    run(golden, name, make, sgd(), [(float(m),) for m in values], (), [("metrics", values)])
golden.write()
