"""Data of all forms that `ingot quantize` reads, and what it refuses, with its reason.

    data.py --ingot build/bin/ingot"""
import struct
import subprocess
import wave

import faults
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from quantized_models import FLOAT, Graph, branch, f, png, run, single, transformer


def ranges(tool, place, *flags):
    report, wrong = tool.report(place, "--method", "min-max", "--smooth", "0", *flags)
    return (report["layers"][0]["low"], report["layers"][0]["high"]) if report else wrong


def check_data(tool, count):
    """The range of the first layer says what was read."""
    conv = Graph(13, x=[1, 3, 8, 10])
    place = tool.place(conv.model(conv.add("Conv", "x", f(4, 3, 3, 3))), [])
    folder = place / "data"
    folder.mkdir()
    pixels = np.zeros((8, 10, 3), np.uint8)
    pixels[..., 1] = 100
    pixels[..., 2] = 255
    cases = {"a.png": png(pixels), "a.ppm": b"P6 10 8 255\n" + pixels.tobytes()}
    for name, content in cases.items():
        (folder / name).write_bytes(content)
        low, high = ranges(tool, place, "--data", folder, "--scale", 1 / 255, "--mean", "0.5,0,0", "--deviation", "1,1,2")
        count.add(name, None if np.allclose([low, high], [-0.5, 0.5], atol=0.01) else f"range {low} to {high}")
        (folder / name).unlink()
    np.save(folder / "a.npy", np.linspace(-3, 5, 240, dtype=np.float32).reshape(1, 3, 8, 10))
    np.savez_compressed(folder / "b.npz", x=np.full((1, 3, 8, 10), 7, np.float32), y=np.zeros(3))
    count.add("arrays", None if np.allclose(ranges(tool, place, "--data", folder), [-3, 7], atol=0.05) else "other values")
    dense = Graph(13, x=[1, 160])
    place = tool.place(dense.model(dense.add("MatMul", "x", f(160, 8))), [])
    (place / "data").mkdir()
    with wave.open(str(place / "data" / "a.wav"), "wb") as sound:
        sound.setnchannels(2), sound.setsampwidth(2), sound.setframerate(16000)
        sound.writeframes((np.stack([np.full(100, -8192), np.full(100, -24576)], 1)).astype("<i2").tobytes())
    count.add("sound", None if np.allclose(ranges(tool, place, "--data", place / "data"), [-0.5, 0], atol=0.01) else "other values")


