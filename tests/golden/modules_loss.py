# SPDX-License-Identifier: Apache-2.0
"""PyTorch's modules for those of nn/loss.h: name, module, inputs."""
import torch
from torch import nn

from modules_inputs import X

LABELS, TARGET = torch.tensor([0, 2, -100, 1, 1]), X.flip(0)
UNIT = torch.sigmoid(X).mul(16).round() / 16
UNIT_TARGET = UNIT.flip(0)
SIGNS, POSITIVE = torch.where(TARGET > 0, 1.0, -1.0).to(X.dtype), TARGET.abs() + 1 / 16
ROW = torch.linspace(0.5, 2, 3)
LOG_X, CLASSES = torch.log_softmax(X, 1), torch.tensor([0, 2, 1, 1, 0])
LISTS = torch.tensor([[0, -1, 0], [2, 1, -1], [-1, 0, 0], [0, 1, 2], [1, -1, 2]])
PAIRS = torch.stack([CLASSES, CLASSES.flip(0)], 1)
SEQUENCE = torch.log_softmax(X.reshape(5, 1, 3), 2)
TWO = (torch.tensor([[1, 2]]), torch.tensor([5]), torch.tensor([2]))
CASES = [
    ("cross_entropy_loss", lambda: nn.CrossEntropyLoss(), X, LABELS),
    ("cross_entropy_loss_weighted", lambda: nn.CrossEntropyLoss(
        weight=torch.linspace(0.5, 2, 3), label_smoothing=0.1), X, LABELS),
    ("linear_cross_entropy_loss", lambda: nn.LinearCrossEntropyLoss(3, 4), X, LABELS),
    ("linear_cross_entropy_loss_full", lambda: nn.LinearCrossEntropyLoss(
        3, 3, out_features=(2,), bias=True, weight=ROW, ignore_index=1, label_smoothing=0.1,
        reduction="none"), X, PAIRS),
    ("mse_loss", lambda: nn.MSELoss(), X, TARGET),
    ("mse_loss_sum", lambda: nn.MSELoss(reduction="sum"), X, TARGET),
    ("l1_loss", lambda: nn.L1Loss(), X, TARGET),
    ("l1_loss_none", lambda: nn.L1Loss(reduction="none"), X, TARGET),
    ("soft_margin_loss", lambda: nn.SoftMarginLoss(), X, SIGNS),
    ("soft_margin_loss_sum", lambda: nn.SoftMarginLoss(reduction="sum"), X, SIGNS),
    ("smooth_l1_loss", lambda: nn.SmoothL1Loss(), X, TARGET),
    ("smooth_l1_loss_none", lambda: nn.SmoothL1Loss(reduction="none", beta=0.5), X, TARGET),
    ("huber_loss", lambda: nn.HuberLoss(), X, TARGET),
    ("huber_loss_sum", lambda: nn.HuberLoss(reduction="sum", delta=0.5), X, TARGET),
    ("bce_loss", lambda: nn.BCELoss(), UNIT, UNIT_TARGET),
    ("bce_loss_weighted", lambda: nn.BCELoss(ROW, reduction="sum"), UNIT, UNIT_TARGET),
    ("bce_with_logits_loss", lambda: nn.BCEWithLogitsLoss(), X, UNIT_TARGET),
    ("bce_with_logits_loss_weighted", lambda: nn.BCEWithLogitsLoss(
        ROW, reduction="none", pos_weight=ROW.flip(0)), X, UNIT_TARGET),
    ("kl_div_loss", lambda: nn.KLDivLoss(), X, UNIT_TARGET),
    ("kl_div_loss_batchmean", lambda: nn.KLDivLoss(reduction="batchmean", log_target=True), X,
     TARGET),
    ("poisson_nll_loss", lambda: nn.PoissonNLLLoss(), X, POSITIVE),
    ("poisson_nll_loss_full", lambda: nn.PoissonNLLLoss(False, True, eps=0.5, reduction="sum"),
     UNIT, POSITIVE),
    ("gaussian_nll_loss", lambda: nn.GaussianNLLLoss(), X, TARGET, POSITIVE),
    ("gaussian_nll_loss_full", lambda: nn.GaussianNLLLoss(full=True, eps=0.5, reduction="none"),
     X, TARGET, POSITIVE[:, :1]),
    ("hinge_embedding_loss", lambda: nn.HingeEmbeddingLoss(), X, SIGNS),
    ("hinge_embedding_loss_sum", lambda: nn.HingeEmbeddingLoss(0.5, reduction="sum"), X, SIGNS),
    ("margin_ranking_loss", lambda: nn.MarginRankingLoss(), X, TARGET, SIGNS),
    ("margin_ranking_loss_none", lambda: nn.MarginRankingLoss(0.5, reduction="none"), X, TARGET,
     SIGNS),
    ("nll_loss", lambda: nn.NLLLoss(), LOG_X, CLASSES),
    ("nll_loss_weighted", lambda: nn.NLLLoss(ROW, ignore_index=2, reduction="sum"), LOG_X, CLASSES),
    ("multi_margin_loss", lambda: nn.MultiMarginLoss(), X, CLASSES),
    ("multi_margin_loss_weighted", lambda: nn.MultiMarginLoss(2, 0.5, ROW, reduction="none"), X,
     CLASSES),
    ("multi_label_margin_loss", lambda: nn.MultiLabelMarginLoss(), X, LISTS),
    ("multi_label_soft_margin_loss", lambda: nn.MultiLabelSoftMarginLoss(), X, UNIT_TARGET),
    ("multi_label_soft_margin_loss_weighted", lambda: nn.MultiLabelSoftMarginLoss(
        ROW, reduction="none"), X, UNIT_TARGET),
    ("cosine_embedding_loss", lambda: nn.CosineEmbeddingLoss(), X, TARGET, SIGNS[:, 0]),
    ("cosine_embedding_loss_sum", lambda: nn.CosineEmbeddingLoss(0.25, reduction="sum"), X, TARGET,
     SIGNS[:, 0]),
    ("triplet_margin_loss", lambda: nn.TripletMarginLoss(), X, TARGET, POSITIVE),
    ("triplet_margin_loss_swap", lambda: nn.TripletMarginLoss(
        2, 1, 0.125, swap=True, reduction="none"), X, TARGET, POSITIVE),
    ("triplet_margin_with_distance_loss", lambda: nn.TripletMarginWithDistanceLoss(), X, TARGET,
     POSITIVE),
    ("ctc_loss", lambda: nn.CTCLoss(), SEQUENCE, *TWO),
    ("ctc_loss_sum", lambda: nn.CTCLoss(0, "sum", zero_infinity=True), SEQUENCE, *TWO),
]
