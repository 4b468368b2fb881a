"""LitServe with its defaults, one worker: `MODEL=vision.onnx python serve_litserve.py <port>`; POST /predict."""

import sys

import litserve
from vision import Vision


class Api(litserve.LitAPI):
    def setup(self, device):
        self.vision = Vision()

    def decode_request(self, request):
        return request["inputs"]

    def predict(self, inputs):
        return self.vision.answer_json(inputs)

    def encode_response(self, output):
        return {"scores": output}


if __name__ == "__main__":
    server = litserve.LitServer(Api(), accelerator="cpu", workers_per_device=1)
    server.run(host="127.0.0.1", port=int(sys.argv[1]), generate_client_file=False)
