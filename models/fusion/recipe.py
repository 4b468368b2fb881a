"""Trains a network of two branches to tell how fast a wheeled robot really goes, from its inertial sensor and its wheels.

    python models/fusion/recipe.py

Needs models/requirements.txt and nothing else. Wheels tell the speed well until they slip; the inertial sensor feels what the
robot does, but with a bias and with the slope of the ground in it. The robot is a differential drive (Borenstein and Feng, IEEE
Trans. Robotics and Automation 12, 1996, have the errors of its odometry); slip is the share by which wheel and ground differ.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from held_out import pack, unpack
from simulate_body import Generator, smooth_noise, uniform
from temporal_layers import absolute, as_tensors, closeness, conv_block
from write_model import write_model

SEED = 20
RATE_HZ = 50
STEPS = 64  # 1.28 s
G = 9.81
IMU_RANGE = 8.0  # m/s² and rad/s
WHEEL_RANGE = (-1.0, 4.0)  # m/s
ROBOTS = {"fitting": 150, "validation": 20, "held out": 40}
WINDOWS = {"fitting": 8000, "validation": 1000, "held out": 580}
SLIPPING = 0.7  # share of windows in which a wheel may slip
EPOCHS = 20


def draw_robots(generator: Generator, count: int, part: str) -> dict[str, np.ndarray]:
    """How robots differ; the held-out ones are narrower or wider than the others, and shake more."""
    track = uniform(generator, 0.35, 0.55, count)
    if part == "held out":
        track = np.where(np.arange(count) % 2, uniform(generator, 0.28, 0.35, count), uniform(generator, 0.55, 0.65, count))
    return {
        "track_m": track,
        "radius": 1 + 0.01 * generator.standard_normal((count, 2)),  # the wheels' true radii over the assumed one
        "bias": generator.standard_normal((count, 3)) * [0.08, 0.08, 0.01],
        "shake": uniform(generator, 0.2, 0.8, count) * (1.4 if part == "held out" else 1),
    }


def draw_slip(generator: Generator, n: int) -> np.ndarray:
    """Slip of both wheels [n, 2, STEPS]: 0 is grip, 0.5 is half again as fast as the ground, below 0 is a blocked wheel."""
    start_s, length_s = uniform(generator, 0.1, STEPS / RATE_HZ, n, 2, 1), uniform(generator, 0.15, 0.8, n, 2, 1)
    since = np.arange(STEPS) / RATE_HZ - start_s
    edges = np.clip(since / 0.06, 0, 1) * np.clip((length_s - since) / 0.06, 0, 1)
    size = np.where(generator.random((n, 2, 1)) < 0.35, -1, 1) * uniform(generator, 0.1, 0.8, n, 2, 1)
    happens = (generator.random((n, 2, 1)) < 0.7) & (generator.random((n, 1, 1)) < SLIPPING)
    both = generator.random((n, 1, 1)) < 0.3  # ice under the whole robot
    slip = edges * size * happens
    return np.where(both, slip[:, :1], slip)


def simulate(generator: Generator, robots: dict[str, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inertial windows [n, 3, STEPS], wheel windows [n, 2, STEPS], and the true speed [n, 1] at their end in m/s."""
    who = generator.integers(len(robots["track_m"]), size=n)
    own = {name: values[who] for name, values in robots.items()}
    effort = uniform(generator, 0.2, 2.0, n, 1) * smooth_noise(generator, (n, STEPS), 1.0, RATE_HZ)  # m/s²
    speed = uniform(generator, 0.2, 2.2, n, 1) + np.cumsum(effort, axis=1) / RATE_HZ
    speed = np.maximum(speed, 0)
    acceleration = np.gradient(speed, 1 / RATE_HZ, axis=1)
    yaw = uniform(generator, 0.0, 0.8, n, 1) * smooth_noise(generator, (n, STEPS), 0.7, RATE_HZ)
    yaw = yaw + 0.5 * generator.standard_normal((n, 1))
    slope = 0.04 * generator.standard_normal((n, 2, 1)) + 0.01 * smooth_noise(generator, (n, 2, STEPS), 0.5, RATE_HZ)
    felt = np.stack([acceleration + G * slope[:, 0], speed * yaw + G * slope[:, 1], yaw], axis=1)
    felt += own["bias"][:, :, None]
    felt += own["shake"][:, None, None] * np.array([0.3, 0.3, 0.05])[:, None] * generator.standard_normal(felt.shape)
    half = own["track_m"][:, None] / 2 * yaw
    ground = np.stack([speed - half, speed + half], axis=1)
    wheels = ground * (1 + draw_slip(generator, n)) * own["radius"][:, :, None]
    wheels += 0.02 * generator.standard_normal(wheels.shape)
    return felt, wheels, speed[:, -1:].astype(np.float32)


