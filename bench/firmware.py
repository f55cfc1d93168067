"""MLPerf Tiny's four tasks in int8 on microcontrollers: flash, RAM, stack, and the instructions of one run.

    firmware.py --ingot build/bin/ingot [--target cortex-m4,cortex-m55,rv32imc] [--only REGEX] [--flags "..."] [--functions 8] [--keep FOLDER] [--page] [--most 2.2] [--bytes | --floats]

The networks are the reference architectures (keyword spotting: DS-CNN; visual wake words: MobileNetV1 of width 0.25; image classification: ResNet-8;
anomaly detection: a fully connected autoencoder) with seeded weights, as sizes and times do not depend on their values. `ingot quantize` makes int8 of
them, and one image is run. Instructions are counted by qemu with a plugin (count_instructions.c), function by function; what the program around the
model takes does not count. The plugin counts a loop of known length first, and nothing is measured where it is wrong. `same bits` are the integers
of the last layer, and with them whatever stands behind them, beside those on this host.
With `--bytes` inputs are the bytes that the first layer reads, as models of TensorFlow Lite for Microcontrollers have them;
with `--floats` networks stay in float32. `--functions N` prints the N functions of each that take most; `--page` writes bench/firmware.md; with
`--most X` it is an error where a network takes more than X instructions for a multiply-add.
"""
import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "test/tools")]
import bare
import numpy as np
import onnx
from onnx import helper, numpy_helper

PAGE = HERE / "firmware.md"
SAMPLES = 8  # images that the quantizer gets


