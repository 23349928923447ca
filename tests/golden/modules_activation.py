# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/activation.h: name, module, inputs."""
from torch import nn

from modules_inputs import IMAGES, X

MAPS = IMAGES.reshape(1, 2, 3, 4)

CASES = [
    ("relu", lambda: nn.ReLU(), X),
    ("tanh", lambda: nn.Tanh(), X),
    ("sigmoid", lambda: nn.Sigmoid(), X),
    ("silu", lambda: nn.SiLU(), X),
    ("hardswish", lambda: nn.Hardswish(), 3 * X),
    ("softmax", lambda: nn.Softmax(1), X),
    ("gelu", lambda: nn.GELU(), X),
    ("gelu_tanh", lambda: nn.GELU(approximate="tanh"), X),
    ("leaky_relu", lambda: nn.LeakyReLU(), X),
    ("leaky_relu_steep", lambda: nn.LeakyReLU(0.3), X),
    ("log_softmax", lambda: nn.LogSoftmax(1), X),
    ("softmin", lambda: nn.Softmin(0), X),
    ("softmax2d", lambda: nn.Softmax2d(), MAPS),
    ("softmax2d_unbatched", lambda: nn.Softmax2d(), IMAGES),
    ("relu6", lambda: nn.ReLU6(), 5 * X),
    ("hardsigmoid", lambda: nn.Hardsigmoid(), 3 * X),
    ("selu", lambda: nn.SELU(), X),
    ("mish", lambda: nn.Mish(), X),
    ("log_sigmoid", lambda: nn.LogSigmoid(), X),
    ("tanhshrink", lambda: nn.Tanhshrink(), X),
    ("softsign", lambda: nn.Softsign(), X),
    ("elu", lambda: nn.ELU(), X),
    ("elu_flat", lambda: nn.ELU(0.5), X),
    ("celu", lambda: nn.CELU(), X),
    ("celu_slow", lambda: nn.CELU(2), X),
    ("hardshrink", lambda: nn.Hardshrink(), X),
    ("hardshrink_wide", lambda: nn.Hardshrink(1), X),
    ("softshrink", lambda: nn.Softshrink(), X),
    ("softshrink_wide", lambda: nn.Softshrink(1), X),
    ("hardtanh", lambda: nn.Hardtanh(), X),
    ("hardtanh_narrow", lambda: nn.Hardtanh(-0.25, 0.5), X),
    ("softplus", lambda: nn.Softplus(), X),
    ("softplus_steep", lambda: nn.Softplus(3, 2), X),
    ("threshold", lambda: nn.Threshold(0.25, 7), X),
    ("rrelu", lambda: nn.RReLU(), X),
    ("rrelu_of_one_slope", lambda: nn.RReLU(0.25, 0.25), X),
    ("prelu", lambda: nn.PReLU(), X),
    ("prelu_of_channels", lambda: nn.PReLU(3, 0.5), X),
    ("prelu_of_maps", lambda: nn.PReLU(2, -0.5), MAPS),
    ("glu", lambda: nn.GLU(), IMAGES),
    ("glu_of_rows", lambda: nn.GLU(0), IMAGES),
]
