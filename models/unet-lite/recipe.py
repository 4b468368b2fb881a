"""Trains unet-lite, which marks the pixels of the one thing in a small grey scene, on emoji over photographs.

    python models/unet-lite/recipe.py

Needs the Debian packages fonts-noto-color-emoji and unicode-data, and the photographs of scikit-image. The network is a
small one of Ronneberger, Fischer and Brox, "U-Net", 2015, with three resolutions.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))
import draw_emoji  # noqa: E402
import photographs  # noqa: E402
from draw_emoji import draw, is_plain, lay_over, list_emoji, place  # noqa: E402
from finish_vision import finish  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from layers import conv_unit  # noqa: E402
from photographs import cut_patches, to_grey  # noqa: E402
from vision_metrics import evaluate  # noqa: E402

SIDE = 24  # px
DRAWN = 28  # px, the side of an emoji before it is placed
SUBGROUPS = (  # of emoji-test.txt, how their names begin
    "face-", "hand", "person", "animal-", "plant-", "food-", "drink", "transport-", "place-", "heart", "clothing", "time", "sport",
)  # fmt: skip
PARTS = 5  # of the first code points: one fifth each for the held-out part and for validation
HELD_OUT = 168  # scenes
VALIDATION = 400

SEED = 1
EPOCHS = 14
SAMPLES = 4000  # scenes in an epoch
BATCH = 64
SIZE = (0.45, 0.85)  # of the frame
TURN = 3.1416  # rad, either way
JITTER = 0.3  # of the brightness, either way


def split_emoji() -> dict[str, Tensor]:
    """Drawn emoji by part."""
    members = [each for each in list_emoji() if is_plain(each) and each.subgroup.startswith(SUBGROUPS)]
    keys = sorted({each.base for each in members})
    order = {key: place for place, key in enumerate(np.random.default_rng(SEED).permutation(keys))}
    fifths = [order[each.base] * PARTS // len(keys) for each in members]
    parts = {"held-out": {0}, "validation": {1}, "fitting": set(range(2, PARTS))}
    return {
        part: draw([each for each, fifth in zip(members, fifths, strict=True) if fifth in wanted], DRAWN)
        for part, wanted in parts.items()
    }


def compose(pictures: Tensor, grounds: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """`n` scenes: grey [n, 1, side, side] in 0..1, and 1 where the thing covers half of a pixel or more."""
    chosen = pictures[torch.randint(len(pictures), (n,))]
    placed = place(chosen, SIDE, SIZE, TURN, torch.rand(n, 4))
    scene = lay_over(placed, grounds[torch.randint(len(grounds), (n,))])
    scene = (scene * (1 + JITTER * (2 * torch.rand(n, 1, 1, 1) - 1))).clamp(0, 1)
    return torch.from_numpy(to_grey(scene.numpy())), (placed[:, 3:] >= 0.5).float()


class UNet(nn.Module):
    """[n, 1, 24, 24] -> a score for each pixel [n, 1, 24, 24]."""

    def __init__(self) -> None:
        super().__init__()
        self.fine = conv_unit(1, 8)
        self.middle = nn.Sequential(nn.MaxPool2d(2), conv_unit(8, 16), conv_unit(16, 16))
        self.coarse = nn.Sequential(nn.MaxPool2d(2), conv_unit(16, 32), conv_unit(32, 32))
        self.up_middle = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.join_middle = conv_unit(32, 16)
        self.up_fine = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.join_fine = conv_unit(16, 8)
        self.answer = nn.Conv2d(8, 1, 1)

    def forward(self, image: Tensor) -> Tensor:
        fine = self.fine(image)
        middle = self.middle(fine)
        coarse = self.coarse(middle)
        middle = self.join_middle(torch.cat([self.up_middle(coarse), middle], dim=1))
        return self.answer(self.join_fine(torch.cat([self.up_fine(middle), fine], dim=1)))


def overlap_loss(scores: Tensor, masks: Tensor) -> Tensor:
    """Cross-entropy, and 1 - the soft Dice coefficient: Milletari, Navab and Ahmadi, "V-Net", 2016."""
    shares = torch.sigmoid(scores)
    both = (shares * masks).sum(dim=(1, 2, 3))
    dice = (2 * both + 1) / (shares.sum(dim=(1, 2, 3)) + masks.sum(dim=(1, 2, 3)) + 1)
    return F.binary_cross_entropy_with_logits(scores, masks) + (1 - dice).mean()


def guess(masks: Tensor) -> np.ndarray:
    """The best of the constant answers [1, 1, side, side]: every pixel that so many of the masks have or more."""
    often = masks.mean(dim=0, keepdim=True)
    answers = [(2 * (often >= share).float() - 1).numpy() for share in np.linspace(0, float(often.max()), 20)]
    return max(answers, key=lambda each: evaluate("iou", np.repeat(each, len(masks), axis=0), masks.numpy()))


def main() -> None:
    begin(SEED)
    parts = split_emoji()
    grounds = torch.from_numpy(cut_patches(photographs.FITTING, 100, SIDE, SEED))
    judged, answers = compose(parts["validation"], grounds, VALIDATION)
    network = UNet()

    def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
        scenes, masks = compose(parts["fitting"], grounds, len(batch[0]))
        return overlap_loss(network(scenes), masks)

    def score(network: nn.Module) -> float:
        return evaluate("iou", network(judged).numpy(), answers.numpy())

    outcome = fit_network(network, [torch.arange(SAMPLES)], loss, score, epochs=EPOCHS, batch=BATCH, learning_rate=6e-3)

    names = photographs.HELD_OUT + photographs.HELD_OUT_PEOPLE
    scenes, masks = compose(parts["held-out"], torch.from_numpy(cut_patches(names, 100, SIDE, SEED)), HELD_OUT)
    held_out = {
        "input.image": pack(scenes.numpy(), low=0.0, high=1.0),
        "target": masks.numpy().astype(np.uint8),
        "baseline": guess(compose(parts["fitting"], grounds, VALIDATION)[1]).astype(np.int8),
    }
    counts = {part: len(pictures) for part, pictures in parts.items()}
    finish(HERE, network, held_out, describe(outcome, counts), ("pillow", "scikit-image"))


def describe(outcome: dict, counts: dict[str, int]) -> dict:
    return {
        "category": "vision",
        "task": "marks the pixels of the one thing in a small grey scene",
        "metric": "iou",
        "architecture": "U-Net of three resolutions: conv 3x3 8; max pool, two conv 3x3 16; max pool, two conv 3x3 32; transposed conv 2x2 16,"
        " joined, conv 3x3 16; transposed conv 2x2 8, joined, conv 3x3 8; conv 1x1; batch norm and ReLU after every 3x3",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": "grey levels in 0..1: luma of BT.601 (0.299 R + 0.587 G + 0.114 B), rows from the top",
            }
        ],
        "outputs": [
            {
                "name": "scores",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": "log-odds of each pixel being the thing's; above 0 is yes",
            }
        ],
        "data": {
            "kind": "synthesised",
            "source": f"{draw_emoji.SOURCE}, turned any way, over pieces of {photographs.SOURCE}",
            "licence": f"{draw_emoji.LICENCE}; {photographs.LICENCE}",
            "split": f"by emoji: a fifth is held out, a fifth for validation ({counts['held-out']}, {counts['validation']} and"
            f" {counts['fitting']} pictures); the held-out scenes lie in five other photographs",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy and soft Dice loss, every scene composed anew",
            "settings": {
                "seed": SEED, "epochs": EPOCHS, "samples": SAMPLES, "batch": BATCH, "smallest": SIZE[0], "largest": SIZE[1],
                "jitter": JITTER, "threads": 1,
            },
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "drawn things over photographs: their clean outlines make it easier than things within one photograph, which were not measured",
            "there is always one thing, of 45 to 85 % of the frame; it does not say what the thing is",
            "grey only: a thing as bright as its ground is found in part or not at all",
        ],
    }  # fmt: skip


if __name__ == "__main__":
    main()
