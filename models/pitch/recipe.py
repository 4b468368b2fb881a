"""Trains a network that hears which note an instrument plays, to fractions of a semitone.

    python models/pitch/recipe.py

Needs the Debian packages fluidsynth and fluid-soundfont-gm, whose instruments models/recipe/midi_notes.py plays.
Takes two minutes. Network: convolutions along a logarithmic frequency axis, where the harmonics of every note have the
same distances, then a mean of the notes weighted by their probability, after Kim et al., "CREPE", 2018 (which takes
the sound itself).
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))

from finish_sound import finish, tensor_card  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from mel import RATE_HZ  # noqa: E402
from midi_notes import LICENCE, SOURCE, Notes, play  # noqa: E402
from sound import noises  # noqa: E402

SEED = 1
LOW_KEY, HIGH_KEY = 41, 83  # F2 to B5
FITTING = (0, 1, 4, 6, 8, 11, 24, 25, 27, 40, 42, 48, 52, 56, 57, 61, 65, 66, 68, 70, 71, 73, 74, 80, 81)
HELD_OUT = (2, 5, 26, 41, 49, 59, 60, 64, 69, 75)  # General MIDI programs from 0
VALIDATION_SHARE = 0.06
NOTES, HELD_OUT_NOTES = 2600, 800
START, WINDOW, FFT = 2400, 4096, 16384  # samples from the note's start; the window is 256 ms
STEPS, PER_OCTAVE, BASE_HZ = 164, 24, 65.41
RANGE_DB = 60
EPOCHS = 24
BATCH = 64
LEARNING_RATE = 5e-3


def log_frequency(sound: np.ndarray) -> np.ndarray:
    """Sound [n, samples] -> [n, STEPS] in 0..1, decibels below the loudest step."""
    cut = sound[:, START : START + WINDOW] * np.hanning(WINDOW + 1)[:-1]
    power = np.abs(np.fft.rfft(cut, FFT)) ** 2
    steps = PER_OCTAVE * np.log2(np.arange(FFT // 2 + 1).clip(1e-3) * RATE_HZ / FFT / BASE_HZ)
    triangles = (1 - np.abs(steps[:, None] - np.arange(STEPS))).clip(0)
    level = 10 * np.log10(power @ triangles / triangles.sum(axis=0) + 1e-9)
    return ((level - level.max(axis=1, keepdims=True)) / RANGE_DB + 1).clip(0).astype(np.float32)


MEANING = (
    f"{RATE_HZ} Hz, {WINDOW} samples from {START} after the note's start, Hann window, power |FFT padded to {FFT}|²;"
    f" its mean under triangles of one step to either side at {BASE_HZ} · 2^(k/{PER_OCTAVE}) Hz, k = 0..{STEPS - 1};"
    f" max(0, 1 + (dB - dB of the loudest step) / {RANGE_DB})"
)


class Pitch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for channels, filters, kernel in ((1, 16, 9), (16, 32, 9), (32, 32, 5)):
            layers += [
                nn.Conv1d(channels, filters, kernel, padding=kernel // 2, bias=False),
                nn.BatchNorm1d(filters),
                nn.ReLU(),
                nn.MaxPool1d(2),
            ]
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.2))
        self.keys = nn.Linear(32 * (STEPS // 8), HIGH_KEY - LOW_KEY + 3)
        self.register_buffer("key", torch.arange(LOW_KEY - 1.0, HIGH_KEY + 2.0)[:, None])

    def scores(self, spectra: Tensor) -> Tensor:
        return self.keys(self.layers(spectra))

    def forward(self, spectra: Tensor) -> Tensor:
        """[n, 1, STEPS] -> [n, 1], the mean of the keys by their probability."""
        return self.scores(spectra).softmax(dim=1) @ self.key


def loss(network: Pitch, samples: list[Tensor]) -> Tensor:
    """Cross-entropy with the two nearest keys, shared by distance, and the mean absolute error."""
    scores = network.scores(samples[0])
    near = (1 - (network.key[:, 0] - samples[1]).abs()).clamp(min=0)
    error = (scores.softmax(dim=1) @ network.key - samples[1]).abs().mean()
    return F.cross_entropy(scores, near) + error


def make_notes(seed: int, programs: tuple[int, ...], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Spectra [n, 1, STEPS] and notes [n, 1] in MIDI numbers with fractions."""
    rng = np.random.default_rng(seed)
    key, bend = rng.integers(LOW_KEY, HIGH_KEY + 1, n), rng.uniform(-0.5, 0.5, n)
    sound = play(Notes(rng.choice(programs, n), key, bend, rng.integers(50, 127, n)))
    level = sound[:, START : START + WINDOW].std(axis=1) * 10 ** (-rng.uniform(15, 50, n) / 20)
    sound = sound + level[:, None] * noises(rng, n, sound.shape[1])
    return log_frequency(sound)[:, None], (key + bend)[:, None].astype(np.float32)


def main() -> None:
    begin(SEED)
    fitting = [torch.from_numpy(each) for each in make_notes(1, FITTING, NOTES)]
    last = int(NOTES * VALIDATION_SHARE)
    validation = [each[-last:] for each in fitting]
    spectra, notes = make_notes(2, HELD_OUT, HELD_OUT_NOTES)
    network = Pitch()
    outcome = fit_network(
        network,
        [each[:-last] for each in fitting],
        loss,
        lambda net: -F.l1_loss(net(validation[0]), validation[1]).item(),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    card = {
        "category": "audio",
        "metric": "mae",
        "task": "hears which note an instrument plays, in semitones with fractions",
        "architecture": "along log frequency: conv 16@9, conv 32@9, conv 32@5, each with ReLU and max pool 2; dense 45, softmax, mean of the keys; batch norm folded",
        "inputs": [tensor_card("spectrum", [1, STEPS], MEANING)],
        "outputs": [tensor_card("note", [1], "MIDI note number with fractions: 69 + 12 · log2(fundamental frequency / 440 Hz)")],
        "data": {
            "kind": "synthesised",
            "source": f"{SOURCE}; {len(FITTING)} + {len(HELD_OUT)} programs, notes {LOW_KEY} to {HIGH_KEY} bent by up to half a semitone, noise 15 to 50 dB below",
            "licence": LICENCE,
            "split": f"by instrument: held out are the General MIDI programs {', '.join(map(str, HELD_OUT))} (counted from 0), which neither fitting nor validation has",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy with the two nearest keys plus mean absolute error, dropout 0.2",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "one note at a time: chords and voices give something between",
            "notes of F2 to B5 from one sound font, 0.15 s after their start; no vibrato of singers, no drums",
            "an error of an octave costs 12 semitones or, as the output is a mean, part of them",
        ],
    }
    baseline = np.array([[np.median(fitting[1])]], np.float32)
    finish(HERE, network, pack(spectra, low=0, high=1), notes, baseline, card)


if __name__ == "__main__":
    main()
