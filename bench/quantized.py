"""Whole quantized models beside ingot's own fp32 and beside ONNX Runtime and OpenVINO: one run, interleaved, pinned to one core, medians.

    quantized.py --ingot build/bin/ingot DIR... [--target native] [--scheme int8] [--flags "--smooth 0.5"] [--set 0] [--core 1] [--rounds 5] [--seconds 0.3] [--keep FOLDER] [--tsv bench/quantized.tsv]
    quantized.py --page                 renews the tables of bench/README.md from bench/quantized.tsv

A model is a folder with model.onnx and test_data_set_K. One that is quantized already is taken as it is, and its fp32 form is the one without pairs of
QuantizeLinear and DequantizeLinear (or `--float DIR`; none where it has operators on integers); another one is quantized by `ingot quantize`. `--set 3` takes the inputs of test_data_set_3: of a language
model one token with what went before. `--scheme int4` measures ONNX Runtime on the same numbers as MatMulNBits, with rows as floats (accuracy_level 0) and as bytes (4).
`x fp32` is how many times as fast as ingot's fp32 the quantized model is, `x best` the faster peer's time on quantized models by ingot's. Under x86-64-v3 OpenVINO is held to
AVX2 (ONEDNN_MAX_CPU_ISA); ONNX Runtime cannot be, and does not count. `--tsv` writes what was measured (microseconds), in place of what the file has of the same target, scheme, model and flags.
"""
import argparse
import csv
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

QUANTIZED = ("QuantizeLinear", "DequantizeLinear", "QLinear", "MatMulInteger", "ConvInteger", "MatMulNBits", "QGemm", "DynamicQuantize")


def is_quantized(model):
    return any(node.op_type.startswith(QUANTIZED) for node in model.graph.node)


def dequantized(values, scale, zero, axis):
    """Constant weights as floats."""
    along = [-1 if k == axis else 1 for k in range(values.ndim)] if scale.ndim == 1 and scale.size > 1 else []
    zero = np.zeros_like(scale) if zero is None else zero.astype(np.float32)
    return ((values.astype(np.float32) - zero.reshape(along)) * scale.reshape(along)).astype(np.float32)


def without_pairs(model):
    """The model in floats."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    constants |= {node.output[0]: node.attribute[0].t for node in model.graph.node if node.op_type == "Constant"}
    for node in model.graph.node:
        if node.op_type == "Identity" and node.input[0] in constants:
            constants[node.output[0]] = constants[node.input[0]]
    array = lambda name: numpy_helper.to_array(constants[name]) if name else None
    renamed, kept = {}, []
    if any(node.op_type.startswith(QUANTIZED) and node.op_type not in QUANTIZED[:2] for node in model.graph.node):
        return None
    for node in model.graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        if node.op_type == "QuantizeLinear" or (node.op_type == "DequantizeLinear" and node.input[0] not in constants):
            renamed[node.output[0]] = node.input[0]
        elif node.op_type == "DequantizeLinear":
            axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
            value = dequantized(array(node.input[0]), array(node.input[1]), array(node.input[2]) if len(node.input) > 2 else None, axis)
            model.graph.initializer.append(numpy_helper.from_array(value, node.output[0]))
        else:
            kept.append(node)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    for value in [*model.graph.output, *model.graph.input]:
        if value.name in renamed:
            source = renamed[value.name]
            model.graph.node.append(helper.make_node("Identity", [source], [value.name]))
        if value.type.tensor_type.elem_type in (onnx.TensorProto.UINT8, onnx.TensorProto.INT8):
            raise ValueError("its inputs or outputs are bytes")
    del model.graph.value_info[:]
    return model


def as_nbits(model, level):
    """Products with blocks of uint4 as MatMulNBits, tables as GatherBlockQuantized: the same numbers."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    blocks = {node.output[0]: node for node in model.graph.node if node.op_type == "DequantizeLinear"}
    nodes, used = [], set()
    for node in model.graph.node:
        table = blocks.get(node.input[0]) if node.op_type == "Gather" else None
        if table is not None:
            block = next(attribute.i for attribute in table.attribute if attribute.name == "block_size")
            nodes.append(helper.make_node("GatherBlockQuantized", [table.input[0], node.input[1], table.input[1], table.input[2]], node.output, domain="com.microsoft", block_size=block, gather_axis=0, quantize_axis=1))
            continue
        source = blocks.get(node.input[1]) if node.op_type in ("MatMul", "Gemm") else None
        if source is None:
            nodes.append(node)
            continue
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in [*source.attribute, *node.attribute]}
        block, turned = attributes["block_size"], attributes.get("transB", 0)
        # A row for each column of the product, whichever way the file has them.
        numbers, scales, zeros = (array if turned else array.T for array in (numpy_helper.to_array(constants[name]) for name in source.input[:3]))
        n, k = numbers.shape
        padded, padded_zeros = np.zeros((n, scales.shape[1] * block), np.uint8), np.zeros((n, scales.shape[1] + scales.shape[1] % 2), np.uint8)
        padded[:, :k], padded_zeros[:, : scales.shape[1]] = numbers.astype(np.uint8), zeros.astype(np.uint8)
        packed = (padded[:, ::2] | padded[:, 1::2] << 4).reshape(n, scales.shape[1], block // 2)
        stem = node.output[0]
        packed_zeros = (padded_zeros[:, ::2] | padded_zeros[:, 1::2] << 4).reshape(-1)
        arrays = {stem + "_b": packed, stem + "_s": scales.reshape(-1).astype(np.float32), stem + "_z": packed_zeros}
        model.graph.initializer.extend([numpy_helper.from_array(array, name) for name, array in arrays.items()])
        product = stem if node.op_type == "MatMul" or len(node.input) < 3 else stem + "_p"
        nodes.append(helper.make_node("MatMulNBits", [node.input[0], *arrays], [product], domain="com.microsoft", K=k, N=n, bits=4, block_size=block, accuracy_level=level))
        if product != stem:
            nodes.append(helper.make_node("Add", [product, node.input[2]], [stem]))
        used.add(source.output[0])
    read = {name for node in nodes for name in node.input}
    nodes = [node for node in nodes if node.op_type != "DequantizeLinear" or node.output[0] in read]
    read = {name for node in nodes for name in node.input}
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    left = [tensor for tensor in model.graph.initializer if tensor.name in read]
    del model.graph.initializer[:]
    model.graph.initializer.extend(left)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def folder_with(scratch, name, model, data):
    """A model's folder as the engines take it; `model`: a file or a model."""
    folder = scratch / name
    folder.mkdir(parents=True)
    if isinstance(model, onnx.ModelProto):
        onnx.save(model, folder / "model.onnx", save_as_external_data=model.ByteSize() > 1 << 30)
    else:
        (folder / "model.onnx").symlink_to(model.resolve())
    (folder / "test_data_set_0").symlink_to(data.resolve())
    return folder


def quantize(arguments, folder, target):
    data = [flag for path in sorted(folder.glob("test_data_set_*")) for flag in ("--data", path)]
    command = [arguments.ingot, "quantize", folder / "model.onnx", "--scheme", arguments.scheme, *arguments.flags.split(), *data, "-o", target]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())


