"""BentoML: `MODEL=model.onnx bentoml serve serve_bentoml:Service --host 127.0.0.1 --port <port>`; POST /predict. With its
defaults; with `BATCH` adaptive batches within the deadline, as its documentation says for throughput."""

import bentoml
import numpy
from served import BATCH, DEADLINE_MS, Served

if BATCH == 0:

    @bentoml.service
    class Service:
        def __init__(self):
            self.served = Served()

        @bentoml.api
        def predict(self, inputs: list[dict]) -> list[list[float]]:
            return self.served.answer_json(inputs)

else:

    @bentoml.service(workers=1)
    class Service:
        def __init__(self):
            self.served = Served()

        @bentoml.api(batchable=True, batch_dim=0, max_batch_size=BATCH, max_latency_ms=int(DEADLINE_MS))
        def predict(self, inputs: numpy.ndarray) -> numpy.ndarray:
            return self.served.answer(inputs.astype("float32"))
