"""A module of PyTorch as a compiled model. PyTorch's exporter makes a graph of a module whose results are tensors alone (Traced, Results), and ONNX
of it (export); CompiledProgram runs what ingot makes of that on tensors, and TorchModel has the module's own arguments and results around it.

What changes its inputs or buffers, or draws random numbers, is no function of its inputs, as a compiled model is one: export refuses it, and it runs in
PyTorch. The exporter itself would leave such changes out without a word."""
import inspect
import logging
import operator
import pathlib
import tempfile
import typing
import warnings

import numpy as np
import torch
from torch.utils import _pytree

from . import _compile
from ._errors import CompileError, Error
from ._tensors import numpy_type
from ._torch import say

LARGEST_MESSAGE = 1 << 30  # bytes of weights that a ModelProto has in itself; protobuf ends at 2 GB
# Types that numpy lacks, with one of the same size that it has, and ingot's name.
NARROW = {torch.bfloat16: (torch.int16, "bfloat16"), torch.float8_e4m3fn: (torch.uint8, "float8e4m3fn"), torch.float8_e5m2: (torch.uint8, "float8e5m2")}
NARROW |= {torch.float8_e4m3fnuz: (torch.uint8, "float8e4m3fnuz"), torch.float8_e5m2fnuz: (torch.uint8, "float8e5m2fnuz")}


class CannotExport(Exception):
    """Why a module cannot be compiled, in one line."""


def check_packages():
    """What torch.onnx needs, which PyTorch does not install itself: without it nothing can be compiled, and falling back would hide that."""
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise ImportError(f"PyTorch's exporter needs the package {error.name}: pip install onnx onnxscript") from error


def first_line(error):
    """The cause behind an exporter's errors, as one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else ""
    return f"{type(error).__name__}: {text}"[:300]


def to_array(tensor):
    """A numpy array in a tensor's memory."""
    tensor = tensor.detach()
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    if tensor.dtype in NARROW:
        same, name = NARROW[tensor.dtype]
        return np.from_dlpack(tensor.view(same)).view(numpy_type(name))
    return np.from_dlpack(tensor)


def to_tensor(array, dtype):
    """A tensor in an array's memory."""
    if dtype in NARROW:
        same, _ = NARROW[dtype]
        return torch.from_dlpack(array.view(np.int16 if same is torch.int16 else np.uint8)).view(dtype)
    return torch.from_dlpack(array)


class Results:
    """How the results of a module are made of its tensors, each once: `leaves` has the number of a tensor, or a value in a list."""

    def __init__(self):
        self.structure, self.leaves = None, []

    def take(self, results):
        """The tensors among the results."""
        values, self.structure = _pytree.tree_flatten(results)
        tensors, self.leaves = [], []
        for value in values:
            if isinstance(value, torch.Tensor):
                number = next((k for k, other in enumerate(tensors) if other is value), len(tensors))
                tensors[number:] = tensors[number:] or [value]
                self.leaves.append(number)
            elif value is None or isinstance(value, (bool, int, float, str)):
                self.leaves.append([value])
            else:
                raise CannotExport(f"a result is a {type(value).__name__}, which is no tensor")
        if not tensors:
            raise CannotExport("no result is a tensor")
        return tuple(tensors)

    def assemble(self, tensors):
        return _pytree.tree_unflatten([leaf[0] if isinstance(leaf, list) else tensors[leaf] for leaf in self.leaves], self.structure)


class Traced(torch.nn.Module):
    """A module around another one, whose results are the tensors among those of the other."""

    def __init__(self, module, results):
        super().__init__()
        self.module = module

        def forward(*args, **kwargs):
            return results.take(module(*args, **kwargs))

        # dynamic_shapes names arguments as the module does.
        forward.__signature__ = inspect.signature(module.forward if isinstance(module, torch.nn.Module) else module)
        self.forward = forward


