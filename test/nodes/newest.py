"""Operators that are newer than ONNX Runtime, and than Debian's files: the node tests that the installed onnx package makes itself.

    newest.py --ingot build/bin/ingot [--ops CumProd,BitCast]

Only what is named so is refused: 16-bit floats."""
import os
import pathlib
import re
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import operators
from onnx import numpy_helper
from run import one

SINCE = 25
REFUSED = re.compile(r"float16|fp16")


def cases(names):
    """(name, model, inputs, outputs) of every test of these operators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        found = collect_testcases(None)
    for case in found:
        if {node.op_type for node in case.model.graph.node} <= set(names):
            for inputs, outputs in case.data_sets:
                yield case.name, case.model, inputs, outputs


def write(folder, model, inputs, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for role, arrays, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
        for k, array in enumerate(arrays):
            (data / f"{role}_{k}.pb").write_bytes(numpy_helper.from_array(array, infos[k].name).SerializeToString())


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--ops", default="")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    names = arguments.ops.split(",") if arguments.ops else [name for name, schema in operators.schemas().items() if min_version(schema) >= SINCE]
    count = ingot_run.Count("newest operators")
    for name, *case in cases(names):
        with tempfile.TemporaryDirectory(prefix="ingot-newest-") as scratch:
            folder = pathlib.Path(scratch) / name
            write(folder, *case)
            _, verdict, text = one(arguments, folder)
        wanted = "refused" if REFUSED.search(name) else "pass"
        count.add(name, None if verdict == wanted else f"{verdict}: {text}")
    count.finish()


def min_version(schema):
    """The opset that brought the operator."""
    from onnx import defs

    return min(form.since_version for form in defs.get_all_schemas_with_history() if form.name == schema.name and form.domain == "")


if __name__ == "__main__":
    main()
