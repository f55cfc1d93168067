"""Real models on emulated boards, on rv32imc and in WebAssembly: whatever fits a microcontroller gives there what it gives on this host.

    models.py --ingot build/bin/ingot --models FOLDER [--target cortex-m4f,cortex-m7,...] [--only REGEX] [--tsv FILE] [--page]

The folder has models in ONNX's own layout (NAME/model.onnx, NAME/test_data_set_0). Open sizes are those of the recorded inputs. A model fits where
its flash and RAM (docs/using/firmware.md, budgets) are within 4 MB and 1 MB; all others are said to be left out, with the reason. Integers have to
be the host's, and so have the floats of a model that computes in integers, but for what float functions behind them differ in; floats of others are
within the tolerance of this host's and of the recorded ones. With --tsv a file has what was found, of which later calls run only what is not there or was
wrong; --page writes the table of bench/firmware.md.
"""
import csv
import json
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools")]
import bare
import ingot_run
import numpy as np
import onnx
from onnx import numpy_helper

PAGE = HERE.parents[1] / "bench/firmware.md"
TARGETS = ["cortex-m4f", "cortex-m7", "cortex-m55", "rv32imc", "wasm32", "wasm32+simd128"]
FLASH, RAM = 4 << 20, 1 << 20

# Ops by which a model computes in integers what floats come out of.
INTEGERS = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger", "DynamicQuantizeLSTM"}

# Absolute and relative tolerances of `difference`: of the host's values where integers make them (no float may be another step), of the host's, of recorded ones.
STEPS, NEAR, RECORDED, HALF = (1e-6, 1e-5), (5e-5, 3e-4), (1e-4, 1e-3), (1e-2, 1e-1)


def named(folder, model):
    """The inputs that callers pass, with what was recorded of them."""
    constants = {tensor.name for tensor in model.graph.initializer}
    values = [value for value in model.graph.input if value.name not in constants]
    return [(value, ingot_run.load(folder / f"test_data_set_0/input_{k}.pb", value.type)) for k, value in enumerate(values)]


def is_recorded(folder):
    """Whether the data have all inputs and outputs, and these are tensors."""
    graph, data = onnx.load(folder / "model.onnx", load_external_data=False).graph, folder / "test_data_set_0"
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in constants]
    files = [(value, data / f"{kind}_{k}.pb") for kind, values in (("input", inputs), ("output", graph.output)) for k, value in enumerate(values)]
    return all(path.exists() and value.type.WhichOneof("value") == "tensor_type" for value, path in files)


def sizes(folder, model):
    """Flags that fix the open sizes of inputs as they were recorded."""
    flags = []
    for value, array in named(folder, model):
        is_open = any(not dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim)
        if is_open and isinstance(array, np.ndarray):
            flags += ["--shape", f"{value.name}={'x'.join(map(str, array.shape))}"]
    return flags


def same_bits(got, want):
    arrays = [[numpy_helper.to_array(onnx.load_tensor(str(pathlib.Path(at, path.name)))) for path in pathlib.Path(want).glob("output_*.pb")] for at in (got, want)]
    return all(one.tobytes() == other.tobytes() for one, other in zip(*arrays))


def wrong_outputs(model, folder, out, host):
    """What is wrong with the outputs in `out` beside the host's and the recorded ones, or None."""
    computes_integers = any(node.op_type in INTEGERS for node in model.graph.node)
    for k, output in enumerate(model.graph.output):
        got, near, recorded = (ingot_run.load(pathlib.Path(at, f"output_{k}.pb"), output.type) for at in (out, host, folder / "test_data_set_0"))
        half = near.dtype.kind == "f" and near.dtype.itemsize == 2
        wrong = ingot_run.difference(got, near, *(HALF if half else STEPS if computes_integers else NEAR))
        if not wrong and not computes_integers:
            wrong = ingot_run.difference(got, recorded, *(HALF if half else RECORDED))
        if wrong:
            return f"output {k} ({output.name}): {wrong}"
    return None


