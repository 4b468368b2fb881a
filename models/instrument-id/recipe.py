"""Trains a network that tells families of instruments apart by one note.

    python models/instrument-id/recipe.py

Needs the Debian packages fluidsynth and fluid-soundfont-gm, whose instruments models/recipe/midi_notes.py plays.
Takes three minutes. Network: convolutions and pooling over a log-mel picture of the note.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))

from finish_sound import finish, one_hot_baseline, tensor_card  # noqa: E402
from fit_network import begin, fit_network  # noqa: E402
from held_out import pack  # noqa: E402
from mel import LOG_MEANING, Mel, log_mel  # noqa: E402
from midi_notes import LICENCE, SOURCE, Notes, play  # noqa: E402
from sound import noises  # noqa: E402
from sound_picture import SoundPicture  # noqa: E402

SEED = 1
FAMILIES = {  # General MIDI programs from 0: for fitting, held out
    "piano": ((0, 1, 3), (2,)),
    "mallets": ((8, 9, 11, 13), (12,)),
    "organ": ((16, 17, 18, 20), (19,)),
    "guitar": ((24, 26, 27, 28), (25,)),
    "bass": ((32, 34, 35), (33,)),
    "strings": ((40, 42, 48, 51), (41,)),
    "choir": ((52, 54), (53,)),
    "brass": ((56, 57, 58, 61), (60,)),
    "reeds": ((64, 65, 67, 68, 70, 71), (66,)),
    "flutes": ((73, 74, 75, 79), (72,)),
}
LOW_KEY, HIGH_KEY = 40, 79  # for every family, so that the height of a note gives none away
MEL = Mel(window=1024, hop=512, bands=24)
FRAMES = 24
PER_FAMILY, HELD_OUT_PER_FAMILY = 250, 32
VALIDATION_SHARE = 0.08
EPOCHS = 18
BATCH = 64
LEARNING_RATE = 4e-3


def make_notes(seed: int, held_out: bool, per_family: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [n, 1, FRAMES, bands] and families [n], in any order."""
    rng = np.random.default_rng(seed)
    families = rng.permutation(np.repeat(np.arange(len(FAMILIES)), per_family))
    choices = [pair[held_out] for pair in FAMILIES.values()]
    program = np.array([rng.choice(choices[family]) for family in families])
    n = len(families)
    notes = Notes(program, rng.integers(LOW_KEY, HIGH_KEY + 1, n), rng.uniform(-0.3, 0.3, n), rng.integers(40, 127, n))
    sound = play(notes)[:, : MEL.samples(FRAMES)]
    sound = sound / np.maximum(sound.std(axis=1, keepdims=True), 1e-4) * 10 ** (rng.uniform(-35, -15, (n, 1)) / 20)
    below = sound.std(axis=1, keepdims=True) * 10 ** (-rng.uniform(15, 50, (n, 1)) / 20)
    sound = sound + below * noises(rng, n, sound.shape[1])
    return log_mel(sound, MEL)[:, None], families


def loss(network: nn.Module, samples: list[Tensor]) -> Tensor:
    return F.cross_entropy(network(samples[0]), samples[1], label_smoothing=0.05)


def main() -> None:
    begin(SEED)
    fitting = [torch.from_numpy(each) for each in make_notes(1, False, PER_FAMILY)]
    last = int(len(fitting[0]) * VALIDATION_SHARE)
    validation = [each[-last:] for each in fitting]
    pictures, families = make_notes(2, True, HELD_OUT_PER_FAMILY)
    network = SoundPicture(len(FAMILIES))
    outcome = fit_network(
        network,
        [each[:-last] for each in fitting],
        loss,
        lambda net: (net(validation[0]).argmax(dim=1) == validation[1]).double().mean().item(),
        epochs=EPOCHS,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    programs = ", ".join(f"{name} {pair[1][0]}" for name, pair in FAMILIES.items())
    card = {
        "category": "audio",
        "metric": "accuracy",
        "task": "tells ten families of instruments apart by one note",
        "architecture": SoundPicture.described(len(FAMILIES)),
        "inputs": [
            tensor_card("mel", [1, FRAMES, MEL.bands], f"log-mel spectrum from the note's start, frames × bands: {MEL}; {LOG_MEANING}")
        ],
        "outputs": [tensor_card("scores", [len(FAMILIES)], f"unnormalised log-probability of {', '.join(FAMILIES)}")],
        "data": {
            "kind": "synthesised",
            "source": f"{SOURCE}; every family over the same notes ({LOW_KEY} to {HIGH_KEY}), velocities 40 to 126, noise 15 to 50 dB below",
            "licence": LICENCE,
            "split": f"by instrument: of every family one General MIDI program (counted from 0) is held out: {programs}; validation is other notes of the fitting part's programs",
        },
        "training": {
            "method": "AdamW, one-cycle learning rate, cross-entropy with label smoothing 0.05, dropout 0.3",
            "settings": {"seed": SEED, "epochs": EPOCHS, "batch": BATCH, "peakLearningRate": LEARNING_RATE},
            "outcome": outcome,
        },
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "one note that begins with the cut, held for half a second; no chords, no mixtures, no room",
            "one sound font: another recording of the same instrument may sound like another family",
            "one held-out instrument for each family: the value says little of other ones",
            "the worst held-out instruments: the steel guitar is mostly taken for a piano, the horn for a reed or strings, the church organ for strings",
        ],
    }
    finish(HERE, network, pack(pictures), families, one_hot_baseline(fitting[1].numpy(), len(FAMILIES)), card)


if __name__ == "__main__":
    main()