class Exported(typing.NamedTuple):
    """What the exporters made: torch.onnx's program, and torch.export's with the operators that became ONNX."""

    onnx: typing.Any
    program: typing.Any

    def inputs(self):
        """The nodes of the graph that are arguments, in their order; None for one that is no tensor."""
        nodes = {node.name: node for node in self.program.graph.nodes if node.op == "placeholder"}
        arguments = [spec.arg for spec in self.program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
        return [nodes.get(argument.name) if type(argument).__name__ == "TensorArgument" else None for argument in arguments]

    def outputs(self):
        results = next(node for node in reversed(self.program.graph.nodes) if node.op == "output").args[0]
        return [node for node, spec in zip(results, self.program.graph_signature.output_specs) if spec.kind.name == "USER_OUTPUT"]

    def compile(self, options):
        if sum(tensor.nbytes for tensor in self.program.state_dict.values()) < LARGEST_MESSAGE:
            return _compile.compile(self.onnx.model_proto, **options)
        with tempfile.TemporaryDirectory(prefix="ingot-") as folder:
            path = pathlib.Path(folder, "model.onnx")
            self.onnx.save(path, external_data=True)
            return _compile.compile(path, **options)


def draws(node):
    """Whether a node draws random numbers. What may drop values (attention, recurrent layers) does so in training alone, or with a probability."""
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    arguments = node.target._schema.arguments
    values = {argument.name: argument.default_value for argument in arguments if argument.has_default_value()}
    values |= {argument.name: value for argument, value in zip(arguments, node.args)} | node.kwargs
    is_off = any(values.get(name, True) is False for name in ("train", "training")) or any(values.get(name, 1) == 0 for name in ("dropout_p", "dropout", "p"))
    return not is_off


def check(exported):
    """Raises where the graph is no function of its inputs."""
    for spec in exported.program.graph_signature.output_specs:
        if "MUTATION" in spec.kind.name:
            raise CannotExport(f"it changes {'the buffer' if 'BUFFER' in spec.kind.name else 'its input'} '{spec.target}' (a module in training mode does; model.eval())")
    for node in exported.program.graph.nodes:
        if draws(node):
            raise CannotExport(f"{node.target} draws random numbers (dropout does in training mode; model.eval())")


def borrowed(exported):
    """The outputs that are an input, a weight, or a view of one."""
    found = []
    for output in exported.outputs():
        node = output
        while node.op == "call_function" and node.args and isinstance(node.args[0], torch.fx.Node) and is_view(node):
            node = node.args[0]
        if node.op in ("placeholder", "get_attr"):
            found.append(output.name)
    return found


def is_view(node):
    """Whether a node's result lies in the memory of its first argument."""
    if node.target is operator.getitem:
        return is_view(node.args[0]) if node.args[0].op == "call_function" else False
    schema = getattr(node.target, "_schema", None)
    return bool(schema) and any(result.alias_info for result in schema.returns)


def named(shapes, dims):
    """`dynamic_shapes` with a Dim in the place of each name."""
    if isinstance(shapes, dict):
        return {key: named(each, dims) for key, each in shapes.items()}
    if isinstance(shapes, (list, tuple)):
        return type(shapes)(named(each, dims) for each in shapes)
    return dims.setdefault(shapes, torch.export.Dim(shapes)) if isinstance(shapes, str) else shapes


def export(module, args, kwargs, dynamic_shapes):
    """The module as ONNX, by torch.export and torch.onnx. Raises CannotExport."""
    check_packages()
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with torch.no_grad(), warnings.catch_warnings(), torch._guards.tracing(None):
            warnings.simplefilter("ignore")
            program = torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
            made = torch.onnx.export(program, dynamo=True, verbose=False)
    except CannotExport:
        raise
    except Exception as error:  # the exporters raise whatever went wrong below them
        raise CannotExport(f"PyTorch's exporter refuses it: {first_line(error)}") from error
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)
    exported = Exported(made, made.exported_program)
    check(exported)
    return exported


