"""Models of image operators, in odd sizes too, on Halide's target and on ingot's own kernels.

    check.py --ingot build/bin/ingot --plug-in halide_target.so [--target native] [--runner COMMAND] [--only NAME]
        compares each model with ONNX Runtime
    check.py ... --bench
        measures them: Halide's pieces and ingot's kernels in turns, medians of the latency of a run, and their ratio
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

FLOAT, BYTE = TensorProto.FLOAT, TensorProto.UINT8


class Model:
    """A chain of nodes; each call of add() reads what the one before it gave, in the place of None."""

    def __init__(self, name, kind, shape):
        self.name, self.kind, self.shape = name, kind, shape
        self.nodes, self.weights, self.last = [], [], "x"
        self.random = np.random.default_rng(len(name))

    def weight(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, op, *operands, **attributes):
        names = [self.last if value is None else value if isinstance(value, str) else self.weight(value) for value in operands or (None,)]
        self.last = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, names, [self.last], f"n{len(self.nodes)}_{op}", **attributes))
        return self

    def resize(self, sizes, **attributes):
        return self.add("Resize", None, "", "", np.int64(sizes), **attributes)

    def floats(self, *shape):
        return self.random.uniform(-1, 1, shape).astype(np.float32)

    def proto(self, outputs=()):
        ports = [helper.make_tensor_value_info(name, FLOAT, None) for name in [*outputs, self.last]]
        inputs = [helper.make_tensor_value_info("x", self.kind, self.shape)]
        graph = helper.make_graph(self.nodes, self.name, inputs, ports, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def data(self):
        return self.random.integers(0, 256, self.shape).astype(np.uint8) if self.kind == BYTE else self.floats(*self.shape) * 3


def camera(name, height, width, to):
    """What a classifier does with a picture of bytes: crop, layout, resize, normalise."""
    model = Model(name, BYTE, [1, height, width, 3])
    model.add("Cast", to=FLOAT).add("Transpose", perm=[0, 3, 1, 2])
    model.add("Slice", None, np.int64([2, 3]), np.int64([height - 1, width - 2]), np.int64([2, 3]))
    model.resize([1, 3, to, to + 1], mode="linear")
    return model.add("Sub", None, np.float32([123, 116, 103]).reshape(3, 1, 1)).add("Mul", None, np.float32(1 / 58))


def models():
    yield camera("camera", 61, 83, 45), ()
    yield camera("camera_hd", 1080, 1920, 224), ()
    for height, width in (17, 5), (64, 96), (241, 319):
        model = Model(f"pools_{height}x{width}", FLOAT, [2, 3, height, width])
        model.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]).add("Relu")
        model.add("AveragePool", kernel_shape=[2, 3], strides=[1, 1], pads=[0, 1, 1, 1])
        yield model.add("AveragePool", kernel_shape=[3, 2], pads=[1, 0, 1, 1], count_include_pad=1), ()
        model = Model(f"stencils_{height}x{width}", FLOAT, [1, 3, height, width])
        model.add("Conv", None, model.floats(3, 1, 3, 3), model.floats(3), group=3, pads=[1, 1, 1, 1])
        model.add("Conv", None, model.floats(3, 1, 5, 5), group=3, pads=[2, 2, 2, 2], strides=[2, 1]).add("Abs")
        yield model.add("Sqrt").add("Conv", None, model.floats(1, 3, 1, 1)), ()
        model = Model(f"pixels_{height}x{width}", FLOAT, [1, height, width, 4])
        model.add("Mul", None, model.floats(4)).add("Add", None, model.floats(height, 1, 1)).add("Clip", None, np.float32(-1), np.float32(2))
        model.add("LeakyRelu", alpha=0.1).add("Floor").add("HardSwish").add("Max", None, model.floats(width, 1)).add("Min", None, np.float32(1.5))
        yield model.add("Neg").add("HardSigmoid").add("Div", np.float32(2), None).add("Transpose", perm=[0, 2, 1, 3]), ()
    for mode in "nearest", "linear", "cubic":
        model = Model(f"up_{mode}", FLOAT, [1, 2, 19, 23])
        yield model.resize([1, 2, 40, 51], mode=mode).add("Relu"), ()
    yield Model("bytes_nearest", BYTE, [1, 2, 20, 30]).resize([1, 2, 31, 17], mode="nearest", nearest_mode="floor").add("Cast", to=FLOAT), ()
    model = Model("flip", FLOAT, [3, 9, 11])
    yield model.add("Slice", None, np.int64([-1]), np.int64([-100]), np.int64([2]), np.int64([-2])).add("Ceil").add("Reciprocal"), ()
    model = Model("sharpen", FLOAT, [1, 1, 123, 77])  # the image is read by three nodes, a blurred one twice
    model.add("Conv", None, model.floats(1, 1, 3, 3), pads=[1, 1, 1, 1])
    yield model.add("Sub", "x", None).add("Mul", None, np.float32(0.7)).add("Add", "x", None), ("v0",)
    model = Model("cut", FLOAT, [1, 3, 40, 40])  # a node in the middle that no piece can have
    model.add("AveragePool", kernel_shape=[2, 2], strides=[2, 2]).add("Relu").add("Softmax", axis=1)
    yield model.add("Mul", None, np.float32(2)).add("Add", None, "v1"), ()


def write(model, outputs, folder):
    """The model with an input and ONNX Runtime's answer."""
    proto, data = model.proto(outputs), model.data()
    (folder / "data").mkdir(parents=True)
    onnx.save(proto, folder / "model.onnx")
    answers = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"x": data})
    for kind, arrays in ("input", [data]), ("output", answers):
        for k, array in enumerate(arrays):
            (folder / "data" / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def call(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def verify(arguments, folder):
    """What is wrong; empty: nothing."""
    runner = ["--runner", arguments.runner] if arguments.runner else []
    target = ["--load-target", arguments.plug_in, "--target", f"halide,{arguments.target}", *runner]
    for accuracy in ["default", "strict"]:
        code, said = call(arguments.ingot, "verify", folder / "model.onnx", "--data", folder / "data", "--accuracy", accuracy, *target)
        if code:
            return f"{accuracy}: {said}"
    return ""


def kernels(arguments, folder):
    """Nodes, and how many of them Halide has."""
    target = ["--load-target", arguments.plug_in, "--target", f"halide,{arguments.target}"]
    code, said = call(arguments.ingot, "compile", folder / "model.onnx", "-o", folder / "halide", "--emit", "shared", "--name", "m", "--json", *target)
    if code:
        sys.exit(said)
    facts = json.loads(said)
    return facts["kernels"], len(facts["fallbacks"])


def bench(arguments, folder):
    """Median microseconds of a run of Halide's and of ingot's, of several processes each, in turns."""
    code, said = call(arguments.ingot, "compile", folder / "model.onnx", "-o", folder / "own", "--emit", "shared", "--name", "m", "--target", arguments.target)
    if code:
        sys.exit(said)
    times = {"halide": [], "own": []}
    for _ in range(7):
        for which, all_times in times.items():
            code, said = call(arguments.ingot, "bench", folder / which / "m.json", "--data", folder / "data", "--seconds", "0.3", "--json")
            if code:
                sys.exit(said)
            all_times.append(json.loads(said)["median_us"])
    return statistics.median(times["halide"]), statistics.median(times["own"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--plug-in", required=True)
    parser.add_argument("--target", default="native")
    parser.add_argument("--runner")
    parser.add_argument("--only", default="")
    parser.add_argument("--bench", action="store_true")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.plug_in).exists():
        print("skipped: the plug-in is not built; libhalide14-0-dev is not installed")
        sys.exit(77)
    wrong = 0
    with tempfile.TemporaryDirectory() as work:
        for model, outputs in models():
            if arguments.only not in model.name:
                continue
            folder = pathlib.Path(work) / model.name
            write(model, outputs, folder)
            said = verify(arguments, folder)
            wrong += bool(said)
            made, elsewhere = kernels(arguments, folder) if not said else (0, 0)
            line = f"{'WRONG' if said else 'ok':6}{model.name:18} {len(model.nodes)} nodes, {made} kernels, {elsewhere} nodes elsewhere"
            if arguments.bench and not said:
                halide, own = bench(arguments, folder)
                line += f"  halide {halide:9.1f} us, ingot {own:9.1f} us, {own / halide:5.2f} times as fast"
            print(line, said, flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
