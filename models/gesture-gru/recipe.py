"""Trains a gated recurrent network to read digits that are drawn in the air, from a hand-held accelerometer.

    python models/gesture-gru/recipe.py

Needs models/requirements.txt and nothing else. The hand moves through via-points with the least jerk, as hands do (Flash and
Hogan, "The coordination of arm movements", J. Neuroscience 5, 1985): for given times of passing that is the quintic spline at
rest at both ends. Network: one layer of gated recurrent units (Cho et al., 2014), whose last output is classified.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.interpolate import make_interp_spline
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from held_out import pack, unpack
from simulate_body import Generator, random_axes, rotations, smooth_noise, uniform
from temporal_layers import accuracy, as_tensors, classify
from write_model import write_model

SEED = 18
RATE_HZ = 25
STEPS = 48  # 1.92 s
HIDDEN = 80
RANGE_G = 3.0
G = 9.81
ARM_M = 0.6  # the hand moves on a sphere about the shoulder
WRITERS = {"fitting": 120, "validation": 20, "held out": 40}
WINDOWS = {"fitting": 6000, "validation": 1000, "held out": 1000}
EPOCHS = 25
REST = ([(1, np.zeros(2)), (2, np.zeros(2))],) * 2  # no velocity and no acceleration at both ends

# Via-points of every digit, right and up in heights of a digit.
DIGITS = [
    [(0.30, 1.0), (0.00, 0.70), (0.00, 0.30), (0.30, 0.00), (0.60, 0.30), (0.60, 0.70), (0.30, 1.0)],
    [(0.10, 0.70), (0.35, 1.00), (0.35, 0.50), (0.35, 0.00)],
    [(0.00, 0.80), (0.30, 1.00), (0.58, 0.75), (0.35, 0.40), (0.00, 0.00), (0.30, 0.00), (0.60, 0.00)],
    [(0.00, 0.90), (0.35, 1.00), (0.55, 0.77), (0.25, 0.52), (0.58, 0.27), (0.30, 0.00), (0.00, 0.12)],
    [(0.40, 1.00), (0.20, 0.65), (0.00, 0.35), (0.35, 0.35), (0.65, 0.35), (0.50, 0.55), (0.45, 0.25), (0.42, -0.05)],
    [(0.58, 1.00), (0.30, 1.00), (0.08, 0.98), (0.05, 0.58), (0.35, 0.60), (0.58, 0.30), (0.30, 0.00), (0.00, 0.10)],
    [(0.50, 1.00), (0.18, 0.72), (0.02, 0.32), (0.28, 0.00), (0.55, 0.25), (0.30, 0.48), (0.06, 0.30)],
    [(0.00, 1.00), (0.30, 1.00), (0.60, 1.00), (0.42, 0.50), (0.22, 0.00)],
    [(0.50, 0.88), (0.28, 1.00), (0.08, 0.76), (0.30, 0.52), (0.55, 0.24), (0.28, 0.00), (0.04, 0.24), (0.30, 0.52), (0.50, 0.88)],
    [(0.52, 0.80), (0.28, 1.00), (0.04, 0.74), (0.28, 0.52), (0.52, 0.80), (0.48, 0.40), (0.36, 0.00)],
]


def draw_writers(generator: Generator, count: int, tempo: tuple[float, float]) -> list[dict]:
    """How people differ: size, slant, tempo, their own form of every digit, and how they hold the device."""
    return [
        {
            "height_m": uniform(generator, 0.20, 0.45),
            "width": uniform(generator, 0.8, 1.3),
            "slant": 0.18 * generator.standard_normal(),
            "tempo": uniform(generator, *tempo),
            "forms": [0.05 * generator.standard_normal((len(points), 2)) for points in DIGITS],
            "hold": rotations(random_axes(generator, 1), 0.25 * generator.standard_normal(1))[0],
        }
        for _ in range(count)
    ]


def draw_digit(generator: Generator, writer: dict, digit: int) -> np.ndarray:
    """Accelerations of the hand [3, STEPS] (right, up, towards the writer) in m/s², at rest before and behind."""
    points = np.array(DIGITS[digit]) + writer["forms"][digit]
    points = points + 0.04 * generator.standard_normal(points.shape)
    points[:, 0] = writer["width"] * points[:, 0] + writer["slant"] * points[:, 1]
    points = points * writer["height_m"]
    stretches = np.linalg.norm(np.diff(points, axis=0), axis=1) + 0.02
    share = stretches**0.6 * np.exp(0.08 * generator.standard_normal(len(stretches)))  # longer ones are drawn faster
    lasts_s = np.clip(writer["tempo"] * 0.16 * (1 + len(stretches)) * np.exp(0.08 * generator.standard_normal()), 0.5, 1.6)
    passing_s = np.concatenate([[0], np.cumsum(share)]) / share.sum() * lasts_s
    spline = make_interp_spline(passing_s, points, k=5, bc_type=REST)
    time_s = np.arange(STEPS) / RATE_HZ - uniform(generator, 0.05, 0.30)
    drawing = (time_s > 0) & (time_s < lasts_s)
    inside = np.clip(time_s, 0, lasts_s)
    moved, speed, acceleration = (spline(inside, order) for order in range(3))
    moved = moved - points.mean(axis=0)
    depth = ((speed**2).sum(axis=1) + (moved * acceleration).sum(axis=1)) / ARM_M  # second derivative of |moved|² / 2 ARM_M
    return (np.column_stack([acceleration, depth]) * drawing[:, None]).T


def simulate(generator: Generator, writers: list[dict], n: int) -> tuple[np.ndarray, np.ndarray]:
    """What the device feels [n, STEPS, 3] in g, gravity included, and digits [n]."""
    digits = np.arange(n) % len(DIGITS)
    who = generator.integers(len(writers), size=n)
    moving = np.stack([draw_digit(generator, writers[w], digit) for w, digit in zip(who, digits, strict=True)]) / G
    tremor = 0.015 * smooth_noise(generator, moving.shape, 6, RATE_HZ)
    felt = moving + tremor + np.array([0, 1.0, 0])[:, None]
    tilt = 0.12 * generator.standard_normal((n, 1)) + 0.06 * smooth_noise(generator, (n, STEPS), 0.5, RATE_HZ)
    axes = np.broadcast_to(random_axes(generator, n)[:, None], (n, STEPS, 3))
    hold = np.stack([writer["hold"] for writer in writers])[who]
    felt = hold[:, None] @ rotations(axes, tilt) @ felt.transpose(0, 2, 1)[..., None]
    return felt[..., 0] + 0.01 * generator.standard_normal((n, STEPS, 3)), digits


class Reader(nn.Module):
    """[n, STEPS, 3] to [n, digits]."""

    def __init__(self):
        super().__init__()
        self.memory = nn.GRU(3, HIDDEN, batch_first=True)
        self.head = nn.Sequential(nn.Linear(HIDDEN, 48), nn.ReLU(), nn.Linear(48, len(DIGITS)))

    def forward(self, motion: Tensor) -> Tensor:
        return self.head(self.memory(motion)[0][:, -1])


def describe(outcome: dict) -> dict:
    meaning = (
        "acceleration right, up and towards the writer in g, gravity included; 25 Hz, 1.92 s, the digit begins 0.05 to 0.30 s after"
        " the window; cut at 3 and kept in 8 bits; no other preprocessing"
    )
    return {
        "category": "sensor",
        "task": "reads a digit that is drawn in the air with an accelerometer in the hand",
        "metric": "accuracy",
        "architecture": "GRU 80, its last output to dense 48, ReLU, dense 10",
        "inputs": [{"name": "motion", "dtype": "float32", "shape": [-1, STEPS, 3], "meaning": meaning}],
        "outputs": [{"name": "scores", "dtype": "float32", "shape": [-1, 10], "meaning": "logits of the digits 0 to 9"}],
        "data": {
            "kind": "simulated",
            "source": "digits as movements of least jerk through 4 to 9 via-points, on a sphere about the shoulder, with tilt, tremor and"
            " noise, by recipe.py",
            "licence": "made by this repository's code, under its licence",
            "split": "by writer: 120 for fitting and 20 for validation, who take 0.85 to 1.15 of the usual time; the 40 held-out ones take"
            " 0.75 to 0.85 or 1.15 to 1.3 of it and have forms of their own",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": 64, "peakLearningRate": 0.005, "weightDecay": 0.01, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small recurrent network of the kind that wearables run, for demonstrations, conformance checks and benchmarks",
        "limits": [
            "never saw a real hand: everybody here draws a digit through the same via-points, give or take 5 % of its height",
            "one digit in a window, begun near its start; it does not find digits in a stream and has no class for anything else",
            "expects the device upright within about half a radian",
        ],
    }


def main() -> None:
    begin(SEED)
    generator = np.random.default_rng(SEED)
    parts = {}
    for part, count in WRITERS.items():
        if part == "held out":
            half = count // 2
            writers = draw_writers(generator, half, (0.75, 0.85)) + draw_writers(generator, count - half, (1.15, 1.30))
        else:
            writers = draw_writers(generator, count, (0.85, 1.15))
        windows, digits = simulate(generator, writers, WINDOWS[part])
        parts[part] = (pack(windows, "uint8", -RANGE_G, RANGE_G), digits)
    fitting, validation = (as_tensors(unpack(parts[part][0]), parts[part][1]) for part in ("fitting", "validation"))
    network = Reader()
    outcome = fit_network(network, fitting, classify, accuracy(validation), epochs=EPOCHS, learning_rate=5e-3)
    outcome = {"validationSamples": WINDOWS["validation"], **outcome}
    windows, digits = parts["held out"]
    baseline = np.eye(len(DIGITS), dtype=np.float32)[:1]
    tensors = {"input.motion": windows, "target": digits.astype(np.uint8), "baseline": baseline}
    write_model(Path(__file__).resolve().parent, network, "scores", tensors, describe(outcome), ("scipy",))


if __name__ == "__main__":
    main()
