"""MLPerf LoadGen against the targets of `main.ts`, by Triton's client over HTTP.

One line of JSON on the standard input: {"targets": [{"name", "host", "model", "token"}], "seconds", "folder"}. Every run is a line of JSON on the standard output.
"""

import array
import json
import os
import queue
import sys
import threading

import mlperf_loadgen as loadgen
import numpy as np
import tritonclient.http as triton
from tritonclient.utils import triton_to_np_dtype

THREADS = 8
SAMPLES = 64
BUDGET_US = 20_000_000


class Driver:
    """A system under test: threads, each with a connection, that answer LoadGen's queries."""

    def __init__(self, host, model, token):
        self.host, self.model, self.token = host, model, token
        self.failed, self.reason = 0, ""
        self.queue = queue.SimpleQueue()
        client = self.open()
        metadata = client.get_model_metadata(model, headers=self.headers())
        client.close()
        random = np.random.default_rng(7)
        self.samples = [self.fill(metadata["inputs"], random) for _ in range(SAMPLES)]
        self.output = metadata["outputs"][0]["name"]
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(THREADS)]
        for thread in self.threads:
            thread.start()

    def open(self):
        return triton.InferenceServerClient(self.host, connection_timeout=60, network_timeout=60)

    def headers(self):
        return {"Authorization": f"Bearer {self.token}"}

    def fill(self, specs, random):
        inputs = []
        for spec in specs:
            shape = [1 if size == -1 else size for size in spec["shape"]]
            dtype = triton_to_np_dtype(spec["datatype"])
            values = random.random(shape).astype(dtype)
            tensor = triton.InferInput(spec["name"], shape, spec["datatype"])
            tensor.set_data_from_numpy(values)
            inputs.append(tensor)
        return inputs

    def work(self):
        client = self.open()
        while True:
            sample = self.queue.get()
            if sample is None:
                return client.close()
            answer = array.array("B", b"\0")
            try:
                inputs = self.samples[sample.index % SAMPLES]
                result = client.infer(self.model, inputs, headers=self.headers(), timeout=BUDGET_US)
                answer = array.array("B", result.as_numpy(self.output).tobytes())
            except Exception as error:  # LoadGen wants an answer to every query
                self.failed, self.reason = self.failed + 1, str(error)
            address, length = answer.buffer_info()
            loadgen.QuerySamplesComplete([loadgen.QuerySampleResponse(sample.id, address, length)])

    def issue(self, samples):
        for sample in samples:
            self.queue.put(sample)

    def close(self):
        for _ in self.threads:
            self.queue.put(None)
        for thread in self.threads:
            thread.join()


def measure(driver, scenario, rate, seconds, folder):
    settings = loadgen.TestSettings()
    settings.scenario = scenario
    settings.mode = loadgen.TestMode.PerformanceOnly
    settings.min_duration_ms = int(1000 * seconds)
    settings.max_duration_ms = int(3000 * seconds)
    # Fewer cannot show a 99th percentile by LoadGen's early stopping.
    settings.min_query_count = 1_000 if scenario == loadgen.TestScenario.Server else 100
    settings.server_target_qps = rate
    settings.server_target_latency_ns = 100_000_000
    settings.offline_expected_qps = rate
    os.makedirs(folder, exist_ok=True)
    output = loadgen.LogOutputSettings()
    output.outdir = folder
    output.copy_summary_to_stdout = False
    log = loadgen.LogSettings()
    log.log_output = output
    sut = loadgen.ConstructSUT(driver.issue, lambda: None)
    qsl = loadgen.ConstructQSL(SAMPLES, SAMPLES, lambda _: None, lambda _: None)
    loadgen.StartTestWithLogSettings(sut, qsl, settings, log)
    loadgen.DestroyQSL(qsl)
    loadgen.DestroySUT(sut)
    with open(os.path.join(folder, "mlperf_log_summary.txt")) as summary:
        pairs = [line.split(":", 1) for line in summary if ":" in line]
    return {key.strip(): value.strip() for key, value in pairs}


KEPT = ("Result is", "QPS w/o loadgen overhead", "Samples per second", "Completed samples per second",
        "50.00 percentile latency (ns)", "90.00 percentile latency (ns)", "99.00 percentile latency (ns)")


def main():
    asked = json.loads(sys.stdin.readline())
    for target in asked["targets"]:
        model = target["model"]
        rate = 100.0
        for scenario in ("SingleStream", "Offline", "Server"):
            driver = Driver(target["host"], model, target["token"])
            folder = os.path.join(asked["folder"], target["name"], model, scenario)
            found = measure(driver, getattr(loadgen.TestScenario, scenario), rate, asked["seconds"], folder)
            driver.close()
            # Offline needs a rate that is not too low, else it ends too soon; the server's is a quarter of its result.
            if scenario == "SingleStream":
                rate = 5 * float(found.get("QPS w/o loadgen overhead", 20))
            elif scenario == "Offline":
                rate = max(1.0, float(found.get("Samples per second", 40)) / 4)
            kept = {key: found[key] for key in KEPT if key in found}
            line = {"target": target["name"], "model": model, "scenario": scenario, **kept}
            print(json.dumps({**line, "failed": driver.failed, "said": driver.reason[:200]}), flush=True)


main()
