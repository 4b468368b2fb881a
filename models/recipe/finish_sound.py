"""The end of every recipe for sound: writes the files and measures the written network on the held-out part."""

from pathlib import Path

import numpy as np
import onnxruntime
import torch
from scipy.stats import rankdata
from torch import nn

from export_network import count_parameters, export_network
from held_out import Packed, unpack, write_held_out
from write_card import write_card


def auc(scores: np.ndarray, yes: np.ndarray) -> float:
    """Area under the ROC curve by ranks (Mann-Whitney), ties count half."""
    ranks, positive = rankdata(scores), int(yes.sum())
    return (ranks[yes].sum() - positive * (positive + 1) / 2) / (positive * (len(yes) - positive))


def verification_auc(embeddings: np.ndarray, identity: np.ndarray) -> float:
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    left, right = np.triu_indices(len(unit), 1)
    return auc((unit @ unit.T)[left, right].round(9), identity[left] == identity[right])


def measure(metric: str, inputs: np.ndarray, output: np.ndarray, target: np.ndarray) -> float:
    """The metrics of models/README.md that sound has."""
    if metric == "accuracy":
        return float((output.argmax(axis=-1) == target).mean())
    if metric == "binary-accuracy":
        return float(((output > 0) == (target > 0)).mean())
    if metric == "mae":
        return float(np.abs(output - target).mean())
    if metric == "verification-auc":
        return verification_auc(output, target)
    if metric == "reconstruction-auc":
        errors = ((output - inputs) ** 2).reshape(len(inputs), -1).mean(axis=1)
        return auc(errors, target > 0)
    raise ValueError(f"no metric {metric}")


def finish(
    folder: Path,
    network: nn.Module,
    inputs: Packed,
    target: Packed | np.ndarray,
    baseline: Packed | np.ndarray,
    card: dict,
    packages: tuple[str, ...] = ("scipy", "soundfile"),
) -> None:
    """One input, one output, named in the card. Prints what the written file and the baseline reach."""
    if isinstance(target, np.ndarray) and target.dtype == np.int64:
        target = target.astype(np.uint8)  # classes and people, fewer than 256
    name, output, metric = card["inputs"][0]["name"], card["outputs"][0]["name"], card["metric"]
    path = folder / f"{folder.name}.onnx"
    features, wanted, trivial = unpack(inputs), unpack(target), unpack(baseline)
    export_network(network, {name: torch.from_numpy(features[:4].copy())}, [output], path)
    tensors = {f"input.{name}": inputs, "target": target, "baseline": baseline}
    write_held_out(folder / "held-out.safetensors", metric, tensors)
    write_card(folder, card, packages)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run([output], {name: features})[0]
    trivial = np.broadcast_to(trivial, found.shape)
    size = (folder / "held-out.safetensors").stat().st_size / 1000
    print(
        f"{folder.name}: {count_parameters(path)} parameters; held-out {len(features)} in {size:.0f} KB;"
        f" {metric} {measure(metric, features, found, wanted):.4f},"
        f" baseline {measure(metric, features, trivial, wanted):.4f}"
    )


def tensor_card(name: str, shape: list[int], meaning: str) -> dict:
    return {"name": name, "dtype": "float32", "shape": [-1, *shape], "meaning": meaning}


def one_hot_baseline(labels: np.ndarray, classes: int) -> np.ndarray:
    """The commonest class of the fitting part [1, classes]."""
    return np.eye(classes, dtype=np.float32)[[np.bincount(labels, minlength=classes).argmax()]]
