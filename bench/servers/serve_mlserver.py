"""MLServer: `MODEL=model.onnx python serve_mlserver.py <port>`; the Open Inference Protocol. With its defaults; with `BATCH`
also adaptive batching."""

import asyncio
import sys
import tempfile

from mlserver import MLModel, MLServer, ModelSettings, Settings
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse, MetadataTensor
from served import BATCH, BATCH_WAIT_S, Served


class Model(MLModel):
    async def load(self):
        self.served = Served()
        return True

    async def predict(self, payload):
        rows = NumpyCodec.decode_input(payload.inputs[0]).astype("float32")
        output = NumpyCodec.encode_output(self.served.output, self.served.answer(rows))
        return InferenceResponse(model_name=self.name, outputs=[output])


async def main(port):
    # For its names and shapes alone: the model's process has another.
    served = Served()
    taken = MetadataTensor(name=served.input, datatype="FP32", shape=[-1, *served.input_shape])
    del served
    ports = {"http_port": port, "grpc_port": port + 1, "metrics_port": port + 2}
    settings = Settings(host="127.0.0.1", **ports, metrics_dir=tempfile.mkdtemp(), debug=False)
    batching = {"max_batch_size": BATCH, "max_batch_time": BATCH_WAIT_S} if BATCH > 0 else {}
    model = ModelSettings(name="model", implementation=Model, inputs=[taken], **batching)
    server = MLServer(settings)
    await server.start([model])


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
