"""LitServe, one worker: `MODEL=model.onnx python serve_litserve.py <port>`; POST /predict. With its defaults; with `BATCH`
also batches and the fast queue."""

import sys

import litserve
import numpy
from served import BATCH, BATCH_WAIT_S, Served


class Api(litserve.LitAPI):
    def setup(self, device):
        self.served = Served()

    def decode_request(self, request):
        return self.served.read(request["inputs"])

    def batch(self, inputs):
        return numpy.concatenate(inputs)

    def predict(self, rows):
        return self.served.answer(rows)

    def unbatch(self, output):
        return list(output[:, None])

    def encode_response(self, output):
        return {"scores": output.tolist()}


if __name__ == "__main__":
    api = Api(max_batch_size=BATCH, batch_timeout=BATCH_WAIT_S) if BATCH > 0 else Api()
    server = litserve.LitServer(api, accelerator="cpu", workers_per_device=1, fast_queue=BATCH > 0)
    server.run(host="127.0.0.1", port=int(sys.argv[1]), generate_client_file=False)
