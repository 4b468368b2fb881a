"""Trains a convolutional network to tell falls from what else people do in a day, by an accelerometer at the waist.

    python models/fall-cnn/recipe.py

Needs models/requirements.txt and nothing else. The phases of a fall (loss of balance, a short time of little weight, an
impact, rest in another attitude) and their sizes follow Noury et al., "Fall detection - principles and methods", IEEE EMBS
2007, and the motions are like those of Sucerquia et al., "SisFall", Sensors 17, 2017; every one is simulated here.
"""

import sys
from pathlib import Path

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from held_out import pack, unpack
from measure_held_out import area_under_curve
from simulate_body import Generator, harmonics, random_axes, rotations, smooth_noise, uniform, wandering_phase
from temporal_layers import MeanOverTime, as_tensors, conv_block
from write_model import write_model

SEED = 12
RATE_HZ = 50
STEPS = 128  # 2.56 s
RANGE_G = 8.0
SUBJECTS = {"fitting": 120, "validation": 20, "held out": 40}
WINDOWS = {"fitting": 6000, "validation": 1000, "held out": 500}
EPOCHS = 12
FALL_SHARE = 0.5

# Each row is a kind of motion, low and high of: the attitude's change in rad, how long that takes in s, how much of the
# weight is lost before the impact, for how long in s, the impact in g, its decay in s, then shares: of the change that is
# undone again, of walking before, of walking after.
FALLS = {
    "slip": [(1.1, 1.8), (0.3, 0.6), (0.4, 0.9), (0.25, 0.5), (2.5, 7.0), (0.03, 0.08), (0, 0), (0.3, 1.0), (0, 0)],
    "trip": [(1.1, 1.8), (0.4, 0.8), (0.3, 0.8), (0.20, 0.5), (2.0, 6.0), (0.03, 0.09), (0, 0), (0.6, 1.6), (0, 0)],
    "faint": [(0.9, 1.7), (0.6, 1.2), (0.2, 0.6), (0.20, 0.5), (1.2, 3.5), (0.04, 0.10), (0, 0), (0, 0.5), (0, 0)],
    "off a seat": [(0.5, 1.4), (0.4, 0.9), (0.1, 0.6), (0.10, 0.3), (1.2, 4.0), (0.03, 0.09), (0, 0), (0, 0), (0, 0)],
}
DAILY = {
    "still": [(0, 0.2), (0.5, 1.0), (0, 0), (0.10, 0.2), (0, 0.2), (0.04, 0.10), (0, 0), (0, 0), (0, 0)],
    "walk": [(0, 0.2), (0.5, 1.0), (0, 0), (0.10, 0.2), (0, 0.3), (0.04, 0.10), (0, 0), (0.5, 1.5), (0.5, 1.5)],
    "run": [(0, 0.2), (0.5, 1.0), (0, 0), (0.10, 0.2), (0, 0.3), (0.04, 0.10), (0, 0), (2.0, 5.0), (2.0, 5.0)],
    "sit down": [(0.1, 0.6), (0.5, 1.2), (0, 0.4), (0.10, 0.3), (0.4, 2.2), (0.04, 0.12), (0, 0), (0, 0.6), (0, 0)],
    "lie down": [(1.0, 1.7), (0.8, 1.8), (0, 0.3), (0.10, 0.3), (0.1, 1.0), (0.06, 0.15), (0, 0), (0, 0.3), (0, 0)],
    "drop into bed": [(1.0, 1.7), (0.4, 0.9), (0, 0.6), (0.10, 0.4), (0.8, 2.5), (0.06, 0.15), (0, 0), (0, 0.8), (0, 0)],
    "pick up": [(0.6, 1.5), (0.4, 0.9), (0, 0.2), (0.10, 0.3), (0.1, 0.6), (0.05, 0.12), (0.9, 1), (0, 0.8), (0, 0.8)],
    "jump": [(0, 0.3), (0.3, 0.6), (0.6, 1.0), (0.20, 0.5), (1.5, 5.0), (0.03, 0.08), (0, 1), (0, 0.8), (0, 0.8)],
    "stumble": [(0.2, 0.8), (0.3, 0.6), (0.1, 0.5), (0.10, 0.3), (0.8, 3.5), (0.03, 0.09), (0.8, 1), (0.6, 1.6), (0.4, 1.4)],
}
KINDS = np.array([*FALLS.values(), *DAILY.values()], dtype=float)  # [kinds, 9, 2]


