"""Trains face-landmarks, which finds eyes, nose and the corners of the mouth, on faces that this file draws.

    python models/face-landmarks/recipe.py

Needs the photographs of scikit-image (for what is behind the faces). A fully convolutional network whose heat maps become
points by a soft arg max: Sun et al., "Integral Human Pose Regression", 2018.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
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

SIDE = 32  # px
DRAWN = 4  # times as large as it is kept
MAPS = 8  # cells of a heat map, a side
# Left and right are those of the picture.
POINTS = ("left eye", "right eye", "tip of the nose", "left corner of the mouth", "right corner of the mouth")
HELD_OUT = 184
VALIDATION = 400
FITTING = 4000
GLASSES = {"fitting": 0.0, "validation": 0.0, "held-out": 0.5}  # share of the faces that wear them
TURN = 0.35  # rad in the plane, either way
YAW = 0.45  # rad out of it, either way
NOISE = 0.03  # standard deviation of a pixel

SEED = 1
EPOCHS = 16
BATCH = 64


def draw_face(random: np.random.Generator, ground: np.ndarray, glasses: float) -> tuple[np.ndarray, np.ndarray]:
    """A face [side, side] in 0..1 before `ground`, and its points [5, 2], x and y in px."""
    large = SIDE * DRAWN
    image = Image.fromarray(np.rint(ground * 255).astype(np.uint8)).resize((large, large))
    pen = ImageDraw.Draw(image)
    radius = random.uniform(0.3, 0.44) * large
    middle = random.uniform(0.4, 0.6, 2) * large
    tall = random.uniform(1.1, 1.4)
    turn, yaw = random.uniform(-TURN, TURN), random.uniform(-YAW, YAW)
    skin = random.uniform(90, 225)
    hair, dark = random.uniform(10, 240), skin * random.uniform(0.3, 0.6)

    def at(x: float, y: float, depth: float = 0.8) -> tuple[float, float]:
        """Pixels of a point on the head: x and y in radii, the depth in front of its axis."""
        across = x * np.cos(yaw) + depth * np.sin(yaw)
        return (
            middle[0] + radius * (across * np.cos(turn) - y * np.sin(turn)),
            middle[1] + radius * (across * np.sin(turn) + y * np.cos(turn)),
        )

    def patch(x: float, y: float, width: float, height: float, grey: float, depth: float = 0.8) -> None:
        angle = np.linspace(0, 2 * np.pi, 24)
        pen.polygon([at(x + width * np.cos(a), y + height * np.sin(a), depth) for a in angle], fill=int(np.clip(grey, 0, 255)))

    def stroke(points: list[tuple[float, float]], grey: float, width: float) -> None:
        pen.line([at(x, y) for x, y in points], fill=int(grey), width=max(1, round(width * radius)), joint="curve")

    style = random.uniform(0.8, 1.35)
    patch(0, -0.15, 1.12, tall * style if style < 1 else tall * 1.05, hair, -0.2)  # hair behind
    patch(0, 0.05, 0.92, tall * 0.92, skin, 0.0)
    patch(np.sign(yaw) * -0.45, 0.1, 0.4, tall * 0.7, skin * random.uniform(0.8, 0.95), 0.1)  # the side in shadow
    patch(0, -tall * 0.8, 0.8, 0.25 * style, hair, 0.3)  # fringe
    apart, eyes = random.uniform(0.34, 0.46), random.uniform(-0.25, -0.05)
    nose, mouth = random.uniform(0.15, 0.32), random.uniform(0.5, 0.68)
    wide, smile = random.uniform(0.22, 0.42), random.uniform(-0.06, 0.12)
    opened, look = random.uniform(0.05, 0.13), random.uniform(-0.06, 0.06)
    for side in (-1, 1):
        patch(side * apart, eyes, 0.17, opened, min(skin * 1.4, 250))
        patch(side * apart + look, eyes, 0.08, min(opened, 0.08), random.uniform(10, 70))
        lift = random.uniform(0.18, 0.28)
        brow = [(side * (apart + x), eyes - lift - y) for x, y in ((-0.18, 0.0), (0.0, 0.05), (0.18, 0.0))]
        stroke(brow, dark, 0.07)
    stroke([(0.02, eyes + 0.1), (-0.04, nose - 0.05)], skin * 0.85, 0.05)
    patch(0, nose, 0.12, 0.06, dark, 0.95)
    lips = [(x * wide, mouth + y * smile) for x, y in ((-1, -1), (-0.5, 0.5), (0, 1), (0.5, 0.5), (1, -1))]
    stroke(lips, dark, random.uniform(0.06, 0.14))
    if random.random() < 0.2:
        patch(0, mouth + 0.3, 0.4, 0.2, hair)  # beard
    if random.random() < glasses:
        for side in (-1, 1):
            ring = [at(side * apart + 0.27 * np.cos(a), eyes + 0.2 * np.sin(a), 0.9) for a in np.linspace(0, 2 * np.pi, 24)]
            pen.line(ring, fill=15, width=max(1, round(0.06 * radius)))
        stroke([(-apart + 0.27, eyes), (apart - 0.27, eyes)], 15, 0.05)
    pixels = np.asarray(image.reduce(DRAWN), dtype=np.float32) / 255
    light = np.linspace(-1, 1, SIDE, dtype=np.float32)
    slope = random.uniform(-0.25, 0.25, 2).astype(np.float32)
    pixels = pixels * (1 + slope[0] * light[None] + slope[1] * light[:, None]) + NOISE * random.standard_normal((SIDE, SIDE))
    points = [at(-apart, eyes), at(apart, eyes), at(0, nose, 0.95), at(-wide, mouth - smile), at(wide, mouth - smile)]
    return pixels.clip(0, 1).astype(np.float32), np.array(points, dtype=np.float32) / DRAWN


def draw_faces(seed: int, n: int, part: str, names: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """[n, 1, side, side] and [n, 5, 2]."""
    random, grounds = np.random.default_rng(seed), to_grey(cut_patches(names, 100, SIDE, seed))
    faces = [draw_face(random, grounds[random.integers(len(grounds)), 0], GLASSES[part]) for _ in range(n)]
    images, points = (torch.from_numpy(np.stack(each)) for each in zip(*faces, strict=True))
    return images[:, None], points


class Landmarks(nn.Module):
    """[n, 1, 32, 32] -> [n, 5, 2]: the mean place, in px, under the softmax of each point's heat map."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            conv_unit(1, 8, 3, 2), conv_unit(8, 16), conv_unit(16, 32, 3, 2), conv_unit(32, 32), conv_unit(32, 32),
            nn.Conv2d(32, len(POINTS), 3, padding=1),
        )  # fmt: skip
        centres = (torch.arange(MAPS) + 0.5) * (SIDE / MAPS)
        y, x = torch.meshgrid(centres, centres, indexing="ij")
        self.register_buffer("places", torch.stack([x.flatten(), y.flatten()], dim=1))

    def forward(self, image: Tensor) -> Tensor:
        maps = self.body(image).reshape(-1, len(POINTS), MAPS**2)
        return torch.softmax(maps, dim=2) @ self.places


