"""What `ingot quantize` does with bad data, bad weights and bad paths: nothing of the user's is lost, nothing is lost without a word, and each message names what the user has."""
import json
import os
import re
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from quantized_models import Graph, f, png

INT8, DYNAMIC, INT4 = [], ["--scheme", "int8-dynamic"], ["--scheme", "int4"]


class Faults:
    def __init__(self, tool, count):
        self.tool, self.count = tool, count

    def run(self, *words):
        return subprocess.run([self.tool.ingot, *map(str, words)], capture_output=True, text=True)

    def expect(self, name, done, code, *texts, out=()):
        """The exit code and what is on stderr; never the path of a temporary file."""
        lacking = [text for text in texts if text not in done.stderr] + [text for text in out if text not in done.stdout]
        temporary = re.search(r"ingot-[0-9a-f]+/|model\d+\.onnx", done.stderr)
        fine = done.returncode == code and not lacking and not temporary and (code == 0 or "error: " in done.stderr)
        self.count.add(name, None if fine else f"exit {done.returncode}, lacks {lacking}{', names a temporary file' if temporary else ''}: {done.stderr}{done.stdout}")

    def place(self, model, **arrays):
        """A folder with the model, and data/NAME.npy for each array."""
        place = self.tool.place(model, [])
        (place / "data").mkdir()
        for name, array in arrays.items():
            np.save(place / "data" / f"{name}.npy", array)
        return place

    def quantize(self, place, *flags, output="q.onnx"):
        return self.run("quantize", place / "m.onnx", "--data", place / "data", "-o", place / output, *flags)


def dense(*weights, open_rows=False):
    """Products with a Relu between them."""
    g = Graph(13, x=["n" if open_rows else 4, weights[0].shape[0]])
    value = "x"
    for weight in weights:
        value = g.add("Relu", g.add("MatMul", value, weight))
    return g.model(value)


def with_value(array, value):
    array = array.copy()
    array[3, 2] = value
    return array


def check_paths(faults):
    model, x = dense(f(16, 8)), f(4, 16)
    place = faults.place(model, a=x)
    content = (place / "m.onnx").read_bytes()
    (place / "link.onnx").symlink_to("m.onnx"), os.link(place / "m.onnx", place / "hard.onnx"), (place / "there").symlink_to(".")
    for output in "m.onnx", "./data/../m.onnx", "link.onnx", "hard.onnx", "there/m.onnx":
        faults.expect(f"-o {output}", faults.quantize(place, output=output), 1, "would replace", ", which is read; give another file")
    faults.expect("-o a sample", faults.quantize(place, output="data/a.npy"), 1, "would replace")
    faults.expect("-o a folder", faults.quantize(place, output="data"), 1, "data: error: cannot be written: Is a directory")
    faults.expect("-o nothing", faults.run("quantize", place / "m.onnx", "--data", place / "data", "-o", ""), 1, "cannot be written")
    faults.expect("--report the model", faults.quantize(place, "--report", place / "m.onnx"), 1, "--report", "would replace")
    faults.expect("--report and -o", faults.quantize(place, "--report", place / "q.onnx"), 1, "is what -o writes, too; give another file")
    faults.expect("a full disk", faults.run("quantize", place / "m.onnx", "--data", place / "data", "-o", "/dev/full"), 1, "/dev/full: error: cannot be written: No space left")
    faults.expect("report -o the model", faults.run("report", place / "m.onnx", "-o", place / "link.onnx"), 1, "would replace")
    faults.expect("tune -o the model", faults.run("tune", place / "m.onnx", "-o", place / "m.onnx"), 1, "would replace")
    (place / "m.json").write_text("")
    faults.expect("compile onto --tuning", faults.run("compile", place / "m.onnx", "-o", place, "--tuning", place / "m.json"), 1)
    faults.expect("compile -o a file", faults.run("compile", place / "m.onnx", "-o", place / "m.json" / "in"), 1, "nothing can be written there: Not a directory")
    faults.expect("--out twice", faults.run("run", place / "m.onnx", "--data", place, "--data", place, "--out", place / "o", "--out", place / "data/../o"), 1, "is given twice, and each --data needs one of its own")
    faults.count.add("the model after all that", None if (place / "m.onnx").read_bytes() == content else "it is another one")

    (place / "q.onnx").write_bytes(b"earlier")
    bad = faults.place(dense(with_value(f(16, 8), np.nan)), a=x)
    done = faults.run("quantize", bad / "m.onnx", "--data", bad / "data", "-o", place / "q.onnx")
    faults.expect("a failure", done, 1, "nothing is left to quantize")
    left = [path.name for path in place.iterdir() if path.name.startswith(".")]
    faults.count.add("the file that was there", None if (place / "q.onnx").read_bytes() == b"earlier" and not left else f"it is lost; left {left}")
    (place / "to.onnx").symlink_to("q.onnx")
    faults.expect("through a link", faults.quantize(place, output="to.onnx"), 0)
    fine = (place / "to.onnx").is_symlink() and (place / "q.onnx").read_bytes() != b"earlier"
    faults.count.add("a link stays", None if fine else "it is replaced")
    faults.expect("-o before data", faults.run("quantize", bad / "m.onnx", "--data", bad / "data", "-o", "/nowhere/q.onnx"), 1, "/nowhere/q.onnx: error: cannot be written: No such file")

    outside = faults.place(model, a=x)
    for location, words in ("q.onnx.data", ("quantize", "--data", outside / "data", "-o", outside / "q.onnx")), ("m.weights", ("compile", "-o", outside, "--weights", "file")):
        onnx.save(onnx.load(outside / "m.onnx"), outside / "m.onnx", save_as_external_data=True, location=location, size_threshold=0)
        data = (outside / location).read_bytes()
        faults.expect(f"{words[0]} onto external data", faults.run(words[0], outside / "m.onnx", *words[1:]), 1, "would replace", ", which the model is read from; give another --name or folder" if words[0] == "compile" else "which is read")
        faults.count.add(f"external data after {words[0]}", None if (outside / location).read_bytes() == data else "they are others")


