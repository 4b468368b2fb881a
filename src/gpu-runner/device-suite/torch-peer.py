"""PyTorch's times for kernels of ours, at the same sizes.

Reads {"cases": [{"name", "kernel", "shape", "modes"}]} from standard input and writes lines of JSON: first the versions, or
{"missing": reason}; then a row a case and mode with its median time, or with the reason why there is none.

The time of a call is that of many back to back between two CUDA events, divided by their number: the median of several
rounds. Short calls are timed once more as one CUDA graph, without the cost of launching each.
"""

import argparse
import json
import statistics
import sys
import time

ROUNDS = 11
ROUND_MS = 20
MOST_CALLS = 500
# Calls below this may be bound by their launches.
SHORT_MS = 0.05


def write(row):
    print(json.dumps(row), flush=True)


def set_tf32(torch, on):
    """Lets products of float32 be rounded to 19 bits, or forbids it."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    # PyTorch 2.9 renamed the setting, and refuses a mixture of the old and the new one.
    if hasattr(matmul, "fp32_precision"):
        matmul.fp32_precision = cudnn.conv.fp32_precision = cudnn.rnn.fp32_precision = "tf32" if on else "ieee"
    else:
        matmul.allow_tf32 = cudnn.allow_tf32 = on


class Clock:
    """Times calls on a GPU by its events, and on a CPU by the system's clock."""

    def __init__(self, torch, device):
        self.torch = torch
        self.is_cuda = device == "cuda"

    def wait(self):
        if self.is_cuda:
            self.torch.cuda.synchronize()

    def once(self, call, count):
        """Milliseconds of one of `count` calls back to back."""
        if not self.is_cuda:
            started = time.perf_counter()
            for _ in range(count):
                call()
            return (time.perf_counter() - started) * 1e3 / count
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / count

    def median(self, call):
        """Median of several rounds in milliseconds, and the calls of a round."""
        for _ in range(3):
            call()
        self.wait()
        estimate = min(self.once(call, 1) for _ in range(3))
        count = max(1, min(MOST_CALLS, int(ROUND_MS / max(estimate, 1e-3))))
        self.once(call, count)
        return statistics.median(self.once(call, count) for _ in range(ROUNDS)), count

    def graph_median(self, call, count):
        """The same with the calls of a round as one CUDA graph."""
        cuda = self.torch.cuda
        side = cuda.Stream()
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            for _ in range(3):
                call()
        cuda.current_stream().wait_stream(side)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            for _ in range(count):
                call()
        for _ in range(2):
            graph.replay()
        self.wait()
        return statistics.median(self.once(graph.replay, 1) for _ in range(ROUNDS)) / count


def uniform(torch, device, *shape):
    return torch.empty(*shape, device=device).uniform_(-1, 1)


def product_error(torch, a, b, c):
    """Error of the first rows of a product against float64, relative to the norm: it shows whether TF32 was used."""
    wanted = a[..., :16, :].double() @ b.double()
    return ((c[..., :16, :].double() - wanted).norm() / wanted.norm()).item()


