"""What tests of a function around NAME_run have in common: the model as it is, then with flags, whose program has to give the same bits.

A test gives `main` its own docstring, models, a word for its cases, and a generator: after_plain(arguments, machine, folder, plain) yields the folder of a
program and a text for what would be wrong with it, or a text alone for what already is.
"""
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import bare
import ingot_run
import numpy as np
import onnx
import run
from onnx.reference import ReferenceEvaluator


def check(*command):
    done = bare.call(command)
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr).decode()[:1200])


def join(machine, out, *includes):
    """out/model.o: the function in out/shim.c around that of out/inner.o."""
    places = [word for place in (*includes, out, bare.RUNTIME / "include") for word in ("-I", place)]
    clang = [bare.TOOLS / "clang", f"--target={machine.triple}", *machine.flags, "-Os", "-ffreestanding", "-fno-builtin", "-Wall", "-Werror", *places, "-c"]
    check(*clang, "-std=c11", out / "shim.c", "-o", out / "shim.o")
    check(bare.TOOLS / "ld.lld", "-r", out / "shim.o", out / "inner.o", "-o", out / "model.o")


def arguments_of(facts, given, made):
    """What NAME_run is called with: pointers in two arrays."""
    return [f"{array}[{k}]" for array, key in ((given, "inputs"), (made, "outputs")) for k, _ in enumerate(facts[key])]


def try_one(arguments, name, model, folder, after_plain):
    text, constants, inputs = model
    folder.mkdir()
    made = run.model_of(text, constants)
    onnx.save(made, folder / "model.onnx")
    outputs = ReferenceEvaluator(made).run(None, dict(zip([value.name for value in made.graph.input], inputs)))
    machine = bare.shared(arguments.ingot, arguments.target)
    verdict, wrong = machine.make(arguments.ingot, folder, folder / "one")
    if verdict != "pass":
        return wrong
    types = [np.asarray(output).dtype for output in outputs]
    wanted = machine.ask(folder / "one/program", inputs, types)
    if wrong := ingot_run.difference(wanted[0], outputs[0], run.STEP.get(name, 5e-5)):
        return f"as it is: {wrong}"
    for program, text in after_plain(arguments, machine, folder, json.loads((folder / "one/model.json").read_text())):
        if program is None:
            return text
        got = machine.ask(program, inputs, types)
        if any(a.tobytes() != b.tobytes() for a, b in zip(got, wanted)):
            return f"other bits with {text}"
    return None


def main(doc, models, words, after_plain):
    flags = ingot_run.parser(doc)
    flags.add_argument("--only"), flags.set_defaults(bare=True)
    arguments = flags.parse_args()
    if missing := bare.lacks(arguments.target):
        print(f"skipped: no {missing} here")
        sys.exit(77)
    count = ingot_run.Count("firmware")
    with tempfile.TemporaryDirectory(prefix="ingot-firmware-") as scratch:
        for name in [arguments.only] if arguments.only else models:
            try:
                wrong = try_one(arguments, name, models[name], pathlib.Path(scratch) / name, after_plain)
            except (RuntimeError, bare.Crash, bare.Status) as trouble:
                wrong = str(trouble)
            count.add(f"{name} {words} on {arguments.target}", wrong)
    count.finish()
