"""What a call from Python costs: a small model by ingot in several ways, and by onnxruntime, interleaved; the least of the rounds, in microseconds.

    bench/python_calls.py --build build [MODEL.onnx]      (default: a net of 1, 16, 16 and 1 neurons that learns a sine)
"""
import argparse
import pathlib
import sys
import timeit

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS, CALLS = 9, 20000


def sine_net():
    """The shape of TensorFlow's hello_world with random weights: three products of matrices."""
    rng, nodes, weights, widths = np.random.default_rng(0), [], [], [1, 16, 16, 1]
    for k, (rows, columns) in enumerate(zip(widths, widths[1:])):
        for name, shape in ((f"w{k}", (rows, columns)), (f"b{k}", (columns,))):
            weights.append(onnx.numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name))
        nodes.append(onnx.helper.make_node("Gemm", [f"r{k}" if k else "x", f"w{k}", f"b{k}"], [f"g{k}" if k < 2 else "y"]))
        nodes += [onnx.helper.make_node("Relu", [f"g{k}"], [f"r{k + 1}"])] if k < 2 else []
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 1]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "sine", ports[:1], ports[1:], weights)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def ways(ingot, model):
    """Name -> a call without arguments."""
    m = ingot.compile(model)
    name, x = m.inputs[0].name, np.ones([size if isinstance(size, int) else 1 for size in m.inputs[0].shape], np.float32)
    session, out = ingot.InferenceSession(model), m(x)
    named = {name: x}
    calls = {"m(x)": lambda: m(x), "m(x, out=y)": lambda: m(x, out=out), "m(**named)": lambda: m(**named), "ingot.InferenceSession.run": lambda: session.run(None, named)}
    try:
        import onnxruntime
    except ImportError:
        print("onnxruntime is not here")
        return calls
    data = model if isinstance(model, str) else model.SerializeToString()
    for threads, words in ((0, ""), (1, ", one thread")):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        theirs = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        np.testing.assert_allclose(theirs.run(None, named)[0], out, rtol=1e-4, atol=1e-5)
        calls[f"onnxruntime {onnxruntime.__version__}{words}"] = lambda theirs=theirs: theirs.run(None, named)
    return calls


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build"), arguments.add_argument("model", nargs="?")
    given = arguments.parse_args()
    sys.path.insert(0, str(ROOT / "test/python"))
    import package

    calls = ways(package.use(given.build.resolve()), given.model or sine_net())
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            best[name] = min(best[name], timeit.timeit(call, number=CALLS) / CALLS * 1e6)
    print("| call | us |\n|---|--:|")
    for name, microseconds in best.items():
        print(f"| {name} | {microseconds:.2f} |")


if __name__ == "__main__":
    main()
