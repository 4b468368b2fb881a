"""Measures a written file on its written held-out part by ONNX Runtime, for the recipe's last line.

What a card says is measured again, apart from this, by measure-card.ts.
"""

import json
from pathlib import Path

import numpy as np
import onnxruntime
from scipy.stats import rankdata

RESAMPLES = 500
Reading = tuple[dict[str, np.ndarray], dict[str, str]]  # tensors and metadata

NUMPY = {"F32": "<f4", "F16": "<f2", "U8": "u1", "I8": "i1", "I16": "<i2", "I32": "<i4"}


def read_held_out(path: Path) -> Reading:
    """Tensors as float32, scale and offset applied in doubles, and the metadata."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    metadata = header.pop("__metadata__")
    tensors = {}
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        whole = np.frombuffer(content[start + first : start + end], NUMPY[entry["dtype"]]).reshape(entry["shape"])
        scale, offset = float(metadata.get(f"{name}.scale", 1)), float(metadata.get(f"{name}.offset", 0))
        tensors[name] = (whole.astype(np.float64) * scale + offset).astype(np.float32)
    return tensors, metadata


def area_under_curve(scores: np.ndarray, positive: np.ndarray) -> float:
    """Mann-Whitney: the share of pairs in which the positive one has the higher score, ties by half."""
    ranks, ones = rankdata(scores), positive.sum()
    return float((ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * (len(scores) - ones)))


def macro_f1(found: np.ndarray, target: np.ndarray) -> float:
    classes = range(int(target.max()) + 1)
    both = [2 * ((found == c) & (target == c)).sum() / max(1, (found == c).sum() + (target == c).sum()) for c in classes]
    return float(np.mean(both))


def judge(metric: str, output: np.ndarray, target: np.ndarray, inputs: list[np.ndarray]) -> float:
    if metric == "accuracy":
        return float((output.argmax(1) == target).mean())
    if metric == "macro-f1":
        return macro_f1(output.argmax(1), target)
    if metric == "roc-auc":
        return area_under_curve(output.ravel(), target > 0)
    if metric == "reconstruction-auc":
        error = ((output - inputs[0]) ** 2).reshape(len(output), -1).mean(1)
        return area_under_curve(error, target > 0)
    if metric == "mae":
        return float(np.abs(output - target).mean())
    raise ValueError(f"not measured here: {metric}")


def measure_held_out(network: Path, held_out: Path, seed: int = 1) -> dict[str, tuple[float, float, float]]:
    """Value, low and high (95 %, bootstrap over samples) of the network and of the baseline."""
    tensors, metadata = read_held_out(held_out)
    inputs = {name.removeprefix("input."): each for name, each in tensors.items() if name.startswith("input.")}
    output = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"]).run(None, inputs)[0]
    target = tensors["target"]
    baseline = np.broadcast_to(tensors["baseline"], output.shape)
    generator = np.random.default_rng(seed)
    draws = generator.integers(len(target), size=(RESAMPLES, len(target)))
    found = {}
    for name, answer in {"network": output, "baseline": baseline}.items():
        value, *others = [
            judge(metadata["metric"], answer[rows], target[rows], [each[rows] for each in inputs.values()])
            for rows in [slice(None), *draws]
        ]
        found[name] = (value, *np.quantile(others, [0.025, 0.975]).tolist())
    return found
