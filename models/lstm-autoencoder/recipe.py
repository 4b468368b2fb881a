"""Trains an LSTM autoencoder on sound windows of six sensors of a pump, so that what it cannot draw again is abnormal.

    python models/lstm-autoencoder/recipe.py

Needs models/requirements.txt and nothing else. The pump follows the affinity laws (flow as the speed, pressure as its square,
power as its cube); faults are put into held-out windows alone. Network: Malhotra et al., "LSTM-based encoder-decoder for
multi-sensor anomaly detection", 2016, with a dense bottleneck and a place for every step instead of feeding back the last one.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from held_out import pack, unpack
from simulate_body import Generator, smooth_noise, uniform
from temporal_layers import as_tensors
from write_model import write_model

SEED = 17
RATE_HZ = 1
STEPS = 32
CHANNELS = ["speed", "flow", "pressure", "current", "temperature", "vibration"]
SPEED, FLOW, PRESSURE, CURRENT, TEMPERATURE, VIBRATION = range(6)
FAULTS = ["stuck sensor", "offset", "drift", "burst of spikes", "cavitation", "blockage", "hot bearing", "late sensor"]
HIDDEN, LATENT = 48, 16
RANGE = 4.0  # standard deviations
MACHINES = {"fitting": 60, "validation": 12, "held out": 30}
WINDOWS = {"fitting": 5000, "validation": 800, "held out": 900}
WARM_UP = 64  # s simulated before a window
EPOCHS = 30


def draw_machines(generator: Generator, count: int) -> dict[str, np.ndarray]:
    """How pumps differ, in shares of the usual one."""
    return {
        "lag_s": uniform(generator, 1.5, 4.0, count),
        "slip": uniform(generator, 0.9, 1.1, count),
        "resistance": uniform(generator, 0.25, 0.45, count),
        "warmth": uniform(generator, 0.7, 1.3, count),
        "shake": uniform(generator, 0.7, 1.3, count),
        "noise": uniform(generator, 0.6, 1.4, count),
    }


def follow(signal: np.ndarray, lag_s) -> np.ndarray:
    """First-order lag over the last dimension; lag_s is a number or [n]."""
    out = np.empty_like(signal)
    state = signal[:, 0]
    for step in range(signal.shape[1]):
        state = state + (signal[:, step] - state) / (np.asarray(lag_s) + 1)
        out[:, step] = state
    return out


def demand(generator: Generator, n: int, steps: int) -> np.ndarray:
    """Wanted speed [n, steps] around 1: slow wandering, a ripple, and steps by an operator."""
    steady = uniform(generator, 0.6, 1.1, n, 1)
    wander = 0.08 * smooth_noise(generator, (n, steps), 0.02, RATE_HZ)
    ripple = uniform(generator, 0, 0.06, n, 1) * np.sin(
        2 * np.pi * (np.arange(steps) / uniform(generator, 8, 20, n, 1) + generator.random((n, 1)))
    )
    switched = np.arange(steps) > generator.integers(steps, size=(n, 1))
    return np.clip(steady + wander + ripple + switched * 0.2 * generator.standard_normal((n, 1)), 0.3, 1.3)


def simulate(generator: Generator, machines: dict[str, np.ndarray], n: int) -> np.ndarray:
    """Sound windows [n, STEPS, 6], each channel over a usual pump's mean and spread."""
    who = generator.integers(len(machines["lag_s"]), size=n)
    own = {name: values[who, None] for name, values in machines.items()}
    speed = follow(demand(generator, n, WARM_UP + STEPS), own["lag_s"][:, 0])
    flow = follow(speed * own["slip"], 1.0)
    pressure = speed**2 - own["resistance"] * flow**2
    current = 0.15 + speed**3 * 0.7 + 0.15 * flow
    temperature = follow(own["warmth"] * current**2, 20.0)
    vibration = own["shake"] * (0.2 + 0.5 * speed**2 + 0.6 * np.exp(-(((speed - 0.85) / 0.05) ** 2)))  # a resonance at 0.85
    clean = np.stack([speed, flow, pressure, current, temperature, vibration], axis=2)[:, WARM_UP:]
    noise = [0.01, 0.02, 0.015, 0.015, 0.005, 0.05] * own["noise"][:, :, None] * generator.standard_normal(clean.shape)
    usual = np.array([[0.85, 0.85, 0.48, 0.76, 0.64, 0.70], [0.17, 0.17, 0.18, 0.30, 0.35, 0.30]])
    return (clean + noise - usual[0]) / usual[1]


