# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/dropout.h: name, module, inputs."""
from torch import nn

from modules_inputs import IMAGES, X

MAPS = IMAGES.reshape(2, 6, 2, 1)  # so many channels that two draws differ
CASES = [
    ("dropout", lambda: nn.Dropout(), X),
    ("dropout1d", lambda: nn.Dropout1d(), IMAGES),
    ("dropout1d_none", lambda: nn.Dropout1d(0.0), IMAGES),
    ("dropout2d", lambda: nn.Dropout2d(0.25), MAPS),
    ("dropout3d", lambda: nn.Dropout3d(), MAPS.reshape(2, 6, 2, 1, 1)),
    ("dropout3d_all", lambda: nn.Dropout3d(1.0), MAPS.reshape(2, 6, 2, 1, 1)),
    ("alpha_dropout", lambda: nn.AlphaDropout(), X),
    ("alpha_dropout_all", lambda: nn.AlphaDropout(1.0), X),
]
