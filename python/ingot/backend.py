"""The interface of onnx.backend: `ingot.backend.prepare(model).run(inputs)`, for ONNX's own tests and for programs that take any backend.

A model whose inputs are sequences, or have no number of axes, is compiled when the inputs are there: code is made for their number and shapes.

>>> import ingot.backend, numpy as np, onnx
>>> model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]> neg (float[N] x) => (float[N] y) { y = Neg(x) }')
>>> ingot.backend.prepare(model).run([np.float32([1, -2])])
(array([-1.,  2.], dtype=float32),)
"""
import typing

import numpy as np
import onnx.backend.base as base
import onnx.helper

from . import _compile
from ._errors import CompileError


def given_inputs(model):
    """The inputs that a run is given: those that are no initializers."""
    weights = {each.name for each in model.graph.initializer} | {each.values.name for each in model.graph.sparse_initializer}
    return [each for each in model.graph.input if each.name not in weights]


def sequence_type(value):
    """The type of a sequence, in an optional one too; None for another value."""
    kind = value.type.optional_type.elem_type if value.type.HasField("optional_type") else value.type
    return kind if kind.HasField("sequence_type") else None


def has_rank(value):
    kind = value.type.optional_type.elem_type if value.type.HasField("optional_type") else value.type
    return not kind.HasField("tensor_type") or kind.tensor_type.HasField("shape")


class IngotRep(base.BackendRep):
    """A model that is compiled, or will be when its inputs are there."""

    def __init__(self, model, options):
        self.proto, self.options, self.values = model, options, given_inputs(model)
        waits = any(sequence_type(each) or not has_rank(each) for each in self.values)
        self.models = {} if waits else {(): _compile.compile(model, **options)}
        self.waits = waits

    def run(self, inputs, **kwargs) -> typing.Tuple[typing.Any, ...]:
        """The outputs, a tuple, for a list of inputs or a dictionary."""
        if isinstance(inputs, dict):
            inputs = [inputs.get(each.name) for each in self.values]
        inputs = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        model = self.model_for(inputs)
        results = model(*inputs)
        return (results,) if len(model.outputs) == 1 else tuple(results)

    def model_for(self, inputs):
        if not self.waits:
            return self.models[()]
        sequences, shapes = {}, {}
        for value, given in zip(self.values, inputs):
            if sequence_type(value):
                sequences[value.name] = "none" if given is None else len(given)
                known = sequence_type(value).sequence_type.elem_type.tensor_type.HasField("shape")
                shapes |= {} if known else {f"{value.name}[{k}]": np.shape(item) for k, item in enumerate(given or ())}
            elif not has_rank(value) and given is not None:
                shapes[value.name] = np.shape(given)
        key = tuple(sequences.items()), tuple(shapes.items())
        if key not in self.models:
            options = {**self.options, "sequences": sequences, "shapes": shapes}
            self.models[key] = _compile.compile(self.proto, **options)
        return self.models[key]


class IngotBackend(base.Backend):
    """onnx.backend.base.Backend on the processor of this machine."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        try:
            cls.prepare(model, device, **kwargs)
        except CompileError:
            return False
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """Compiles a ModelProto; what else is given are arguments of ingot.compile."""
        if not cls.supports_device(device):
            raise ValueError(f"ingot.backend has no device {device}")
        return IngotRep(model, kwargs)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """One node as a model; `outputs_info` has (dtype, shape) of each output, without which the shapes are left to the compiler."""
        arrays = [np.asarray(each) for each in inputs]
        values = [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in zip(filter(None, node.input), arrays)]
        facts = outputs_info or [(arrays[0].dtype, None)] * len(node.output)
        results = [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape) for name, (dtype, shape) in zip(node.output, facts)]
        graph = onnx.helper.make_graph([node], "node", values, results)
        opsets = [onnx.helper.make_opsetid(node.domain, kwargs.pop("opset_version", onnx.defs.onnx_opset_version()))]
        return cls.run_model(onnx.helper.make_model(graph, opset_imports=opsets), arrays, device, **kwargs)

    @classmethod
    def supports_device(cls, device):
        return device.split(":")[0] == "CPU"


is_compatible = IngotBackend.is_compatible
prepare = IngotBackend.prepare
run = IngotBackend.run_model
run_model = IngotBackend.run_model
run_node = IngotBackend.run_node
supports_device = IngotBackend.supports_device
