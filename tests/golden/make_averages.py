#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores what PyTorch's AveragedModel and update_bn make of a small net with batch norm: the family
averages. scripts/golden.sh runs it."""
import sys

sys.dont_write_bytecode = True

import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn, update_bn

from golden import Golden

UPDATES, BATCHES, ROWS, ETA = 20, 3, 5, 3
PROSE = """
keys: those of the averaged model's state dict. inputs: what the net's holds at each update, but
num_batches_tracked, which is 7 at the first one and 3 more each time; and batches. Of a case:
average, the same of the averaged model after 20 updates, exponential or, where decay is -1, the
mean, or, where it is -2, by polynomial decay of eta 3, which is an avg_fn; batches_tracked and
n_averaged, its other two; and mean, var, tracked: the statistics of batch norm after update_bn.
"""


def make_net(dtype):
    return torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.BatchNorm1d(6), torch.nn.ReLU(),
                               torch.nn.Linear(6, 3)).to(dtype)


def flat(net):
    return torch.cat([t.flatten() for t in net.state_dict().values() if t.is_floating_point()])


def set_state(net, values, tracked):
    at = 0
    for t in net.state_dict().values():
        if t.is_floating_point():
            t.copy_(values[at:at + t.numel()].view_as(t))
            at += t.numel()
        else:
            t.fill_(tracked)


def draw_states():
    """A walk, with variances above 0, of numbers that float32 has."""
    torch.manual_seed(5)
    net = make_net(torch.float32)
    steps = 0.1 * torch.randn(UPDATES, flat(net).numel())
    states = flat(net) + steps.cumsum(0)
    variance = slice(4 * 6 + 6 + 6 + 6 + 6, 4 * 6 + 6 + 6 + 6 + 6 + 6)
    states[:, variance] = states[:, variance].abs() + 0.5
    return states


def polynomial(average, value, n_averaged):
    """Polynomial decay (Shamir and Zhang 2013)."""
    return average + (value - average) * (ETA + 1) / (n_averaged + 1 + ETA)


def average_options(decay):
    if decay == "polynomial":
        return {"avg_fn": polynomial}
    return {} if decay is None else {"multi_avg_fn": get_ema_multi_avg_fn(decay)}


def averages_case(golden, states, batches, dtype, decay, use_buffers):
    net = make_net(dtype)
    average = AveragedModel(net, use_buffers=use_buffers, **average_options(decay))
    for i, state in enumerate(states):
        set_state(net, state.to(dtype), 7 + 3 * i)
        average.update_parameters(net)
    kept, tracked = flat(average.module), average.module[1].num_batches_tracked.item()
    update_bn(batches.to(dtype), average)
    norm = average.module[1]
    golden.case(f"{dtype} decay {decay} use_buffers {use_buffers}".replace("torch.", ""),
                [("decay", {None: -1, "polynomial": -2}.get(decay, decay)),
                 ("use_buffers", use_buffers),
                 ("batches_tracked", tracked), ("n_averaged", average.n_averaged.item()),
                 ("tracked", norm.num_batches_tracked.item())],
                [("average", kept), ("mean", norm.running_mean), ("var", norm.running_var)])


golden = Golden("averages", "make_averages.py", PROSE)
states = draw_states()
batches = torch.randn(BATCHES, ROWS, 4)
golden.case("keys", text="\n".join(AveragedModel(make_net(torch.float32)).state_dict()))
golden.case("inputs", [], [("states", states), ("batches", batches)])
for dtype in torch.float32, torch.float64:
    for decay in None, 0.9, 0.999, 0.25, 0, 1, "polynomial":
        for use_buffers in False, True:
            averages_case(golden, states, batches, dtype, decay, use_buffers)
golden.write()
