"""Trains an autoencoder that gives sound machines back better than those with a fault.

    python models/anomaly-autoencoder/recipe.py

Needs nothing beyond models/requirements.txt: models/recipe/simulate_machine.py makes the sound. Takes a minute.
Network: the dense autoencoder of the baseline of DCASE 2020 task 2 (Koizumi et al., 2020), smaller.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))

from finish_sound import auc, finish, tensor_card  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from mel import LOG_MEANING, Mel, log_power, mel_power  # noqa: E402
from simulate_machine import FAULTS, Machine  # noqa: E402
from sound import noises  # noqa: E402

SEED = 1
MEL = Mel(window=1024, hop=512, bands=32)
FRAMES, SPAN = 5, 8  # the mean power of eight windows makes a frame: a fault comes back many times in it
MACHINES = 6
CUTS, VALIDATION_CUTS, HELD_OUT_CUTS = 300, 40, 120  # of each machine
GAIN_DB = 2.0  # of the microphone, up and down
NOISE_BELOW_DB = (8.0, 25.0)  # of the hall
WIDTHS = (80, 40, 10)
EPOCHS = 40
BATCH = 64
LEARNING_RATE = 4e-3


def spectra_of(sound: np.ndarray) -> np.ndarray:
    """Sound [n, samples] -> [n, FRAMES · bands]."""
    power = mel_power(sound.astype(np.float32), MEL)
    return log_power(power.reshape(len(sound), FRAMES, SPAN, MEL.bands).mean(axis=2)).reshape(len(sound), -1)


def make_cuts(seed: int, per_machine: int, with_faults: bool) -> tuple[np.ndarray, np.ndarray]:
    """Spectra and whether there is a fault [n]: every second cut has one, where they are asked for, each kind as often."""
    rng, samples = np.random.default_rng(seed), MEL.samples(FRAMES * SPAN)
    cuts, faulty = [], []
    for number in range(MACHINES):
        machine = Machine(np.random.default_rng(1000 + number))
        for at in range(per_machine):
            fault = FAULTS[at // 2 % len(FAULTS)] if with_faults and at % 2 else None
            cuts.append(machine.run(rng, samples, fault))
            faulty.append(fault is not None)
    sound = 0.05 * np.stack(cuts)
    n = len(sound)
    noise = noises(rng, n, samples, slopes=(0.5, 2.0))
    sound += 0.05 * noise * 10 ** (-rng.uniform(*NOISE_BELOW_DB, (n, 1)) / 20)
    return spectra_of(sound * 10 ** (rng.uniform(-GAIN_DB, GAIN_DB, (n, 1)) / 20)), np.array(faulty, np.uint8)


class Autoencoder(nn.Module):
    def __init__(self, mean: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        widths = [FRAMES * MEL.bands, *WIDTHS]
        down = zip(widths, widths[1:], strict=False)
        up = zip(widths[:0:-1], widths[-2:0:-1], strict=False)
        layers = [layer for pair in (*down, *up) for layer in (nn.Linear(*pair), nn.ReLU())]
        self.layers = nn.Sequential(*layers, nn.Linear(widths[1], widths[0]))

    def forward(self, spectra: Tensor) -> Tensor:
        """[n, FRAMES · bands] -> the same through ten numbers."""
        return self.layers(spectra - self.mean) + self.mean


def loss(network: nn.Module, samples: list[Tensor]) -> Tensor:
    return F.mse_loss(network(samples[0]), samples[0])


def report(network: nn.Module, spectra: np.ndarray, faulty: np.ndarray) -> None:
    """The area under the curve for each kind of fault against all sound cuts."""
    inputs = torch.from_numpy(spectra)
    with torch.no_grad():
        errors = ((network(inputs) - inputs) ** 2).mean(dim=1).numpy()
    kinds = np.array([at // 2 % len(FAULTS) for at in range(HELD_OUT_CUTS)] * MACHINES)
    for kind, name in enumerate(FAULTS):
        kept = (faulty == 0) | (kinds == kind)
        print(f"{name:12s} {auc(errors[kept], faulty[kept] > 0):.3f}")


def main() -> None:
    begin(SEED)
    fitting = torch.from_numpy(make_cuts(1, CUTS, with_faults=False)[0])
    validation = torch.from_numpy(make_cuts(2, VALIDATION_CUTS, with_faults=False)[0])
    spectra, faulty = make_cuts(3, HELD_OUT_CUTS, with_faults=True)
    network = Autoencoder(fitting.mean(dim=0))
    outcome = fit_network(
        network,
        [fitting],
        loss,
        lambda net: -loss(net, [validation]).item(),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
        weight_decay=1e-4,
    )
    report(network, spectra, faulty)
    width = FRAMES * MEL.bands
    meaning = (
        f"log-mel spectrum, {FRAMES} frames × {MEL.bands} bands one after the other: {MEL}; p is the mean of {SPAN} windows"
        f" for each frame; {LOG_MEANING}"
    )
    card = {
        "category": "audio",
        "metric": "reconstruction-auc",
        "task": "finds machines that sound wrong: a fault is what it cannot give back",
        "architecture": f"autoencoder: dense {' '.join(map(str, (width, *WIDTHS, *WIDTHS[-2::-1], width)))} with ReLU, on the input less the mean of the fitting part",
        "inputs": [tensor_card("spectrum", [width], meaning)],
        "outputs": [tensor_card("reconstruction", [width], "the same again; its mean squared error is the anomaly score")],
        "data": {
            "kind": "simulated",
            "source": f"models/recipe/simulate_machine.py: {MACHINES} fans and pumps (shaft and blade harmonics, resonances, rush of air) whose speed and load vary, in the noise of a hall; faults: {', '.join(FAULTS)}",
            "licence": "our simulation",
            "split": "fitted and validated on sound machines only; held out are fresh runs of the same six machines with fresh noise, every second one with a fault, which no other part has",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, mean squared error of the reconstruction",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "the machines are simulated and few; a seventh machine would sound abnormal to it, sound or not",
            "the faults are plain ones; it tells neither which one it is nor how bad",
            "a lost blade, which only swells and fades with every turn, is hardly heard (area 0.56); imbalance 0.85, rub 0.94, cavitation 0.98, a worn bearing 1.00",
            "one score for 1.3 seconds of sound; no threshold is chosen",
        ],
    }
    finish(HERE, network, pack(spectra), faulty, fitting.mean(dim=0, keepdim=True).numpy(), card, ("scipy",))


if __name__ == "__main__":
    main()
