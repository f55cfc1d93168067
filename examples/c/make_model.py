"""Writes celsius.onnx, the model of this example: fahrenheit = celsius * 1.8 + 32 for a column of five temperatures, as one Gemm."""
import pathlib

import numpy
import onnx
from onnx import helper, numpy_helper

graph = helper.make_graph(
    [helper.make_node("Gemm", ["celsius", "scale", "offset"], ["fahrenheit"], "convert")],
    "celsius",
    [helper.make_tensor_value_info("celsius", onnx.TensorProto.FLOAT, [5, 1])],
    [helper.make_tensor_value_info("fahrenheit", onnx.TensorProto.FLOAT, [5, 1])],
    [
        numpy_helper.from_array(numpy.array([[1.8]], numpy.float32), "scale"),
        numpy_helper.from_array(numpy.array([32], numpy.float32), "offset"),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, pathlib.Path(__file__).with_name("celsius.onnx"))