class Network:
    """A graph of float32, layer behind layer."""

    def __init__(self, shape, seed):
        self.draw, self.nodes, self.weights, self.shape, self.macs = np.random.default_rng(seed), [], [], shape, 0
        self.at, self.channels, self.size = "x", shape[1], list(shape[2:])

    def weight(self, array):
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, op, operands, **attributes):
        self.nodes.append(helper.make_node(op, operands, [f"t{len(self.nodes)}"], **attributes))
        self.at = self.nodes[-1].output[0]

    def drawn(self, out, into, *kernel):
        """Weights and a bias that keep the range of what they are applied to."""
        deviation = np.sqrt(2 / (into * np.prod(kernel)))
        return [self.weight(self.draw.standard_normal((out, into, *kernel)) * deviation), self.weight(self.draw.standard_normal(out) * 0.1)]

    def conv(self, out, kernel, stride=1, depthwise=False, relu=True):
        into = 1 if depthwise else self.channels
        before = [max(0, (-(-size // stride) - 1) * stride + k - size) for size, k in zip(self.size, kernel)]  # as TensorFlow's SAME
        pads = [pad // 2 for pad in before] + [pad - pad // 2 for pad in before]
        self.size = [-(-size // stride) for size in self.size]
        group = self.channels if depthwise else 1
        self.macs += out * into * int(np.prod(kernel)) * int(np.prod(self.size))
        self.add("Conv", [self.at, *self.drawn(out, into, *kernel)], strides=[stride] * 2, pads=pads, group=group)
        self.channels = out
        if relu:
            self.add("Relu", [self.at])

    def dense(self, out, relu=False):
        into = self.channels
        self.macs += out * into
        self.add("Gemm", [self.at, *self.drawn(out, into)], transB=1)
        self.channels = out
        if relu:
            self.add("Relu", [self.at])

    def pool(self):
        self.add("GlobalAveragePool", [self.at]), self.add("Flatten", [self.at])

    def model(self, outputs):
        values = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "g", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, self.shape)], values, self.weights)
        return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9))

    def classifier(self, classes):
        """Scores, and what Softmax makes of them."""
        self.pool(), self.dense(classes)
        scores = self.at
        self.add("Softmax", [scores])
        return self.model([scores, self.at])


def keywords():
    n = Network((1, 1, 49, 10), 1)
    n.conv(64, (10, 4), 2)
    for _ in range(4):
        n.conv(64, (3, 3), depthwise=True), n.conv(64, (1, 1))
    return n, n.classifier(12)


def wake_words():
    n = Network((1, 3, 96, 96), 2)
    n.conv(8, (3, 3), 2)
    for out, stride in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]:
        n.conv(n.channels, (3, 3), stride, depthwise=True), n.conv(out, (1, 1))
    return n, n.classifier(2)


def images():
    n = Network((1, 3, 32, 32), 3)
    n.conv(16, (3, 3))
    for out, stride in (16, 1), (32, 2), (64, 2):
        before, channels, size = n.at, n.channels, n.size
        n.conv(out, (3, 3), stride), n.conv(out, (3, 3), relu=False)
        if stride > 1:
            after, n.at, n.channels, n.size = n.at, before, channels, size
            n.conv(out, (1, 1), stride, relu=False)
            before, n.at = n.at, after
        n.add("Add", [n.at, before]), n.add("Relu", [n.at])
    return n, n.classifier(10)


def anomalies():
    n = Network((1, 640), 4)
    for out in [128] * 4 + [8] + [128] * 4:
        n.dense(out, relu=True)
    n.dense(640)
    return n, n.model([n.at])


NETWORKS = {"keyword spotting": keywords, "visual wake words": wake_words, "image classification": images, "anomaly detection": anomalies}

# A function of so many instructions, in the assembly of each kind of processor: the length of a loop, what is before and behind it, the source.
LENGTH = 100000
LOOPS = {
    "arm": (2 * LENGTH + 2, "ldr r0, =%d\n1: subs r0, r0, #1\nbne 1b\nbx lr", "bl counted\n", ".syntax unified\n.thumb\n"),
    "riscv": (2 * LENGTH + 3, "li a0, %d\n1: addi a0, a0, -1\nbnez a0, 1b\nret", "call counted\n", ""),
}


def call(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Counter:
    """Counts instructions by function."""

    def __init__(self, folder):
        self.plugin, self.out = folder / "count.so", folder / "counts"
        call("cc", "-shared", "-fPIC", "-O2", HERE / "count_instructions.c", "-o", self.plugin)

    def flags(self):
        return ["-plugin", f"{self.plugin},out={self.out}"]

    def counts(self):
        counts = {}
        for line in self.out.read_text().splitlines():
            name, count = line.rsplit(" ", 1)
            counts[name] = counts.get(name, 0) + int(count)
        return counts

    def check(self, machine, folder):
        """Counts a loop of known length on an emulator that answers system calls."""
        if machine.board:
            return
        expected, loop, start, head = LOOPS["arm" if machine.triple.startswith("thumb") else "riscv"]
        function = "\n.thumb_func" if head else ""
        leave = "movs r7, #1\nmovs r0, #0\nsvc 0" if head else "li a7, 93\nli a0, 0\necall"
        (folder / "loop.s").write_text(f"{head}.text\n.globl _start{function}\n.type _start, %function\n_start: {start}{leave}\n.size _start, .-_start{function}\n"
                                       f".type counted, %function\ncounted: {loop % LENGTH}\n.size counted, .-counted\n")  # fmt: skip
        call(bare.TOOLS / "clang", f"--target={machine.triple}", *machine.flags, "-c", folder / "loop.s", "-o", folder / "loop.o")
        call(bare.TOOLS / "ld.lld", "-static", "-e", "_start", folder / "loop.o", "-o", folder / "loop")
        call(*machine.emulator[:1], *self.flags(), *machine.emulator[1:], folder / "loop")
        if (counted := self.counts()["counted"]) != expected:
            sys.exit(f"the plugin counts {counted} instructions of a function that has {expected}")


def read_bytes(folder):
    """Makes the bytes of the first layer the input of folder/model.onnx and of its data, in place of floats."""
    model = onnx.load(folder / "model.onnx")
    graph, constants = model.graph, {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    first = next(node for node in graph.node if node.op_type == "QuantizeLinear" and node.input[0] == graph.input[0].name)
    scale, zero = (constants[name] for name in first.input[1:3])
    image = numpy_helper.to_array(onnx.load_tensor(str(folder / "test_data_set_0/input_0.pb")))
    limits = np.iinfo(zero.dtype)
    bytes = np.clip(np.rint(image / scale) + np.float32(zero), limits.min, limits.max).astype(zero.dtype)
    graph.node.remove(first)
    graph.input[0].CopyFrom(helper.make_tensor_value_info(first.output[0], helper.np_dtype_to_tensor_dtype(zero.dtype), bytes.shape))
    onnx.save(model, folder / "model.onnx")
    (folder / "test_data_set_0/input_0.pb").write_bytes(numpy_helper.from_array(bytes, first.output[0]).SerializeToString())


def prepare(ingot, name, folder, bytes=False, floats=False):
    """folder/model.onnx in int8, its image in folder/test_data_set_0, and what the host makes of it: (multiply-adds, image, outputs)."""
    network, model = NETWORKS[name]()
    samples = folder / "float"
    for k in range(SAMPLES):
        (samples / f"test_data_set_{k}").mkdir(parents=True)
        image = network.draw.standard_normal(network.shape).astype(np.float32)
        (samples / f"test_data_set_{k}/input_0.pb").write_bytes(numpy_helper.from_array(image, "x").SerializeToString())
    onnx.save(model, samples / "model.onnx")
    if floats:
        shutil.copy(samples / "model.onnx", folder / "model.onnx")
    else:
        call(ingot, "quantize", samples / "model.onnx", "-o", folder / "model.onnx")
    data = folder / "test_data_set_0"
    shutil.copytree(samples / "test_data_set_0", data)
    if bytes:
        read_bytes(folder)
    call(ingot, "run", folder / "model.onnx", "--data", data, "--out", data)
    outputs = [numpy_helper.to_array(onnx.load_tensor(str(data / f"output_{k}.pb"))) for k in range(len(model.graph.output))]
    return network.macs, numpy_helper.to_array(onnx.load_tensor(str(data / "input_0.pb"))), outputs


def own(machine, counts):
    """The instructions of the model, without those of the program that runs it and those of the checks before."""
    others = {line.split()[-1] for line in call(bare.TOOLS / "llvm-nm", *machine.programs).splitlines() if line} | {"_start", "start", "?"}
    return {name: count for name, count in counts.items() if name not in others and not re.match(r"ingot_(bind|plan|found|sizes|type|run)", name)}


def measure(arguments, counter, name, target, folder, expected):
    """The row of a network on a machine."""
    macs, image, outputs = expected
    machine, out = bare.shared(arguments.ingot, target), folder / target
    verdict, text = machine.make(arguments.ingot, folder, out, shlex.split(arguments.flags))
    if verdict != "pass":
        sys.exit(f"{name} for {target}: {text}")
    counter.check(machine, folder)
    emulator, machine.emulator = machine.emulator, [*machine.emulator[:1], *counter.flags(), *machine.emulator[1:]]
    painted = []
    try:
        results = machine.ask(out / "program", [image], [array.dtype for array in outputs], painted)
    finally:
        machine.emulator = emulator
    counts, facts = own(machine, counter.counts()), json.loads((out / "model.json").read_text())
    for function, count in sorted(counts.items(), key=lambda item: -item[1])[: arguments.functions]:
        print(f"  {count:12,} {function}")
    plan = json.loads(call(arguments.ingot, "inspect", folder / "model.onnx", "--json", "--target", target, *shlex.split(arguments.flags)))
    total = sum(counts.values())
    return {"task": name, "target": target, "code": facts["code_bytes"], "constants": facts["constant_bytes"], "weights": facts["weight_bytes"],
            "flash": facts["flash_bytes"], "workspace": facts["workspace_bytes"], "bound": plan["arena_lower_bound"], "ram": facts["ram_bytes"],
            "stack": painted[0], "stack bound": facts["stack_bytes"], "instructions": total, "per MAC": total / macs, "cycles": facts.get("cycles") or "",
            "same": (arguments.floats or results[0].tobytes() == outputs[0].tobytes()) and all(np.allclose(got, want, rtol=0, atol=1e-5) for got, want in zip(results, outputs))}  # fmt: skip


COLUMNS = [("task", "{}"), ("target", "`{}`"), ("code", "{:,}"), ("constants", "{:,}"), ("weights", "{:,}"), ("flash", "{:,}"), ("workspace", "{:,}"), ("bound", "{:,}"),
           ("ram", "{:,}"), ("stack", "{:,}"), ("stack bound", "{}"), ("instructions", "{:,}"), ("per MAC", "{:.2f}"), ("cycles", "{:,}"), ("same", "{}")]  # fmt: skip


def line(row):
    return "| " + " | ".join(form.format({True: "yes", False: "NO"}[row[name]] if name == "same" else row[name]) for name, form in COLUMNS) + " |"


def page(rows):
    heads = "| task | target | code | constants | weights | flash | workspace | lower bound | RAM | stack | stack at most | instructions | by MAC | cycles, estimated | same bits |"
    table = "\n".join([heads, "|---|---|" + "--:|" * (len(COLUMNS) - 3) + "---|", *map(line, rows)])
    begin, end = "<!-- generated by bench/firmware.py --page -->\n", "\n<!-- end -->"
    text = PAGE.read_text()
    at, to = text.index(begin) + len(begin), text.index(end)
    PAGE.write_text(text[:at] + table + text[to:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True), parser.add_argument("--target", default="cortex-m4,cortex-m55,rv32imc"), parser.add_argument("--only", default="")
    parser.add_argument("--flags", default=""), parser.add_argument("--functions", type=int, default=0), parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--bytes", action="store_true"), parser.add_argument("--floats", action="store_true"), parser.add_argument("--page", action="store_true"), parser.add_argument("--most", type=float, default=float("inf"))
    arguments, rows = parser.parse_args(), []
    for target in (targets := arguments.target.split(",")):
        if missing := bare.lacks(target):
            print(f"{target} is left out: no {missing} here")
    targets = [target for target in targets if not bare.lacks(target)]
    if not targets:
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="ingot-firmware-") as scratch:
        scratch = arguments.keep or pathlib.Path(scratch)
        scratch.mkdir(exist_ok=True)
        counter = Counter(scratch.resolve())
        for name in (name for name in NETWORKS if re.search(arguments.only, name)):
            shutil.rmtree(scratch / name, ignore_errors=True)
            expected = prepare(arguments.ingot, name, scratch / name, arguments.bytes, arguments.floats)
            for target in targets:
                rows.append(measure(arguments, counter, name, target, scratch / name, expected))
                print(line(rows[-1]), flush=True)
    if arguments.page:
        page(rows)
    wrong = [row["task"] for row in rows if not row["same"] or row["per MAC"] > arguments.most]
    print(f"{len(rows) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
