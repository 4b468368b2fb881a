"""Cuts of recorded speech with its pauses, clean and in simulated noise; for the voice detector and the denoiser.

The speech is that of people who recorded the prompts of the telephone exchange Asterisk, at 8 kHz; so the mel bands end
below 4 kHz.
"""

from dataclasses import dataclass

import numpy as np

from mel import RATE_HZ, Mel, mel_power
from sound import Rng, noises, reverberate
from voices import prompts

FITTING = ("en-allison", "es-allison", "ru", "it-carlo", "es-colombia")
VALIDATION, HELD_OUT = ("fr-june",), ("it-menardi", "fr-armelle")
SPEECH_DB = -22.0  # a frame is speech where it is at most that far below the person's loud frames
LOUD_QUANTILE = 0.95
SNR_DB = (-3.0, 18.0)
LEVEL_DB = (-35.0, -15.0)  # of the loud frames, in dB of full scale
PAUSE_S = (0.1, 0.9)

SOURCE = (
    "prompts of Asterisk that people recorded at 8 kHz, from Debian's asterisk-core-sounds-{en,es,fr,it,ru}-wav 1.6.1,"
    " asterisk-prompt-it-menardi-wav, -fr-armelle and -es-co, with pauses between them; mixed by"
    " models/recipe/speech_in_noise.py with simulated rooms and noise (white to brown, swelling, hum, knocks)"
)
LICENCE = (
    "the recordings: CC BY-SA 3.0 (asterisk-core-sounds, by A. Smith, June, Carlo and others; Menardi), a free licence of"
    " M. Gutierrez (Armelle), GPL-2 (es-co); the held-out features are derived from Menardi and Armelle"
)
SPLIT = (
    "by person: fitting on Allison (English, Spanish), Carlo (Italian), the Colombian (Spanish) and the Russian voice;"
    " validation on June (French); held out Menardi (Italian) and Armelle (French); fresh noise, hum of other frequencies"
)


@dataclass
class Cuts:
    clean: np.ndarray  # mel power of the speech alone [n, frames, bands]
    noisy: np.ndarray  # of the mixture
    loud: np.ndarray  # [n] power of the person's loud frames


def stream(rng: Rng, sounds: list[np.ndarray]) -> np.ndarray:
    """One after the other with pauses between them [samples]."""
    parts = []
    for at in rng.permutation(len(sounds)):
        parts += [sounds[at], np.zeros(int(rng.uniform(*PAUSE_S) * RATE_HZ), np.float32)]
    return np.concatenate(parts)


def knocks(rng: Rng, n: int, samples: int) -> np.ndarray:
    """Short bursts [n, samples] that ring, of peak 1, in a third of the rows."""
    whole = np.zeros((n, samples), np.float32)
    time = np.arange(samples) / RATE_HZ
    for row in np.flatnonzero(rng.random(n) < 0.33):
        for start in rng.integers(0, samples, rng.integers(1, 5)):
            after = time[: samples - start]
            ring = np.sin(2 * np.pi * rng.uniform(80, 3500) * after) + 0.5 * rng.standard_normal(len(after))
            whole[row, start:] += ring * np.exp(-after / rng.uniform(0.005, 0.05))
    return whole


def cut_speech(seed: int, people: tuple[str, ...], n: int, mel: Mel, frames: int, held_out: bool, silent: float) -> Cuts:
    """n cuts of that many frames, as many of each person; a share `silent` of them has no speech in it."""
    rng, samples = np.random.default_rng(seed), mel.samples(frames)
    clean, loud = [], []
    for person in people:
        whole = stream(rng, prompts(person, least_s=0.6))
        level = np.quantile(mel_power(whole[None], mel)[0].sum(axis=1), LOUD_QUANTILE)
        starts = rng.integers(0, len(whole) - samples, n // len(people))
        clean += [whole[start : start + samples] for start in starts]
        loud += [level] * len(starts)
    speech, count = np.stack(clean), len(clean)
    speech[rng.random(count) < silent] = 0
    gain = 10 ** (rng.uniform(*LEVEL_DB, count) / 20) / np.sqrt(loud)
    speech *= gain[:, None]
    power = np.array(loud) * gain**2
    speech = reverberate(rng, speech, (0.05, 0.25))
    noise = noises(rng, count, samples, hum_hz=(180.0, 300.0) if held_out else (45.0, 180.0))
    noise += knocks(rng, count, samples) * rng.uniform(1, 10, (count, 1))
    level = np.sqrt(power * 10 ** (-rng.uniform(*SNR_DB, count) / 10) / mel_power(noise, mel).sum(axis=2).mean(axis=1))
    mixed = speech + noise * level[:, None]
    return Cuts(mel_power(speech, mel), mel_power(mixed.astype(np.float32), mel), power)


def is_speech(cuts: Cuts) -> np.ndarray:
    """[n, frames], 1 where the speech alone is loud enough."""
    return (cuts.clean.sum(axis=2) > cuts.loud[:, None] * 10 ** (SPEECH_DB / 10)).astype(np.uint8)
