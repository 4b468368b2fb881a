"""MLServer with its defaults: `MODEL=vision.onnx python serve_mlserver.py <port>`; the Open Inference Protocol."""

import asyncio
import sys
import tempfile

from mlserver import MLModel, MLServer, ModelSettings, Settings
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse, MetadataTensor
from vision import Vision


class Model(MLModel):
    async def load(self):
        self.vision = Vision()
        return True

    async def predict(self, payload):
        scores = self.vision.answer(NumpyCodec.decode_input(payload.inputs[0]).astype("float32"))
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output("scores", scores)])


async def main(port):
    ports = {"http_port": port, "grpc_port": port + 1, "metrics_port": port + 2}
    settings = Settings(host="127.0.0.1", **ports, metrics_dir=tempfile.mkdtemp(), debug=False)
    image = MetadataTensor(name="image", datatype="FP32", shape=[-1, 1, 28, 28])
    model = ModelSettings(name="vision", implementation=Model, inputs=[image])
    server = MLServer(settings)
    await server.start([model])


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