def forms(arguments, folder, scratch):
    """The folders of the fp32 model and of the quantized one, and of those for ONNX Runtime by name."""
    data = folder / f"test_data_set_{arguments.set}"
    model = onnx.load(folder / "model.onnx")
    if is_quantized(model):
        given = arguments.float.resolve() / "model.onnx" if arguments.float else None
        floats = given or without_pairs(model)
        floats = folder_with(scratch, "fp32", floats, data) if floats else None
        small = folder_with(scratch, "small", folder / "model.onnx", data)
    else:
        floats = folder_with(scratch, "fp32", folder / "model.onnx", data)
        target = (arguments.keep or scratch) / f"{folder.name}-{arguments.scheme}.onnx"
        if not target.exists():
            quantize(arguments, folder, target)
        small = folder_with(scratch, "small", target, data)
    if arguments.scheme != "int4":
        return floats, small, {"ort": small}
    return floats, small, {f"ort {level}": folder_with(scratch, f"nbits{level}", as_nbits(onnx.load(small / "model.onnx"), level), data) for level in (0, 4)}


def measure(arguments, folder, scratch):
    import compare

    floats, small, peers = forms(arguments, folder, scratch)
    engines = {"fp32": lambda: compare.Ingot(arguments, floats, scratch / "a"), "small": lambda: compare.Ingot(arguments, small, scratch / "b")}
    engines |= {name: lambda own=own: compare.OnnxRuntime(arguments, own) for name, own in peers.items()}
    engines |= {"ov": lambda: compare.OpenVino(arguments, small), "ort fp32": lambda: compare.OnnxRuntime(arguments, floats), "ov fp32": lambda: compare.OpenVino(arguments, floats)}
    for each in ("a", "b"):
        (scratch / each).mkdir()
    running = {}
    for name, make in engines.items():
        if not floats and name.endswith("fp32"):
            continue
        if name.startswith(tuple(arguments.without.split(","))) if arguments.without else False:
            continue
        try:
            running[name] = make()
        except Exception as error:  # a peer that does not know an operator
            print(f"{folder.name}: {name}: {(str(error).strip().splitlines() or ['?'])[0][:150]}", file=sys.stderr)
    times = {name: [] for name in running}
    for _ in range(arguments.rounds):
        for name, engine in list(running.items()):
            try:
                times[name].append(engine.round(arguments.seconds))
            except Exception as error:
                print(f"{folder.name}: {name}: {str(error).strip().splitlines()[0][:150]}", file=sys.stderr)
                del running[name], times[name]
    return {name: statistics.median(list) for name, list in times.items()}, running["small"].last


