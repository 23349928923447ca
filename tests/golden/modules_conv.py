# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/conv.h: name, module, inputs."""
from torch import nn

from modules_inputs import sixteenths

CASES = [
    ("conv1d", lambda: nn.Conv1d(2, 3, 3), sixteenths(2, 2, 7)),
    ("conv1d_all", lambda: nn.Conv1d(4, 2, 2, stride=2, padding=3, dilation=2, groups=2,
                                     bias=False), sixteenths(2, 4, 5)),
    ("conv1d_same", lambda: nn.Conv1d(2, 2, 4, padding="same"), sixteenths(1, 2, 6)),
    ("conv1d_reflect", lambda: nn.Conv1d(2, 2, 3, padding=2, padding_mode="reflect"),
     sixteenths(2, 2, 5)),
    ("conv2d", lambda: nn.Conv2d(2, 3, 3), sixteenths(2, 2, 5, 4)),
    ("conv2d_unbatched", lambda: nn.Conv2d(2, 2, 3, padding=1), sixteenths(2, 5, 3)),
    ("conv2d_all", lambda: nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2),
                                     groups=2, bias=False), sixteenths(1, 4, 5, 4)),
    ("conv2d_depthwise", lambda: nn.Conv2d(3, 3, 3, padding=1, groups=3), sixteenths(1, 3, 5, 5)),
    ("conv2d_same", lambda: nn.Conv2d(2, 2, (4, 3), padding="same", dilation=(1, 2)),
     sixteenths(1, 2, 5, 6)),
    ("conv2d_wide_padding", lambda: nn.Conv2d(1, 1, 3, padding=5, stride=3),
     sixteenths(1, 1, 4, 5)),
    ("conv2d_reflect", lambda: nn.Conv2d(2, 2, 3, padding=(1, 2), padding_mode="reflect"),
     sixteenths(1, 2, 4, 5)),
    ("conv2d_replicate", lambda: nn.Conv2d(2, 1, 3, padding=1, stride=2, padding_mode="replicate"),
     sixteenths(1, 2, 4, 5)),
    ("conv2d_circular_same", lambda: nn.Conv2d(2, 1, 2, padding="same", padding_mode="circular"),
     sixteenths(1, 2, 3, 4)),
    ("conv2d_empty", lambda: nn.Conv2d(2, 3, 3), sixteenths(0, 2, 5, 4)),
    ("conv3d", lambda: nn.Conv3d(1, 2, 2), sixteenths(1, 1, 3, 4, 3)),
    ("conv3d_all", lambda: nn.Conv3d(2, 2, (1, 2, 3), stride=(1, 2, 1), padding=(0, 1, 2),
                                     dilation=(1, 2, 1), groups=2, bias=False),
     sixteenths(1, 2, 2, 3, 3)),
    ("conv3d_circular", lambda: nn.Conv3d(1, 1, 2, padding=1, padding_mode="circular"),
     sixteenths(1, 1, 2, 3, 2)),
    ("conv_transpose1d", lambda: nn.ConvTranspose1d(2, 3, 3), sixteenths(2, 2, 4)),
    ("conv_transpose1d_all", lambda: nn.ConvTranspose1d(
        4, 2, 3, stride=3, padding=1, output_padding=2, dilation=2, groups=2, bias=False),
     sixteenths(1, 4, 3)),
    ("conv_transpose2d", lambda: nn.ConvTranspose2d(2, 3, 3), sixteenths(1, 2, 3, 4)),
    ("conv_transpose2d_all", lambda: nn.ConvTranspose2d(
        4, 2, (3, 2), stride=(2, 1), padding=(1, 0), output_padding=(1, 1), dilation=(1, 2),
        groups=2, bias=False), sixteenths(1, 4, 3, 4)),
    ("conv_transpose2d_unbatched", lambda: nn.ConvTranspose2d(2, 1, 2, stride=2),
     sixteenths(2, 3, 3)),
    ("conv_transpose3d", lambda: nn.ConvTranspose3d(1, 2, 2), sixteenths(1, 1, 2, 3, 2)),
    ("conv_transpose3d_all", lambda: nn.ConvTranspose3d(
        2, 2, 2, stride=(2, 1, 3), padding=(1, 0, 1), output_padding=(1, 0, 2), groups=2,
        bias=False), sixteenths(1, 2, 2, 2, 3)),
]
