"""Bad input: each gets a message that names what is wrong and exit code 1, within seconds and little memory; never a crash, never "a bug in ingot".

    run.py --ingot build/bin/ingot [--mutations 150] [--seed 1] [--only REGEX]      --only mutations: no cases, just these

First the cases below, each with what the message must contain. Then small valid models with random bytes changed, cut or doubled: any outcome but a crash,
a hang or exit code 2 is right.
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

SECONDS, MEGABYTES = 5, 600  # loose: CI machines are shared; the aim is 1 s


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs=None, outputs=None, weights=(), opset=13):
    graph = helper.make_graph(nodes, "g", inputs or [value("x", [1, 4])], outputs or [value("y", [1, 4])], list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def relu():
    return model([helper.make_node("Relu", ["x"], ["y"], name="n1")])


def weight(name, shape):
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def external(location, offset="0", length="16"):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, text in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=text)
    return model([helper.make_node("Add", ["x", "w"], ["y"], name="n1")], weights=[tensor])


def huge():
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40, 1 << 40], raw_data=b"1234")
    return model([helper.make_node("Add", ["x", "w"], ["y"], name="n1")], weights=[tensor])


def negative():
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[-4], raw_data=b"")
    return model([helper.make_node("Add", ["x", "w"], ["y"], name="n1")], weights=[tensor])


def short():
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], raw_data=b"1234")
    return model([helper.make_node("Add", ["x", "w"], ["y"], name="n1")], weights=[tensor])


def huge_result():
    """Small weights, an enormous result."""
    shape = numpy_helper.from_array(np.array([1 << 20, 1 << 20, 1 << 20], np.int64), "s")
    return model([helper.make_node("Expand", ["x", "s"], ["y"], name="n1")], inputs=[value("x", [1])], outputs=[value("y", None)], weights=[shape])


def nested(depth):
    """An If in an If in an If ..., written by hand because protobuf's Python refuses to."""

    def field(number, payload):
        size, out = len(payload), bytes([number << 3 | 2])
        while size > 127:
            out += bytes([size & 127 | 128])
            size >>= 7
        return out + bytes([size]) + payload

    graph = b""
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, graph) + b"\xa0\x01\x05"
        graph = field(1, field(1, b"c") + field(2, b"y") + field(4, b"If") + field(5, attribute))
    return b"\x08\x08" + field(8, b"\x10\x0d") + field(7, graph)