def calls_for(torch, device, kernel, shape):
    """Ways to compute a kernel, by name, each with a function for its error or None; the fastest counts."""
    functional = torch.nn.functional
    if kernel in ("gemm", "batched-gemm"):
        batch = [shape["batch"]] if kernel == "batched-gemm" else []
        m, n, k = (shape[name] for name in "mnk")
        a, b = uniform(torch, device, *batch, m, k), uniform(torch, device, *batch, k, n)
        c = torch.empty(*batch, m, n, device=device)
        return {"matmul": (lambda: torch.matmul(a, b, out=c), lambda: product_error(torch, a, b, c))}
    if kernel in ("softmax", "layernorm"):
        x = uniform(torch, device, shape["rows"], shape["columns"])
        if kernel == "softmax":
            return {"softmax": (lambda: torch.softmax(x, -1), None)}
        scale, shift = (uniform(torch, device, shape["columns"]) for _ in range(2))
        return {"layer_norm": (lambda: functional.layer_norm(x, x.shape[1:], scale, shift), None)}
    if kernel in ("conv2d", "depthwise-conv2d"):
        channels, size = shape["channels"], shape["kernel"]
        groups = channels if kernel == "depthwise-conv2d" else 1
        filters = shape.get("filters", channels)
        x = uniform(torch, device, shape["batch"], channels, shape["height"], shape["width"])
        w = uniform(torch, device, filters, channels // groups, size, size)
        formats = {"channels first": torch.contiguous_format, "channels last": torch.channels_last}

        def convolve(memory_format):
            xs, ws = (each.to(memory_format=memory_format) for each in (x, w))
            return lambda: functional.conv2d(xs, ws, stride=shape["stride"], padding=size // 2, groups=groups)

        return {name: (convolve(memory_format), None) for name, memory_format in formats.items()}
    if kernel == "copy":
        x, y = (uniform(torch, device, shape["n"]) for _ in range(2))
        return {"copy_": (lambda: y.copy_(x), None)}
    if kernel == "reduce":
        x = uniform(torch, device, shape["n"])
        return {"sum": (lambda: x.sum(), None)}
    if kernel == "transpose":
        x, y = uniform(torch, device, shape["m"], shape["n"]), torch.empty(shape["n"], shape["m"], device=device)
        return {"copy_ of t()": (lambda: y.copy_(x.t()), None)}
    if kernel == "attention":
        query, key, value = (
            uniform(torch, device, shape["batch"], shape["heads"], shape["places"], shape["size"]) for _ in range(3)
        )
        return {"scaled_dot_product": (lambda: functional.scaled_dot_product_attention(query, key, value), None)}
    raise ValueError(f"there is no counterpart of {kernel}")


def measure(torch, device, clock, case, mode):
    best = None
    for way, (call, error) in calls_for(torch, device, case["kernel"], case["shape"]).items():
        median, count = clock.median(call)
        row = {"name": case["name"], "mode": mode, "way": way, "p50Ms": median, "calls": count, "rounds": ROUNDS}
        if error is not None:
            row["relativeError"] = error()
        if best is None or median < best[0]["p50Ms"]:
            best = row, call
    return best


def run(torch, device, cases):
    clock = Clock(torch, device)
    short = []
    for case in cases:
        for mode in case["modes"]:
            set_tf32(torch, mode == "tf32")
            try:
                row, call = measure(torch, device, clock, case, mode)
            except Exception as error:
                write({"name": case["name"], "mode": mode, "error": f"{type(error).__name__}: {error}"[:500]})
                continue
            write(row)
            if device == "cuda" and row["p50Ms"] < SHORT_MS:
                short.append((row, call))
        if device == "cuda":
            torch.cuda.empty_cache()
    # Last, since a graph that cannot be captured may spoil what follows.
    for row, call in short:
        set_tf32(torch, row["mode"] == "tf32")
        try:
            median = clock.graph_median(call, row["calls"])
        except Exception as error:
            # The row of ordinary calls stands.
            write({"name": row["name"], "mode": row["mode"], "error": f"graph: {type(error).__name__}: {error}"[:500]})
            continue
        write({**row, "way": f"{row['way']}, graph", "p50Ms": median})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    device = parser.parse_args().device
    try:
        import torch
    except ImportError as error:
        return write({"missing": f"python3 has no PyTorch: {error}"})
    if device == "cuda" and not torch.cuda.is_available():
        return write({"missing": f"PyTorch {torch.__version__} finds no CUDA device"})
    torch.backends.cudnn.benchmark = True
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    write({"torch": torch.__version__, "cuda": str(torch.version.cuda), "device": name})
    with torch.inference_mode():
        run(torch, device, json.load(sys.stdin)["cases"])


if __name__ == "__main__":
    main()
