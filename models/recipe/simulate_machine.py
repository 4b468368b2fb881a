"""Sound of a simulated fan or pump, sound or with a fault.

A machine has a speed, harmonics of its shaft and of its blades, a resonant case and a rush of air or water; a cut varies
speed and load a little. Faults follow Randall and Antoni, "Rolling element bearing diagnostics", 2011 (impacts that
ring at a resonance), and common practice (imbalance, rub, a lost blade, cavitation).
"""

import numpy as np
from scipy.signal import lfilter

from mel import RATE_HZ
from sound import Rng, coloured

FAULTS = ("bearing", "imbalance", "rub", "blade", "cavitation")


class Machine:
    """What stays the same of one machine."""

    def __init__(self, rng: Rng) -> None:
        self.shaft_hz = rng.uniform(20, 60)
        self.blades = int(rng.integers(4, 10))
        self.shaft_sizes = rng.uniform(0.1, 0.4, 6) / np.arange(1, 7)
        self.blade_sizes = rng.uniform(0.3, 1.0, 8) / np.arange(1, 9) ** 0.8
        self.slope = rng.uniform(0.6, 1.6)
        self.rush = rng.uniform(0.3, 1.0)
        self.case_hz, self.case_gain = rng.uniform(300, 4000, 3), rng.uniform(0.5, 2.0, 3)
        self.bearing_ratio = rng.uniform(2.5, 5.5)  # impacts for each turn
        self.ring_hz = rng.uniform(2500, 6000)

    def run(self, rng: Rng, samples: int, fault: str | None = None) -> np.ndarray:
        """Sound [samples] of root mean square 1 before the fault's own part is added."""
        time = np.arange(samples) / RATE_HZ
        speed = self.shaft_hz * rng.uniform(0.95, 1.05) * (1 + 0.004 * np.sin(2 * np.pi * rng.uniform(0.2, 1) * time))
        angle = np.cumsum(speed) * 2 * np.pi / RATE_HZ + rng.uniform(0, 2 * np.pi)
        load = rng.uniform(0.8, 1.2)
        blades = self.blade_sizes.copy()
        blades *= 1 + 0.15 * rng.standard_normal(8)
        tones = sum(size * np.sin(k * angle + 0.7 * k) for k, size in enumerate(self.shaft_sizes, 1))
        strength = 1 + (0.6 * np.cos(angle) if fault == "blade" else 0)
        tones = tones + strength * sum(
            size * np.sin(k * self.blades * angle + 1.3 * k) for k, size in enumerate(blades, 1)
        )
        air = coloured(rng, 1, samples, np.array([self.slope]))[0] * self.rush * load
        if fault == "cavitation":
            air = air + coloured(rng, 1, samples, np.array([-0.5]))[0] * (0.5 + (rng.random(samples) < 0.002) * 6)
        if fault == "imbalance":
            air = air * (1 + 0.7 * np.sin(angle))
            tones = tones + rng.uniform(0.8, 1.6) * np.sin(angle) + 0.5 * np.sin(2 * angle)
        sound = self.case(tones + air)
        sound = sound / sound.std()
        if fault == "rub":
            touch = np.maximum(0, np.sin(angle + rng.uniform(0, 6))) ** 8
            sound = sound + rng.uniform(0.6, 1.2) * touch * coloured(rng, 1, samples, np.array([0.0]))[0]
        if fault == "bearing":
            sound = sound + rng.uniform(0.6, 1.4) * self.impacts(rng, angle)
        return sound

    def case(self, sound: np.ndarray) -> np.ndarray:
        """Three resonances beside the direct sound."""
        whole = sound.copy()
        for hertz, gain in zip(self.case_hz, self.case_gain, strict=True):
            radius, at = 0.985, 2 * np.pi * hertz / RATE_HZ
            whole += gain * (1 - radius) * 2 * lfilter([1], [1, -2 * radius * np.cos(at), radius**2], sound)
        return whole

    def impacts(self, rng: Rng, angle: np.ndarray) -> np.ndarray:
        """A ring for each ball that passes the damage, with one hundredth of slip."""
        turns = angle / (2 * np.pi) * self.bearing_ratio
        struck = np.zeros(len(angle))
        struck[np.flatnonzero(np.diff(np.floor(turns + 0.01 * rng.standard_normal())) > 0)] = 1
        struck *= rng.uniform(0.7, 1.3, len(angle))
        length = np.arange(400) / RATE_HZ
        ring = np.exp(-length / 0.002) * np.sin(2 * np.pi * self.ring_hz * length)
        sound = np.convolve(struck, ring)[: len(angle)]
        return sound / max(sound.std(), 1e-6)
