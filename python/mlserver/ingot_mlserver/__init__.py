"""A runtime of MLServer for ONNX models that ingot compiles: KServe's protocol v2 over REST and gRPC.

model-settings.json of a folder of the repository:

    {"name": "mlp", "implementation": "ingot_mlserver.IngotRuntime", "parameters": {"uri": "mlp.onnx", "extra": {"dims": {"batch": "1..64"}}}}

docs/using/serving.md is the guide; the modules here are

_options    what `parameters.extra` may say
_engine     opens the model that the uri names, as something that has inputs and outputs and runs on arrays
_contents   the data of tensors as arrays, where MLServer has lists of numbers
_signature  checks a request against the model before anything is made of it, and turns its tensors into arrays
_scheduler  runs requests on threads, several in one run where their first axis is open, and refuses those that are too many
_metrics    what Prometheus is told
_runtime    MLServer's interface, on top of these
"""

from ._runtime import IngotRuntime

__version__ = "0.1.0"
__all__ = ["IngotRuntime"]
