"""Results do not depend on threads: threads.py --ingot build/bin/ingot --runtime libingot_rt.a --include DIR [--target T]

Networks large enough to be split are run by hosts.c on the calling thread, item by item backwards, and on pools of 2 and 3 threads: equal bits, equal
errors. A small network must not be split at all.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import onnx
from run import each, model, node, tool


def floats(**shapes):
    return [(name, shape) for name, shape in shapes.items()]


def models():
    """(name, model, least number of split loops, integers of the inputs or None)."""
    yield "small", model([node("MatMul", "x w", "a"), node("Relu", "a", "y")], floats(x=[8, 16]), floats(y=[8, 8]), {"w": [16, 8]}), 0, None
    yield "convs", model(
        [node("Conv", "x w1 b1", "a", pads=[1] * 4), node("Relu", "a", "b"), node("MaxPool", "b", "c", kernel_shape=[3, 3], strides=[2, 2]),
         node("Conv", "c w2 b2", "d", group=40, pads=[1] * 4), node("Conv", "d w3 b3", "e"), node("Add", "e c", "f"), node("Sigmoid", "f", "g"),
         node("ConvTranspose", "g w4", "h", strides=[2, 2]), node("AveragePool", "h", "y", kernel_shape=[2, 2])],
        floats(x=[1, 3, 97, 83]), floats(y=[1, 5, 95, 81]),
        {"w1": [40, 3, 3, 3], "b1": [40], "w2": [40, 1, 3, 3], "b2": [40], "w3": [40, 40, 1, 1], "b3": [40], "w4": [40, 5, 2, 2]}), 4, None
    yield "attention", model(
        [node("LayerNormalization", "x s t", "n", axis=-1), node("MatMul", "n wq", "q"), node("MatMul", "n wk", "k"), node("Transpose", "k", "kt", perm=[0, 2, 1]),
         node("MatMul", "q kt", "m"), node("Softmax", "m", "p", axis=-1), node("MatMul", "p n", "o"), node("Erf", "o", "z"), node("ReduceMean", "z", "y", axes=[1])],
        floats(x=[3, 131, 96]), floats(y=[3, 1, 96]), {"s": [96], "t": [96], "wq": [96, 96], "wk": [96, 96]}), 4, None
    yield "moves", model(
        [node("Transpose", "x", "a", perm=[0, 2, 3, 1]), node("Tanh", "a", "b"), node("Pad", "b pads", "c", mode="reflect"),
         node("Resize", "c roi scales", "d", mode="linear"), node("Concat", "d d", "e", axis=2), node("Slice", "e starts ends axes steps", "y")],
        floats(x=[1, 24, 61, 67]), floats(y=[1, 44, 65, 24]),
        {"pads": np.array([0, 2, 1, 0] * 2), "roi": np.zeros(0, np.float32), "scales": np.array([1, 1.5, 1.5, 1], np.float32), "starts": np.array([3, 5]),
         "ends": np.array([90, -7]), "axes": np.array([1, 2]), "steps": np.array([2, 3])}), 2, None
    lookup = model([node("Gather", "table i", "a"), node("Exp", "a", "y")], [("i", [3000], onnx.TensorProto.INT64)], floats(y=[3000, 77]), {"table": [10, 77]})
    yield "lookup", lookup, 1, None
    yield "badIndex", lookup, 1, 99


def one(arguments, folder, name, proto, least, integers):
    proto.opset_import[0].version = 17
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    tool(arguments.ingot, "compile", folder / "model.onnx", "--name", name, "-o", folder, *(["--target", arguments.target] if arguments.target else []), preexec_fn=ingot_run.limits)
    program = folder / "hosts"
    tool("clang-22", "-O1", f"-DMODEL={name}", "-I", arguments.include, HERE / "hosts.c", folder / f"{name}.a", arguments.runtime, "-pthread", "-o", program)
    hosts = {line[0]: line[1:] for line in (text.split("\t") for text in tool(program, *([integers] if integers else [])).splitlines())}
    assert set(hosts) == {"caller", "backwards", "two", "three"}, f"hosts {sorted(hosts)}"
    for host, (loops, bits, error) in hosts.items():
        assert [bits, error] == hosts["caller"][1:], f"{host}: {bits} {error}, the caller alone: {' '.join(hosts['caller'][1:])}"
        wanted = "0" if host == "caller" or not least else None
        assert loops == wanted if wanted else int(loops) >= least, f"{host}: {loops} loops were split, {least} expected"
    error = hosts["caller"][2]
    assert ("Gather_a" in error) if integers else error == "ok", f"the run said {error}"
    return f"{hosts['two'][0]} loops split, {error}"


if __name__ == "__main__":
    each(__doc__, "threads", models, one)