def check_weights(faults):
    x, good = f(4, 64), f(32, 32)
    for value, text in (np.nan, "has 1 value that is infinite or no number"), (np.inf, "infinite or no number"), (-np.inf, "infinite or no number"), (3e30, "has 1 value beyond 1e18"):
        for flags in INT8, DYNAMIC, INT4, [*INT4, "--gptq"]:
            name, weight = f"{value} by {' '.join(flags) or 'int8'}", with_value(f(64, 32), value)
            place = faults.place(dense(weight, good), a=x, b=f(4, 64))
            said = "m.onnx: warning: node 'MatMul_0' (MatMul) stays in float: its operand 'w0' has 1 value "
            if np.isfinite(value) or flags != INT8:
                faults.expect(name, faults.quantize(place, *flags), 0, said, text)
                kept = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(place / "q.onnx").graph.initializer}
                faults.count.add(f"{name}, kept", None if np.array_equal(kept.get("w0"), weight, equal_nan=True) and "w1" not in kept else f"weights are {list(kept)}")
            else:  # what the second layer reads is not finite either
                faults.expect(name, faults.quantize(place, *flags), 1, said, "nothing is left to quantize")
            alone = faults.place(dense(weight), a=x)
            faults.expect(f"{name}, alone", faults.quantize(alone, *flags), 1, text, "nothing is left to quantize")
    for flags in INT8, DYNAMIC, INT4:
        faults.expect(f"tiny weights by {flags}", faults.quantize(faults.place(dense(f(64, 32, scale=1e-16)), a=x), *flags), 1, "too small for a scale")
    g = Graph(13, x=[4, 64])
    place = faults.place(g.model(g.add("Gemm", "x", f(64, 32), with_value(f(4, 32), np.inf)[3])), a=x)
    faults.expect("an infinite bias", faults.quantize(place), 1, "nothing is left to quantize: its operand 'w1' has 1 value that is infinite")
    faults.expect("an infinite bias, dynamic", faults.quantize(place, *DYNAMIC), 0)
    place = faults.place(dense(f(64, 32, scale=1e6), f(32, 32, scale=1e-6)), a=x)
    for data in ["--data", place / "data"], []:
        faults.expect("weights beyond float16", faults.run("quantize", place / "m.onnx", "--scheme", "fp16", "-o", place / "q.onnx", *data), 0, out=["MatMul_0 (MatMul): in float32, 'w0' goes to "])
    faults.expect("weights alone beyond float16", faults.quantize(place, "--scheme", "fp16-weights"), 0, "node 'MatMul_0' (MatMul) stays in float: its operand 'w0' goes to ", "beyond the largest float16")


