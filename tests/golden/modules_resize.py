# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/resize.h: name, module, inputs."""
from torch import nn

from modules_inputs import sixteenths

LINE, IMAGE, VOLUME = sixteenths(1, 2, 5), sixteenths(1, 1, 4, 3), sixteenths(1, 1, 3, 2, 2)

CASES = [
    ("upsample", lambda: nn.Upsample(scale_factor=2), IMAGE),
    ("upsample_size", lambda: nn.Upsample(size=(7, 2)), IMAGE),
    ("upsample_scales", lambda: nn.Upsample(scale_factor=(1.7, 0.7)), IMAGE),
    ("upsample_exact", lambda: nn.Upsample(size=7, mode="nearest-exact"), LINE),
    ("upsample_linear", lambda: nn.Upsample(scale_factor=1.7, mode="linear"), LINE),
    ("upsample_linear_corners", lambda: nn.Upsample(size=8, mode="linear", align_corners=True),
     LINE),
    ("upsample_bilinear", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), IMAGE),
    ("upsample_bilinear_down", lambda: nn.Upsample(size=(3, 2), mode="bilinear"), IMAGE),
    ("upsample_bilinear_all",
     lambda: nn.Upsample(scale_factor=(1.3, 2.5), mode="bilinear", align_corners=True,
                         recompute_scale_factor=True), IMAGE),
    ("upsample_bilinear_recomputed",
     lambda: nn.Upsample(scale_factor=(1.3, 2.5), mode="bilinear", recompute_scale_factor=True),
     IMAGE),
    ("upsample_bicubic", lambda: nn.Upsample(scale_factor=1.7, mode="bicubic"), IMAGE),
    ("upsample_bicubic_corners",
     lambda: nn.Upsample(size=(5, 7), mode="bicubic", align_corners=True), IMAGE),
    ("upsample_trilinear", lambda: nn.Upsample(scale_factor=(2, 1.5, 2), mode="trilinear"), VOLUME),
    ("upsample_trilinear_corners",
     lambda: nn.Upsample(size=(2, 3, 4), mode="trilinear", align_corners=True), VOLUME),
    ("upsample_area", lambda: nn.Upsample(size=(3, 5), mode="area"), IMAGE),
]
