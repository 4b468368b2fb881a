"""Triton with its Python backend, by PyTriton: `MODEL=model.onnx python serve_pytriton.py <port>`. Batches of 16, or of
`BATCH`. Queue policy: a request's `timeout` counts, and one that ran out in the queue is rejected."""

import sys

import numpy
from pytriton.decorators import batch
from pytriton.model_config import DynamicBatcher, ModelConfig, QueuePolicy, Tensor, TimeoutAction
from pytriton.triton import Triton, TritonConfig
from served import BATCH, Served

served = Served()


@batch
def infer(**rows):
    return {served.output: served.answer(rows[served.input])}


if __name__ == "__main__":
    port = int(sys.argv[1])
    policy = QueuePolicy(timeout_action=TimeoutAction.REJECT, default_timeout_microseconds=60_000_000, allow_timeout_override=True)
    ports = TritonConfig(http_address="127.0.0.1", http_port=port, grpc_address="127.0.0.1", grpc_port=port + 1, metrics_port=port + 2)
    with Triton(config=ports) as triton:
        triton.bind(
            model_name="model",
            infer_func=infer,
            inputs=[Tensor(name=served.input, dtype=numpy.float32, shape=tuple(served.input_shape))],
            outputs=[Tensor(name=served.output, dtype=numpy.float32, shape=tuple(served.output_shape))],
            config=ModelConfig(max_batch_size=BATCH or 16, batcher=DynamicBatcher(default_queue_policy=policy)),
        )
        triton.serve()
