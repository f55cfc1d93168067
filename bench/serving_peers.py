"""Other engines behind the same server as ingot, for bench/serving.py: the runtime is python/mlserver's, with its checks, its queue and its batches; what is called
to run is onnxruntime's or OpenVINO's. model-settings.json names `serving_peers.OnnxRuntime` or `serving_peers.OpenVino`."""
import threading

import ingot_mlserver
from ingot_mlserver._engine import Value, model_file

# How ONNX Runtime and OpenVINO name element types.
ONNX_RUNTIME = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(string)": "string", "tensor(bool)": "bool"}
ONNX_RUNTIME |= {f"tensor({name}{bits})": f"{name}{bits}" for name in ("int", "uint") for bits in (8, 16, 32, 64)}
OPENVINO = {"f32": "float32", "f64": "float64", "f16": "float16", "boolean": "bool", "string": "string"}
OPENVINO |= {f"{letter}{bits}": f"{name}{bits}" for letter, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}


def values(tensors):
    """The Values of (name, type, shape), in which a size that is no number is one that a run chooses."""
    return [Value(name, kind, tuple(size if isinstance(size, int) else str(size or f"{name}_{axis}") for axis, size in enumerate(shape))) for name, kind, shape in tensors]


class Peer:
    variants = {}

    @property
    def bounds(self):
        return {size: (0, None) for value in self.inputs for size in value.shape if isinstance(size, str)}


class OnnxRuntimeEngine(Peer):
    def __init__(self, uri, options):
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads
        self.session = onnxruntime.InferenceSession(str(model_file(uri)), settings, providers=["CPUExecutionProvider"])
        read = lambda tensors: values([(each.name, ONNX_RUNTIME[each.type], each.shape) for each in tensors])
        self.inputs, self.outputs = read(self.session.get_inputs()), read(self.session.get_outputs())

    def run(self, arrays):
        return self.session.run(None, {value.name: array for value, array in zip(self.inputs, arrays) if array is not None})


class OpenVinoEngine(Peer):
    """A request for each thread that calls, since one of OpenVINO's cannot be shared."""

    def __init__(self, uri, options):
        import openvino

        settings = {"INFERENCE_NUM_THREADS": options.threads, "PERFORMANCE_HINT": "LATENCY"}
        self.model, self.local = openvino.Core().compile_model(str(model_file(uri)), "CPU", settings), threading.local()
        read = lambda ports: values([(each.any_name, OPENVINO[each.element_type.get_type_name()], [size.get_length() if size.is_static else None for size in each.partial_shape]) for each in ports])
        self.inputs, self.outputs = read(self.model.inputs), read(self.model.outputs)

    def run(self, arrays):
        if not hasattr(self.local, "request"):
            self.local.request = self.model.create_infer_request()
        results = self.local.request.infer(list(arrays), share_inputs=True)
        return [results[number].copy() for number in range(len(self.outputs))]


class OnnxRuntime(ingot_mlserver.IngotRuntime):
    def open(self, uri, options):
        return OnnxRuntimeEngine(uri, options)


class OpenVino(ingot_mlserver.IngotRuntime):
    def open(self, uri, options):
        return OpenVinoEngine(uri, options)
