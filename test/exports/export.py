"""Exports one architecture, in a process of its own: export.py NAME DIR VARIANT...

VARIANT is script17, dynamo18, ...: torch.onnx.export with dynamo=False or dynamo=True, and an opset. Each becomes DIR/NAME-VARIANT with model.onnx and
test_data_set_K/ (inputs, and outputs from ONNX Runtime without its optimizations), or with a file `failed` that says why not."""
import collections.abc
import contextlib
import io
import os
import pathlib
import re
import sys
import traceback
import warnings

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")
warnings.filterwarnings("ignore")

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper

import architecture

onnxruntime.set_default_logger_severity(4)
torch.backends.mha.set_fastpath_enabled(False)  # a layer of nn.TransformerEncoder in one operator, which has no ONNX form


def seed(module):
    """Weights that keep values of order one and bring out what is wrong: biases are not zero, norms not one, statistics not the initial ones."""
    torch.manual_seed(0)
    for _, weight in module.named_parameters():
        if weight.dim() >= 2:
            weight.normal_(std=max(1, weight[0].numel()) ** -0.5)
        elif weight.dim() == 1:
            weight.add_(0.1 * torch.randn_like(weight))
    for name, buffer in module.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_(std=0.1)
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 1.5)
    return module.eval()


def tensors(value):
    """The tensors in a module's result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if hasattr(value, "to_legacy_cache"):
        value = value.to_legacy_cache()
    if isinstance(value, collections.abc.Mapping):
        value = value.values()
    if isinstance(value, collections.abc.Iterable) and not isinstance(value, str):
        return [tensor for part in value for tensor in tensors(part)]
    return []


class Exported(torch.nn.Module):
    """A module whose inputs are tensors by position and whose outputs are tensors."""

    def __init__(self, declared):
        super().__init__()
        torch.manual_seed(0)
        self.module, self.names, self.call = declared.make(), list(declared.inputs), declared.call

    def forward(self, *inputs):
        named = dict(zip(self.names, inputs))
        return tuple(tensors(self.call(self.module, **named) if self.call else self.module(**named)))


def axes_that_change(module, declared):
    """The names that a careful caller gives to the axes of outputs, found by running the module at all sizes."""
    shapes = []
    for row in range(len(declared.sizes)):
        shapes.append([tuple(out.shape) for out in module(*map(torch.from_numpy, declared.feeds(row).values()))])
    return {f"output_{k}": {axis: f"output_{k}_{axis}" for axis in range(len(all[0])) if len({shape[axis] for shape in all}) > 1} for k, all in enumerate(zip(*shapes))}


def export(module, declared, variant, path):
    exporter, opset = re.fullmatch(r"([a-z]+)(\d+)", variant).groups()
    feeds = tuple(torch.from_numpy(array) for array in declared.traced().values())
    dynamic, common = {name: value.axes() for name, value in declared.inputs.items()}, {"opset_version": int(opset), "input_names": list(declared.inputs)}
    if exporter == "script":
        outputs = axes_that_change(module, declared)
        torch.onnx.export(module, feeds, path, dynamo=False, output_names=list(outputs), dynamic_axes=dynamic | outputs, **common)
    else:
        torch.onnx.export(module, feeds, path, dynamo=True, external_data=False, dynamic_shapes=(tuple(dynamic.values()),), **common)


def record(declared, folder):
    """Data sets for all sizes."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])
    taken = {value.name for value in session.get_inputs()}
    for row in range(len(declared.sizes)):
        feeds = {name: array for name, array in declared.feeds(row).items() if name in taken}
        if missing := taken - set(feeds):
            raise RuntimeError(f"inputs of other names: {missing}")
        write(folder / f"test_data_set_{row}", session, feeds)


def write(data, session, feeds):
    data.mkdir(exist_ok=True)
    names = [value.name for value in session.get_inputs()]
    for k, name in enumerate(names):
        onnx.save_tensor(numpy_helper.from_array(feeds[name], name), data / f"input_{k}.pb")
    for k, (value, array) in enumerate(zip(session.get_outputs(), session.run(None, feeds))):
        onnx.save_tensor(numpy_helper.from_array(np.asarray(array), value.name), data / f"output_{k}.pb")


def why(error):
    """The sentence that an exporter's wall of text ends in."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:4])}"[:400]


def one(module, declared, variant, folder):
    folder.mkdir(parents=True, exist_ok=True)
    log = io.StringIO()
    try:
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            step = "export"
            export(module, declared, variant, folder / "model.onnx")
            step = "ONNX Runtime"
            record(declared, folder)
    except Exception as error:
        (folder / "failed").write_text(f"{step}: {why(error)}\n")
        (folder / "log").write_text(log.getvalue() + traceback.format_exc())
    else:
        (folder / "done").touch()


def main():
    name, out, *variants = sys.argv[1:]
    declared = architecture.everything()[name]
    with torch.no_grad():
        module = seed(Exported(declared))
        for variant in variants:
            one(module, declared, variant, pathlib.Path(out) / f"{name}-{variant}")


if __name__ == "__main__":
    main()
