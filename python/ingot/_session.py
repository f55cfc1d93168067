"""ingot.InferenceSession, for programs that were written for onnxruntime: one import changed.

What differs: the model is compiled when the session is made (or found in the cache), for this machine's CPU. Providers and most options are taken
and have no effect; sizes that options override become constants of the code. There is no io_binding, and no OrtValue."""
import os
import typing

from . import _compile, _model

PROVIDERS = ["CPUExecutionProvider"]
TYPES = {"float32": "float", "float64": "double"}  # onnxruntime's names where they are others


def get_available_providers():
    return list(PROVIDERS)


class SessionOptions:
    """onnxruntime's options, of which these count: intra_op_num_threads, and what add_free_dimension_override_by_name says. Others may be set."""

    def __init__(self):
        self.intra_op_num_threads = self.inter_op_num_threads = 0
        self.dims = {}

    def add_free_dimension_override_by_name(self, name, size):
        self.dims[name] = size

    def add_session_config_entry(self, key, value):
        pass


class NodeArg:
    """An input or output: `name`, `shape` (numbers, names of sizes, None) and `type` as onnxruntime writes it, "tensor(float)"."""

    def __init__(self, tensor):
        kind = getattr(tensor, "kind", "tensor")
        text = f"tensor({TYPES.get(tensor.type, tensor.type)})"
        text = kind.format(text) if kind != "tensor" else text
        self.name, self.shape = tensor.name, list(tensor.shape)
        self.type = f"optional({text})" if tensor.optional else text

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata:
    """What the model's file says of itself."""

    def __init__(self, proto=None):
        self.producer_name = getattr(proto, "producer_name", "")
        self.graph_name = proto.graph.name if proto else ""
        self.domain, self.description = getattr(proto, "domain", ""), getattr(proto, "doc_string", "")
        self.version = getattr(proto, "model_version", 0)
        self.custom_metadata_map = {each.key: each.value for each in proto.metadata_props} if proto else {}


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

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **compile_options):
        threads = getattr(sess_options, "intra_op_num_threads", 0)
        self._source = path_or_bytes
        if isinstance(path_or_bytes, (str, os.PathLike)) and os.fspath(path_or_bytes).endswith(".json"):
            self.model = _model.load(path_or_bytes, threads=threads)
        else:
            dims = {**getattr(sess_options, "dims", {}), **compile_options.pop("dims", {})}
            self.model = _compile.compile(path_or_bytes, threads=threads, dims=dims, **compile_options)
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
        return [NodeArg(each) for each in self.model.inputs]

    def get_outputs(self) -> typing.List[NodeArg]:
        return [NodeArg(each) for each in self.model.outputs]

    def get_overridable_initializers(self):
        return []

    def get_providers(self) -> typing.List[str]:
        return list(PROVIDERS)

    def get_provider_options(self):
        return {name: {} for name in PROVIDERS}

    def get_modelmeta(self):
        """Reads the model's file once more, by the package onnx; of a compiled model there is none."""
        if isinstance(self._source, (str, os.PathLike)) and os.fspath(self._source).endswith(".json"):
            return ModelMetadata()
        import onnx

        read = onnx.load_model_from_string if isinstance(self._source, bytes) else lambda path: onnx.load(path, load_external_data=False)
        return ModelMetadata(read(self._source))
