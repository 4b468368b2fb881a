"""The end of every vision recipe: the file, the held-out part, the card, and one look at how good the file is."""

from pathlib import Path

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn

from export_network import count_parameters, export_network
from held_out import Packed, unpack, write_held_out
from vision_metrics import bootstrap, evaluate
from write_card import write_card

PARAMETERS = (20_000, 78_000)
HELD_OUT_BYTES = 200_000
EXAMPLES = 4  # rows that the file is compared with the network on


def finish(
    folder: Path,
    network: nn.Module,
    held_out: dict[str, Packed | np.ndarray],
    card: dict,
    packages: tuple[str, ...] = (),
    **metadata: str,
) -> None:
    """`held_out` has one `input.<name>`, `target` and `baseline`; `card` what write_card wants.

    Measures what a reader of held-out.safetensors will: the unpacked numbers, through the written file.
    """
    name = next(key for key in held_out if key.startswith("input.")).removeprefix("input.")
    values = {key: unpack(value) for key, value in held_out.items()}
    example = torch.from_numpy(values[f"input.{name}"][:EXAMPLES])
    path = folder / f"{folder.name}.onnx"
    outputs = [output["name"] for output in card["outputs"]]
    export_network(network, {name: example}, outputs, path)
    write_held_out(folder / "held-out.safetensors", card["metric"], held_out, **metadata)
    write_card(folder, card, packages)

    parameters, size = count_parameters(path), (folder / "held-out.safetensors").stat().st_size
    if not PARAMETERS[0] <= parameters <= PARAMETERS[1] or size > HELD_OUT_BYTES:
        raise ValueError(f"{parameters} parameters, {size} bytes held out")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(outputs, {name: values[f"input.{name}"]})[0]
    target = values["target"]
    baseline = np.broadcast_to(values["baseline"], found.shape)
    print(f"{parameters} parameters, {count_multiplications(network, example[:1])} multiply-adds, {size} bytes held out")
    for title, output in (("file", found), ("baseline", baseline)):
        low, high = bootstrap(card["metric"], output, target)
        value = evaluate(card["metric"], output, target)
        print(f"{title}: {card['metric']} {value:.4f} ({low:.4f} to {high:.4f}) over {len(target)} samples")


def count_multiplications(network: nn.Module, example: Tensor) -> int:
    """Multiply-adds of convolutions, dense and recurrent layers for one row."""
    total = 0

    def add(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor | tuple[Tensor, ...]) -> None:
        nonlocal total
        if isinstance(layer, nn.GRU):
            steps = inputs[0].shape[1]
            total += steps * sum(weight.numel() for key, weight in layer.named_parameters() if key.startswith("weight"))
        elif isinstance(layer, nn.ConvTranspose2d):
            total += layer.weight.numel() * inputs[0].shape[2:].numel()
        elif isinstance(layer, nn.Conv2d):
            total += layer.weight.numel() * output.shape[2:].numel()
        else:
            total += layer.weight.numel() * (output.numel() // output.shape[-1])

    kinds = (nn.Conv2d, nn.ConvTranspose2d, nn.Linear, nn.GRU)
    hooks = [layer.register_forward_hook(add) for layer in network.modules() if isinstance(layer, kinds)]
    with torch.no_grad():
        network(example)
    for hook in hooks:
        hook.remove()
    return total
