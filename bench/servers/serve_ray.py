"""Ray Serve, one replica: `MODEL=model.onnx python serve_ray.py <port>`; POST /. With `BATCH` its dynamic batching, and a
queue that refuses beyond eight batches."""

import sys
import threading

import numpy
import ray
from ray import serve
from served import BATCH, BATCH_WAIT_S, Served

LIMITS = {"max_ongoing_requests": 2 * BATCH, "max_queued_requests": 8 * BATCH} if BATCH > 0 else {}


@serve.deployment(num_replicas=1, **LIMITS)
class Model:
    def __init__(self):
        self.served = Served()

    @serve.batch(max_batch_size=BATCH or 1, batch_wait_timeout_s=BATCH_WAIT_S)
    async def answer(self, rows):
        return list(self.served.answer(numpy.concatenate(rows))[:, None])

    async def __call__(self, request):
        body = await request.json()
        return {"scores": (await self.answer(self.served.read(body["inputs"]))).tolist()}


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
    serve.start(http_options={"host": "127.0.0.1", "port": int(sys.argv[1])})
    serve.run(Model.bind(), route_prefix="/")
    threading.Event().wait()
