"""Writes a trained network as the zoo keeps it: one ONNX file, opset 17, weights inside, the batch free."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

OPSET = 17
BATCH = "batch"

# What the runner's own kernels compute; a network of the zoo has no other operator.
OPERATORS = set(
    "Add AveragePool Clip Concat Conv ConvTranspose Flatten GRU Gather Gemm GlobalAveragePool HardSigmoid Identity LSTM MatMul"
    " MaxPool Mul Pow ReduceMean Relu Reshape Resize Sigmoid Slice Softmax Squeeze Sub Sqrt Tanh Transpose Unsqueeze".split()
)


def export_network(network: nn.Module, inputs: dict[str, Tensor], outputs: list[str], path: Path) -> None:
    """`inputs` are examples by name, each [rows, ...]. Fails where the file says otherwise than the network does."""
    network.eval()
    names = list(inputs)
    torch.onnx.export(
        network,
        tuple(inputs.values()),
        str(path),
        input_names=names,
        output_names=outputs,
        dynamic_axes={name: {0: BATCH} for name in [*names, *outputs]},
        opset_version=OPSET,
        dynamo=False,
    )
    model = onnx.load(path)
    begin_at_rest(model)
    drop_unused(model)
    del model.graph.value_info[:]
    fix_output_shapes(model, network, inputs, outputs)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    compare(network, inputs, outputs, path)
    found = {node.op_type for node in model.graph.node}
    if not found <= OPERATORS | {"Constant"}:
        raise ValueError(f"operators that the zoo does not have: {sorted(found - OPERATORS)}")


def begin_at_rest(model: onnx.ModelProto) -> None:
    """Leaves out the first states of recurrent layers: zeros of the batch's size are what is meant without them."""
    for node in model.graph.node:
        if node.op_type in ("GRU", "LSTM"):
            kept = [name for name in node.input][:4]
            del node.input[:]
            node.input.extend(kept)


def drop_unused(model: onnx.ModelProto) -> None:
    """Takes out nodes and weights that no output depends on, and makes constants weights."""
    graph = model.graph
    constants = [node for node in graph.node if node.op_type == "Constant"]
    for node in constants:
        tensor = node.attribute[0].t
        tensor.name = node.output[0]
        graph.initializer.append(tensor)
        graph.node.remove(node)
    while True:
        used = {name for node in graph.node for name in node.input} | {value.name for value in graph.output}
        unused = [node for node in graph.node if not used.intersection(node.output)]
        if not unused:
            break
        for node in unused:
            graph.node.remove(node)
    for tensor in [tensor for tensor in graph.initializer if tensor.name not in used]:
        graph.initializer.remove(tensor)


def fix_output_shapes(model: onnx.ModelProto, network: nn.Module, inputs: dict[str, Tensor], names: list[str]) -> None:
    """Only the batch is free; the exporter leaves more open than that."""
    with torch.no_grad():
        found = network(*inputs.values())
    outputs = found if isinstance(found, tuple) else (found,)
    del model.graph.output[:]
    for name, tensor in zip(names, outputs, strict=True):
        shape = [BATCH, *tensor.shape[1:]]
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))


def compare(network: nn.Module, inputs: dict[str, Tensor], names: list[str], path: Path) -> None:
    """The file against the network, for one row and for several."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for rows in (1, len(next(iter(inputs.values())))):
        some = {name: tensor[:rows] for name, tensor in inputs.items()}
        with torch.no_grad():
            wanted = network(*some.values())
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        found = session.run(names, {name: tensor.numpy() for name, tensor in some.items()})
        for name, one, other in zip(names, wanted, found, strict=True):
            np.testing.assert_allclose(other, one.numpy(), rtol=1e-3, atol=1e-4, err_msg=name)


def count_parameters(path: Path) -> int:
    weights = onnx.load(path).graph.initializer
    return sum(numpy_helper.to_array(each).size for each in weights if each.data_type == TensorProto.FLOAT)