def check_refused(tool, count):
    ready = tool.place(transformer(), [f(2, 7, 32)])

    def expect(name, message, done):
        fine = done.returncode == 1 and message in done.stderr and "error: " in done.stderr
        count.add(name, None if fine else f"exit {done.returncode}: {done.stderr}")

    def data_file(place, name, content):
        folder = place / ("data_" + name.replace(".", "_"))
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        return tool.quantize(place, "--data", folder)

    expect("no data", "no --data is given, and there is no test_data_set_* beside the model: ranges are those of values that a model has on data", tool.quantize(tool.place(transformer(), [])))
    empty = tool.folder / "empty"
    empty.mkdir()
    expect("an empty folder", "has neither input_0.pb nor a .npy, .npz, .png, .jpg, .bmp, .ppm, .pgm or .wav file", tool.quantize(ready, "--data", empty))
    expect("no folder", "is not a folder", tool.quantize(ready, "--data", "nowhere"))
    expect("NaN", "input 'x' has values that are no numbers", tool.quantize(tool.place(transformer(), [np.full((2, 7, 32), np.nan, np.float32)])))
    expect("another shape", "the tensor has shape [2, 7, 31], but input 'x' is float32[2,7,32]", tool.quantize(tool.place(transformer(), [f(2, 7, 31)])))
    tool.quantize(ready)
    again = tool.place(onnx.load(ready / "q.onnx"), [f(2, 7, 32)])
    expect("again", "the model is quantized already", tool.quantize(again))
    expect("keep nobody", "--keep nobody: the model has no layer of this name; its first is 'MatMul_1'", tool.quantize(ready, "--keep", "nobody"))
    expect("keep no node", "--keep nobody: the model has no node of this name", tool.quantize(ready, "--scheme", "fp16", "--keep", "nobody"))
    expect("no layer", "nothing to quantize: no convolution, product or recurrent layer with constant float32 weights", tool.quantize(tool.place(single("Relu"), [f(2, 3)])))
    one = tool.place(single("MatMul", f(3, 4)), [f(2, 3)])
    expect("all kept", "nothing to quantize: no layer is left by --keep", tool.quantize(one, "--keep", "MatMul_0"))
    broken = single("MatMul", f(3, 4))
    broken.graph.node.append(helper.make_node("BatchNormalization", [], ["z"], name="n"))
    for scheme in "int8", "fp16":
        expect(f"no operands, {scheme}", "node 'n' (BatchNormalization, opset 13): has too few inputs: the first is missing", tool.quantize(tool.place(broken, [f(2, 3)]), "--scheme", scheme))
    other = helper.make_node("Normalizer", ["x"], ["y"], domain="ai.onnx.ml", norm="L1")
    other = helper.make_graph([other], "g", [helper.make_tensor_value_info("x", FLOAT, [2, 3])], [helper.make_tensor_value_info("y", FLOAT, [2, 3])])
    other = helper.make_model(other, opset_imports=[helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
    expect("another domain", "nothing to quantize: no convolution", tool.quantize(tool.place(other, [f(2, 3)])))
    expect("body", "nothing is left to quantize: it is in a body of control flow, whose values are not observed", tool.quantize(tool.place(branch(), [f(3, 32)])))
    infinite = Graph(13, x=[2, 3])
    infinite = infinite.model(infinite.add("MatMul", infinite.add("Div", "x", np.zeros(3, np.float32)), f(3, 4)))
    expect("infinite", "nothing is left to quantize: what it reads, 'v0_0', is infinite or no number in ", tool.quantize(tool.place(infinite, [f(2, 3)])))
    conv = Graph(13, x=[1, 3, 8, 10])
    conv = tool.place(conv.model(conv.add("Conv", "x", f(4, 3, 3, 3))), [f(1, 3, 8, 10)])
    expect("GPTQ in a body", "nothing is left to quantize: it is in a body of control flow", tool.quantize(tool.place(branch(), [f(3, 32)]), "--scheme", "int4", "--gptq"))
    expect("int4 of a convolution", "nothing is left to quantize: weights by block are for products of matrices", tool.quantize(conv, "--scheme", "int4"))
    whole = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.INT32, [2])], [helper.make_tensor_value_info("y", TensorProto.INT32, [2])])
    whole = tool.place(helper.make_model(whole, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), [])
    expect("fp16 of integers", "nothing to convert: no node computes with float32", tool.quantize(whole, "--scheme", "fp16"))
    old = single("MatMul", f(3, 4), opset=6)
    expect("an old opset", "the model has opset 6, the quantized model needs 13, and it can be raised from 7 on", tool.quantize(tool.place(old, [f(2, 3)])))
    groups = single("GroupNormalization", np.ones(2, np.float32), np.ones(2, np.float32), opset=18, shape=(1, 4, 3), num_groups=2)
    expect("no newer definition", "has no definition of opset 21, which the quantized model needs", tool.quantize(tool.place(groups, []), "--scheme", "int4"))
    own = single("MatMul", f(3, 4), opset=11)
    own.functions.append(helper.make_function("own", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 11)]))
    own.ir_version = 8
    expect("functions", "and one with functions of its own cannot be raised", tool.quantize(tool.place(own, [f(2, 3)])))
    expect("no output", "cannot be written: ", subprocess.run([tool.ingot, "quantize", one / "m.onnx", "-o", "/nowhere/q.onnx"], capture_output=True, text=True))
    picture = png(np.zeros((4, 4, 3), np.uint8))
    array = b"\x93NUMPY\1\0" + struct.pack("<H", 200)
    for name, content, message, place in [
        ("a.npy", b"hello, world", "is no array of numpy", one),
        ("b.npy", array + b"{}", "is an array of numpy that ends in its header", one),
        ("c.npy", array[:8] + struct.pack("<H", 60) + b"{'descr': '<U4', 'fortran_order': False, 'shape': (2, 3), }".ljust(60), "has elements of numpy's type '<U4', which is unsupported", one),
        ("d.npy", array[:8] + struct.pack("<H", 60) + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, x), }".ljust(60), "is an array of numpy with a damaged shape", one),
        ("e.npy", array[:8] + struct.pack("<H", 60) + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".ljust(60), "is an array of numpy whose size is not that of its shape", one),
        ("f.npz", b"PK\3\4", "is a damaged archive", one),
        ("g.npz", b"PK\5\6".ljust(22, b"\0"), "has no array for input 'x'", one),
        ("h.png", picture, "is a picture, which input 'x' is not: it is float32[2,3]", one),
        ("i.png", picture[:30], "the picture cannot be read: ", conv),
        ("j.wav", b"hello, world", "is no sound in RIFF", one),
        ("k.wav", b"RIFF\0\0\0\0WAVE", "is a sound without samples", one),
        ("l.wav", b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 1, 1, 1, 24) + b"data" + struct.pack("<I", 0), "is a sound whose samples are neither of 8, 16 or 32 bits nor floats of 32", one),
        ("m.wav", b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 1, 1, 1, 8) + b"data" + struct.pack("<I", 0), "is a sound, which input 'x' is not: it is float32[2,3]", one),
    ]:
        expect(name, message, data_file(place, name, content))
    two = Graph(13, x=[2, 3], z=[2, 3])
    two = tool.place(two.model(two.add("MatMul", two.add("Add", "x", "z"), f(3, 4))), [])
    expect("one array for two inputs", "is one tensor, but the model has 2 inputs; a .npz has an array for each", data_file(two, "n.npy", b""))
    wide = Graph(13, x=[1, 3, 4, 4])
    wide = wide.model(wide.add("Cast", "x", to=FLOAT))
    wide.graph.input[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    wide.graph.node.append(helper.make_node("Conv", [wide.graph.output[0].name, "w"], ["y"]))
    wide.graph.initializer.append(numpy_helper.from_array(f(2, 3, 1, 1), "w"))
    expect("a picture of doubles", "cannot be read for input 'x', which is float64[1,3,4,4]", data_file(tool.place(wide, []), "o.png", picture))
    for flags, message in [
        (["--scheme", "fp16", "--method", "mse"], "--method has no effect on --scheme fp16: it is for int8"),
        (["--scheme", "int4", "--smooth", "0.5"], "--smooth has no effect on --scheme int4: it is for int8, int8-dynamic"),
        (["--percentile", "99"], "--percentile is for --method percentile"),
        (["--seconds", "1"], "--seconds is for measuring: use it with --bench"),
        (["--levels", "x86-64-v2"], "quantize runs the model here: --levels, --stop-after and --cache are for compile"),
    ]:
        expect(" ".join(flags), message, tool.quantize(one, *flags))


if __name__ == "__main__":
    run(__doc__, "data", check_data, check_refused, faults.check)
