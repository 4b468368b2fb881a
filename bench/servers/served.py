"""The network in the ONNX file `MODEL`, with one input and one output in float32, by ONNX Runtime on one thread, for every
peer. `BATCH`, if given, is the most rows that a server with batches may join; `DEADLINE_MS` is what callers wait for."""

import os

import numpy
import onnxruntime

BATCH = int(os.environ.get("BATCH", "0"))
DEADLINE_MS = float(os.environ.get("DEADLINE_MS", "60000"))
# Time that a first request waits for others, where a server has such a setting.
BATCH_WAIT_S = 0.002


class Served:
    def __init__(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(os.environ["MODEL"], options, providers=["CPUExecutionProvider"])
        taken, given = self.session.get_inputs()[0], self.session.get_outputs()[0]
        self.input, self.output = taken.name, given.name
        # Of one row, without the axis of the rows.
        self.input_shape, self.output_shape = ([int(size) for size in end.shape[1:]] for end in (taken, given))

    def answer(self, rows):
        """The output for rows of the input, both float32 with the rows first."""
        return self.session.run([self.output], {self.input: rows})[0]

    def read(self, inputs):
        """Rows of the first tensor of the Open Inference Protocol's JSON."""
        return numpy.array(inputs[0]["data"], numpy.float32).reshape(inputs[0]["shape"])

    def answer_json(self, inputs):
        return self.answer(self.read(inputs)).tolist()
