"""Writes the two models of this example: edges.onnx finds edges in a 32x32 picture (Conv, Relu), classify.onnx gives ten probabilities for
a vector of 16 features (Gemm, Relu, Gemm, Softmax; seeded weights)."""
import pathlib

import numpy
import onnx
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent


def save(name, nodes, inputs, outputs, weights):
    def values(shapes):
        return [helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, shape) for value, shape in shapes.items()]

    constants = [numpy_helper.from_array(data.astype(numpy.float32), weight) for weight, data in weights.items()]
    graph = helper.make_graph(nodes, name, values(inputs), values(outputs), constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, HERE / f"{name}.onnx")


def edges():
    sobel = numpy.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    save(
        "edges",
        [
            helper.make_node("Conv", ["image", "sobel"], ["slope"], "slope", pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["slope"], ["edges"], "rising"),
        ],
        {"image": [1, 1, 32, 32]},
        {"edges": [1, 2, 32, 32]},
        {"sobel": numpy.stack([sobel, sobel.T])[:, None]},
    )


def classify():
    random = numpy.random.default_rng(1)
    save(
        "classify",
        [
            helper.make_node("Gemm", ["features", "w1", "b1"], ["hidden"], "hidden"),
            helper.make_node("Relu", ["hidden"], ["active"], "active"),
            helper.make_node("Gemm", ["active", "w2", "b2"], ["scores"], "scores"),
            helper.make_node("Softmax", ["scores"], ["probabilities"], "probabilities", axis=1),
        ],
        {"features": [1, 16]},
        {"probabilities": [1, 10]},
        {
            "w1": random.normal(0, 0.4, (16, 24)),
            "b1": random.normal(0, 0.1, 24),
            "w2": random.normal(0, 0.4, (24, 10)),
            "b2": random.normal(0, 0.1, 10),
        },
    )


edges()
classify()