def check_samples(faults):
    model, open_model, x = dense(f(64, 16), f(16, 8)), dense(f(64, 16), f(16, 8), open_rows=True), f(4, 64)
    for flags in INT8, DYNAMIC, INT4, ["--scheme", "fp16"]:
        faults.expect(f"no values, {flags}", faults.quantize(faults.place(open_model, a=f(0, 64)), *flags), 1, "data/a.npy: error: input 'x' has no values: its shape is [0, 64]")
    zero = faults.place(model, a=np.zeros((4, 64), np.float32), b=np.zeros((4, 64), np.float32))
    said = "data/a.npy: warning: input 'x' is 0 in all of its elements and all 2 samples"
    faults.expect("zeros", faults.quantize(zero), 1, said, "nothing is left to quantize: what it reads, 'x', is 0 in all samples")
    faults.expect("zeros, dynamic", faults.quantize(zero, *DYNAMIC), 0, said, out=["\nequal  "])
    faults.expect("zeros, GPTQ", faults.quantize(zero, *INT4, "--gptq"), 0, said, "is rounded to the nearest, not by GPTQ: what it reads, 'x', is 0, infinite or too large in all samples")
    faults.expect("one number", faults.quantize(faults.place(model, a=np.full((4, 64), 5, np.float32))), 0, "input 'x' is 5 in all of its elements: ")
    dead = faults.place(dense(-np.abs(f(64, 16)), f(16, 8)), a=np.abs(x))
    faults.expect("a layer that reads zeros", faults.quantize(dead), 0, "node 'MatMul_2' (MatMul) stays in float: what it reads, 'v1_0', is 0 in all samples")
    for name, values, text in ("huge", (np.abs(x) + 1) * 1e20, "has no values below 1e18"), ("tiny", x * 1e-20, "too small for a scale"):
        faults.expect(f"{name} data", faults.quantize(faults.place(dense(f(64, 16)), a=values.astype(np.float32))), 1, "what it reads, 'x', ", text)
    for value, code, text in (np.inf, 1, "what it reads, 'x', is infinite or no number in "), (np.nan, 1, "input 'x' has values that are no numbers"):
        place = faults.place(dense(f(64, 16)), a=x, b=with_value(x, value), c=x)
        faults.expect(f"{value} in a sample", faults.quantize(place), code, text, "data/b.npy")
    faults.expect("another shape", faults.quantize(faults.place(model, a=f(4, 63))), 1, "data/a.npy: error: the tensor has shape [4, 63], but input 'x' is float32[4,64]")
    g = Graph(13, x=[4, 64])
    labels = g.model(g.add("ArgMax", g.add("MatMul", "x", f(64, 16)), axis=1))
    labels.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    labels = faults.place(labels, a=x)
    done = faults.quantize(labels, "--json")
    faults.expect("integers as outputs", done, 0, out=['"elements":4'])
    faults.expect("a drop of integers", faults.quantize(labels, "--max-drop", "0.01"), 1, "--max-drop compares outputs that are floats")
    bare = faults.tool.place(dense(f(64, 16)), [])
    for flags, text in (["--scheme", "int4", "--gptq"], "--gptq rounds weights by what their layers read"), ([*DYNAMIC, "--smooth", "0.5"], "--smooth moves outliers by what layers read on data"), ([*DYNAMIC, "--bench"], "--bench measures runs on data"):
        faults.expect(f"{flags[2]} without data", faults.run("quantize", bare / "m.onnx", "-o", bare / "q.onnx", *flags), 1, "no --data is given", text)


