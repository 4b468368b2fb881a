"""Signals of people and of what they wear, as recipes of the sensor models make them. All arrays are [n, ..., steps]."""

import numpy as np

Generator = np.random.Generator


def uniform(generator: Generator, low, high, *shape: int) -> np.ndarray:
    """Uniform draws whose bounds may be arrays that the shape broadcasts with."""
    return np.asarray(low) + generator.random(shape) * (np.asarray(high) - np.asarray(low))


def smooth_noise(generator: Generator, shape: tuple[int, ...], cutoff_hz: float, rate_hz: float) -> np.ndarray:
    """Gaussian noise of unit variance below a cut-off (first-order spectrum), made in the frequency domain."""
    steps = shape[-1]
    frequency = np.fft.rfftfreq(2 * steps, 1 / rate_hz)  # twice as long, so that the ends do not meet
    gain = 1 / np.sqrt(1 + (frequency / cutoff_hz) ** 2)
    gain[0] = 0
    spectrum = np.fft.rfft(generator.standard_normal((*shape[:-1], 2 * steps))) * gain
    spread = np.sqrt(2 * (gain**2).sum() / (2 * steps))
    return np.fft.irfft(spectrum, 2 * steps)[..., :steps] / spread


def wandering_phase(generator: Generator, frequency_hz: np.ndarray, steps: int, rate_hz: float, jitter: float) -> np.ndarray:
    """Phase [n, steps] in cycles of something that repeats at frequency_hz [n], with a slow relative jitter, from anywhere."""
    n = len(frequency_hz)
    speed = frequency_hz[:, None] * (1 + jitter * smooth_noise(generator, (n, steps), 0.5, rate_hz))
    return generator.random((n, 1)) + np.cumsum(speed, axis=1) / rate_hz


def harmonics(phase: np.ndarray, amplitudes: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Sum over k of amplitudes[:, k] · cos(2π((k + 1) · phase + shifts[:, k])): [n, steps]."""
    order = np.arange(1, amplitudes.shape[1] + 1)[:, None]
    angle = order * phase[:, None, :] + shifts[:, :, None]
    return (amplitudes[:, :, None] * np.cos(2 * np.pi * angle)).sum(axis=1)


def rotations(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rodrigues' formula: matrices [..., 3, 3] that turn by angle [...] in rad about unit axes [..., 3]."""
    x, y, z = np.moveaxis(axis, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([np.stack(row, -1) for row in ([zero, -z, y], [z, zero, -x], [-y, x, zero])], -2)
    angle = angle[..., None, None]
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)


def random_axes(generator: Generator, n: int) -> np.ndarray:
    axis = generator.standard_normal((n, 3))
    return axis / np.linalg.norm(axis, axis=1, keepdims=True)
