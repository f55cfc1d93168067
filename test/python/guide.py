"""The page docs/using/python.md: its Python code, block after block in one interpreter, and its commands that are ingot's, in a folder with the models that the page names.
Of docs/using/python-frameworks.md the code that needs nothing else; pytorch.py and estimators.py run the other blocks.

    guide.py --build build
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import package

PAGE = package.ROOT / "docs/using/python.md"
SQUEEZENET = """(float[1, 3, 224, 224] data) => (float[1, 1000] scores) <int64[2] axes = {2, 3}, int64[2] shape = {3, 1000}> {
    mean = ReduceMean<keepdims = 0>(data, axes)
    weights = ConstantOfShape<value = float[1] {2}>(shape)
    scores = MatMul(mean, weights)
}"""
MLP = "(float[batch, 8] features) => (float[batch, 2] scores) <float[8, 2] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}> { p = MatMul(features, w) scores = Relu(p) }"


def models():
    """The models under the names of the page."""
    import onnx

    for name, text in (("squeezenet", SQUEEZENET), ("mlp", MLP)):
        onnx.save(package.parse(text), f"{name}.onnx")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    package.use(build)
    text = PAGE.read_text()
    # Python and commands in the order of the page; what pip installs, test python-wheel does.
    pieces = re.findall(r"^```python\n(.*?)^```|^    (ingot [^\n]*)$", text, re.M | re.S)
    counts, names = [0, 0], {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        models()
        for code, command in pieces:
            if code:
                exec(compile(code, str(PAGE), "exec"), names)
            else:
                subprocess.run([str(build / "bin/ingot"), *command.split()[1:]], check=True)
            counts[not code] += 1
        exec(compile(package.code("In place of onnxruntime"), "python-frameworks.md", "exec"), {})
        os.chdir("/")
    print(f"{counts[0]} pieces of Python, {counts[1]} commands")
    lines = len(text.splitlines())
    if counts[0] < 5 or counts[1] < 1 or lines > 110:
        sys.exit(f"{PAGE}: the page has lost its code, or has grown to {lines} lines: two screens are enough")


if __name__ == "__main__":
    main()