def npy(array, version=1, order=False, descr=None):
    """An array in numpy's format, written by hand."""
    header = f"{{'descr': '{descr or array.dtype.str}', 'fortran_order': {order}, 'shape': {array.shape}, }}".encode().ljust(118)
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + array.tobytes("F" if order else "C")


def check_arrays(faults):
    """Each form of an array is read as the same numbers: a product's layers then have the same ranges."""
    x = np.linspace(-3, 5, 24, dtype=np.float32).reshape(4, 3, 2)
    g = Graph(13, x=[4, 3, 2])
    picked = g.add("Slice", "x", np.array([1, 2, 0]), np.array([2, 3, 1]))
    place = faults.place(g.model(g.add("MatMul", g.add("Concat", picked, picked, axis=2), f(2, 3))))
    forms = {
        "C": npy(x), "Fortran": npy(x, order=True), "big-endian": npy(x.astype(">f4")), "big-endian, Fortran": npy(x.astype(">f4"), order=True),
        "version 2": npy(x, 2), "version 3": npy(x, 3), "Fortran, version 2": npy(x, 2, order=True),
    }  # fmt: skip
    for name, content in forms.items():
        (place / "data" / "a.npy").write_bytes(content)
        report, wrong = faults.tool.report(place, "--data", place / "data", "--method", "min-max", "--smooth", "0")
        high = report["layers"][0]["high"] if report else 0
        faults.count.add(f"an array, {name}", wrong or (None if np.isclose(high, x[1, 2, 0], atol=0.02) else f"goes to {high}, not {x[1, 2, 0]}"))
    for name, content, text in [
        ("of version 9", npy(x, 9), "is an array of numpy of version 9, which is unsupported"),
        ("of complex numbers", npy(x.astype(np.complex64)), "has elements of numpy's type '<c8', which is unsupported"),
        ("of records", npy(x).replace(b"'<f4'", b"[('a', '<f4')]", 1).replace(b" " * 9, b"", 1), "which is unsupported"),
        ("without a shape", npy(x).replace(b"'shape'", b"'shade'"), "is an array of numpy with a damaged header"),
        ("that is cut", npy(x)[:-4], "whose size is not that of its shape"),
    ]:
        (place / "data" / "a.npy").write_bytes(content)
        faults.expect(f"an array {name}", faults.quantize(place), 1, "data/a.npy: error: ", text)
    (place / "data" / "a.npy").unlink()
    np.savez(place / "data" / "a.npz", y=x, z=x)
    faults.expect("an archive without the input", faults.quantize(place), 1, "has no array for input 'x': it has y.npy, z.npy")
    np.savez(place / "data" / "a.npz", x)
    faults.expect("an archive of one array without a name", faults.quantize(place), 0)
    (place / "data" / "a.npz").unlink()
    whole = np.zeros(x.shape)
    whole[0, 0, 0], whole[1, 2, 0] = 100, 10  # of which the product reads the second
    for dtype, values in ("float64", x), ("float16", x), ("uint8", whole), ("int64", whole), ("bool", x > 0):
        for name in "ab":
            np.save(place / "data" / f"{name}.npy", values.astype(dtype))
        report = faults.quantize(place, "--json", "--method", "min-max", "--smooth", "0")
        faults.expect(f"{dtype} for floats", report, 0, f"data/a.npy: note: input 'x' is float32[4,3,2], and the data are {dtype}: they are converted (so are 1 more)")
        high = json.loads(report.stdout)["layers"][0]["high"] if report.returncode == 0 else np.nan
        faults.count.add(f"{dtype}, the range", None if np.isclose(high, np.float32(values[1, 2, 0]), rtol=0.01) else f"goes to {high}, not {values[1, 2, 0]}")
    (place / "data" / "b.npy").unlink()
    np.save(place / "data" / "a.npy", np.full(x.shape, 1e300))
    faults.expect("float64 beyond float32", faults.quantize(place), 1, "data/a.npy: error: input 'x' is float32[4,3,2], and the data has 1e+300, which is beyond float32")
    g = Graph(13, x=["n", 3])
    batch = g.model(g.add("MatMul", "x", f(3, 2)))
    place = faults.place(batch, a=f(3), b=f(3))
    faults.expect("without the batch", faults.quantize(place), 0, "data/a.npy: note: input 'x' is float32[n,3], and the data are [3]: each is a batch of one (so are 1 more)")
    np.save(place / "data" / "c.npy", f(4))
    faults.expect("the last file has another shape", faults.quantize(place), 1, "data/c.npy: error: the tensor has shape [4], but input 'x' is float32[n,3]")
    faults.expect("a file as data", faults.run("quantize", place / "m.onnx", "--data", place / "data" / "a.npy", "-o", place / "q.onnx"), 0)
    rows = Graph(13, x=[3])
    rows = rows.model(rows.add("MatMul", rows.add("Gather", f(9, 4), "x"), f(4, 2)))
    rows.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    place = faults.place(rows, a=np.array([1, 2, 8], np.int32))
    faults.expect("int32 for int64", faults.quantize(place), 0, "and the data are int32: they are converted")
    np.save(place / "data" / "a.npy", np.array([1, 2, 2.5]))
    faults.expect("2.5 for int64", faults.quantize(place), 1, "data/a.npy: error: input 'x' is int64[3], and the data has 2.5, which int64 cannot hold")
    place = faults.tool.place(dense(f(16, 8)), [f(4, 16).astype(np.float64)])
    faults.expect("recorded float64", faults.run("quantize", place / "m.onnx", "-o", place / "q.onnx"), 0, "note: input 'x' is float32[4,16], and the data are float64")
    scalar = Graph(13, x=[])
    place = faults.place(scalar.model(scalar.add("MatMul", scalar.add("Expand", "x", np.array([2, 4])), f(4, 3))), a=np.float32(2.5))
    faults.expect("an array of rank 0", faults.quantize(place), 0)


