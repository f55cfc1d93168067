"""Trains the net of sine.onnx, y = sin(x) for x from 0 to 2 pi: two layers of 16 with Relu, and prints its largest error.

    make_model.py sine.onnx
"""
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

WIDTH, STEPS, RATE = 16, 12000, 0.004


def forward(weights, x):
    """Values behind each layer, the input first."""
    values = [x]
    for k in range(0, len(weights), 2):
        x = values[-1] @ weights[k] + weights[k + 1]
        values.append(np.maximum(x, 0) if k + 2 < len(weights) else x)
    return values


def train():
    rng = np.random.default_rng(7)
    sizes = [1, WIDTH, WIDTH, 1]
    weights = []
    for rows, columns in zip(sizes, sizes[1:]):
        weights += [rng.standard_normal((rows, columns)) * np.sqrt(2 / rows), np.zeros(columns)]
    weights[1] = -weights[0][0] * rng.uniform(0, 2 * np.pi, WIDTH)  # the knees of the first layer are where x is
    mean, square = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    x = np.linspace(0, 2 * np.pi, 257)[:, None]
    for step in range(1, STEPS + 1):
        values = forward(weights, x)
        slope, slopes = 2 * (values[-1] - np.sin(x)) / len(x), []
        for k in range(len(weights) - 2, -1, -2):
            before = values[k // 2]
            slopes = [before.T @ slope, slope.sum(0)] + slopes
            slope = (slope @ weights[k].T) * (before > 0)
        rate = RATE * (1 - step / STEPS)
        for k, g in enumerate(slopes):
            mean[k] += 0.1 * (g - mean[k])
            square[k] += 0.001 * (g * g - square[k])
            weights[k] -= rate * mean[k] / (1 - 0.9**step) / (np.sqrt(square[k] / (1 - 0.999**step)) + 1e-8)
    print("largest error:", np.abs(forward(weights, x)[-1] - np.sin(x)).max())
    return [w.astype(np.float32) for w in weights]


def main():
    weights, names = train(), ["w0", "b0", "w1", "b1", "w2", "b2"]
    nodes = [
        helper.make_node("Gemm", ["x", "w0", "b0"], ["h0"]),
        helper.make_node("Relu", ["h0"], ["r0"]),
        helper.make_node("Gemm", ["r0", "w1", "b1"], ["h1"]),
        helper.make_node("Relu", ["h1"], ["r1"]),
        helper.make_node("Gemm", ["r1", "w2", "b2"], ["y"]),
    ]
    ports = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 1]) for name in "xy"]
    graph = helper.make_graph(nodes, "sine", ports[:1], ports[1:], [numpy_helper.from_array(w, name) for w, name in zip(weights, names)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])


if __name__ == "__main__":
    main()
