"""Quantized models' bytes beside ONNX Runtime's: all that is quantized in a model becomes an output of it, and is compared element by element, kernel by kernel: each reads the bytes that ONNX Runtime had.

    accuracy.py --ingot build/bin/ingot DIR... [--target native] [--keep FOLDER]

A model is a folder with model.onnx and test_data_set_0; one that is not quantized is quantized by `ingot quantize`, as bench/quantized.py does (--keep: where that stays). `equal` and `one step` are the
shares of elements that are the same, or differ by no more than a step of their type; `strict` are those of --accuracy strict beside ONNX Runtime with its optimizations switched off, which computes one operator
after the other. `whole model` is the share within a step where the model runs as it is, so that each kernel reads what the one before it made: a difference is read by all behind it, and in models of random weights
it grows. Ends with 1 where less than --least are within a step, kernel by kernel.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import compare
import numpy as np
import onnx
import onnxruntime
import quantized
from onnx import numpy_helper

WRITES_BYTES = ("QuantizeLinear", "QLinear", "DynamicQuantizeLinear", "QGemm")
BYTES = {onnx.TensorProto.UINT8: np.uint8, onnx.TensorProto.INT8: np.int8}


def with_bytes(model):
    """The model with all tensors of bytes that its operators make as outputs, and how many there are."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer} | {node.output[0]: node.attribute[0].t for node in model.graph.node if node.op_type == "Constant"}
    types = {}
    for node in model.graph.node:
        if not node.op_type.startswith(WRITES_BYTES):
            continue
        zero = {"QuantizeLinear": 2, "QLinearConv": 7, "QLinearMatMul": 7}.get(node.op_type, len(node.input) - 1)
        known = constants.get(node.input[zero]) if len(node.input) > zero else None
        types[node.output[0]] = known.data_type if known is not None else onnx.TensorProto.UINT8
    own = {value.name for value in model.graph.output}
    added = [name for name, kind in types.items() if kind in BYTES and name not in own]
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in added)
    for value in list(model.graph.output)[-len(added) :] if added else []:
        value.type.tensor_type.elem_type = types[value.name]
    return model, [value.name for value in model.graph.output]


def by_ingot(arguments, folder, out, flags):
    command = [arguments.ingot, "run", folder / "model.onnx", "--data", folder / "test_data_set_0", "--out", out, "--target", arguments.target, *flags]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:300])
    return [numpy_helper.to_array(onnx.load_tensor(out / f"output_{k}.pb")) for k in range(len(list(out.glob("output_*.pb"))))]


def by_onnxruntime(folder, optimized):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    return session.run(None, compare.feeds_of(folder))


def shares(ours, theirs):
    """(elements, equal, within a step, the largest difference) of all tensors of bytes."""
    differences = [np.abs(a.astype(np.int32) - b.astype(np.int32)).ravel() for a, b in zip(ours, theirs, strict=True) if b.dtype in (np.uint8, np.int8)]
    all = np.concatenate(differences) if differences else np.zeros(0, np.int32)
    return len(differences), all.size, float(np.mean(all == 0)), float(np.mean(all <= 1)), int(all.max())


def kernel_by_kernel(model, values):
    """The model whose operators read its bytes from inputs with these values, and all its inputs' values."""
    given = {name: f"{name} given" for name in values}
    for node in model.graph.node:
        node.input[:] = [given.get(name, name) for name in node.input]
    for name, value in values.items():
        model.graph.input.append(onnx.helper.make_tensor_value_info(given[name], onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape))
    del model.graph.value_info[:]
    return model, {given[name]: value for name, value in values.items()}


def folder_of(scratch, name, model, inputs):
    folder = scratch / name
    (folder / "test_data_set_0").mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    weights = {tensor.name for tensor in model.graph.initializer}
    for k, value in enumerate(value for value in model.graph.input if value.name not in weights):
        onnx.save_tensor(numpy_helper.from_array(inputs[value.name], value.name), folder / "test_data_set_0" / f"input_{k}.pb")
    return folder


def measure(arguments, folder, scratch):
    """Shares of both policies kernel by kernel, and those of the whole model."""
    path = folder / "model.onnx"
    if not quantized.is_quantized(onnx.load(path)):
        path = (arguments.keep or scratch) / f"{folder.name}-int8.onnx"
        if not path.exists():
            quantized.quantize(arguments, folder, path)
    model, names = with_bytes(onnx.load(path))
    whole = quantized.folder_with(scratch, "whole", model, folder / "test_data_set_0")
    rows, feeds = [], compare.feeds_of(whole)
    for flags, optimized in ([], True), (["--accuracy", "strict"], False):
        values = by_onnxruntime(whole, optimized)
        bytes = {name: value for name, value in zip(names, values, strict=True) if value.dtype in (np.uint8, np.int8)}
        cut, given = kernel_by_kernel(with_bytes(onnx.load(path))[0], bytes)
        cut = folder_of(scratch, f"cut{len(rows)}", cut, feeds | given)
        for own in cut, whole:
            out = scratch / f"out{len(rows)}"
            out.mkdir()
            rows.append(shares(by_ingot(arguments, own, out, flags), by_onnxruntime(own, optimized)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path), parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--target", default="native")
    parser.add_argument("--scheme", default="int8"), parser.add_argument("--flags", default=""), parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--least", type=float, default=0.999)
    arguments = parser.parse_args()
    arguments.ingot, missed = os.path.abspath(arguments.ingot), []
    print(f"| model, {arguments.target} | tensors | elements | equal | one step | largest | whole model | strict: equal | one step | largest | whole model |\n|---|{'--:|' * 10}", flush=True)
    percent = lambda share: f"{100 * share:.3f} %"
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory(prefix="ingot-accuracy-") as scratch:
            rows = measure(arguments, folder, pathlib.Path(scratch))
        text = [f"{percent(row[2])} | {percent(row[3])} | {row[4]} | {percent(whole[3])}" for row, whole in (rows[:2], rows[2:])]
        print(f"| {folder.name} | {rows[0][0]} | {rows[0][1]:,} | {' | '.join(text)} |", flush=True)
        missed += [folder.name] if min(rows[0][3], rows[2][3]) < arguments.least else []
    return f"less than {percent(arguments.least)} within a step: {' '.join(missed)}" if missed else 0


if __name__ == "__main__":
    sys.exit(main())
