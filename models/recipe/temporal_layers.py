"""Layers and losses that the recipes for time series share. Series are [n, channels, steps] for convolutions."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def conv_block(channels_in: int, channels_out: int, kernel: int, *, stride: int = 1, pool: int = 1) -> nn.Sequential:
    """Convolution over time, batch norm (folded into the weights of the file), ReLU, and perhaps max pooling."""
    layers = [
        nn.Conv1d(channels_in, channels_out, kernel, stride=stride, padding=kernel // 2, bias=False),
        nn.BatchNorm1d(channels_out),
        nn.ReLU(),
    ]
    return nn.Sequential(*layers, *([nn.MaxPool1d(pool)] if pool > 1 else []))


class MeanOverTime(nn.Module):
    """[n, channels, steps] to [n, channels]."""

    def forward(self, series: Tensor) -> Tensor:
        return series.mean(dim=2)


def classify(network: nn.Module, batch: list[Tensor]) -> Tensor:
    """Cross-entropy; the batch is the inputs and, last, the classes."""
    return F.cross_entropy(network(*batch[:-1]), batch[-1])


def accuracy(samples: list[Tensor]) -> Callable[[nn.Module], float]:
    """A score for fit_network: the share of samples whose largest output is their class's."""
    return lambda network: (network(*samples[:-1]).argmax(1) == samples[-1]).double().mean().item()


def absolute(network: nn.Module, batch: list[Tensor]) -> Tensor:
    """Mean absolute error; the batch is the inputs and, last, the target."""
    return F.l1_loss(network(*batch[:-1]), batch[-1])


def closeness(samples: list[Tensor]) -> Callable[[nn.Module], float]:
    """A score for fit_network: less error is better, so it is below zero."""
    return lambda network: -absolute(network, samples).item()


def as_tensors(*arrays) -> list[Tensor]:
    return [torch.from_numpy(each) for each in arrays]
