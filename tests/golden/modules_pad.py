# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/pad.h: name, module, inputs."""
from torch import nn

from modules_inputs import sixteenths

LINE, IMAGE, VOLUME = sixteenths(1, 1, 5), sixteenths(1, 1, 4, 3), sixteenths(1, 1, 3, 3, 2)

CASES = [
    ("zero_pad1d", lambda: nn.ZeroPad1d(2), LINE),
    ("zero_pad1d_sides", lambda: nn.ZeroPad1d((3, -1)), LINE[0]),
    ("zero_pad2d", lambda: nn.ZeroPad2d(1), IMAGE),
    ("zero_pad2d_sides", lambda: nn.ZeroPad2d((1, 0, 3, -2)), IMAGE[0]),
    ("zero_pad3d", lambda: nn.ZeroPad3d(1), VOLUME),
    ("zero_pad3d_sides", lambda: nn.ZeroPad3d((1, 0, 0, 2, -1, 1)), VOLUME[0]),
    ("constant_pad1d", lambda: nn.ConstantPad1d(2, 3.5), LINE),
    ("constant_pad1d_sides", lambda: nn.ConstantPad1d((0, 2), -1.0), LINE[0]),
    ("constant_pad2d", lambda: nn.ConstantPad2d(1, 3.5), IMAGE),
    ("constant_pad2d_sides", lambda: nn.ConstantPad2d((1, 0, -1, 2), -1.0), IMAGE[0]),
    ("constant_pad3d", lambda: nn.ConstantPad3d(1, 0.5), VOLUME),
    ("constant_pad3d_sides", lambda: nn.ConstantPad3d((1, 0, 0, 2, -1, 1), -1.0), VOLUME[0]),
    ("reflection_pad1d", lambda: nn.ReflectionPad1d(2), LINE),
    ("reflection_pad1d_sides", lambda: nn.ReflectionPad1d((4, 1)), LINE[0]),
    ("reflection_pad2d", lambda: nn.ReflectionPad2d(1), IMAGE),
    ("reflection_pad2d_sides", lambda: nn.ReflectionPad2d((2, 0, 1, 3)), IMAGE[0]),
    ("reflection_pad3d", lambda: nn.ReflectionPad3d(1), VOLUME),
    ("reflection_pad3d_sides", lambda: nn.ReflectionPad3d((1, 0, 0, 2, 2, 1)), VOLUME[0]),
    ("replication_pad1d", lambda: nn.ReplicationPad1d(2), LINE),
    ("replication_pad1d_sides", lambda: nn.ReplicationPad1d((7, 1)), LINE[0]),
    ("replication_pad2d", lambda: nn.ReplicationPad2d(1), IMAGE),
    ("replication_pad2d_sides", lambda: nn.ReplicationPad2d((4, 0, 1, 5)), IMAGE[0]),
    ("replication_pad3d", lambda: nn.ReplicationPad3d(1), VOLUME),
    ("replication_pad3d_sides", lambda: nn.ReplicationPad3d((1, 0, 0, 4, 2, 1)), VOLUME[0]),
    ("circular_pad1d", lambda: nn.CircularPad1d(2), LINE),
    ("circular_pad1d_sides", lambda: nn.CircularPad1d((5, 1)), LINE[0]),
    ("circular_pad2d", lambda: nn.CircularPad2d(1), IMAGE),
    ("circular_pad2d_sides", lambda: nn.CircularPad2d((3, 0, 1, 4)), IMAGE[0]),
    ("circular_pad3d", lambda: nn.CircularPad3d(1), VOLUME),
    ("circular_pad3d_sides", lambda: nn.CircularPad3d((1, 0, 0, 3, 2, 1)), VOLUME[0]),
]