def try_one(arguments, folder, target, scratch):
    """(state, text, facts): bits, floats, wrong, or left out."""
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    flags, out, host = sizes(folder, model), scratch / "out", scratch / "host"
    verdict, text = bare.shared(arguments.ingot, target).make(arguments.ingot, folder, out, [*flags, "--budget", f"flash={FLASH},ram={RAM}"])
    if verdict == "refused":
        return "left out", re.sub(r"^exit 1: (model\.onnx: )?(error: )?", "", text)[:160], {}
    if verdict != "pass":
        return "wrong", f"{verdict}: {text}", {}
    facts = json.loads((out / "model.json").read_text())
    verdict, text = bare.shared(arguments.ingot, target).execute(folder, out)
    if verdict == "none":
        return "left out", text, {}
    if verdict == "pass":
        verdict, text = ingot_run.run(arguments.ingot, folder, host, flags=flags)
    text = wrong_outputs(model, folder, out, host) if verdict == "pass" else f"{verdict}: {text}"
    return ("wrong", text, facts) if text else ("bits" if same_bits(out, host) else "floats", "", facts)


COLUMNS = ["model", "target", "state", "flash", "ram", "text"]


def read(path):
    with open(path) as file:
        return {(row["model"], row["target"]): row for row in csv.DictReader(file, delimiter="\t")}


def write(path, rows):
    with open(path, "w") as file:
        out = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        out.writeheader(), out.writerows(rows[key] for key in sorted(rows))


def page(rows):
    """Writes the table: a line for each model that fits some target."""
    marks = {"bits": "bits", "floats": "floats", "left out": "", "wrong": "WRONG"}
    lines = ["| model | flash | RAM | " + " | ".join(f"`{target}`" for target in TARGETS) + " |", "|---|--:|--:|" + "---|" * len(TARGETS)]
    for name in sorted({name for name, _ in rows}):
        of = {target: rows[name, target] for target in TARGETS if (name, target) in rows}
        if sized := [row for row in of.values() if row["flash"]]:
            states = [marks[of[target]["state"]] if target in of else "" for target in TARGETS]
            lines.append(f"| {name} | {int(sized[0]['flash']):,} | {int(sized[0]['ram']):,} | {' | '.join(states)} |")
    begin, end = "<!-- generated by test/firmware/models.py --page -->\n", "\n<!-- end of models -->"
    text = PAGE.read_text()
    PAGE.write_text(text[: text.index(begin) + len(begin)] + "\n".join(lines) + text[text.index(end) :])


def main():
    flags = ingot_run.parser(__doc__)
    flags.set_defaults(bare=True, target=",".join(TARGETS))
    flags.add_argument("--models", type=pathlib.Path, default=os.environ.get("INGOT_MODELS")), flags.add_argument("--only", default="")
    flags.add_argument("--tsv", type=pathlib.Path), flags.add_argument("--page", action="store_true")
    arguments = flags.parse_args()
    if not arguments.models or not any(pathlib.Path(arguments.models).glob("*/model.onnx")):
        print("skipped: no folder of models is named by --models or INGOT_MODELS")
        sys.exit(77)
    rows = read(arguments.tsv) if arguments.tsv and arguments.tsv.exists() else {}
    count = ingot_run.Count("firmware-models")
    folders = [path.parent for path in sorted(pathlib.Path(arguments.models).glob("*/model.onnx")) if re.search(arguments.only, path.parent.name)]
    for target in arguments.target.split(","):
        if missing := bare.lacks(target):
            ingot_run.skip(target, f"no {missing} here")
            continue
        for folder in folders:
            if not is_recorded(folder):
                print(f"{folder.name} on {target}: left out: no recorded tensors")
                continue
            if rows.get((folder.name, target), {"state": "wrong"})["state"] != "wrong":
                continue
            with tempfile.TemporaryDirectory(prefix="ingot-firmware-") as scratch:
                state, text, facts = try_one(arguments, folder, target, pathlib.Path(scratch))
            print(f"{folder.name} on {target}: {state}{': ' + text if text else ''}", flush=True)
            rows[folder.name, target] = {"model": folder.name, "target": target, "state": state, "flash": facts.get("flash_bytes"), "ram": facts.get("ram_bytes"), "text": text}
            if state != "left out":
                count.add(f"{folder.name} on {target}", text if state == "wrong" else None)
            if arguments.tsv:
                write(arguments.tsv, rows)
    if arguments.page:
        page(rows)
    count.finish()


if __name__ == "__main__":
    main()