ROOT = pathlib.Path(__file__).resolve().parent
NAMES = ["fp32", "small", "ort", "ort 0", "ort 4", "ov", "ort fp32", "ov fp32"]
TITLES = {"ort": "ONNX Runtime", "ort 0": "ONNX Runtime, 0", "ort 4": "ONNX Runtime, 4", "ov": "OpenVINO", "ort fp32": "ONNX Runtime fp32", "ov fp32": "OpenVINO fp32"}
COLUMNS = ["target", "scheme", "model", "flags", *NAMES, "weight_mb"]  # times in microseconds
KEY = COLUMNS[:4]


def names_of(scheme):
    left_out = ("ort",) if scheme == "int4" else ("ort 0", "ort 4")
    return [name for name in NAMES if name not in left_out]


def head(target, scheme):
    names = names_of(scheme)
    return f"| model, {target} | {' | '.join(scheme if name == 'small' else TITLES.get(name, name) for name in names)} | MB of weights | x fp32 | x best |\n|---|{'--:|' * (len(names) + 3)}"


def text(microseconds):
    return "" if microseconds is None else f"{microseconds / 1000:.2f}" if microseconds >= 1000 else f"{microseconds / 1000:.3f}"


def line(row):
    times = {name: float(row[name]) for name in NAMES if row.get(name)}
    held = ("ov",) if "v3" in row["target"] else ("ort", "ov")
    peers = [time for name, time in times.items() if name.startswith(held) and not name.endswith("fp32")]
    best, fp32 = (f"{other / times['small']:.2f}" if other else "" for other in (min(peers, default=None), times.get("fp32")))
    model = row["model"] + (f", `{row['flags']}`" if row["flags"] else "")
    return f"| {model} | {' | '.join(text(times.get(name)) for name in names_of(row['scheme']))} | {float(row['weight_mb']):.1f} | {fp32} | {best} |"


def read(tsv):
    return list(csv.DictReader(tsv.open(), delimiter="\t")) if tsv.exists() else []


def write(tsv, row):
    """A row takes the place of the one with its key."""
    rows, row = read(tsv), {name: f"{row.get(name, '')}" for name in COLUMNS}
    at = next((k for k, old in enumerate(rows) if all(old[name] == row[name] for name in KEY)), len(rows))
    rows[at : at + 1] = [row]
    with tsv.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        table.writeheader(), table.writerows(rows)


def renew_page():
    """Each table of the page says which target and scheme it is of."""
    rows, page = read(ROOT / "quantized.tsv"), ROOT / "README.md"

    def table(match):
        target, scheme = match[2], match[3]
        own = [line(row) for row in rows if row["target"] == target and row["scheme"] == scheme]
        return match[1] + "\n".join([head(target, scheme), *own]) + "\n" + match[4]

    marks = re.compile(r"(<!-- generated by bench/quantized.py --page: ([\w-]+) ([\w-]+) -->\n).*?(<!-- end -->)", re.S)
    page.write_text(marks.sub(table, page.read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path), parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--target", default="native")
    parser.add_argument("--scheme", default="int8"), parser.add_argument("--flags", default=""), parser.add_argument("--set", type=int, default=0), parser.add_argument("--float", type=pathlib.Path)
    parser.add_argument("--core", type=int, default=1), parser.add_argument("--rounds", type=int, default=5), parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--keep", type=pathlib.Path, help="where quantized models stay, so that the next call takes them"), parser.add_argument("--without", default="")
    parser.add_argument("--tsv", type=pathlib.Path), parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if arguments.page:
        return renew_page()
    arguments.ingot, arguments.threads = os.path.abspath(arguments.ingot), 1
    if "v3" in arguments.target:
        os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[arguments.core % len(cores)]})
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    print(head(arguments.target, arguments.scheme), flush=True)
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory(prefix="ingot-quantized-") as scratch:
            try:
                times, last = measure(arguments, folder, pathlib.Path(scratch))
            except (RuntimeError, ValueError, KeyError) as error:
                print(f"{folder.name}: {error}", file=sys.stderr)
                continue
        row = {name: f"{time:.6g}" for name, time in times.items()} | {name: getattr(arguments, name) for name in ("target", "scheme", "flags")}
        row |= {"model": folder.name, "weight_mb": f"{last.get('weight_bytes', 0) / 1e6:.3f}"}
        print(line(row), flush=True)
        if arguments.tsv:
            write(arguments.tsv, row)


if __name__ == "__main__":
    main()
