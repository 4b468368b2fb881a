"""Trains a residual network over time that spots ten spoken commands.

    python models/tc-resnet8-kws/recipe.py

Needs the Debian packages espeak-ng, flite, festival, festvox-kdlpc16k. The words are those of
models/recipe/spoken_words.py, spoken by machines. Takes two minutes for them and one for the training.
Network: TC-ResNet8 of Choi et al., "Temporal Convolution for Real-time Keyword Spotting on Mobile Devices", 2019: the
coefficients are the channels of convolutions over time. Here it has 20 coefficients and 31 frames for 40 and 98.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))

from finish_sound import finish, one_hot_baseline, tensor_card  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from spoken_words import (  # noqa: E402
    CLASSES,
    FRAMES,
    LICENCE,
    LIMITS,
    MEANING,
    SOURCE,
    SPLIT,
    accuracy,
    load_words,
    tensors,
)

SEED = 1
COEFFICIENTS = 20
PER_COMMAND, HELD_OUT_PER_COMMAND = 480, 24
CHANNELS = (16, 24, 32, 48)
KERNEL = 9  # frames
EPOCHS = 24
BATCH = 64
LEARNING_RATE = 6e-3


def convolution(channels: int, filters: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    return [
        nn.Conv1d(channels, filters, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm1d(filters),
    ]


class Block(nn.Module):
    """Two convolutions over time, the first halves the frames; the input comes round them by a 1×1 convolution."""

    def __init__(self, channels: int, filters: int) -> None:
        super().__init__()
        self.main = nn.Sequential(
            *convolution(channels, filters, KERNEL, 2), nn.ReLU(), *convolution(filters, filters, KERNEL)
        )
        self.round = nn.Sequential(*convolution(channels, filters, 1, 2), nn.ReLU())

    def forward(self, signal: Tensor) -> Tensor:
        return F.relu(self.main(signal) + self.round(signal))


class TcResNet8(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(COEFFICIENTS, CHANNELS[0], 3, padding=1, bias=False)
        self.blocks = nn.Sequential(*[Block(*pair) for pair in zip(CHANNELS, CHANNELS[1:], strict=False)])
        self.drop = nn.Dropout(0.3)
        self.classes = nn.Linear(CHANNELS[-1], len(CLASSES))

    def forward(self, spectra: Tensor) -> Tensor:
        """[n, frames, coefficients] -> [n, classes]."""
        return self.classes(self.drop(self.blocks(self.first(spectra.transpose(1, 2))).mean(dim=2)))


def loss(network: nn.Module, samples: list[Tensor]) -> Tensor:
    return F.cross_entropy(network(samples[0]), samples[1], label_smoothing=0.05)


def main() -> None:
    begin(SEED)
    fitting, validation, held_out = load_words(COEFFICIENTS, PER_COMMAND, HELD_OUT_PER_COMMAND)
    network = TcResNet8()
    outcome = fit_network(
        network,
        tensors(fitting),
        loss,
        lambda net: accuracy(net, tensors(validation)),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    card = {
        "category": "audio",
        "metric": "accuracy",
        "task": "says which of ten English commands was spoken, if any",
        "architecture": "TC-ResNet8: conv over time 16@3, residual blocks of two convs @9 with 24, 32, 48 channels, stride 2 each, mean, dense 12; ReLU, batch norm folded",
        "inputs": [tensor_card("mfcc", [FRAMES, COEFFICIENTS], f"{MEANING}; the first {COEFFICIENTS} coefficients")],
        "outputs": [tensor_card("scores", [len(CLASSES)], f"unnormalised log-probability of {', '.join(CLASSES)}")],
        "data": {"kind": "synthesised", "source": SOURCE, "licence": LICENCE, "split": SPLIT},
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy with label smoothing 0.05, dropout 0.3",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": LIMITS,
    }
    inputs = pack(held_out.features)
    finish(HERE, network, inputs, held_out.labels, one_hot_baseline(fitting.labels, len(CLASSES)), card)


if __name__ == "__main__":
    main()
