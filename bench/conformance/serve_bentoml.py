"""BentoML with its defaults: `MODEL=vision.onnx bentoml serve serve_bentoml:Service --host 127.0.0.1 --port <port>`;
POST /predict."""

import bentoml
from vision import Vision


@bentoml.service
class Service:
    def __init__(self):
        self.vision = Vision()

    @bentoml.api
    def predict(self, inputs: list[dict]) -> list[list[float]]:
        return self.vision.answer_json(inputs)
