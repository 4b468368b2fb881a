"""Layers that several recipes build with. Batch normalisation is folded into its convolution when a file is written."""

from torch import Tensor, nn


def conv_unit(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution, batch normalisation, ReLU; the picture keeps its size but for the stride."""
    return nn.Sequential(conv_norm(inputs, outputs, kernel, stride, groups), nn.ReLU())


def conv_norm(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs))


def separable(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """A depthwise 3x3 and a pointwise convolution: Howard et al., "MobileNets", 2017."""
    return nn.Sequential(conv_unit(inputs, inputs, 3, stride, groups=inputs), conv_unit(inputs, outputs, 1))


class Residual(nn.Module):
    """The basic block of He et al., "Deep Residual Learning", 2016, with a 1x1 shortcut where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(conv_unit(inputs, outputs, 3, stride), conv_norm(outputs, outputs))
        same = inputs == outputs and stride == 1
        self.shortcut = nn.Identity() if same else conv_norm(inputs, outputs, 1, stride)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.body(x) + self.shortcut(x))
