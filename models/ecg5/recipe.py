"""Trains a convolutional network to tell five kinds of heart beats apart, on synthesised electrocardiograms.

    python models/ecg5/recipe.py

Needs models/requirements.txt and nothing else. The signal is that of the dynamical model of McSharry, Clifford, Tarassenko and
Smith, "A dynamical model for generating synthetic electrocardiogram signals", IEEE Trans. Biomed. Eng. 50, 2003: a point goes
round once a beat, and Gaussian events on the circle (P, Q, R, S, T) push the voltage. Here every kind of beat has events and
an interval of its own. The five classes are the commonest of the MIT-BIH Arrhythmia Database's.
"""

import sys
from pathlib import Path

import numpy as np
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recipe"))

from fit_network import begin, fit_network
from held_out import pack, unpack
from simulate_body import Generator, smooth_noise, uniform
from temporal_layers import accuracy, as_tensors, classify, conv_block
from write_model import write_model

SEED = 13
RATE_HZ = 125
STEPS = 256  # 2.05 s, the beat in question at its middle
OVERSAMPLING = 2  # steps of the Euler integration for one of the signal
BEATS = 9  # simulated for each window; the one in question is the fifth
MIDDLE = BEATS // 2
RANGE_MV = 2.0
CLASSES = ["normal", "left bundle branch block", "right bundle branch block", "atrial premature", "ventricular premature"]
LBBB, RBBB, APC, PVC = 1, 2, 3, 4
PATIENTS = {"fitting": 200, "validation": 30, "held out": 60}
WINDOWS = {"fitting": 6000, "validation": 1000, "held out": 600}
EPOCHS = 12

# For each class and event (P, Q, R, second R or slur, S, T): angle in degrees from R, voltage in mV, width in rad.
# Those of the first class are nearly the paper's; blocks and ventricular beats have a wide complex and an opposed T wave.
EVENTS = np.array(
    [
        [(-70, 0.14, 0.22), (-14, -0.12, 0.09), (0, 1.10, 0.10), (8, 0.00, 0.10), (15, -0.24, 0.09), (100, 0.30, 0.40)],
        [(-70, 0.14, 0.22), (-20, 0.02, 0.10), (0, 0.75, 0.18), (18, 0.70, 0.18), (40, -0.10, 0.12), (110, -0.32, 0.40)],
        [(-70, 0.14, 0.22), (-14, -0.06, 0.09), (0, 0.70, 0.10), (14, -0.20, 0.10), (34, -0.50, 0.24), (105, 0.30, 0.40)],
        [(-58, 0.09, 0.16), (-14, -0.12, 0.09), (0, 1.05, 0.10), (8, 0.00, 0.10), (15, -0.24, 0.09), (100, 0.26, 0.40)],
        [(-70, 0.00, 0.22), (-30, -0.05, 0.16), (0, 1.20, 0.32), (24, 0.45, 0.24), (62, -0.20, 0.26), (120, -0.45, 0.44)],
    ]
)
EVENTS_PER_BEAT = EVENTS.shape[1]


def draw_patients(generator: Generator, count: int, beats_per_s: tuple, noise: tuple) -> dict[str, np.ndarray]:
    """How people differ: rate and its variation, the lead (gains of every event, angles, widths), how quiet they lie."""
    shape = (count, len(CLASSES), EVENTS_PER_BEAT)
    return {
        "interval_s": 1 / uniform(generator, *beats_per_s, count),
        "variation": uniform(generator, 0.01, 0.06, count),
        "gain": np.exp(0.30 * generator.standard_normal((count, 1, 1)) + 0.28 * generator.standard_normal(shape)),
        "polarity": np.where(generator.random((count, 1)) < 0.3, -1.0, 1.0),  # of ventricular beats: which side they start from
        "shift_deg": generator.standard_normal(shape) * [5, 2, 0, 3, 3, 8],
        "width": np.exp(0.15 * generator.standard_normal(shape)),
        "noise_mv": uniform(generator, *noise, count),
    }


