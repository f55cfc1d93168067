"""What the tests of the Python package share: their command line, where it was built, and models as text."""
import argparse
import importlib.util
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = tempfile.TemporaryDirectory(prefix="ingot-python-")  # the compile cache of this test alone


def command_line(description):
    """The folder of the build, and the names of unittest's tests that are to run; none: all."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    return given.build.resolve(), given.tests


def use(build):
    """Imports the package of a build folder; the test counts as skipped where it was not built."""
    if not list((build / "python/ingot").glob("_native*.so")):
        print("skipped: the extension was not built: no nanobind, or no headers of Python")
        sys.exit(77)
    os.environ["INGOT_PROGRAM"] = str(build / "bin/ingot")
    os.environ["INGOT_CACHE"] = KEPT.name
    sys.path.insert(0, str(build / "python"))
    import ingot

    return ingot


def need(*modules):
    """The test counts as skipped where a package is not installed that ingot does not need itself."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: no {module} here; PYTHONPATH may name a folder of packages (docs/testing.md)")
            sys.exit(77)


def parse(text):
    """A ModelProto of the text of a graph."""
    import onnx

    return onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 21]> test ' + text)


def code(section):
    """The Python of a section of docs/using/python-frameworks.md."""
    text = (ROOT / "docs/using/python-frameworks.md").read_text()
    return re.search(rf"^## {re.escape(section)}\n.*?^```python\n(.*?)^```", text, re.M | re.S).group(1)
