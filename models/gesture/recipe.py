"""Trains gesture, which names the gesture of a hand's silhouette, on the silhouettes of a kinematic hand.

    python models/gesture/recipe.py

Needs nothing beyond models/requirements.txt. The hand has a palm and five fingers of three phalanges, whose joints bend as
in Lin, Wu and Huang, "Modeling the Constraints of Human Hand Motion", 2000: the last joint two thirds of the middle one.
It is turned in space and seen from far away.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))
from finish_vision import finish  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from layers import conv_unit  # noqa: E402
from vision_metrics import evaluate  # noqa: E402

SIDE = 28  # px
DRAWN = 4  # times as large as it is kept
HELD_OUT_EACH = 24
VALIDATION_EACH = 60
FITTING_EACH = 450

# How far each finger is bent, thumb first: 0 is straight, 1 in the fist.
GESTURES = {
    "fist": (1, 1, 1, 1, 1),
    "palm": (0, 0, 0, 0, 0),
    "point": (1, 0, 1, 1, 1),
    "victory": (1, 0, 0, 1, 1),
    "three": (0, 0, 0, 1, 1),
    "four": (1, 0, 0, 0, 0),
    "thumb up": (0, 1, 1, 1, 1),
    "horns": (1, 0, 1, 1, 0),
    "shaka": (0, 1, 1, 1, 0),
    "gun": (0, 0, 1, 1, 1),
}


@dataclass(frozen=True)
class Population:
    """Whose hands they are and how they are held; shares of the palm's length and radians."""

    seed: int
    finger: tuple[float, float]  # length of the middle finger
    width: tuple[float, float]  # of the palm
    thickness: tuple[float, float]  # of a finger
    tilt: float  # out of the picture, either way
    turn: float  # in the picture, either way
    slack: float  # how far a finger is from what the gesture asks, in shares of the fist


FITTING = Population(1, (0.9, 1.1), (0.75, 0.9), (0.18, 0.24), 0.4, 0.6, 0.15)
VALIDATION = Population(2, (0.85, 1.15), (0.72, 0.94), (0.17, 0.25), 0.45, 0.65, 0.17)
HELD_OUT = Population(3, (0.8, 1.2), (0.7, 1.0), (0.16, 0.27), 0.5, 0.7, 0.2)

LENGTHS = (0.62, 0.9, 1.0, 0.93, 0.74)  # of the fingers, in shares of the middle one
PHALANGES = (0.48, 0.3, 0.22)  # of a finger
BENT = 1.6  # rad that the first and second joint bend in a fist

SEED = 1
EPOCHS = 18
BATCH = 64
SPECKLES = 0.02  # share of the pixels that are wrong, at most


def bend_finger(root: np.ndarray, spread: float, length: float, bend: float) -> np.ndarray:
    """Joints [4, 3] of a finger: x to the side, y along the palm, z towards the one who looks."""
    joints, angle = [root], 0.0
    for share, more in zip(PHALANGES, (1.0, 1.0, 2 / 3), strict=True):
        angle += bend * BENT * more
        step = np.array([np.sin(spread) * np.cos(angle), np.cos(spread) * np.cos(angle), np.sin(angle)])
        joints.append(joints[-1] + step * length * share)
    return np.array(joints)


def bend_thumb(root: np.ndarray, spread: float, length: float, bend: float) -> np.ndarray:
    """The thumb lies over the palm when it is bent, rather than rolling up."""
    joints = [root]
    for share, more in zip(PHALANGES, (0.4, 1.0, 1.3), strict=True):
        angle = -spread + bend * BENT * more
        joints.append(joints[-1] + np.array([np.sin(angle), np.cos(angle), 0.3 * bend]) * length * share)
    return np.array(joints)


