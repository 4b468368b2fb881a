"""Trains a depthwise separable network that spots ten spoken commands.

    python models/ds-cnn-kws/recipe.py

Needs the Debian packages espeak-ng, flite, festival, festvox-kdlpc16k. The words are those of
models/recipe/spoken_words.py, spoken by machines. Takes two minutes for them and two for the training.
Network: DS-CNN-S of Zhang et al., "Hello Edge: Keyword Spotting on Microcontrollers", 2017, on half as many frames.
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
COEFFICIENTS = 10
PER_COMMAND, HELD_OUT_PER_COMMAND = 480, 44
CHANNELS = 64
BLOCKS = 4
EPOCHS = 24
BATCH = 64
LEARNING_RATE = 6e-3


def separable(channels: int) -> nn.Sequential:
    """A 3×3 filter for each channel, then a mixture of the channels, each with batch norm and ReLU."""
    return nn.Sequential(
        nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, channels, 1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
    )


class DsCnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(1, CHANNELS, (10, 4), stride=2, padding=(4, 1), bias=False), nn.BatchNorm2d(CHANNELS), nn.ReLU()
        )
        self.blocks = nn.Sequential(*[separable(CHANNELS) for _ in range(BLOCKS)])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.drop = nn.Dropout(0.2)
        self.classes = nn.Linear(CHANNELS, len(CLASSES))

    def forward(self, spectra: Tensor) -> Tensor:
        """[n, 1, frames, coefficients] -> [n, classes]."""
        return self.classes(self.drop(self.pool(self.blocks(self.first(spectra))).flatten(1)))


def loss(network: nn.Module, samples: list[Tensor]) -> Tensor:
    return F.cross_entropy(network(samples[0]), samples[1], label_smoothing=0.05)


def main() -> None:
    begin(SEED)
    fitting, validation, held_out = load_words(COEFFICIENTS, PER_COMMAND, HELD_OUT_PER_COMMAND)
    network = DsCnn()
    outcome = fit_network(
        network,
        tensors(fitting, 1),
        loss,
        lambda net: accuracy(net, tensors(validation, 1)),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    card = {
        "category": "audio",
        "metric": "accuracy",
        "task": "says which of ten English commands was spoken, if any",
        "architecture": "DS-CNN-S: conv 64@10x4 stride 2, 4 x (depthwise 3x3, pointwise 64), mean, dense 12; ReLU, batch norm folded",
        "inputs": [tensor_card("mfcc", [1, FRAMES, COEFFICIENTS], f"{MEANING}; the first {COEFFICIENTS} coefficients")],
        "outputs": [tensor_card("scores", [len(CLASSES)], f"unnormalised log-probability of {', '.join(CLASSES)}")],
        "data": {"kind": "synthesised", "source": SOURCE, "licence": LICENCE, "split": SPLIT},
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy with label smoothing 0.05, dropout 0.2",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": LIMITS,
    }
    inputs = pack(held_out.features[:, None])
    finish(HERE, network, inputs, held_out.labels, one_hot_baseline(fitting.labels, len(CLASSES)), card)


if __name__ == "__main__":
    main()