def check_pictures(faults):
    conv = Graph(13, x=[1, 3, 4, 4])
    conv = conv.model(conv.add("Conv", "x", f(2, 3, 1, 1)))
    place = faults.place(conv)
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    (place / "data" / "a.png").write_bytes(png(pixels))
    for flag in "--mean", "--deviation":
        for numbers in "1,2", "1,2,3,4":
            text = f"data/a.png: error: {flag} has {len(numbers.split(','))} numbers, but input 'x', float32[1,3,4,4], has 3 channels"
            faults.expect(f"{flag} {numbers}", faults.quantize(place, flag, numbers), 1, text)
        for numbers in "1", "1,2,3":
            faults.expect(f"{flag} {numbers}", faults.quantize(place, flag, numbers), 0)
    for flag, value in ("--mean", "nan"), ("--mean", "1,inf,2"), ("--scale", "inf"), ("--scale", "0"), ("--deviation", "nan"), ("--max-drop", "nan"), ("--smooth", "nan"), ("--percentile", "nan"):
        faults.expect(f"{flag} {value}", faults.quantize(place, flag, value), 1, flag)
    faults.expect("--tolerance nan", faults.run("verify", place / "m.onnx", "--data", place, "--tolerance", "nan"), 1, "--tolerance: 'nan' is no finite number")
    arrays = faults.place(conv, a=f(1, 3, 4, 4))
    faults.expect("--mean of arrays", faults.quantize(arrays, "--mean", "0.5"), 1, "--scale, --mean and --deviation are for pictures and sounds, and the data has none")
    whole = Graph(13, x=[1, 3, 4, 4])
    whole = whole.model(whole.add("Conv", whole.add("Cast", "x", to=1), f(2, 3, 1, 1)))
    whole.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT8
    place = faults.place(whole)
    (place / "data" / "a.png").write_bytes(png(pixels))
    faults.expect("a picture of bytes", faults.quantize(place), 0)
    faults.expect("a picture of bytes below 0", faults.quantize(place, "--mean", "9"), 1, "data/a.png: error: gives -", "for input 'x', which is uint8[1,3,4,4] and cannot hold it")


def check(tool, count):
    faults = Faults(tool, count)
    for part in check_paths, check_weights, check_samples, check_arrays, check_pictures:
        part(faults)