def spoil(generator: Generator, windows: np.ndarray, fault: np.ndarray) -> np.ndarray:
    """Puts fault [n] (an index of FAULTS) into each window, from some second of its first two thirds on."""
    spoilt = windows.copy()
    for row, kind in enumerate(fault):
        start = generator.integers(2, 2 * STEPS // 3)
        channel, sign, size = generator.integers(6), generator.choice([-1, 1]), uniform(generator, 0.5, 1.5)
        since = np.arange(1, STEPS - start + 1) / (STEPS - start)
        part = spoilt[row, start:]
        name = FAULTS[kind]
        if name == "stuck sensor":
            part[:, channel] = part[0, channel]
        elif name == "offset":
            part[:, channel] += sign * size
        elif name == "drift":
            part[:, channel] += sign * 1.5 * size * since
        elif name == "burst of spikes":
            part[:, channel] += (generator.random(len(part)) < 0.3) * 2 * size * generator.standard_normal(len(part))
        elif name == "cavitation":
            part += np.outer(0.3 + 0.4 * generator.random(len(part)), [0, -1.0, -1.2, -0.5, 0, 1.8]) * size
        elif name == "blockage":
            part += np.outer(np.minimum(1, 3 * since), [0, -1.0, 0.8, -0.3, 0, 0.2]) * size
        elif name == "hot bearing":
            part += np.outer(since, [0, 0, 0, 0.4, 1.5, 0.6]) * size
        else:  # a late sensor
            late = generator.integers(4, 9)
            spoilt[row, :, channel] = np.roll(spoilt[row, :, channel], late)
            spoilt[row, :late, channel] = spoilt[row, late, channel]
    return spoilt


class Autoencoder(nn.Module):
    """[n, STEPS, 6] through LATENT numbers to the same again."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.LSTM(len(CHANNELS), HIDDEN, batch_first=True)
        self.bottleneck = nn.Sequential(nn.Linear(HIDDEN, LATENT), nn.Tanh(), nn.Linear(LATENT, HIDDEN))
        self.place = nn.Parameter(0.1 * torch.randn(1, STEPS, HIDDEN))
        self.decoder = nn.LSTM(HIDDEN, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, len(CHANNELS))

    def forward(self, window: Tensor) -> Tensor:
        summary = self.bottleneck(self.encoder(window)[0][:, -1])
        return self.head(self.decoder(summary.unsqueeze(1) + self.place)[0])


def rebuild(network: nn.Module, batch: list[Tensor]) -> Tensor:
    return F.mse_loss(network(batch[0]), batch[0])


def describe(outcome: dict) -> dict:
    meaning = (
        "speed, flow, pressure, motor current, temperature and vibration of a pump, once a second for 32 s, each less a usual pump's mean"
        " and over its spread; cut at 4 and kept in 8 bits"
    )
    return {
        "category": "sensor",
        "task": "draws 32 s of a pump's six sensors again, and does so badly where they are abnormal",
        "metric": "reconstruction-auc",
        "architecture": "LSTM 48, its last output to dense 16, tanh, dense 48, added to a learned place for each step, LSTM 48, dense 6",
        "inputs": [{"name": "window", "dtype": "float32", "shape": [-1, STEPS, 6], "meaning": meaning}],
        "outputs": [{"name": "again", "dtype": "float32", "shape": [-1, STEPS, 6], "meaning": "the input again"}],
        "data": {
            "kind": "simulated",
            "source": "pumps by the affinity laws with lags, a resonance and noise, by recipe.py; faults: " + ", ".join(FAULTS),
            "licence": "made by this repository's code, under its licence",
            "split": "by machine: 60 for fitting and 12 for validation, all sound; the 30 held-out ones are drawn after them, and half of"
            " their windows have one of the faults, of which the other parts have none",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, mean squared error of the reconstruction, on sound windows alone",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": 64, "peakLearningRate": 0.005, "weightDecay": 0.0001, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small recurrent network of the kind that machine monitors run, for demonstrations, checks and benchmarks",
        "limits": [
            "never saw a real pump, and the faults are drawn by a formula",
            "gives no threshold: whoever uses it has to choose one on windows of their own",
            "a stuck or late sensor on a pump that runs steadily is hardly different from a sound one, and is missed",
            "half of the held-out windows are abnormal, far more than in any works",
        ],
    }


def main() -> None:
    begin(SEED)
    generator = np.random.default_rng(SEED)
    parts = {part: simulate(generator, draw_machines(generator, count), WINDOWS[part]) for part, count in MACHINES.items()}
    abnormal = np.arange(WINDOWS["held out"]) % 2
    odd = np.flatnonzero(abnormal)
    parts["held out"][odd] = spoil(generator, parts["held out"][odd], np.arange(len(odd)) % len(FAULTS))
    packed = {part: pack(windows, "uint8", -RANGE, RANGE) for part, windows in parts.items()}
    fitting, validation = (as_tensors(unpack(packed[part])) for part in ("fitting", "validation"))
    network = Autoencoder()
    outcome = fit_network(
        network,
        fitting,
        rebuild,
        lambda network: -rebuild(network, validation).item(),
        epochs=EPOCHS,
        learning_rate=5e-3,
        weight_decay=1e-4,
    )
    outcome = {"validationSamples": WINDOWS["validation"], **outcome}
    mean = fitting[0].mean(dim=(0, 1)).numpy()
    tensors = {
        "input.window": packed["held out"],
        "target": abnormal.astype(np.uint8),
        "baseline": np.broadcast_to(mean, (1, STEPS, 6)).astype(np.float32),
    }
    write_model(Path(__file__).resolve().parent, network, "again", tensors, describe(outcome))


if __name__ == "__main__":
    main()
