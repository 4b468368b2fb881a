"""Trains a convolutional network to tell the heart rate from a pulse sensor at the wrist, while its wearer moves.

    python models/ppg-heart-rate/recipe.py

Needs models/requirements.txt and nothing else. The pulse wave is two Gaussians a beat, the push of the heart and its echo
(after Tang et al., "Synthetic photoplethysmogram generation using two Gaussian functions", Scientific Reports 10, 2020); what
the arm does appears in both channels, in the optical one through a filter of the wearer's own. The task, 8 s windows of both,
is that of Reiss et al., "Deep PPG", Sensors 19, 2019.
"""

import sys
from pathlib import Path

import numpy as np
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from held_out import pack, unpack
from simulate_body import Generator, harmonics, smooth_noise, uniform, wandering_phase
from temporal_layers import MeanOverTime, absolute, as_tensors, closeness, conv_block
from write_model import write_model

SEED = 19
RATE_HZ = 25
STEPS = 200  # 8 s
RANGE = 4.0  # standard deviations
MEAN_BPM, SPREAD_BPM = 100.0, 30.0  # for the last layer; about the training part's
WEARERS = {"fitting": 150, "validation": 20, "held out": 40}
WINDOWS = {"fitting": 6000, "validation": 800, "held out": 480}
EPOCHS = 20
# Doing nothing, household, walking, running: share of windows, heart's beats a minute, cadence in Hz, arm's acceleration in g
MOTIONS = np.array(
    [
        (0.3, 45, 95, 0.3, 1.0, 0.01, 0.03),
        (0.2, 60, 110, 0.3, 1.5, 0.05, 0.25),
        (0.3, 70, 135, 1.5, 2.1, 0.10, 0.30),
        (0.2, 100, 180, 2.3, 3.0, 0.30, 0.80),
    ]
)


def draw_wearers(generator: Generator, count: int, part: str) -> dict[str, np.ndarray]:
    """How people differ: form of the pulse, how motion gets into the light, how tight the strap is. Held out: other forms."""
    inner = generator.random((2, count))
    echo, width = 0.30 + 0.40 * inner[0], 0.11 + 0.05 * inner[1]
    if part == "held out":
        echo = np.where(inner[0] < 0.5, 0.20 + 0.2 * inner[0], 0.60 + 0.2 * inner[0])
        width = np.where(inner[1] < 0.5, 0.10 + 0.02 * inner[1], 0.15 + 0.02 * inner[1])
    return {
        "echo": echo,
        "width": width,
        "delay": uniform(generator, 0.32, 0.44, count),
        "filter": generator.standard_normal((count, 3, 6)) * np.exp(-0.4 * np.arange(6)),
        "looseness": uniform(generator, 0.3, 1.6, count),
        "noise": uniform(generator, 0.02, 0.12, count),
    }


def pulse(phase: np.ndarray, own: dict[str, np.ndarray]) -> np.ndarray:
    """The pulse wave [n, steps] at a phase in cycles: push and echo, round the cycle."""

    def bump(middle, width):
        away = (phase - middle + 0.5) % 1 - 0.5
        return np.exp(-(away**2) / (2 * width**2))

    wave = bump(0.2, own["width"][:, None]) + own["echo"][:, None] * bump(0.2 + own["delay"][:, None], 0.14)
    return (wave - wave.mean(axis=1, keepdims=True)) / wave.std(axis=1, keepdims=True)


