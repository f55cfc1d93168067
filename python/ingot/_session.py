"""ingot.InferenceSession, for programs that were written for onnxruntime: one import changed.

What differs: the model is compiled when the session is made (or found in the cache), for this machine's CPU. Providers and most options are taken
and have no effect; sizes that options override become constants of the code. There is no io_binding, and no OrtValue."""
import os
import typing

from . import _compile, _declared, _model

PROVIDERS = ["CPUExecutionProvider"]
TYPES = {"float32": "float", "float64": "double"}  # onnxruntime's names where they are others


def get_available_providers() -> typing.List[str]:
    return list(PROVIDERS)


class SessionOptions:
    """onnxruntime's options, of which these count: intra_op_num_threads, and what add_free_dimension_override_by_name says. Others may be set."""

    intra_op_num_threads: int
    inter_op_num_threads: int

    def __init__(self) -> None:
        self.intra_op_num_threads = self.inter_op_num_threads = 0
        self.dims: typing.Dict[str, int] = {}

    def __setattr__(self, name: str, value: typing.Any) -> None:
        super().__setattr__(name, value)  # for type checkers: any option may be set

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        self.dims[name] = size

    def add_session_config_entry(self, key: str, value: str) -> None:
        pass


class NodeArg:
    """An input or output: `name`, `shape` (numbers, names of sizes, None) and `type` as onnxruntime writes it, "tensor(float)"."""

    name: str
    type: str
    shape: typing.List[typing.Union[int, str, None]]

    def __init__(self, tensor: _model.Tensor, value: typing.Optional[_declared.Value] = None) -> None:
        sizes = [size if isinstance(size, int) else None for size in tensor.shape]
        if value is None or not value.type:  # of a compiled model, or a type that the file leaves to inference
            text = f"tensor({TYPES.get(tensor.type, tensor.type)})"
            self.name, self.type, self.shape = tensor.name, f"optional({text})" if tensor.optional else text, list(tensor.shape) if value is None else sizes
            return
        self.name, self.type, self.shape = value.name, value.type, list(value.shape if value.shape is not None else [])
        if value.type.startswith("tensor"):
            names = value.shape if value.shape is not None else sizes
            self.shape = [name if size is None else size for name, size in zip(names, sizes)]

    def __repr__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


def arguments(tensors: typing.Sequence[_model.Tensor], values: typing.Optional[typing.Sequence[_declared.Value]]) -> typing.List[NodeArg]:
    """What a session says of a compiled model's tensors, by what the model's file declares, if there is one."""
    return [NodeArg(tensor, value) for tensor, value in zip(tensors, values or [None] * len(tensors))]


class ModelMetadata:
    """What the model's file says of itself."""

    def __init__(self, declared: typing.Optional[_declared.Declared] = None) -> None:
        texts = declared.texts if declared else {}
        self.producer_name, self.graph_name = texts.get("producer_name", ""), texts.get("graph_name", "")
        self.domain, self.description = texts.get("domain", ""), texts.get("description", "")
        self.version, self.custom_metadata_map = (declared.version, dict(declared.metadata)) if declared else (_declared.NO_VERSION, {})
        self.graph_description = ""


class InferenceSession:
    """Compiles a model, or opens the manifest NAME.json of a compiled one.

    >>> import ingot, numpy as np, onnx
    >>> text = '<ir_version: 8, opset_import: ["" : 17]> add (float[N] a, float[N] b) => (float[N] c) { c = Add(a, b) }'
    >>> session = ingot.InferenceSession(onnx.parser.parse_model(text).SerializeToString(), providers=["CPUExecutionProvider"])
    >>> session.run(None, {"a": np.float32([1, 2]), "b": np.float32([3, 4])})
    [array([4., 6.], dtype=float32)]
    >>> session.get_inputs()[0]
    NodeArg(name='a', type='tensor(float)', shape=['N'])
    """

    def __init__(
        self,
        path_or_bytes: typing.Any,
        sess_options: typing.Optional[SessionOptions] = None,
        providers: typing.Optional[typing.Sequence[typing.Any]] = None,
        provider_options: typing.Any = None,
        **compile_options: typing.Any,
    ) -> None:
        self._options = sess_options or SessionOptions()
        threads = getattr(sess_options, "intra_op_num_threads", 0)
        self._declared: typing.Optional[_declared.Declared] = None
        if isinstance(path_or_bytes, (str, os.PathLike)) and os.fspath(path_or_bytes).endswith(".json"):
            self.model = _model.load(path_or_bytes, threads=threads)
        else:
            dims = {**getattr(sess_options, "dims", {}), **compile_options.pop("dims", {})}
            self.model = _compile.compile(path_or_bytes, threads=threads, dims=dims, **compile_options)
            self._declared = _declared.declared(path_or_bytes)
        self._inputs = [each.name for each in self.model.inputs]
        self._outputs = [each.name for each in self.model.outputs]
        self._known, self._needed = set(self._inputs), {each.name for each in self.model.inputs if not each.optional}

    def run(self, output_names: typing.Optional[typing.Sequence[str]], input_feed: typing.Mapping[str, typing.Any], run_options: typing.Any = None) -> typing.List[typing.Any]:
        """The outputs that are named, in that order; all where `output_names` is None or empty."""
        if input_feed.keys() != self._known:
            self._check(input_feed)
        results = self.model(*map(input_feed.get, self._inputs))
        results = [results] if len(self._outputs) == 1 else list(results)
        if not output_names:
            return results
        try:
            return [results[self._outputs.index(name)] for name in output_names]
        except ValueError as error:
            raise ValueError(f"Invalid Output Name: {error}") from None

    def _check(self, feed):
        if missing := self._needed - set(feed):
            raise ValueError(f"Required inputs ({sorted(missing)}) are missing from input feed ({sorted(feed)}).")
        if unknown := set(feed) - self._known:
            raise ValueError(f"Invalid input name: {sorted(unknown)[0]}")

    def get_inputs(self) -> typing.List[NodeArg]:
        return arguments(self.model.inputs, self._declared and self._declared.inputs)

    def get_outputs(self) -> typing.List[NodeArg]:
        return arguments(self.model.outputs, self._declared and self._declared.outputs)

    def get_overridable_initializers(self) -> typing.List[NodeArg]:
        """None: initializers are constants of the compiled code."""
        return []

    def get_session_options(self) -> SessionOptions:
        return self._options

    def set_providers(self, providers: typing.Optional[typing.Sequence[typing.Any]] = None, provider_options: typing.Any = None) -> None:
        """Takes no effect: the model is compiled for this machine's processor."""

    def get_providers(self) -> typing.List[str]:
        return list(PROVIDERS)

    def get_provider_options(self) -> typing.Dict[str, typing.Dict[str, typing.Any]]:
        return {name: {} for name in PROVIDERS}

    def get_modelmeta(self) -> ModelMetadata:
        """What the model's file says; of a compiled model that was loaded there is none."""
        return ModelMetadata(self._declared)