def cases(folder):
    """(name, bytes of the model, what the message must match)"""
    simple = relu().SerializeToString()
    node = helper.make_node
    yield "empty", b"", r"."
    yield "truncated", simple[: len(simple) * 2 // 3], r"."
    yield "random bytes", random.Random(5).randbytes(3000), r"."
    yield "text", b"this is not a model\n" * 50, r"."
    yield "cycle", model([node("Add", ["x", "b"], ["a"], name="n1"), node("Relu", ["a"], ["b"], name="n2"), node("Relu", ["a"], ["y"], name="n3")]), r"n1|n2|cycl|'b'"
    yield "undefined value", model([node("Relu", ["nowhere"], ["y"], name="n1")]), r"nowhere"
    yield "two definitions", model([node("Relu", ["x"], ["y"], name="n1"), node("Abs", ["x"], ["y"], name="n2")]), r"'?y'?"
    yield "output of nothing", model([node("Relu", ["x"], ["z"], name="n1")]), r"'?y'?"
    yield "wrong type", model([node("Relu", ["x"], ["y"], name="n1")], inputs=[value("x", [1, 4], TensorProto.BOOL)]), r"n1.*Relu"
    yield "types that differ", model([node("Add", ["x", "i"], ["y"], name="n1")], inputs=[value("x", [4]), value("i", [4], TensorProto.INT64)]), r"n1.*Add"
    yield "shapes that differ", model([node("Add", ["x", "w"], ["y"], name="n1")], weights=[weight("w", [3])]), r"n1.*Add"
    yield "unknown operator", model([node("Frobnicate", ["x"], ["y"], name="n1")]), r"n1.*Frobnicate"
    yield "unknown domain", model([node("Relu", ["x"], ["y"], name="n1", domain="org.nobody")]), r"n1.*org\.nobody|org\.nobody.*Relu"
    yield "too few inputs", model([node("Conv", ["x"], ["y"], name="n1")]), r"n1.*Conv"
    yield "too many inputs", model([node("Relu", ["x", "x", "x"], ["y"], name="n1")]), r"n1.*Relu"
    yield "wrong attribute type", model([node("Concat", ["x", "x"], ["y"], name="n1", axis="one")]), r"n1.*Concat"
    yield "axis out of range", model([node("Concat", ["x", "x"], ["y"], name="n1", axis=7)]), r"n1.*Concat"
    yield "bad permutation", model([node("Transpose", ["x"], ["y"], name="n1", perm=[0, 0])]), r"n1.*Transpose"
    yield "group of zero", model([node("Conv", ["x", "w"], ["y"], name="n1", group=0)], inputs=[value("x", [1, 4, 5, 5])], weights=[weight("w", [4, 4, 3, 3])]), r"n1.*Conv"
    yield "stride of zero", model([node("MaxPool", ["x"], ["y"], name="n1", kernel_shape=[2, 2], strides=[0, 0])], inputs=[value("x", [1, 4, 5, 5])]), r"n1.*MaxPool"
    yield "kernel larger than input", model([node("MaxPool", ["x"], ["y"], name="n1", kernel_shape=[9, 9])], inputs=[value("x", [1, 4, 5, 5])]), r"n1.*MaxPool"
    yield "enormous pads", model([node("MaxPool", ["x"], ["y"], name="n1", kernel_shape=[2, 2], pads=[2**62] * 4)], inputs=[value("x", [1, 4, 5, 5])]), r"n1.*MaxPool"
    yield "reshape to another size", model([node("Reshape", ["x", "s"], ["y"], name="n1")], weights=[numpy_helper.from_array(np.array([5, -1]), "s")]), r"n1.*Reshape"
    yield "constant index out of range", model([node("Gather", ["x", "i"], ["y"], name="n1", axis=1)], outputs=[value("y", None)], weights=[numpy_helper.from_array(np.array([9]), "i")]), r"n1.*Gather"
    yield "huge declared size", huge(), r"'?w'?"
    yield "negative size", negative(), r"'?w'?"
    yield "too little data", short(), r"'?w'?"
    yield "huge result", huge_result(), r"n1.*Expand"
    yield "external data missing", external("nothing.bin"), r"nothing\.bin"
    yield "external data above the folder", external("../../etc/passwd"), r"\.\./\.\./etc/passwd"
    yield "external data absolute", external("/etc/passwd"), r"/etc/passwd"
    os.symlink("/etc/passwd", folder / "link.bin")
    yield "external data through a link", external("link.bin"), r"link\.bin"
    (folder / "short.bin").write_bytes(b"1234")
    yield "external data too short", external("short.bin"), r"short\.bin"
    yield "external offset past the end", external("short.bin", offset=str(2**62)), r"short\.bin"
    yield "external negative length", external("short.bin", length="-4"), r"short\.bin|length|'?w'?"
    yield "nested 10,000 deep", nested(10000), r"."


def compile(arguments, path, out):
    return run(arguments, "compile", path, "-o", out)


def run(arguments, *command):
    """(exit code, message, seconds, megabytes)"""
    begin = time.time()
    process = subprocess.Popen([arguments.ingot, *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=lambda: ingot_run.limits(4 << 30))
    killer = threading.Timer(60, process.kill)
    killer.start()
    message = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, re.sub(r"\s+", " ", message).strip(), time.time() - begin, usage.ru_maxrss / 1024


def check(arguments, folder, name, content, pattern):
    path = folder / "model.onnx"
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    code, message, seconds, megabytes = compile(arguments, path, out)
    if code != 1:
        return f"exit code {code}: {message[:300]}"
    if "model.onnx" not in message or not re.search(pattern, message.replace(str(folder), "")):
        return f"the message does not name the file and /{pattern}/: {message[:300]}"
    if out.exists() and any(out.iterdir()):
        return f"left {[file.name for file in out.iterdir()]}"
    if seconds > SECONDS or megabytes > MEGABYTES:
        return f"{seconds:.1f} s, {megabytes:.0f} MB"
    return None


SCHEMES = ["int8-dynamic", "int4", "fp16", "bf16"]  # of ingot quantize; those that need no data


def mutate(generator, data):
    data = bytearray(data)
    for _ in range(generator.choice([1, 1, 2, 5])):
        at = generator.randrange(len(data))
        kind = generator.randrange(4)
        if kind == 0:
            data[at] = generator.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << generator.randrange(8)
        elif kind == 2:
            del data[at : at + generator.randrange(1, 9)]
        else:
            data[at:at] = data[at : at + generator.randrange(1, 30)]
        data = data or bytearray(b"\0")
    return bytes(data)


CONTROL = """<ir_version: 8, opset_import: ["" : 13]>
g (int64 n, bool c, float[3] x) => (float[3] y, float[2,3] z, float[3] u)
<float[2,3] w = {1, 2, 3, 4, 5, 6}>
{
  y, z = Scan(x, w) <num_scan_inputs = 1, body = b (float[3] a, float[3] e) => (float[3] f, float[3] e2) { f = Add(a, e) e2 = Neg(e) }>
  u = Loop(n, c, y) <body = d (int64 i, bool go, float[3] h) => (bool more, float[3] k) {
    k = If(go) <then_branch = s () => (float[3] r) { r = Mul(h, x) }, else_branch = t () => (float[3] r) { r = Relu(h) }>
    m = ReduceSum <keepdims = 0> (k) more = Less(m, m)
  }>
}"""


def seeds():
    conv = helper.make_node("Conv", ["x", "w"], ["a"], name="n1", pads=[1] * 4)
    flat = helper.make_node("Reshape", ["a", "s"], ["b"], name="n2")
    gemm = helper.make_node("Gemm", ["b", "v"], ["y"], name="n3", transB=1)
    yield model([conv, flat, gemm], inputs=[value("x", [1, 2, 4, 4])], outputs=[value("y", [1, 3])],
                weights=[weight("w", [2, 2, 3, 3]), numpy_helper.from_array(np.array([1, -1]), "s"), weight("v", [3, 32])]).SerializeToString()
    cut = helper.make_node("Slice", ["x", "b", "e"], ["a"], name="n1")
    look = helper.make_node("Gather", ["a", "i"], ["y"], name="n2", axis=1)
    indices = [numpy_helper.from_array(np.array(numbers), name) for name, numbers in (("b", [0, 1]), ("e", [1, 4]), ("i", [0, 2]))]
    yield model([cut, look], outputs=[value("y", [1, 2])], weights=indices).SerializeToString()
    yield onnx.parser.parse_model(CONTROL).SerializeToString()


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--mutations", type=int, default=150), parser.add_argument("--seed", type=int, default=1), parser.add_argument("--only", default=".")
    parser.add_argument("--save", type=pathlib.Path, default=pathlib.Path("build/hostile"))
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    count = ingot_run.Count("hostile")

    def note(name, wrong, path):
        if wrong is not None:
            arguments.save.mkdir(parents=True, exist_ok=True)
            kept = arguments.save / f"{re.sub(r'[^a-z0-9]+', '-', name)}.onnx"
            kept.write_bytes(path.read_bytes())
            wrong += f" [{kept}]"
        count.add(name, wrong)

    with tempfile.TemporaryDirectory(prefix="ingot-hostile-") as scratch:
        folder = pathlib.Path(scratch)
        for name, content, pattern in cases(folder):
            if re.search(arguments.only, name):
                note(name, check(arguments, folder, name, content, pattern), folder / "model.onnx")
        originals, generator, path = list(seeds()), random.Random(arguments.seed), folder / "mutant.onnx"
        for number in range(arguments.mutations if arguments.only in (".", "mutations") else 0):
            path.write_bytes(mutate(generator, originals[number % len(originals)]))
            quantize = "quantize", path, "--scheme", SCHEMES[number % len(SCHEMES)], "-o", folder / "small.onnx"
            for command in ("compile", path, "-o", folder / "mutant"), quantize:
                code, message, seconds, megabytes = run(arguments, *command)
                bad = code not in (0, 1) or seconds > 2 * SECONDS or megabytes > MEGABYTES
                note(f"mutation {arguments.seed}-{number}, {command[0]}", f"exit code {code}, {seconds:.1f} s, {megabytes:.0f} MB: {message[:300]}" if bad else None, path)
    count.finish()


if __name__ == "__main__":
    main()
