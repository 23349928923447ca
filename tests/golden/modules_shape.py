# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/shape.h: name, module, inputs."""
from torch import nn

from modules_inputs import IMAGES, X, sixteenths

CASES = [
    ("flatten", lambda: nn.Flatten(), IMAGES),
    ("flatten_all", lambda: nn.Flatten(0), IMAGES),
    ("unflatten", lambda: nn.Unflatten(2, (2, 2)), IMAGES),
    ("unflatten_open", lambda: nn.Unflatten(-1, (2, -1)), IMAGES),
    ("pixel_shuffle", lambda: nn.PixelShuffle(2), sixteenths(1, 8, 2, 3)),
    ("pixel_shuffle_unbatched", lambda: nn.PixelShuffle(3), sixteenths(9, 1, 2)),
    ("pixel_unshuffle", lambda: nn.PixelUnshuffle(2), sixteenths(1, 2, 4, 2)),
    ("channel_shuffle", lambda: nn.ChannelShuffle(3), sixteenths(1, 6, 4)),
    ("identity", lambda: nn.Identity(), X),
]
