"""Definitions that are newer than ONNX Runtime, and than Debian's files: the node tests that the installed onnx package makes itself, of operators that the
standard changed or brought since, and of ImageDecoder and FlexAttention, which ONNX Runtime does not have.

    newest.py --ingot build/bin/ingot [--ops CumProd,BitCast]

Only for strings is a test refused; those with sequences or optional values are left out."""
import os
import pathlib
import re
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import operators
from onnx import TensorProto, numpy_helper
from run import one

SINCE = 25
REFUSED = re.compile(r"element type string, which is unsupported|casts to element type 8, which is unsupported")


def cases(names):
    """(name, model, inputs, outputs) of every test of these operators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        found = collect_testcases(None)
    for case in found:
        if {node.op_type for node in case.model.graph.node} <= set(names):
            for inputs, outputs in case.data_sets if of_tensors(case.model.graph) else []:
                yield case.name, case.model, inputs, outputs


def of_tensors(graph):
    return all(value.type.WhichOneof("value") == "tensor_type" for value in [*graph.input, *graph.output])


def write(folder, model, inputs, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for role, arrays, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
        for k, array in enumerate(arrays):
            tensor = array if isinstance(array, TensorProto) else numpy_helper.from_array(np.asarray(array), infos[k].name)
            (data / f"{role}_{k}.pb").write_bytes(tensor.SerializeToString())


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--ops", default="")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    names = arguments.ops.split(",") if arguments.ops else [name for name, schema in operators.schemas().items() if schema.since_version >= SINCE or name == "ImageDecoder"] + ["FlexAttention"]
    count = ingot_run.Count("newest operators")
    for name, *case in cases(names):
        with tempfile.TemporaryDirectory(prefix="ingot-newest-") as scratch:
            folder = pathlib.Path(scratch) / name
            write(folder, *case)
            _, verdict, text = one(arguments, folder)
        count.add(name, None if verdict in ("pass", "fixed") or verdict == "refused" and REFUSED.search(text) else f"{verdict}: {text}")
    count.finish()


if __name__ == "__main__":
    main()