def draw_subjects(generator: Generator, count: int, frailty: tuple[float, float]) -> dict[str, np.ndarray]:
    """How people differ: all takes longer and is softer or harder, and the sensor sits a little otherwise."""
    return {
        "slowness": uniform(generator, *frailty, count),
        "force": np.exp(0.2 * generator.standard_normal(count)),
        "cadence_hz": uniform(generator, 1.6, 2.1, count),
        "gait": np.abs(generator.standard_normal((count, 3))) * [0.22, 0.10, 0.06] + [0.08, 0.02, 0.01],
        "mount": rotations(random_axes(generator, count), 0.2 * generator.standard_normal(count)),
    }


def simulate(generator: Generator, subjects: dict[str, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations [n, 3, STEPS] (forwards, left, up) in g, and 1 for falls [n]."""
    fall = generator.random(n) < FALL_SHARE
    kind = np.where(fall, generator.integers(len(FALLS), size=n), len(FALLS) + generator.integers(len(DAILY), size=n))
    who = generator.integers(len(subjects["slowness"]), size=n)
    row = uniform(generator, KINDS[kind, :, 0], KINDS[kind, :, 1], n, 9).T[:, :, None]
    attitude, lasts_s, lost, light_s, impact, decay_s, undone, before, after = row
    slow, force = subjects["slowness"][who, None], subjects["force"][who, None]
    since = np.arange(STEPS) / RATE_HZ - uniform(generator, 0.9, 1.7, n, 1)  # seconds from the impact
    lasts_s = lasts_s * slow

    def turned(middle: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(since - middle) / (0.15 * lasts_s)))

    angle = attitude * (turned(-0.3 * lasts_s) - undone * turned(0.9 * lasts_s))
    azimuth = uniform(generator, 0, 2 * np.pi, n)
    axis = np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros(n)], axis=1)
    light = lost * np.exp(-(((since + 0.5 * light_s * slow) / (0.45 * light_s * slow)) ** 2)) * (since < 0)
    ring = np.exp(-np.maximum(since, 0) / decay_s) * np.cos(2 * np.pi * uniform(generator, 4, 11, n, 1) * since)
    blow = impact * force * np.where(since < 0, np.exp(-((since / 0.02) ** 2)), ring)
    pace = np.where(before > 1.8, 1.5, 1.0)[:, 0] * subjects["cadence_hz"][who] / slow[:, 0]
    step = wandering_phase(generator, pace, STEPS, RATE_HZ, 0.03)
    gait = harmonics(step, subjects["gait"][who], 0.05 * generator.standard_normal((n, 3)))
    gait = gait * np.where(since < -0.3 * lasts_s, before, after * (1 - np.exp(-np.maximum(since, 0) / 0.4)))
    sideways = blow[:, None] * uniform(generator, -0.6, 0.6, n, 2, 1)
    world = np.concatenate([sideways, (1 - light + blow + gait)[:, None]], axis=1)
    world += 0.05 * force[:, None] * smooth_noise(generator, world.shape, 4, RATE_HZ)
    body = rotations(np.broadcast_to(axis[:, None], (n, STEPS, 3)), angle) @ world.transpose(0, 2, 1)[..., None]
    body = subjects["mount"][who] @ body[..., 0].transpose(0, 2, 1)
    return body + 0.02 * generator.standard_normal(body.shape), fall.astype(np.float32)


def build_network() -> nn.Sequential:
    return nn.Sequential(
        conv_block(3, 24, 7, pool=2),
        conv_block(24, 32, 5, pool=2),
        conv_block(32, 48, 5, pool=2),
        conv_block(48, 64, 3, pool=2),
        MeanOverTime(),
        nn.Linear(64, 32),
        nn.ReLU(),
        nn.Linear(32, 1),
    )


def binary(network: nn.Module, batch: list[Tensor]) -> Tensor:
    return F.binary_cross_entropy_with_logits(network(batch[0])[:, 0], batch[1])


def describe(outcome: dict) -> dict:
    meaning = (
        "acceleration forwards, left and up in g, gravity included; 50 Hz, 2.56 s with the event between 0.9 and 1.7 s, sensor at"
        " the waist; cut at 8 and kept in 8 bits; no other preprocessing"
    )
    return {
        "category": "sensor",
        "task": "scores how much 2.56 s of an accelerometer at the waist look like a fall",
        "metric": "roc-auc",
        "architecture": "conv over time 24@7, 32@5, 48@5, 64@3, each ReLU and max pool 2, mean over time, dense 32, ReLU, dense 1",
        "inputs": [{"name": "window", "dtype": "float32", "shape": [-1, 3, STEPS], "meaning": meaning}],
        "outputs": [{"name": "score", "dtype": "float32", "shape": [-1, 1], "meaning": "logit of a fall"}],
        "data": {
            "kind": "simulated",
            "source": f"{len(FALLS)} kinds of falls ({', '.join(FALLS)}) and {len(DAILY)} of other motions ({', '.join(DAILY)}),"
            " simulated by recipe.py",
            "licence": "made by this repository's code, under its licence",
            "split": "by subject: 120 for fitting and 20 for validation, whose motions last 0.9 to 1.2 times as in the recipe's table;"
            " the 40 held-out subjects are quicker or slower (0.8 to 0.9 or 1.2 to 1.4) and are drawn after them",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, binary cross-entropy",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": 64, "peakLearningRate": 0.003, "weightDecay": 0.01, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network of the kind that wearables run, for demonstrations, conformance checks and benchmarks",
        "limits": [
            "never saw a real fall; simulated ones are cleaner, and detectors are known to do worse on real ones",
            "not for protecting anybody: no alarm may rest on it",
            "the window has to hold the event near its middle; how it does on a running stream is not measured",
            "half of the samples are falls; in a day hardly any are, so that even few false alarms would outnumber them",
        ],
    }


def main() -> None:
    begin(SEED)
    generator = np.random.default_rng(SEED)
    parts = {}
    for part, count in SUBJECTS.items():
        subjects = draw_subjects(generator, count, (0.9, 1.2))
        if part == "held out":
            quick, slow = uniform(generator, 0.8, 0.9, count), uniform(generator, 1.2, 1.4, count)
            subjects["slowness"] = np.where(np.arange(count) % 2, quick, slow)
        windows, fall = simulate(generator, subjects, WINDOWS[part])
        parts[part] = (pack(windows, "uint8", -RANGE_G, RANGE_G), fall)
    fitting, validation = (as_tensors(unpack(parts[part][0]), parts[part][1]) for part in ("fitting", "validation"))

    def score(network: nn.Module) -> float:
        return area_under_curve(network(validation[0]).numpy().ravel(), validation[1].numpy() > 0)

    network = build_network()
    outcome = {"validationSamples": WINDOWS["validation"], **fit_network(network, fitting, binary, score, epochs=EPOCHS)}
    windows, fall = parts["held out"]
    tensors = {"input.window": windows, "target": fall.astype(np.uint8), "baseline": np.zeros((1, 1), np.float32)}
    write_model(Path(__file__).resolve().parent, network, "score", tensors, describe(outcome))


if __name__ == "__main__":
    main()
