"""Quantises networks by ONNX Runtime's own tools.

Reads JSON lines {"file", "out", "method", "rows"}: `rows` are files of raw float32 with name and shape for each input, on
which `static` finds its ranges. Answers each by {"ok": true}, or {"reason"} where the tools cannot.
"""

import json
import os
import sys
import tempfile

import numpy
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer
from onnxruntime.quantization.shape_inference import quant_pre_process


class Rows(CalibrationDataReader):
    def __init__(self, rows):
        inputs = {
            row["name"]: numpy.fromfile(row["file"], dtype=numpy.float32).reshape(row["shape"]) for row in rows
        }
        count = min(len(values) for values in inputs.values())
        self.questions = iter({name: values[at : at + 1] for name, values in inputs.items()} for at in range(count))

    def get_next(self):
        return next(self.questions, None)


def quantise(question, prepared):
    file, out, method = question["file"], question["out"], question["method"]
    if method == "int4":
        config = DefaultWeightOnlyQuantConfig(block_size=32, is_symmetric=True, accuracy_level=4)
        maker = MatMulNBitsQuantizer(onnx.load(file), algo_config=config)
        maker.process()
        maker.model.save_model_to_file(out, False)
        return
    quant_pre_process(file, prepared)
    if method == "int8-dynamic":
        quantize_dynamic(prepared, out, per_channel=True, weight_type=QuantType.QInt8)
    else:
        quantize_static(
            prepared,
            out,
            Rows(question["rows"]),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )


def main():
    replies = os.fdopen(os.dup(1), "w")
    # The tools print to standard output.
    os.dup2(2, 1)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            with tempfile.TemporaryDirectory() as folder:
                quantise(question, os.path.join(folder, "prepared.onnx"))
            reply = {"ok": True}
        except Exception as error:
            reply = {"reason": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(reply), file=replies, flush=True)


main()
