"""ONNX files of packages, exports of libraries, and what ONNX Runtime in Python computes with them.

Lines of JSON on the standard input are answered by lines on the standard output: {"list": folder} by
[{"from", "path"}], with exports written into the folder, and {"run": path, "inputs": tensors, "repeats": n} by
{"outputs": tensors, "p50Ms"} or {"error"}. A tensor is {"name", "dtype", "shape", "bytes"}: base64, or a list of strings.
"""

import base64
import hashlib
import json
import os
import site
import statistics
import sys
import time
import warnings

import numpy as np
import onnxruntime as ort

warnings.filterwarnings("ignore")
# Their files are test data of ONNX itself, or belong to the exporters.
NOT_NETWORKS = {"onnx", "onnxruntime", "skl2onnx", "onnxmltools", "onnxconverter_common"}
SEED = 7


def list_files(folder):
    found, seen = [], set()
    for base in site.getsitepackages():
        for at, _, names in os.walk(base):
            package = os.path.relpath(at, base).split(os.sep)[0]
            if package in NOT_NETWORKS:
                continue
            found += [(package, os.path.join(at, name)) for name in sorted(names) if name.endswith(".onnx")]
    os.makedirs(folder, exist_ok=True)
    found += [("exported", path) for path in export_estimators(folder)]
    files = []
    for source, path in found:
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        if digest not in seen:
            seen.add(digest)
            files.append({"from": source, "path": path})
    return files


def export_estimators(folder):
    """Classifiers and regressors as their libraries' exporters write them, with their own defaults."""
    from lightgbm import LGBMClassifier
    from onnxmltools import convert_lightgbm, convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType as ToolsTensor
    from skl2onnx import to_onnx
    from sklearn.datasets import load_iris
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from xgboost import XGBClassifier

    rows, classes = load_iris(return_X_y=True)
    rows = rows.astype(np.float32)
    estimators = {
        "sklearn-forest": RandomForestClassifier(20, random_state=SEED),
        "sklearn-pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
        "sklearn-mlp-classifier": MLPClassifier(hidden_layer_sizes=(16,), max_iter=300, random_state=SEED),
        "sklearn-mlp-regressor": MLPRegressor(hidden_layer_sizes=(16,), max_iter=300, random_state=SEED),
        "sklearn-boosting-regressor": GradientBoostingRegressor(n_estimators=20, random_state=SEED),
        "sklearn-svm": SVC(random_state=SEED),
    }
    exports = {name: to_onnx(each.fit(rows, classes), rows[:1]) for name, each in estimators.items()}
    named = [("input", ToolsTensor([None, rows.shape[1]]))]
    boosted = LGBMClassifier(n_estimators=20, random_state=SEED, verbose=-1).fit(rows, classes)
    exports["lightgbm-classifier"] = convert_lightgbm(boosted, initial_types=named, target_opset=15)
    trees = XGBClassifier(n_estimators=20, random_state=SEED).fit(rows, classes)
    exports["xgboost-classifier"] = convert_xgboost(trees, initial_types=named, target_opset=15)
    paths = []
    for name, model in exports.items():
        paths.append(os.path.join(folder, f"{name}.onnx"))
        with open(paths[-1], "wb") as file:
            file.write(model.SerializeToString())
    return paths


def run(path, inputs, repeats):
    options = ort.SessionOptions()
    # The order of sums, and with it the last bit, depends on the number of threads.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feeds = {tensor["name"]: decode(tensor) for tensor in inputs}
    outputs = session.run(None, feeds)
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        session.run(None, feeds)
        times.append((time.perf_counter() - started) * 1e3)
    names = [each.name for each in session.get_outputs()]
    return {"outputs": [encode(*pair) for pair in zip(names, outputs)], "p50Ms": statistics.median(times)}


def decode(tensor):
    if tensor["dtype"] == "string":
        return np.array(tensor["bytes"], dtype=object).reshape(tensor["shape"])
    return np.frombuffer(base64.b64decode(tensor["bytes"]), dtype=tensor["dtype"]).reshape(tensor["shape"])


def encode(name, value):
    """A tensor as it is, the scores of maps from class to score, or a sequence's tensors one behind another."""
    if isinstance(value, list) and isinstance(value[0], dict):
        value = np.array([list(each.values()) for each in value], dtype=np.float32)
    value = np.stack(value) if isinstance(value, list) else np.asarray(value)
    if value.dtype == object:
        strings = [str(each) for each in value.ravel()]
        return {"name": name, "dtype": "string", "shape": list(value.shape), "bytes": strings}
    raw = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return {"name": name, "dtype": str(value.dtype), "shape": list(value.shape), "bytes": raw}


def answer(question):
    if "list" in question:
        return list_files(question["list"])
    try:
        return run(question["run"], question["inputs"], question["repeats"])
    except Exception as error:
        return {"error": str(error)[:300]}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
