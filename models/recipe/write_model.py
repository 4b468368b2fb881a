"""The end of a recipe: network, held-out part and card into the model's folder, then one look at what was written."""

from pathlib import Path

import torch
from torch import nn

from export_network import count_parameters, export_network
from held_out import unpack, write_held_out
from measure_held_out import measure_held_out
from write_card import write_card

MOST_BYTES = 200 * 1024
PARAMETERS = range(20_000, 78_001)
EXAMPLES = 3


def write_model(
    folder: Path, network: nn.Module, output: str, tensors: dict, card: dict, packages: tuple[str, ...] = ()
) -> None:
    """`tensors` are those of the held-out part, packed or not; the card names the metric and the inputs."""
    path, held_out = folder / f"{folder.name}.onnx", folder / "held-out.safetensors"
    names = [each["name"] for each in card["inputs"]]
    examples = {name: torch.from_numpy(unpack(tensors[f"input.{name}"])[:EXAMPLES]) for name in names}
    export_network(network, examples, [output], path)
    write_held_out(held_out, card["metric"], tensors)
    write_card(folder, card, packages)
    parameters, size = count_parameters(path), held_out.stat().st_size
    for name, (value, low, high) in measure_held_out(path, held_out).items():
        print(f"{card['metric']} of the {name}: {value:.4f} ({low:.4f} to {high:.4f})")
    print(f"{parameters} parameters, {size / 1024:.0f} KB held out")
    if parameters not in PARAMETERS or size > MOST_BYTES:
        raise ValueError("outside of what the zoo takes")
