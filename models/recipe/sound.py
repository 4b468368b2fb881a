"""Sound in numpy arrays: reading, resampling, noise, rooms, mixing. All at 16 kHz, float32."""

from math import gcd
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import fftconvolve, resample_poly

from mel import RATE_HZ

Rng = np.random.Generator
BLOCK = 256  # rows that are convolved at a time, so that long sounds fit into memory


def resample(sound: np.ndarray, rate: int, to: int = RATE_HZ) -> np.ndarray:
    common = gcd(rate, to)
    return resample_poly(sound, to // common, rate // common).astype(np.float32) if rate != to else sound


def read_sound(path: Path) -> np.ndarray:
    """The mean of a file's channels at 16 kHz [samples]; a .gsm file has no header and is of 8 kHz."""
    gsm = {"format": "RAW", "subtype": "GSM610", "samplerate": 8000, "channels": 1} if path.suffix == ".gsm" else {}
    sound, rate = soundfile.read(path, dtype="float32", always_2d=True, **gsm)
    return resample(sound.mean(axis=1), rate)


def trim(sound: np.ndarray, below_db: float = 40.0) -> np.ndarray:
    """Without the ends that are that far below the peak."""
    loud = np.flatnonzero(np.abs(sound) > np.abs(sound).max(initial=0) * 10 ** (-below_db / 20))
    return sound[loud[0] : loud[-1] + 1] if len(loud) else sound[:0]


def place(sound: np.ndarray, samples: int, start: int) -> np.ndarray:
    """The sound in silence of that many samples, cut where it does not fit; a negative start cuts its beginning."""
    whole = np.zeros(samples, np.float32)
    part = sound[max(0, -start) :][: samples - max(0, start)]
    whole[max(0, start) :][: len(part)] = part
    return whole


def scale(sound: np.ndarray, level_db: float | np.ndarray) -> np.ndarray:
    """Brings [..., samples] to that root mean square (dB of full scale); silence stays silence."""
    rms = np.sqrt((sound**2).mean(axis=-1, keepdims=True))
    gain = 10 ** (np.asarray(level_db)[..., None] / 20) / np.maximum(rms, 1e-6)
    return (sound * np.where(rms > 1e-6, gain, 0)).astype(np.float32)


def coloured(rng: Rng, n: int, samples: int, slope: np.ndarray) -> np.ndarray:
    """Noise [n, samples] whose power falls as f^-slope (0 white, 1 pink, 2 brown), of root mean square 1."""
    bins = np.fft.rfftfreq(samples, 1 / RATE_HZ).clip(20)
    spectra = rng.standard_normal((n, len(bins), 2)) @ np.array([1, 1j])
    noise = np.fft.irfft(spectra * bins ** (-slope[:, None] / 2), samples)
    return (noise / noise.std(axis=1, keepdims=True)).astype(np.float32)


def swelling(rng: Rng, n: int, samples: int) -> np.ndarray:
    """A loudness [n, samples] around 1 that wavers a few times a second, as wind and traffic do."""
    time = np.arange(samples) / RATE_HZ
    rate, phase, depth = rng.uniform(0.3, 6, (n, 1)), rng.uniform(0, 2 * np.pi, (n, 1)), rng.uniform(0, 0.8, (n, 1))
    return 1 + depth * np.sin(2 * np.pi * rate * time + phase)


def hum(rng: Rng, wanted: np.ndarray, samples: int, low_hz: float, high_hz: float) -> np.ndarray:
    """Harmonics of a motor or of the mains, of root mean square 1: draws for all of wanted [n], makes those that are."""
    n = len(wanted)
    time = np.arange(samples, dtype=np.float32) / RATE_HZ
    base = rng.uniform(low_hz, high_hz, (n, 1)).astype(np.float32)[wanted]
    whole = np.zeros((len(base), samples), np.float32)
    for harmonic in range(1, 13):
        size, phase = rng.uniform(0, 1, (n, 1))[wanted] / harmonic**0.7, rng.uniform(0, 6.28, (n, 1))[wanted]
        whole += size * np.sin(2 * np.pi * base * harmonic * time + phase)
    return whole / whole.std(axis=1, keepdims=True)


def noises(rng: Rng, n: int, samples: int, slopes=(0.0, 2.0), hum_hz=(45.0, 180.0)) -> np.ndarray:
    """Background [n, samples] of root mean square 1: coloured noise that swells, over it more or less hum."""
    noise = coloured(rng, n, samples, rng.uniform(*slopes, n)) * swelling(rng, n, samples)
    share = rng.uniform(0, 1, (n, 1)) * (rng.random((n, 1)) < 0.4)
    whole, humming = (1 - share) * noise, share[:, 0] > 0
    whole[humming] += share[humming] * hum(rng, humming, samples, *hum_hz)
    return (whole / whole.std(axis=1, keepdims=True)).astype(np.float32)


def reverberate(rng: Rng, sound: np.ndarray, seconds=(0.05, 0.35)) -> np.ndarray:
    """Each of [n, samples] in a room of its own: noise that decays by 60 dB in that time, behind the direct sound."""
    n, samples = sound.shape
    length = int(seconds[1] * RATE_HZ)
    decay = 10 ** (-3 * np.arange(length) / RATE_HZ / rng.uniform(*seconds, (n, 1)))
    tail = rng.standard_normal((n, length)) * decay
    tail *= rng.uniform(0.0, 0.6, (n, 1)) / np.sqrt((tail**2).sum(axis=1, keepdims=True))
    tail[:, 0] = 1
    rows = [slice(at, at + BLOCK) for at in range(0, n, BLOCK)]
    parts = [fftconvolve(sound[some], tail[some], axes=1)[:, :samples].astype(np.float32) for some in rows]
    return np.concatenate(parts)
