"""A program as a user types it, which mypy --strict accepts, and lines that it has to refuse (stubs.py); it is not run."""
import pathlib
import typing

import numpy as np

import ingot
import ingot.onnxruntime as onnxruntime

x = np.zeros((2, 3), np.float32)
m: ingot.Model = ingot.compile("model.onnx", target="native", dims={"batch": [1, 8], "rows": range(1, 9)}, threads=1, cache=False)
y: typing.Any = m(x, name=x, out=[None, x], sizes={"past": 3})
names: typing.List[str] = [each.name for each in m.inputs + m.outputs]
sizes: typing.List[typing.Union[int, str, None]] = [size for each in m.inputs for size in each.shape]
bounds: typing.List[typing.Optional[int]] = [each.most for each in m.symbols]
path: pathlib.Path = m.save("models")
again: ingot.Model = ingot.load(path, threads=2)
results: typing.Dict[str, typing.Any] = again.run({"x": x})
m.report(measure=True).save("report.html")
median: float = m.profile(seconds=0.1, sizes={"batch": 4})["median_us"]
m.threads = 4
trees: ingot.Model = ingot.from_sklearn(object(), x, double=True)
try:
    ingot.compile(b"")
except ingot.CompileError as error:
    code: int = error.exit_code
    lines: typing.List[str] = error.messages
except ingot.RunError as error:
    kind: str = error.kind
session = ingot.InferenceSession("model.onnx", ingot.SessionOptions(), providers=["CPUExecutionProvider"])
outputs: typing.List[typing.Any] = session.run(None, {session.get_inputs()[0].name: x})
shape: typing.List[typing.Union[int, str, None]] = session.get_outputs()[0].shape
producer: str = session.get_modelmeta().producer_name
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
generator = ingot.Generator(pathlib.Path("model"), slots=4, max_length=256, threads=2)
piece: str = next(generator.stream("Once", max_new_tokens=3, stop=["."], temperature=0.5))
tokens: ingot.Tokens = generator.tokens([1, 2, 3], top_k=5, top_p=0.9, repetition_penalty=1.1, seed=1, stop_tokens=[2])
written: typing.List[int] = list(tokens) + generator.encode("Once") + generator.conversation([{"role": "user", "content": "Hello"}])
reason: typing.Optional[str] = tokens.finish_reason
sampling: ingot.Sampling = ingot.Sampling(temperature=1)

# Each of these has a mistake, which its comment names as mypy does.
ingot.compile("model.onnx", target=3)  # refused: arg-type
ingot.compile("model.onnx", batch=3)  # refused: call-arg
ingot.load(3)  # refused: arg-type
m.inputs[0].nme  # refused: attr-defined
wrong: int = m.save("models")  # refused: assignment
session.run("scores", x)  # refused: arg-type
generator.tokens(3)  # refused: arg-type
generator.tokens("Once", temprature=1)  # refused: call-arg