def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
    return (network(batch[0]) - batch[1]).abs().mean()


def main() -> None:
    begin(SEED)
    images, points = draw_faces(SEED, FITTING, "fitting", photographs.FITTING)
    judged, answers = draw_faces(SEED + 1, VALIDATION, "validation", photographs.FITTING)
    network = Landmarks()

    def score(network: nn.Module) -> float:
        return -evaluate("mae", network(judged).numpy(), answers.numpy())

    outcome = fit_network(network, [images, points], loss, score, epochs=EPOCHS, batch=BATCH, learning_rate=6e-3)

    faces, wanted = draw_faces(SEED + 2, HELD_OUT, "held-out", photographs.HELD_OUT + photographs.HELD_OUT_PEOPLE)
    held_out = {
        "input.image": pack(faces.numpy(), low=0.0, high=1.0),
        "target": wanted.numpy().astype(np.float16),
        "baseline": points.median(dim=0, keepdim=True).values.numpy(),
    }
    finish(HERE, network, held_out, describe(outcome), ("pillow", "scikit-image"))


def describe(outcome: dict) -> dict:
    return {
        "category": "vision",
        "task": "finds the eyes, the tip of the nose and the corners of the mouth in a drawn face",
        "metric": "mae",
        "architecture": "fully convolutional: conv 3x3 8, 16, 32, 32, 32 with batch norm and ReLU, the first and third with stride 2;"
        " conv 3x3 5; softmax over each 8 x 8 heat map and the mean place under it",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": "grey levels in 0..1, rows from the top; a face that fills 60 % of the frame or more",
            }
        ],
        "outputs": [
            {
                "name": "points",
                "dtype": "float32",
                "shape": [-1, len(POINTS), 2],
                "meaning": "x and y in pixels of the picture from its upper left corner, of " + ", ".join(POINTS) + " (left in the picture)",
            }
        ],
        "data": {
            "kind": "synthesised",
            "source": "faces drawn by the recipe out of ellipses and strokes with random proportions, hair, light and attitude,"
            f" before pieces of {photographs.SOURCE}",
            "licence": f"the drawings are the recipe's own; {photographs.LICENCE}",
            "split": "the held-out faces are drawn from another seed, before photographs that are not used in fitting, and half of them wear"
            " glasses, which no face in fitting does",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, mean absolute error of the points",
            "settings": {
                "seed": SEED, "epochs": EPOCHS, "batch": BATCH, "validation": VALIDATION, "turnRad": TURN, "yawRad": YAW,
                "noise": NOISE, "threads": 1,
            },
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "drawn faces only: what it says of photographed faces was not measured",
            "one face that is nearly upright and seen from the front; it always answers with five points, even where there is no face",
            "it was fitted without glasses, masks or hands before the face; glasses are measured, the others are not",
        ],
    }  # fmt: skip


if __name__ == "__main__":
    main()
