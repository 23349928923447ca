# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/norm.h: name, module, inputs."""
import torch
from torch import nn


def values(*shape):
    """Multiples of 1/16 whose mean and variance differ from channel to channel."""
    i = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (torch.round(16 * (torch.sin(1.7 * i) * (1 + i % 5) + i % 3)) / 16).reshape(shape)


CASES = [
    ("batch_norm1d", lambda: nn.BatchNorm1d(3), values(5, 3)),
    ("batch_norm1d_of_lengths", lambda: nn.BatchNorm1d(3, bias=False), values(2, 3, 5)),
    ("batch_norm1d_mean_of_all", lambda: nn.BatchNorm1d(3, momentum=None), values(4, 3, 1)),
    ("batch_norm2d", lambda: nn.BatchNorm2d(3), values(2, 3, 3, 5)),
    ("batch_norm2d_options", lambda: nn.BatchNorm2d(
        2, eps=0.01, momentum=0.4, affine=False, track_running_stats=False), values(3, 2, 3, 1)),
    ("batch_norm2d_wide", lambda: nn.BatchNorm2d(2, momentum=0.4), values(3, 2, 5, 7)),
    ("batch_norm2d_still", lambda: nn.BatchNorm2d(3, momentum=0.0, affine=False),
     values(1, 3, 2, 2)),
    ("batch_norm2d_empty", lambda: nn.BatchNorm2d(3), values(0, 3, 2, 2)),
    ("batch_norm3d", lambda: nn.BatchNorm3d(2), values(2, 2, 3, 1, 3)),
    ("batch_norm3d_options", lambda: nn.BatchNorm3d(2, eps=1e-3, momentum=0.7, bias=False),
     values(1, 2, 2, 3, 2)),
    ("instance_norm1d", lambda: nn.InstanceNorm1d(3), values(2, 3, 5)),
    ("instance_norm1d_unbatched", lambda: nn.InstanceNorm1d(3, affine=True), values(3, 5)),
    ("instance_norm1d_tracked", lambda: nn.InstanceNorm1d(
        3, momentum=None, affine=True, track_running_stats=True), values(2, 3, 4)),
    ("instance_norm2d", lambda: nn.InstanceNorm2d(2, affine=True, bias=False),
     values(2, 2, 3, 5)),
    ("instance_norm2d_tracked", lambda: nn.InstanceNorm2d(
        2, eps=0.01, momentum=0.3, affine=True, track_running_stats=True), values(3, 2, 1, 5)),
    ("instance_norm2d_unbatched", lambda: nn.InstanceNorm2d(2, track_running_stats=True),
     values(2, 3, 3)),
    ("instance_norm3d", lambda: nn.InstanceNorm3d(2), values(2, 2, 2, 3, 1)),
    ("instance_norm3d_options", lambda: nn.InstanceNorm3d(
        2, eps=0.1, momentum=0.6, affine=True, track_running_stats=True), values(2, 2, 3, 1, 3)),
    ("group_norm", lambda: nn.GroupNorm(2, 6), values(2, 6, 3, 3)),
    ("group_norm_of_rows", lambda: nn.GroupNorm(2, 6, eps=0.01), values(4, 6)),
    ("group_norm_each_channel", lambda: nn.GroupNorm(3, 3, bias=False), values(2, 3, 5)),
    ("group_norm_all_channels", lambda: nn.GroupNorm(1, 3, affine=False), values(2, 3, 1, 7)),
    ("group_norm_empty", lambda: nn.GroupNorm(1, 3), values(0, 3, 2)),
    ("layer_norm", lambda: nn.LayerNorm(5), values(3, 5)),
    ("layer_norm_of_images", lambda: nn.LayerNorm((3, 5), eps=0.1, bias=False),
     values(2, 2, 3, 5)),
    ("layer_norm_plain", lambda: nn.LayerNorm(33, elementwise_affine=False), values(2, 33)),
    ("layer_norm_whole", lambda: nn.LayerNorm((2, 3)), values(2, 3)),
    ("layer_norm_empty", lambda: nn.LayerNorm(4), values(0, 4)),
    ("rms_norm", lambda: nn.RMSNorm(5), values(3, 5)),
    ("rms_norm_of_images", lambda: nn.RMSNorm((3, 5), eps=0.1), values(2, 2, 3, 5)),
    ("rms_norm_plain", lambda: nn.RMSNorm(17, elementwise_affine=False), values(2, 17)),
]