class CompiledProgram:
    """A compiled model that is called with tensors: all arguments of the exported module, flat; those that are no tensors are left out."""

    def __init__(self, exported, options):
        inputs, outputs = exported.inputs(), exported.outputs()
        try:
            self.model = exported.compile(options)
        except CompileError as error:
            raise CannotExport(f"ingot refuses it: {error.messages[0] if error.messages else 'without a message'}") from error
        self.places = [number for number, node in enumerate(inputs) if node is not None]
        # Sizes for which alone the exporter's graph is right, although they may have been declared open.
        self.shapes = [tuple(size if isinstance(size, int) else None for size in inputs[number].meta["val"].shape) for number in self.places]
        self.inputs = [inputs[number].meta["val"].dtype for number in self.places]
        self.outputs = [node.meta["val"].dtype for node in outputs]
        if len(self.model.inputs) != len(self.places) or len(self.model.outputs) != len(self.outputs):
            raise CannotExport("PyTorch's exporter wrote a model with other inputs or outputs than the module's")

    def __call__(self, arguments):
        results = self.model(*[to_array(arguments[place]) for place in self.places])
        results = results if len(self.outputs) > 1 else (results,)
        return [to_tensor(array, dtype) for array, dtype in zip(results, self.outputs)]


def plain(tensor):
    """Whether a value is a tensor whose memory a compiled model reads: on the processor, dense in the sense of layouts."""
    return isinstance(tensor, torch.Tensor) and tensor.device.type == "cpu" and tensor.layout == torch.strided


def check_inputs(values):
    for value in values:
        if isinstance(value, torch.Tensor) and not plain(value):
            raise CannotExport(f"a tensor is on {value.device} with layout {value.layout}; ingot's Python package runs on the processor, on strided tensors")


class TorchModel:
    """A module of PyTorch, compiled: called with tensors as the module was, it returns tensors in the module's structure.

    `model` is the ingot.Model (with save, report, profile), or None where PyTorch runs the module; `reason` says why it does."""

    def __init__(self, module, example, kwargs, dynamic_shapes, options):
        self.module, self.model, self.reason = module, None, None
        leaves, self._structure = _pytree.tree_flatten((example, kwargs))
        self._names, self._constants = list(kwargs), {k: leaf for k, leaf in enumerate(leaves) if not isinstance(leaf, torch.Tensor)}
        try:
            check_inputs([*leaves, *getattr(module, "parameters", list)()])
            self._results = Results()
            exported = export(Traced(module, self._results), example, kwargs, named(dynamic_shapes, {}))
            self._program = CompiledProgram(exported, options)
            self.model = self._program.model
        except CannotExport as error:
            self.reason = str(error)

    def __call__(self, *args, **kwargs):
        if self.model is None:
            return self.module(*args, **kwargs)
        leaves, structure = _pytree.tree_flatten((args, {name: kwargs[name] for name in self._names if name in kwargs}))
        if structure != self._structure or set(kwargs) - set(self._names):
            raise TypeError("the module was exported with other arguments than these; from_torch traces it for one form of arguments")
        for number, value in self._constants.items():
            if leaves[number] != value:
                raise ValueError(f"argument {number} was {value!r} when the module was exported, and is a constant of the compiled model; it was given {leaves[number]!r}")
        if torch.is_grad_enabled() and any(isinstance(leaf, torch.Tensor) and leaf.requires_grad for leaf in leaves):
            say("a call", "an input requires gradients; torch.no_grad() or torch.inference_mode() around the call compiles it")
            return self.module(*args, **kwargs)
        return self._results.assemble(self._program(leaves))

    def __repr__(self):
        return f"<{type(self.module).__name__} by {self.model!r}>" if self.model is not None else f"<{type(self.module).__name__} in PyTorch: {self.reason}>"


def from_torch(module, example, kwargs, dynamic_shapes, fallback, options):
    made = TorchModel(module, example, kwargs, dynamic_shapes, options)
    if made.reason is not None:
        if not fallback:
            raise Error(f"{type(module).__name__}: {made.reason}")
        say(type(module).__name__, made.reason)
    return made