def draw_hand(random: np.random.Generator, bends: tuple[int, ...], kind: Population) -> np.ndarray:
    """The silhouette [side, side] in 0..1, the hand 1."""
    width, finger, thick = (random.uniform(*each) for each in (kind.width, kind.finger, kind.thickness))
    bend = [abs(share - abs(random.uniform(-kind.slack, kind.slack))) for share in bends]
    fan = random.uniform(0.05, 0.16)
    chains = [bend_thumb(np.array([-0.45 * width, 0.25, 0.0]), random.uniform(0.5, 1.0), LENGTHS[0] * finger, bend[0])]
    for i in range(4):
        root = np.array([(i / 3 - 0.5) * width * 0.8, 1.0 - 0.06 * abs(i - 1), 0.0])
        chains.append(bend_finger(root, (i - 1.3) * fan, LENGTHS[i + 1] * finger, bend[i + 1]))
    palm = np.array([[-0.36, 0], [0.36, 0], [0.5, 0.35], [0.48, 1], [-0.48, 1], [-0.5, 0.35]]) * [width, 1.0]
    wrist = np.array([[-0.32, -0.5], [0.32, -0.5], [0.36, 0.05], [-0.36, 0.05]]) * [width, 1.0]

    tilt, roll = random.uniform(-kind.tilt, kind.tilt, 2)
    turn = random.uniform(-kind.turn, kind.turn)
    flat = np.array(  # the first two rows of a turn by `roll` about y, then by `tilt` about x
        [[np.cos(roll), 0, np.sin(roll)], [np.sin(tilt) * np.sin(roll), np.cos(tilt), -np.sin(tilt) * np.cos(roll)]]
    )
    spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    large = SIDE * DRAWN
    zoom = large * random.uniform(0.33, 0.42)
    middle = np.array([large / 2, large / 2]) + random.uniform(-0.06, 0.06, 2) * large
    mirror = random.choice([-1, 1])

    def see(points: np.ndarray) -> list[tuple[float, float]]:
        space = np.concatenate([points, np.zeros((len(points), 3 - points.shape[1]))], axis=1)
        x, y = spin @ (flat @ (space - [0, 0.85, 0]).T)
        return list(zip(middle[0] + mirror * zoom * x, middle[1] - zoom * y, strict=True))

    image = Image.new("L", (large, large))
    pen = ImageDraw.Draw(image)
    for shape in (palm, wrist):
        pen.polygon(see(shape), fill=255)
    for i, chain in enumerate(chains):
        across = zoom * thick * (1.15 if i == 0 else 0.88 if i == 4 else 1.0)
        joints = see(chain)
        pen.line(joints, fill=255, width=round(across), joint="curve")
        for x, y in joints:
            pen.ellipse([x - across / 2, y - across / 2, x + across / 2, y + across / 2], fill=255)
    pixels = np.asarray(image.reduce(DRAWN), dtype=np.float32) / 255
    wrong = random.random(pixels.shape) < random.uniform(0, SPECKLES)
    return np.where(wrong, 1 - pixels, pixels)


def draw_hands(kind: Population, each: int) -> tuple[Tensor, Tensor]:
    """`each` hands of every gesture: [n, 1, side, side] and gesture numbers [n]."""
    random = np.random.default_rng(kind.seed)
    hands = [draw_hand(random, bends, kind) for _ in range(each) for bends in GESTURES.values()]
    return torch.from_numpy(np.stack(hands))[:, None], torch.arange(len(GESTURES)).repeat(each)


def build_network() -> nn.Sequential:
    return nn.Sequential(
        conv_unit(1, 12), nn.MaxPool2d(2),
        conv_unit(12, 24), nn.MaxPool2d(2),
        conv_unit(24, 40), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(40 * 9, 64), nn.ReLU(),
        nn.Linear(64, len(GESTURES)),
    )  # fmt: skip


def main() -> None:
    begin(SEED)
    images, labels = draw_hands(FITTING, FITTING_EACH)
    judged, answers = draw_hands(VALIDATION, VALIDATION_EACH)
    network = build_network()

    def loss(network: nn.Module, batch: list[Tensor]) -> Tensor:
        return F.cross_entropy(network(batch[0]), batch[1], label_smoothing=0.05)

    def score(network: nn.Module) -> float:
        return evaluate("accuracy", network(judged).numpy(), answers.numpy())

    outcome = fit_network(network, [images, labels], loss, score, epochs=EPOCHS, batch=BATCH)

    hands, wanted = draw_hands(HELD_OUT, HELD_OUT_EACH)
    held_out = {
        "input.image": pack(hands.numpy(), low=0.0, high=1.0),
        "target": wanted.numpy().astype(np.uint8),
        "baseline": np.eye(len(GESTURES), dtype=np.uint8)[:1],
    }
    finish(HERE, network, held_out, describe(outcome), ("pillow",))


def describe(outcome: dict) -> dict:
    return {
        "category": "vision",
        "task": "names the gesture of a hand's silhouette",
        "metric": "accuracy",
        "architecture": "three times conv 3x3 (12, 24, 40), batch norm, ReLU, max pool 2; dense 64, ReLU, dense 10",
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": "1 where the hand is, 0 elsewhere, in between at its edge; rows from the top, the fingers upwards, a left or right"
                " hand in the middle, the palm's length about three eighths of the frame",
            }
        ],
        "outputs": [
            {
                "name": "scores",
                "dtype": "float32",
                "shape": [-1, len(GESTURES)],
                "meaning": "unnormalised log-probability of each of " + ", ".join(GESTURES),
            }
        ],
        "data": {
            "kind": "simulated",
            "source": "silhouettes of the recipe's kinematic hand with random proportions, attitude and slack fingers; up to"
            f" {SPECKLES:.0%} of the pixels are wrong",
            "licence": "the data are the recipe's own",
            "split": "the held-out hands are from another seed and from wider ranges than those of fitting: middle finger"
            f" {HELD_OUT.finger[0]} to {HELD_OUT.finger[1]} palms for {FITTING.finger[0]} to {FITTING.finger[1]}, tilt up to"
            f" {HELD_OUT.tilt} rad for {FITTING.tilt}, turn {HELD_OUT.turn} for {FITTING.turn}, slack {HELD_OUT.slack} for {FITTING.slack}",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy with label smoothing 0.05",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "fittingEach": FITTING_EACH, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "silhouettes of a simulated hand: camera pictures must be segmented first, and none was measured",
            "the hand points upwards and is seen from front or back; there is no class for `no gesture`",
            "one frame at a time: it knows postures, not movements",
        ],
    }


if __name__ == "__main__":
    main()
