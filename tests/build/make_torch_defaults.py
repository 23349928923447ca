#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes torch_defaults.json: what PyTorch's constructors and functions take unless said.

    make_torch_defaults.py >torch_defaults.json

{call of tern: {argument of PyTorch: its default}}, of arguments that have one, for every call with
options whose signature Python can read.
"""
import inspect
import json
import re
import sys
from pathlib import Path

import torch
from torch.nn import functional
from torch.optim import lr_scheduler, swa_utils

ROOT = Path(__file__).resolve().parents[2]
NAMES = {"tern_nn_mse_loss": "MSELoss", "tern_nn_l1_loss": "L1Loss", "tern_nn_prelu": "PReLU",
         "tern_nn_smooth_l1_loss": "SmoothL1Loss", "tern_nn_bce_loss": "BCELoss",
         "tern_nn_bce_with_logits_loss": "BCEWithLogitsLoss", "tern_nn_kl_div_loss": "KLDivLoss",
         "tern_nn_poisson_nll_loss": "PoissonNLLLoss", "tern_nn_nll_loss": "NLLLoss",
         "tern_nn_ctc_loss": "CTCLoss",
         "tern_nn_gaussian_nll_loss": "GaussianNLLLoss",
         "tern_nn_rrelu": "RReLU", "tern_nn_leaky_relu": "LeakyReLU", "tern_nn_elu": "ELU",
         "tern_nn_celu": "CELU", "tern_nn_gelu": "GELU", "tern_nn_glu": "GLU",
         "tern_nn_rms_norm": "RMSNorm", "tern_optim_sgd": "SGD", "tern_optim_adamw": "AdamW",
         "tern_optim_rmsprop": "RMSprop", "tern_optim_radam": "RAdam",
         "tern_optim_nadam": "NAdam", "tern_optim_asgd": "ASGD",
         "tern_optim_lbfgs": "LBFGS", "tern_optim_muon": "Muon",
         "tern_optim_adafactor": "Adafactor"}


def torch_of(name):
    """PyTorch's class or function, or None."""
    if name.startswith("tern_averaged_model"):
        return (swa_utils.get_ema_multi_avg_fn if name.endswith("_ema")
                else swa_utils.AveragedModel)
    group, _, rest = name.removeprefix("tern_").partition("_")
    title = NAMES.get(name, "".join(word.title() if word[:1].isalpha() else word
                                    for word in rest.split("_")))
    title = re.sub(r"(\d)D$", r"\1d", title)
    if group == "nn":
        return getattr(torch.nn, title, None)
    if group == "gradcheck":
        return torch.autograd.gradcheck
    if group == "init":
        return getattr(torch.nn.init, rest + "_", None)
    if group == "optim":
        return getattr(torch.optim, title, None)
    if group == "sched":
        module = swa_utils if rest == "swa_lr" else lr_scheduler
        names = {one.lower(): one for one in dir(module)}
        return getattr(module, names.get(rest.replace("_", ""), ""), None)
    return getattr(functional, name.removeprefix("tern_"), None)


def defaults(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {one.name: one.default for one in parameters if one.default is not one.empty
            and isinstance(one.default, (bool, int, float, str, tuple, type(None)))}


def main():
    sys.path.insert(0, str(ROOT / "docs"))
    from describe import described  # pylint: disable=import-outside-toplevel
    calls = [call["name"] for call in described(ROOT / "include/tern", "")["calls"]]
    found = {name: defaults(torch_of(name)) for name in sorted(calls) if torch_of(name)}
    known = {name: values for name, values in found.items() if values}
    print(json.dumps({"torch": torch.__version__.split("+")[0], "calls": known}, indent=1))


if __name__ == "__main__":
    main()
