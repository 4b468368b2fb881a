"""Writes what a recipe knows of its model into `card.json`; what is measured of the file is added by measure-card.ts."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

MEASURED = ("parameters", "file", "heldOut", "evaluation")


def write_card(folder: Path, card: dict, packages: tuple[str, ...] = ()) -> None:
    """`card` has every field of ModelCard (models/model-card.ts) but those that are measured."""
    path = folder / "card.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    versions = {
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
        "numpy": np.__version__,
        **{package: version(package) for package in ("onnx", "onnxruntime", *packages)},
    }
    training = {
        "command": f"pip install -r models/requirements.txt && python models/{folder.name}/recipe.py",
        **card["training"],
        "versions": {**versions, **card["training"].get("versions", {})},
    }
    measured = {key: before[key] for key in MEASURED if key in before}
    content = {"name": folder.name, **card, "training": training, **measured}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
