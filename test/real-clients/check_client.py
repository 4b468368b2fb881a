"""Triton's own Python client, sync, async and aio, against the targets of `main.ts`: every operation that it has.

One line of JSON on the standard input: {"targets": [{"name", "host", "model", "token"}], "unloads"}. Every finding is a line
of JSON on the standard output: {"target", "model", "check", "ok", "said"}. With "unloads", the model is unloaded at the
edge and loaded again.
"""

import asyncio
import json
import sys
import time
import traceback

import numpy as np
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

BUDGET_US = 20_000_000
ROUNDS = 5


class Checked:
    """The operations on one model of one target, each noted as a line."""

    def __init__(self, target):
        self.target, self.host, self.model, self.token = (target[key] for key in ("name", "host", "model", "token"))
        self.client = triton.InferenceServerClient(self.host, concurrency=8, connection_timeout=60, network_timeout=60)
        self.metadata = self.client.get_model_metadata(self.model, headers=self.headers())

    def headers(self):
        """A new one for each call: the client adds to the one that it is given."""
        return {"Authorization": f"Bearer {self.token}"}

    def options(self):
        return {"headers": self.headers(), "timeout": BUDGET_US}

    def note(self, check, holds, said=""):
        line = {"target": self.target, "model": self.model, "check": check, "ok": bool(holds), "said": str(said)[:300]}
        print(json.dumps(line), flush=True)

    def expect_refusal(self, check, words, call):
        try:
            call()
            self.note(check, False, "it was not refused")
        except InferenceServerException as error:
            self.note(check, words in error.message(), error.message())

    def inputs(self, module, binary=True, rows=1):
        random = np.random.default_rng(7)
        return [self.fill(module, spec, random, binary, rows) for spec in self.metadata["inputs"]]

    def fill(self, module, spec, random, binary, rows):
        shape = [1 if size == -1 else size for size in spec["shape"]]
        if shape and spec["shape"][0] == -1:
            shape[0] = rows
        values = random.random(shape)
        dtype = triton_to_np_dtype(spec["datatype"])
        values = values.astype(dtype) if np.issubdtype(dtype, np.floating) else np.zeros(shape, dtype=dtype)
        tensor = module.InferInput(spec["name"], shape, spec["datatype"])
        tensor.set_data_from_numpy(values, binary_data=binary)
        return tensor

    def outputs(self, module, binary=True):
        return [module.InferRequestedOutput(spec["name"], binary_data=binary) for spec in self.metadata["outputs"]]

    def ask(self, binary=True, rows=1, **further):
        inputs, outputs = self.inputs(triton, binary, rows), self.outputs(triton, binary)
        return self.client.infer(self.model, inputs, outputs=outputs, **self.options(), **further)

    def values(self, result):
        return [result.as_numpy(spec["name"]) for spec in self.metadata["outputs"]]

    def agrees(self, result):
        pairs = zip(self.values(result), self.wanted)
        return all(np.allclose(got, wanted, rtol=1e-4, atol=1e-5, equal_nan=True) for got, wanted in pairs)

    def check_about(self):
        client, model, headers = self.client, self.model, self.headers
        self.note("live and ready", client.is_server_live() and client.is_server_ready())
        extensions = client.get_server_metadata()["extensions"]
        self.note("server metadata", "model_configuration" in extensions, extensions)
        version = self.metadata["versions"][-1]
        self.note("ready", client.is_model_ready(model, headers=headers()))
        self.note("version ready", client.is_model_ready(model, version, headers=headers()))
        self.note("unknown model is not ready", not client.is_model_ready("nobody", headers=headers()))
        config = client.get_model_config(model, headers=headers())
        rank = lambda spec: len(spec["dims"] if "reshape" not in spec else []) + (config["max_batch_size"] > 0)
        ranks = [rank(spec) for spec in config["input"]]
        self.note("configuration", ranks == [len(spec["shape"]) for spec in self.metadata["inputs"]], config["input"])

    def check_inference(self):
        self.wanted = self.values(self.ask())
        self.note("binary tensors", all(value is not None for value in self.wanted))
        self.note("JSON tensors", self.agrees(self.ask(binary=False)))
        self.note("all outputs", self.agrees(self.client.infer(self.model, self.inputs(triton), **self.options())))
        self.note("id", self.ask(request_id="7", priority=1).get_response()["id"] == "7")
        for encoding in ("gzip", "deflate"):
            packed = self.ask(request_compression_algorithm=encoding, response_compression_algorithm=encoding)
            self.note(f"{encoding} both ways", self.agrees(packed))
        outputs = self.outputs(triton)
        pending = [
            self.client.async_infer(self.model, self.inputs(triton), outputs=outputs, **self.options())
            for _ in range(8)
        ]
        self.note("async_infer", all(self.agrees(each.get_result()) for each in pending))

    def check_statistics(self):
        """The counts right behind the answers, several times."""
        for _ in range(ROUNDS):
            before = self.read_counts()
            for _ in range(3):
                self.ask()
            gained = {name: count - before[name] for name, count in self.read_counts().items()}
            exact = all(count == 3 for name, count in gained.items() if name != "execution_count")
            self.note("statistics at once", exact and 0 < gained["execution_count"] <= 3, gained)

    def read_counts(self):
        (stats,) = self.client.get_inference_statistics(self.model, "1", headers=self.headers())["model_stats"]
        parts = ("success", "queue", "compute_input", "compute_infer", "compute_output")
        counts = {name: stats["inference_stats"][name]["count"] for name in parts}
        return {**counts, "inference_count": stats["inference_count"], "execution_count": stats["execution_count"]}

    def check_refusals(self):
        client, headers = self.client, self.headers
        unknown = lambda: client.infer("nobody", self.inputs(triton), headers=headers())
        self.expect_refusal("unknown model", "unknown model: 'nobody'", unknown)
        self.expect_refusal("no key", "", lambda: client.infer(self.model, self.inputs(triton)))
        classes = [triton.InferRequestedOutput(self.metadata["outputs"][0]["name"], class_count=2)]
        classify = lambda: client.infer(self.model, self.inputs(triton), outputs=classes, headers=headers())
        self.expect_refusal("classes", "classified", classify)
        self.expect_refusal("system shared memory", "Shared memory", client.get_system_shared_memory_status)
        self.expect_refusal("CUDA shared memory", "Shared memory", client.get_cuda_shared_memory_status)
        self.expect_refusal("trace", "does not support tracing", client.get_trace_settings)
        self.expect_refusal("logging", "does not support dynamic logging", client.get_log_settings)

    async def check_aio(self):
        async with triton_aio.InferenceServerClient(self.host) as client:
            ready = await client.is_server_ready() and await client.is_model_ready(self.model, headers=self.headers())
            self.note("aio: ready", ready)
            outputs = self.outputs(triton_aio)
            ask = lambda: client.infer(self.model, self.inputs(triton_aio), outputs=outputs, **self.options())
            self.note("aio: infer", all(self.agrees(each) for each in await asyncio.gather(*(ask() for _ in range(8)))))

    def check_repository(self):
        """Unloads the model and loads it again; only the edge has a repository."""
        client, headers = self.client, self.headers
        entries = client.get_model_repository_index(headers=headers())
        own = [entry for entry in entries if entry["name"] == self.model]
        self.note("index", own != [] and own[-1]["state"] == "READY", own)
        client.unload_model(self.model, headers=headers())
        self.note("unload", not client.is_model_ready(self.model, headers=headers()))
        client.load_model(self.model, headers=headers())
        for _ in range(600):
            if client.is_model_ready(self.model, headers=headers()):
                break
            time.sleep(0.1)
        self.note("load", client.is_model_ready(self.model, headers=headers()))
        self.expect_refusal("load of an unknown model", "failed to load", lambda: client.load_model("nobody", headers=headers()))

    def run(self, unloads):
        for check in (self.check_about, self.check_inference, self.check_statistics, self.check_refusals):
            check()
        asyncio.run(self.check_aio())
        if self.target == "edge" and unloads:
            self.check_repository()
        self.client.close()


def main():
    asked = json.loads(sys.stdin.readline())
    for target in asked["targets"]:
        try:
            Checked(target).run(asked["unloads"])
        except Exception as error:  # the other target is still of interest
            said = traceback.format_exc().splitlines()[-3:]
            line = {"target": target["name"], "model": target["model"], "check": "run", "ok": False}
            print(json.dumps({**line, "said": f"{error}: {said}"[:600]}), flush=True)


main()
