"""ingot compiles ONNX models ahead of time and runs them.

>>> import ingot, numpy as np, onnx
>>> text = '<ir_version: 8, opset_import: ["" : 17]> norm (float[N, 3] x) => (float[N, 3] y) { y = Softmax<axis = 1>(x) }'
>>> m = ingot.compile(onnx.parser.parse_model(text))
>>> m(np.zeros((2, 3), np.float32))
array([[0.33333334, 0.33333334, 0.33333334],
       [0.33333334, 0.33333334, 0.33333334]], dtype=float32)

compile(model)      compiles a path, bytes or a ModelProto, and returns a Model
load(path)          opens what Model.save or `ingot compile --emit shared` wrote
quantize(model, output, data)  writes an ONNX model with smaller weights, and returns what it did
from_torch(model)   compiles a module of PyTorch; torch.compile(model, backend="ingot") runs what it can compiled
from_sklearn(model) compiles an estimator of scikit-learn
InferenceSession    for programs written for onnxruntime
Generator           language models: text, streamed, several at once; python -m ingot.openai serves it
ingot.backend       onnx.backend's interface
"""
from ._compile import compile
from ._errors import CompileError, Error, RunError, ShapeError
from ._generator import Generator, Text, Tokens
from ._model import Model, Symbol, Tensor, load
from ._quantize import quantize
from ._sampling import Sampling
from ._session import InferenceSession, SessionOptions, get_available_providers
from ._sklearn import from_sklearn
from ._torch import FallbackWarning, from_torch

__version__ = "0.1.0"
__all__ = ["compile", "load", "quantize", "Model", "Tensor", "Symbol", "Error", "CompileError", "RunError", "ShapeError"]
__all__ += ["from_sklearn", "from_torch", "FallbackWarning"]
__all__ += ["InferenceSession", "SessionOptions", "get_available_providers"]
__all__ += ["Generator", "Sampling", "Text", "Tokens"]
