# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/pool.h: name, module, inputs."""
import torch
from torch import nn

from modules_inputs import sixteenths

LINE, SINGLE_LINE = sixteenths(1, 2, 9), sixteenths(1, 8)
IMAGE, ODD = sixteenths(1, 1, 6, 6), sixteenths(1, 1, 7, 5)
SINGLE = sixteenths(1, 6, 5)
VOLUME = sixteenths(1, 1, 4, 4, 3)
EMPTY = torch.zeros(0, 2, 4, 4, dtype=torch.float64)
CHANNELS = sixteenths(1, 5, 2)

CASES = [
    ("max_pool1d", lambda: nn.MaxPool1d(2), LINE),
    ("max_pool1d_stride", lambda: nn.MaxPool1d(3, stride=1), SINGLE_LINE),
    ("max_pool1d_all", lambda: nn.MaxPool1d(3, 2, 1, 2, ceil_mode=True), LINE),
    ("max_pool2d", lambda: nn.MaxPool2d(2), IMAGE),
    ("max_pool2d_odd", lambda: nn.MaxPool2d(2), ODD),
    ("max_pool2d_resnet", lambda: nn.MaxPool2d(3, stride=2, padding=1), SINGLE),
    ("max_pool2d_all", lambda: nn.MaxPool2d((3, 2), (2, 1), (1, 0), (1, 2), ceil_mode=True), ODD),
    ("max_pool2d_empty", lambda: nn.MaxPool2d(2), EMPTY),
    ("max_pool3d", lambda: nn.MaxPool3d(2), VOLUME),
    ("max_pool3d_stride", lambda: nn.MaxPool3d(2, stride=1), VOLUME[0]),
    ("max_pool3d_all", lambda: nn.MaxPool3d((2, 3, 2), (1, 2, 1), (1, 1, 0), (2, 1, 1),
                                            ceil_mode=True), VOLUME),
    ("avg_pool1d", lambda: nn.AvgPool1d(2), LINE),
    ("avg_pool1d_ceil", lambda: nn.AvgPool1d(3, 2, 1, ceil_mode=True), SINGLE_LINE),
    ("avg_pool1d_all", lambda: nn.AvgPool1d(3, 2, 1, True, False), LINE),
    ("avg_pool2d", lambda: nn.AvgPool2d(2), IMAGE),
    ("avg_pool2d_padding", lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True), SINGLE),
    ("avg_pool2d_inside", lambda: nn.AvgPool2d(3, 2, 1, True, False), ODD),
    ("avg_pool2d_all", lambda: nn.AvgPool2d((3, 2), (2, 1), (1, 0), True, False, 5), ODD),
    ("avg_pool2d_empty", lambda: nn.AvgPool2d(2), EMPTY),
    ("avg_pool3d", lambda: nn.AvgPool3d(2), VOLUME),
    ("avg_pool3d_padding", lambda: nn.AvgPool3d(2, 2, 1, ceil_mode=True), VOLUME[0]),
    ("avg_pool3d_all", lambda: nn.AvgPool3d((2, 3, 2), (1, 2, 1), (1, 1, 0), True, False, 3),
     VOLUME),
    ("adaptive_avg_pool1d", lambda: nn.AdaptiveAvgPool1d(4), LINE),
    ("adaptive_avg_pool1d_up", lambda: nn.AdaptiveAvgPool1d(11), SINGLE_LINE),
    ("adaptive_avg_pool1d_one", lambda: nn.AdaptiveAvgPool1d(1), LINE),
    ("adaptive_avg_pool2d", lambda: nn.AdaptiveAvgPool2d(1), IMAGE),
    ("adaptive_avg_pool2d_sizes", lambda: nn.AdaptiveAvgPool2d((3, 7)), ODD),
    ("adaptive_avg_pool2d_keep", lambda: nn.AdaptiveAvgPool2d((None, 2)), SINGLE),
    ("adaptive_max_pool1d", lambda: nn.AdaptiveMaxPool1d(4), LINE),
    ("adaptive_max_pool1d_up", lambda: nn.AdaptiveMaxPool1d(11), SINGLE_LINE),
    ("adaptive_max_pool2d", lambda: nn.AdaptiveMaxPool2d(2), IMAGE),
    ("adaptive_max_pool2d_sizes", lambda: nn.AdaptiveMaxPool2d((3, 7)), ODD),
    ("adaptive_max_pool2d_keep", lambda: nn.AdaptiveMaxPool2d((None, 2)), SINGLE),
    ("local_response_norm", lambda: nn.LocalResponseNorm(3), CHANNELS),
    ("local_response_norm_even", lambda: nn.LocalResponseNorm(2, alpha=0.5), CHANNELS),
    ("local_response_norm_all", lambda: nn.LocalResponseNorm(4, 0.5, 0.5, 2.0), CHANNELS),
]
