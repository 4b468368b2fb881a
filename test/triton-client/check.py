"""Triton's own Python client against a running millrace: sync, async and aio.

It is no part of `npm test`. With the zoo placed, as `npm start` leaves it:

    pip install 'tritonclient[http]'
    MILLRACE_KEY=mk_... python test/triton-client/check.py

MILLRACE_URL is http://127.0.0.1:8787 unless told.
"""

import asyncio
import os

import numpy as np
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
from tritonclient.utils import InferenceServerException

URL = os.environ.get("MILLRACE_URL", "http://127.0.0.1:8787").removeprefix("http://")
KEY = os.environ["MILLRACE_KEY"]
MODEL, INPUT, OUTPUT = "cartpole", "observation", "logits"
VALUES = np.array([[0.01, -0.02, 0.03, 0.04]], dtype=np.float32)
TIMEOUT_US = 5_000_000


def headers():
    """A new one for each call: the client adds to the one that it is given."""
    return {"Authorization": f"Bearer {KEY}"}


def options():
    return {"headers": headers(), "timeout": TIMEOUT_US}


def inputs(module, binary=True, values=VALUES):
    tensor = module.InferInput(INPUT, list(values.shape), "FP32")
    tensor.set_data_from_numpy(values, binary_data=binary)
    return [tensor]


def outputs(module, binary=True):
    return [module.InferRequestedOutput(OUTPUT, binary_data=binary)]


def check(name, holds):
    if not holds:
        raise SystemExit(f"{name}: not as it should be")
    print(f"ok  {name}")


def refused(call):
    """The text of the refusal; None where there was none."""
    try:
        call()
    except InferenceServerException as error:
        return error.message()
    return None


def check_about(client):
    check("live and ready", client.is_server_live() and client.is_server_ready())
    check("server metadata", "binary_tensor_data" in client.get_server_metadata()["extensions"])
    check("model ready", client.is_model_ready(MODEL, headers=headers()))
    check("version ready", client.is_model_ready(MODEL, "1", headers=headers()))
    check("unknown model", not client.is_model_ready("nobody", headers=headers()))
    metadata = client.get_model_metadata(MODEL, headers=headers())
    check("model metadata", metadata["inputs"] == [{"name": INPUT, "datatype": "FP32", "shape": [-1, 4]}])
    statistics = client.get_inference_statistics(MODEL, headers=headers())["model_stats"][0]
    check("statistics", statistics["inference_stats"]["success"]["count"] >= 0)


def check_sync(client):
    def ask(binary=True, **further):
        return client.infer(MODEL, inputs(triton, binary), outputs=outputs(triton, binary), **options(), **further)

    wanted = ask().as_numpy(OUTPUT)
    check("binary tensors", wanted.shape == (1, 2) and wanted.dtype == np.float32)
    agrees = lambda result: np.allclose(result.as_numpy(OUTPUT), wanted, atol=1e-6)
    check("JSON tensors", agrees(ask(binary=False)))
    check("all outputs", agrees(client.infer(MODEL, inputs(triton), **options())))
    check("version, id and priority", ask(model_version="1", request_id="7", priority=1).get_response()["id"] == "7")
    for encoding in ("gzip", "deflate"):
        packed = ask(request_compression_algorithm=encoding, response_compression_algorithm=encoding)
        check(f"{encoding} both ways", agrees(packed))
    rows = np.repeat(VALUES, 16, axis=0)
    check("a batch", client.infer(MODEL, inputs(triton, values=rows), **options()).as_numpy(OUTPUT).shape == (16, 2))
    pending = [client.async_infer(MODEL, inputs(triton), **options()) for _ in range(8)]
    check("async_infer", all(agrees(each.get_result()) for each in pending))
    return agrees


def check_refusals(client):
    unknown = refused(lambda: client.infer("nobody", inputs(triton), headers=headers()))
    check("unknown model is told", unknown is not None and "unknown model: 'nobody'" in unknown)
    check("no key is refused", refused(lambda: client.infer(MODEL, inputs(triton))) is not None)
    wide = inputs(triton, values=np.zeros((1, 5), dtype=np.float32))
    check("a wrong shape is refused", refused(lambda: client.infer(MODEL, wide, headers=headers())) is not None)
    classes = [triton.InferRequestedOutput(OUTPUT, class_count=2)]
    answer = refused(lambda: client.infer(MODEL, inputs(triton), outputs=classes, headers=headers()))
    check("classes are refused", answer is not None and "classified" in answer)
    # In microseconds; nothing of LeNet-5 ends within a tenth of a millisecond.
    image = triton.InferInput(*lenet5_input(client))
    image.set_data_from_numpy(np.zeros(image.shape(), dtype=np.float32))
    late = refused(lambda: client.infer("lenet5", [image], headers=headers(), timeout=100))
    check("timeout is the budget", late is not None and "budget" in late)


def lenet5_input(client):
    spec = client.get_model_metadata("lenet5", headers=headers())["inputs"][0]
    return spec["name"], [max(1, size) for size in spec["shape"]], spec["datatype"]


async def check_aio(agrees):
    async with triton_aio.InferenceServerClient(URL) as client:
        check("aio: ready", await client.is_server_ready() and await client.is_model_ready(MODEL, headers=headers()))
        ask = lambda: client.infer(MODEL, inputs(triton_aio), outputs=outputs(triton_aio), **options())
        check("aio: infer", all(agrees(each) for each in await asyncio.gather(*(ask() for _ in range(8)))))


def main():
    client = triton.InferenceServerClient(URL, concurrency=8)
    check_about(client)
    agrees = check_sync(client)
    check_refusals(client)
    client.close()
    asyncio.run(check_aio(agrees))


main()
