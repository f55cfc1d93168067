"""What the search found, as cases that stay: test/random/found/NAME.txt, a model in ONNX's text form behind lines that say how it was found and on which inputs it failed.

    found.py --ingot build/bin/ingot [--only NAME,...] [--target T]        runs them all: at the level where each failed, and at the machine's own

An input is `ones`, `zeros`, `counted` (-3 to 3 and again) or `counted0` (0 to 6), or its numbers. A case that is not mended yet is named in test/known.txt (suite "found")."""
import json
import pathlib
import re
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import onnx
import onnx.parser
import trial

FOLDER = HERE / "found"


def counted(shape, dtype, lowest=-3):
    return (np.arange(int(np.prod(shape))) % 7 + lowest).reshape(shape).astype(dtype)


WORDS = {"ones": np.ones, "zeros": np.zeros, "counted": counted, "counted0": lambda shape, dtype: counted(shape, dtype, 0)}


def text_of(array):
    for word, make in WORDS.items():
        if np.array_equal(make(array.shape, array.dtype), array):
            return word
    return json.dumps([number.item() for number in array.ravel()])


def array_of(text, dtype, shape):
    return WORDS[text](shape, dtype) if text in WORDS else np.array(json.loads(text), dtype).reshape(shape)


def write(name, model, feeds, level, flags, story):
    """Returns the path, or None where the text form cannot hold the model."""
    text = onnx.printer.to_text(model)
    try:
        if onnx.parser.parse_model(text).SerializeToString(deterministic=True) != normal(model).SerializeToString(deterministic=True):
            return None
    except Exception:  # the parser has a class of its own
        return None
    lines = [f"# {line}" for line in story.splitlines()] + [f"# level: {level}"] + ([f"# flags: {' '.join(flags)}"] if flags else [])
    for value in trial.inputs_of(model):
        array = feeds[value.name]
        lines.append(f"# {value.name}: {array.dtype}{list(array.shape)} {text_of(array)}")
    path = FOLDER / f"{name}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n" + text + "\n")
    return path


def normal(model):
    """As the text form has it."""
    return onnx.parser.parse_model(onnx.printer.to_text(model))


def read(path):
    """(model, inputs, level, flags)"""
    lines, feeds, said = path.read_text().splitlines(), {}, {}
    model = onnx.parser.parse_model("\n".join(line for line in lines if not line.startswith("#")))
    for line in lines:
        if match := re.match(r"# (level|flags): (.*)", line):
            said[match.group(1)] = match.group(2)
        elif match := re.match(r"# (\S+): (\w+)(\[[\d, ]*\]) (.*)", line):
            name, dtype, shape, text = match.groups()
            feeds[name] = array_of(text, np.dtype(dtype), json.loads(shape))
    return model, feeds, said["level"], said.get("flags", "").split()


def one(arguments, name):
    warnings.simplefilter("ignore")
    model, feeds, level, flags = read(FOLDER / f"{name}.txt")
    wrong = []
    for target in [arguments.target] if arguments.target else dict.fromkeys([level, "native"]):
        try:
            verdict, text, _ = trial.trial(str(pathlib.Path(arguments.ingot).resolve()), model, [feeds], target, flags)
        except trial.Lacks as lacks:
            ingot_run.skip(f"{name} at {target.replace(':', ' ')}", lacks)
            continue
        if verdict not in ("pass", "disputed", "trembles"):
            wrong.append(f"{target}: {verdict}: {text}")
    return wrong


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    count = ingot_run.Count("found")
    for name in arguments.only.split(",") if arguments.only else sorted(path.stem for path in FOLDER.glob("*.txt")):
        count.add(name, "; ".join(one(arguments, name)) or None)
    count.finish()


if __name__ == "__main__":
    main()
