"""ingot.InferenceSession in the place of onnxruntime's, over folders of models: what each says of its inputs and outputs, and what it gives. By hand.

    sessions.py --build build FOLDER... [--only REGEX]

A model is a file model.onnx below a folder, with test_data_set_K/input_N.pb beside it, ONNX's own layout. A program is run that only imports another session. A line
says `same`; `refused`, where ingot does not compile the model; `differs`, with what; or `no data`, where only what the sessions say of the model was compared. Results
are the same within 1e-4 of the largest value (1e-2 in float16; with quantized arithmetic one value, or 1 % of them, may be off). The exit code is 1 if a line differs.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import package

QUANTIZED = re.compile(r"QLinear|Quantize|Integer|QGemm|QAttention")


def read(path):
    """(name, value) of a file of a tensor, a sequence or an optional value."""
    import onnx

    data = path.read_bytes()
    for kind, convert in ((onnx.TensorProto, onnx.numpy_helper.to_array), (onnx.SequenceProto, onnx.numpy_helper.to_list), (onnx.OptionalProto, onnx.numpy_helper.to_optional)):
        proto = kind()
        try:
            proto.ParseFromString(data)
            return proto.name, convert(proto)
        except Exception:  # another kind of value
            continue
    raise ValueError(f"{path}: no value of ONNX")


def feeds(folder, names):
    """The inputs of each set of data, by name."""
    for data in sorted(folder.glob("test_data_set_*")):
        values = [read(path) for path in sorted(data.glob("input_*.pb"), key=lambda path: int(path.stem.split("_")[1]))]
        yield {name if name in names else names[place]: value for place, (name, value) in enumerate(values)}


def program(module, path):
    """What somebody's program does with a session: (facts of inputs and outputs, results of each set of data)."""
    options = module.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = module.GraphOptimizationLevel.ORT_ENABLE_ALL, 4
    session = module.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    facts = [[(each.name, each.type, each.shape) for each in part] for part in (session.get_inputs(), session.get_outputs())]
    names = [each.name for each in session.get_inputs()]
    return facts, [session.run(None, feed) for feed in feeds(path.parent, names)]


def differs(got, want, quantized):
    """What is different between two results, or None."""
    if type(got) is not type(want) and not (np.isscalar(got) and np.isscalar(want)):
        return f"{type(got).__name__}, not {type(want).__name__}"
    if isinstance(want, (list, tuple)):
        if len(got) != len(want):
            return f"{len(got)} items, not {len(want)}"
        return next(filter(None, (differs(a, b, quantized) for a, b in zip(got, want))), None)
    if isinstance(want, dict):
        return f"keys {list(got)[:3]}, not {list(want)[:3]}" if list(got) != list(want) else differs(list(got.values()), list(want.values()), quantized)
    if want is None:
        return None
    a, b = np.asarray(got), np.asarray(want)
    if isinstance(want, np.ndarray) and (a.dtype, a.shape) != (b.dtype, b.shape):
        return f"{a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
    allowed = max(1, 0.01 * a.size) if quantized else 0
    if a.dtype.kind not in "f":
        off = a != b
        return f"{np.mean(off):.1%} of the values" if np.sum(off) > allowed else None
    a, b = a.astype(np.float64), b.astype(np.float64)
    within = (1e-2 if np.asarray(want).dtype == np.float16 else 1e-4) * max(1, float(np.nanmax(np.abs(b), initial=0)))
    off = ~((np.abs(a - b) <= within) | (a == b) | (np.isnan(a) & np.isnan(b)))
    return f"{off.mean():.1%} of the values, by up to {np.nanmax(np.abs(a - b)):.2g}" if off.sum() > allowed else None


def fits(ours, theirs, results):
    """Whether two shapes say the same; `results` are arrays that an output was. How far sizes of outputs are inferred is each one's own, and some
    files declare wrong ones: the numbers that ingot says have to be those of the arrays."""
    if results is None or len(ours) != len(theirs):
        return ours == theirs
    shapes = [each.shape for each in results if isinstance(each, np.ndarray)]
    return all(a == b or (not isinstance(a, int) and not isinstance(b, int)) or (isinstance(a, int) and all(shape[axis] == a for shape in shapes)) for axis, (a, b) in enumerate(zip(ours, theirs)))


def compare(path):
    """(verdict, what differs)"""
    import ingot.onnxruntime
    import onnx
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    quantized = any(QUANTIZED.search(node.op_type) for node in onnx.load(path, load_external_data=False).graph.node)
    try:
        want = program(onnxruntime, path)
    except Exception as error:
        want = error
    try:
        got = program(ingot.onnxruntime, path)
    except ingot.CompileError as error:
        return "refused", ("onnxruntime refuses it, too: " if isinstance(want, Exception) else "") + error.messages[0]
    if isinstance(want, Exception):
        return "only ingot", f"onnxruntime: {str(want).splitlines()[0]}"
    found = []
    for what, ours, theirs in zip(("inputs", "outputs"), got[0], want[0]):
        results = [[each[number] for each in got[1]] if what == "outputs" else None for number in range(len(ours))]
        found += [f"{what}: {a}, not {b}" for a, b, arrays in zip(ours, theirs, results) if a[:2] != b[:2] or not fits(a[2], b[2], arrays)]
        found += [f"{len(ours)} {what}, not {len(theirs)}"] if len(ours) != len(theirs) else []
    for ours, theirs in zip(got[1], want[1]):
        found += [f"'{name}': {text}" for (name, *_), a, b in zip(want[0][1], ours, theirs) if (text := differs(a, b, quantized))]
    return "differs" if found else "same" if want[1] else "no data", "; ".join(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True), parser.add_argument("--only", default=".")
    parser.add_argument("folders", nargs="+", type=pathlib.Path), parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    package.use(arguments.build.resolve())
    if arguments.one:
        print(json.dumps(compare(arguments.folders[0])))
        return
    counts = {}
    for path in sorted(path for folder in arguments.folders for path in folder.rglob("model.onnx") if re.search(arguments.only, str(path))):
        done = subprocess.run([sys.executable, __file__, "--build", arguments.build, "--one", path], capture_output=True, text=True)
        verdict, text = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else ("differs", (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1])
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{verdict}\t{path.parent.name}\t{text}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    sys.exit("differs" in counts)


if __name__ == "__main__":
    main()