class Fusion(nn.Module):
    """`imu` [n, 3, STEPS] and `wheels` [n, 2, STEPS] to the speed [n, 1]: the wheels' last mean, and what to add to it."""

    def __init__(self):
        super().__init__()
        self.imu = nn.Sequential(conv_block(3, 24, 7), conv_block(24, 24, 5, stride=2))
        self.wheels = nn.Sequential(conv_block(2, 24, 7), conv_block(24, 24, 5, stride=2))
        self.joint = nn.Sequential(conv_block(48, 32, 5, stride=2), conv_block(32, 32, 3), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(32 * STEPS // 4, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, imu: Tensor, wheels: Tensor) -> Tensor:
        joined = self.joint(torch.cat([self.imu(imu), self.wheels(wheels)], dim=1))
        return wheels[:, :, -1].mean(dim=1, keepdim=True) + self.head(joined)


def describe(outcome: dict) -> dict:
    return {
        "category": "sensor",
        "task": "tells the speed of a wheeled robot from its inertial sensor and its wheels, of which some slip",
        "metric": "mae",
        "architecture": "two branches of conv 24@7 and 24@5 stride 2, joined, conv 32@5 stride 2, conv 32@3, each ReLU, dense 48, ReLU,"
        " dense 1, added to the mean of the wheels' last speeds",
        "inputs": [
            {
                "name": "imu",
                "dtype": "float32",
                "shape": [-1, 3, STEPS],
                "meaning": "acceleration forwards and left in m/s², the part of gravity that a slope brings included, and turning rate to"
                " the left in rad/s; 50 Hz, 1.28 s; cut at 8",
            },
            {
                "name": "wheels",
                "dtype": "float32",
                "shape": [-1, 2, STEPS],
                "meaning": "speed of the left and the right wheel's rim in m/s, over the same time; cut to -1..4; both kept in 8 bits",
            },
        ],
        "outputs": [
            {"name": "speed", "dtype": "float32", "shape": [-1, 1], "meaning": "speed over ground at the window's end in m/s"}
        ],
        "data": {
            "kind": "simulated",
            "source": "a differential drive on slopes with slipping and blocked wheels, wrong radii, bias and noise, by recipe.py",
            "licence": "made by this repository's code, under its licence",
            "split": "by robot: 150 for fitting and 20 for validation with 0.35 to 0.55 m between the wheels; the 40 held-out ones are"
            " drawn after them, have 0.28 to 0.35 or 0.55 to 0.65 m and shake 1.4 times as much",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, mean absolute error",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": 64, "peakLearningRate": 0.003, "weightDecay": 0.01, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network with two inputs, for demonstrations, conformance checks and benchmarks",
        "limits": [
            "never saw a real robot; forwards only, up to about 3 m/s, on slopes of a few degrees",
            "a slip that began before the window, or lasts for all of it, cannot be told from a higher speed",
            "the baseline is the mean of the wheels' last speeds, which is what a robot without the other sensor has",
            "gives no spread of its answer, as a Kalman filter would",
        ],
    }


def main() -> None:
    begin(SEED)
    generator = np.random.default_rng(SEED)
    parts = {}
    for part, count in ROBOTS.items():
        imu, wheels, speed = simulate(generator, draw_robots(generator, count, part), WINDOWS[part])
        parts[part] = (pack(imu, "uint8", -IMU_RANGE, IMU_RANGE), pack(wheels, "uint8", *WHEEL_RANGE), speed)
    fitting, validation = (
        as_tensors(unpack(imu), unpack(wheels), speed) for imu, wheels, speed in (parts["fitting"], parts["validation"])
    )
    network = Fusion()
    outcome = fit_network(network, fitting, absolute, closeness(validation), epochs=EPOCHS)
    outcome = {"validationSamples": WINDOWS["validation"], **outcome}
    imu, wheels, speed = parts["held out"]
    baseline = unpack(wheels)[:, :, -1].mean(axis=1, keepdims=True)
    tensors = {"input.imu": imu, "input.wheels": wheels, "target": speed, "baseline": baseline}
    write_model(Path(__file__).resolve().parent, network, "speed", tensors, describe(outcome))


if __name__ == "__main__":
    main()
