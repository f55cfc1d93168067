"""The names that programs for onnxruntime use, for `import ingot.onnxruntime as onnxruntime`: sessions of compiled models. Of options, those count that
ingot.SessionOptions names; the others may be set.

>>> import ingot.onnxruntime as onnxruntime, numpy as np, onnx
>>> options = onnxruntime.SessionOptions()
>>> options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
>>> text = '<ir_version: 8, opset_import: ["" : 17]> neg (float[2] x) => (float[2] y) { y = Neg(x) }'
>>> session = onnxruntime.InferenceSession(onnx.parser.parse_model(text).SerializeToString(), options, providers=["CPUExecutionProvider"])
>>> session.run(["y"], {"x": np.float32([1, -2])})
[array([-1.,  2.], dtype=float32)]
"""
import enum
import typing

from ._session import InferenceSession, ModelMetadata, NodeArg, SessionOptions, get_available_providers

__all__ = ["ExecutionMode", "GraphOptimizationLevel", "InferenceSession", "ModelMetadata", "NodeArg", "RunOptions", "SessionOptions"]
__all__ += ["get_all_providers", "get_available_providers", "get_device", "set_default_logger_severity", "set_default_logger_verbosity"]


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class RunOptions:
    """Options of one run, of which none counts."""

    def add_run_config_entry(self, key: str, value: str) -> None:
        pass


def get_all_providers() -> typing.List[str]:
    return get_available_providers()


def get_device() -> str:
    return "CPU"


def set_default_logger_severity(severity: int) -> None:
    """Takes no effect: a compiled model writes no log."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Takes no effect, likewise."""