def draw_intervals(generator: Generator, patients: dict, who: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Seconds from each R peak to the next [n, BEATS - 1]; premature beats come early, ventricular ones are made up for."""
    variation = patients["variation"][who, None] * generator.standard_normal((len(who), BEATS - 1))
    ratio = 1 + variation + 0.05 * generator.standard_normal((len(who), 1))
    early = uniform(generator, 0.60, 0.88, len(who))
    premature = kind >= APC
    ratio[:, MIDDLE - 1] = np.where(premature, early, ratio[:, MIDDLE - 1])
    pause = np.where(kind == PVC, 2 - early, uniform(generator, 1.0, 1.2, len(who)))
    ratio[:, MIDDLE] = np.where(premature, pause, ratio[:, MIDDLE])
    return patients["interval_s"][who, None] * ratio


def simulate(generator: Generator, patients: dict[str, np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Voltages [n, 1, STEPS] in mV without their median, and the class [n] of the beat at the middle."""
    kind = np.arange(n) % len(CLASSES)
    who = generator.integers(len(patients["interval_s"]), size=n)
    beats = np.zeros((n, BEATS), int)
    beats[np.isin(kind, [LBBB, RBBB])] = kind[np.isin(kind, [LBBB, RBBB]), None]  # a block stays; premature beats are single
    beats[:, MIDDLE] = kind
    peaks = np.cumsum(np.pad(draw_intervals(generator, patients, who, kind), ((0, 0), (1, 0))), axis=1)
    peaks -= peaks[:, MIDDLE : MIDDLE + 1]
    fine = STEPS * OVERSAMPLING
    start = uniform(generator, -0.04, 0.04, n, 1) - STEPS / RATE_HZ / 2
    time = start + np.arange(fine) / (RATE_HZ * OVERSAMPLING)
    pair = (time[:, :, None] >= peaks[:, None, :]).sum(axis=2) - 1  # the peak before, of which the next is the peak behind
    row = np.arange(n)[:, None]
    before, behind = peaks[row, pair], peaks[row, pair + 1]
    turn = 2 * np.pi * (time - before) / (behind - before)  # angle since the peak before, 0 to 2π
    which = np.where(turn < np.pi, beats[row, pair], beats[row, pair + 1])
    angle = np.where(turn < np.pi, turn, turn - 2 * np.pi)
    drift = np.zeros((n, fine))
    scale = np.sqrt(np.clip(behind - before, 0.4, 1.4))  # events keep more of their length in time than the beat does
    for event in range(EVENTS_PER_BEAT):
        degrees, voltage, width = np.moveaxis(EVENTS[which, event], -1, 0)
        place = np.deg2rad(degrees + patients["shift_deg"][who[:, None], which, event]) / scale
        width = width * patients["width"][who[:, None], which, event] / scale
        side = np.where(which == PVC, patients["polarity"][who], 1)
        voltage = voltage * patients["gain"][who[:, None], which, event] * side
        away = angle - place
        # dz/dt = -Σ a·Δθ·exp(-Δθ²/2b²)·dθ/dt, a = voltage / b²: each event alone would draw a Gaussian of that voltage
        drift -= voltage / width**2 * away * np.exp(-(away**2) / (2 * width**2)) * 2 * np.pi / (behind - before)
    z, signal = np.zeros(n), np.empty((n, fine))
    for step in range(fine):
        z = z + (drift[:, step] - z) / (RATE_HZ * OVERSAMPLING)  # -z is the paper's pull to the base line
        signal[:, step] = z
    signal = signal[:, ::OVERSAMPLING]
    wander = uniform(generator, 0.02, 0.15, n, 1) * smooth_noise(generator, (n, STEPS), 0.3, RATE_HZ)
    muscle = patients["noise_mv"][who, None] * generator.standard_normal((n, STEPS))
    mains = uniform(generator, 0, 0.03, n, 1) * np.sin(2 * np.pi * (50 * time[:, ::OVERSAMPLING] + generator.random((n, 1))))
    window = signal + wander + muscle + mains
    return (window - np.median(window, axis=1, keepdims=True))[:, None], kind.astype(np.int64)


def build_network() -> nn.Sequential:
    return nn.Sequential(
        conv_block(1, 16, 9, pool=2),
        conv_block(16, 32, 7, pool=2),
        conv_block(32, 32, 5, pool=2),
        conv_block(32, 32, 5, pool=2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(32 * 16, 40),
        nn.ReLU(),
        nn.Linear(40, len(CLASSES)),
    )


def describe(outcome: dict) -> dict:
    meaning = (
        "one lead in mV, 125 Hz, 2.05 s, the R peak of the beat in question within 40 ms of the middle, the window's median taken"
        " away; cut at 2 and kept in 8 bits; no other preprocessing"
    )
    return {
        "category": "sensor",
        "task": "tells of which of five kinds a heart beat is, from one lead of an electrocardiogram",
        "metric": "accuracy",
        "architecture": "conv over time 16@9, 32@7, 32@5, 32@5, each ReLU and max pool 2, dense 40, ReLU, dense 5",
        "inputs": [{"name": "lead", "dtype": "float32", "shape": [-1, 1, STEPS], "meaning": meaning}],
        "outputs": [{"name": "scores", "dtype": "float32", "shape": [-1, 5], "meaning": "logits of " + ", ".join(CLASSES)}],
        "data": {
            "kind": "synthesised",
            "source": "the dynamical model of McSharry et al. 2003 with events of its own for every kind of beat, by recipe.py",
            "licence": "made by this repository's code, under its licence",
            "split": "by patient: 200 for fitting and 30 for validation with 60 to 90 beats a minute and up to 0.06 mV of noise; the 60"
            " held-out ones have 50 to 60 or 90 to 105 beats and up to 0.09 mV, and are drawn after them",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy, dropout",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": 64, "peakLearningRate": 0.003, "weightDecay": 0.01, "dropout": 0.3, "threads": 1},
            "outcome": outcome,
        },
        "intendedUse": "a small network of the kind that monitors run, for demonstrations, conformance checks and benchmarks",
        "limits": [
            "not for diagnosis: it never saw a real heart, and real leads, electrodes and beats vary much more",
            "the R peak has to be found by somebody else; every window gets one of five answers",
            "all classes are equally common here; in recordings nine of ten beats are normal",
            "premature beats are single here, never in pairs, runs or every second beat",
        ],
    }


def main() -> None:
    begin(SEED)
    generator = np.random.default_rng(SEED)
    parts = {}
    for part, count in PATIENTS.items():
        patients = draw_patients(generator, count, (1.0, 1.5), (0.01, 0.06))
        if part == "held out":
            patients = draw_patients(generator, count, (1.5, 1.75), (0.01, 0.09))
            slow = 1 / uniform(generator, 0.83, 1.0, count)
            patients["interval_s"] = np.where(np.arange(count) % 2, slow, patients["interval_s"])
        windows, kinds = simulate(generator, patients, WINDOWS[part])
        parts[part] = (pack(windows, "uint8", -RANGE_MV, RANGE_MV), kinds)
    fitting, validation = (as_tensors(unpack(parts[part][0]), parts[part][1]) for part in ("fitting", "validation"))
    network = build_network()
    outcome = fit_network(network, fitting, classify, accuracy(validation), epochs=EPOCHS)
    windows, kinds = parts["held out"]
    baseline = np.eye(len(CLASSES), dtype=np.float32)[:1]
    tensors = {"input.lead": windows, "target": kinds.astype(np.uint8), "baseline": baseline}
    outcome = {"validationSamples": WINDOWS["validation"], **outcome}
    write_model(Path(__file__).resolve().parent, network, "scores", tensors, describe(outcome))


if __name__ == "__main__":
    main()
