"""Log-mel spectra and MFCC of sound, as the zoo's audio networks take them.

Mel scale after O'Shaughnessy, "Speech Communication", 1987: 2595 · log10(1 + f / 700). Triangular filters of height 1.
A sine of full scale in the middle of a filter has a power of about 1.
"""

from dataclasses import dataclass

import numpy as np

RATE_HZ = 16000
FLOOR = 1e-8  # power, -80 dB of full scale


@dataclass(frozen=True)
class Mel:
    window: int  # samples, Hann
    hop: int  # samples
    bands: int
    low_hz: float = 60.0
    high_hz: float = 7600.0

    @property
    def fft(self) -> int:
        return 1 << (self.window - 1).bit_length()

    def frames(self, samples: int) -> int:
        return 1 + (samples - self.window) // self.hop

    def samples(self, frames: int) -> int:
        return self.window + (frames - 1) * self.hop

    def __str__(self) -> str:
        return (
            f"sound of {RATE_HZ} Hz in -1..1, Hann windows of {self.window} samples every {self.hop}, no padding, power"
            f" |FFT of {self.fft}|² · 4 / (sum of the window)², {self.bands} triangular mel filters of height 1 from"
            f" {self.low_hz:g} to {self.high_hz:g} Hz (2595 · log10(1 + f / 700)), p = sum of power under each"
        )


def to_mel(hertz: np.ndarray | float) -> np.ndarray:
    return 2595 * np.log10(1 + np.asarray(hertz) / 700)


def filters(mel: Mel) -> np.ndarray:
    """Triangles [fft / 2 + 1, bands], evenly spaced in mel."""
    edges = np.linspace(to_mel(mel.low_hz), to_mel(mel.high_hz), mel.bands + 2)
    bins = to_mel(np.arange(mel.fft // 2 + 1) * RATE_HZ / mel.fft)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.minimum(rising, falling).clip(0)


def mel_power(sound: np.ndarray, mel: Mel, rows: int = 256) -> np.ndarray:
    """Sound [n, samples] -> power [n, frames, bands]; some rows at a time, the frames are many."""
    window = np.hanning(mel.window + 1)[:-1].astype(np.float32)
    triangles = filters(mel)
    parts = []
    for at in range(0, len(sound), rows):
        frames = np.lib.stride_tricks.sliding_window_view(sound[at : at + rows], mel.window, axis=1)[:, :: mel.hop]
        power = np.abs(np.fft.rfft(frames * window, mel.fft)) ** 2 * (4 / window.sum() ** 2)
        parts.append(power @ triangles)
    return np.concatenate(parts)


LOG_MEANING = "(10 · log10(p + 1e-8) + 40) / 20"


def log_power(power: np.ndarray) -> np.ndarray:
    """In about -2..2: decibels of full scale, moved and scaled."""
    return ((10 * np.log10(power + FLOOR) + 40) / 20).astype(np.float32)


def log_mel(sound: np.ndarray, mel: Mel) -> np.ndarray:
    """Sound [n, samples] -> [n, frames, bands]."""
    return log_power(mel_power(sound, mel))


def mfcc(log_spectra: np.ndarray, count: int) -> np.ndarray:
    """[..., bands] -> [..., count]: orthonormal DCT-II, the first divided by 4 so that all are of one size."""
    bands = log_spectra.shape[-1]
    at = np.arange(bands) + 0.5
    basis = np.cos(np.pi / bands * np.outer(at, np.arange(count))) * np.sqrt(2 / bands)
    basis[:, 0] *= np.sqrt(0.5) / 4
    return (log_spectra @ basis).astype(np.float32)