def simulate(generator: Generator, wearers: dict[str, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Windows [n, 2, STEPS], pulse and acceleration, each of mean 0 and variance 1, and beats a minute [n, 1]."""
    who = generator.integers(len(wearers["echo"]), size=n)
    own = {name: values[who] for name, values in wearers.items()}
    motion = generator.choice(len(MOTIONS), size=n, p=MOTIONS[:, 0])
    heart_bpm, cadence_hz, size_g = (uniform(generator, MOTIONS[motion, c], MOTIONS[motion, c + 1], n) for c in (1, 3, 5))
    beats = wandering_phase(generator, heart_bpm / 60, STEPS, RATE_HZ, 0.03)
    breath = wandering_phase(generator, uniform(generator, 0.15, 0.5, n), STEPS, RATE_HZ, 0.05)
    light = pulse(beats, own) * (1 + 0.15 * np.cos(2 * np.pi * breath)) + 0.3 * np.cos(2 * np.pi * breath)
    light += 0.3 * smooth_noise(generator, (n, STEPS), 0.2, RATE_HZ)
    steps = wandering_phase(generator, cadence_hz, STEPS + 5, RATE_HZ, 0.02)
    walking = (motion >= 2)[:, None]
    arm = np.empty((n, 3, STEPS + 5))  # five steps more for the filter to begin with
    for axis in range(3):
        sizes = np.abs(generator.standard_normal((n, 3))) * [1.0, 0.6, 0.3]
        swing = harmonics(steps, sizes, generator.random((n, 3)))  # harmonics: arm with the step; half of it: with the stride
        swing = swing + 0.5 * harmonics(steps / 2, sizes[:, :1], generator.random((n, 1)))
        shaking = smooth_noise(generator, (n, STEPS + 5), 2, RATE_HZ)
        arm[:, axis] = np.where(walking, swing + 0.3 * shaking, shaking) * size_g[:, None]
    for tap in range(6):
        coupling = own["looseness"][:, None] * own["filter"][:, :, tap] * 1.2
        light = light + (coupling[:, :, None] * arm[:, :, 5 - tap : STEPS + 5 - tap]).sum(axis=1)
    light = light + own["noise"][:, None] * generator.standard_normal((n, STEPS))
    felt = np.linalg.norm(arm[:, :, 5:] + np.array([0.3, 0.4, 0.87])[:, None], axis=1)
    felt = felt + 0.01 * generator.standard_normal(felt.shape)
    window = np.stack([light, felt], axis=1)
    window -= window.mean(axis=2, keepdims=True)
    window /= window.std(axis=2, keepdims=True)
    mean_bpm = 60 * RATE_HZ * (beats[:, -1] - beats[:, 0]) / (STEPS - 1)
    return window, mean_bpm[:, None].astype(np.float32)


class Rate(nn.Module):
    """The last layer's output in beats a minute."""

    def forward(self, x: Tensor) -> Tensor:
        return x * SPREAD_BPM + MEAN_BPM


def build_network() -> nn.Sequential:
    return nn.Sequential(
        conv_block(2, 24, 15, pool=2),
        conv_block(24, 32, 9, pool=2),
        conv_block(32, 48, 7, pool=2),
        conv_block(48, 64, 7),
        MeanOverTime(),
        nn.Linear(64, 48),
        nn.ReLU(),
        nn.Linear(48, 1),
        Rate(),
    )


def describe(outcome: dict) -> dict:
    meaning = (
        "the light of a green pulse sensor at the wrist (more is more blood) and the magnitude of the acceleration beside it; 25 Hz,"
        " 8 s; each less its mean and over its standard deviation within the window; cut at 4 and kept in 8 bits"
    )
    return {
        "category": "sensor",
        "task": "tells the heart rate from 8 s of a pulse sensor at the wrist, while its wearer moves",
        "metric": "mae",
        "architecture": "conv over time 24@15, 32@9, 48@7, 64@7, each ReLU, the first three with max pool 2, mean over time, dense 48,"
        " ReLU, dense 1, scaled to beats a minute",
        "inputs": [{"name": "window", "dtype": "float32", "shape": [-1, 2, STEPS], "meaning": meaning}],
        "outputs": [{"name": "rate", "dtype": "float32", "shape": [-1, 1], "meaning": "mean heart rate in beats a minute"}],
        "data": {
            "kind": "simulated",
            "source": "pulse waves of two Gaussians, breath, wandering and motion at rest, in the household, walking and running, by"
            " recipe.py",
            "licence": "made by this repository's code, under its licence",
            "split": "by wearer: 150 for fitting and 20 for validation; the 40 held-out ones are drawn after them and have weaker or"
            " stronger echoes and narrower or wider pulses than any of the others",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, mean absolute error",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": 64, "peakLearningRate": 0.004, "weightDecay": 0.01, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network of the kind that wearables run, for demonstrations, conformance checks and benchmarks",
        "limits": [
            "never saw a real wrist, where networks like it are known to err by several times as much; no medical device",
            "45 to 180 beats a minute; beyond that it answers something within",
            "a rhythm without order (fibrillation, extra beats) is not simulated",
            "the light may be upside down in other sensors; it has to be turned first",
        ],
    }


def main() -> None:
    begin(SEED)
    generator = np.random.default_rng(SEED)
    parts = {}
    for part, count in WEARERS.items():
        windows, rate = simulate(generator, draw_wearers(generator, count, part), WINDOWS[part])
        parts[part] = (pack(windows, "uint8", -RANGE, RANGE), rate)
    fitting, validation = (as_tensors(unpack(parts[part][0]), parts[part][1]) for part in ("fitting", "validation"))
    network = build_network()
    outcome = fit_network(network, fitting, absolute, closeness(validation), epochs=EPOCHS, learning_rate=4e-3)
    outcome = {"validationSamples": WINDOWS["validation"], **outcome}
    windows, rate = parts["held out"]
    baseline = np.median(parts["fitting"][1], axis=0, keepdims=True)
    tensors = {"input.window": windows, "target": rate, "baseline": baseline}
    write_model(Path(__file__).resolve().parent, network, "rate", tensors, describe(outcome))


if __name__ == "__main__":
    main()
