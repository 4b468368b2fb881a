"""The network of the conformance table by ONNX Runtime on one thread, for every peer."""

import os

import numpy
import onnxruntime


class Vision:
    def __init__(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(os.environ["MODEL"], options, providers=["CPUExecutionProvider"])

    def answer(self, image):
        """Scores [rows, 10] of images [rows, 1, 28, 28], both float32."""
        return self.session.run(None, {"image": image})[0]

    def answer_json(self, inputs):
        """The same for the tensors of the Open Inference Protocol, as lists."""
        image = numpy.array(inputs[0]["data"], numpy.float32).reshape(inputs[0]["shape"])
        return self.answer(image).tolist()
