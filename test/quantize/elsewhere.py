"""What `ingot quantize` writes is loaded by OpenVINO, by each scheme, and computes there what it does in ONNX Runtime.

    elsewhere.py --ingot build/bin/ingot"""
import fnmatch
import sys

import numpy as np
import onnx
from onnx import helper
from quantized_models import FLOAT, cnn, cosine, f, lstm, run, session, transformer
from tool import SCHEMES

try:
    import openvino
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

# What OpenVINO 2026.4 does not read, and what it says then. Blocks that are as long as each other it reads (a last one of the CNN's 72 rows is not), and recurrent layers whose weights are
# floats: what it makes of others its processor's kernels do not take.
LACKS = [("*, int2", "Unsupported type"), ("cnn, mixed", "cannot be divided by block_size"), ("cnn, int8-weights", "cannot be divided by block_size"), ("cnn, int4*", "cannot be divided by block_size"), ("lstm, int8*", "expects Constant for port 4"),
         ("lstm, mixed", "expects Constant for port 4")]  # fmt: skip
FEWER = {"lstm, int8 signed": 0.995}  # it rounds the state, too
RUNTIME_LACKS = {"bf16"}  # operators of ONNX Runtime on CPUs: what is computed is compared with the float model


def results(path, x):
    """What OpenVINO computes in float32: its default on some machines rounds all factors to bfloat16."""
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return np.array(compiled([x])[compiled.output(0)])


def check_all(tool, count):
    refused = 0
    for kind, model in ("cnn", cnn()), ("transformer", transformer()), ("lstm", lstm()):
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        samples = [f(*shape) for _ in range(3)]
        exact = session(model).run(None, {"x": samples[0]})[0]
        model.graph.output[0].CopyFrom(helper.make_tensor_value_info(model.graph.output[0].name, FLOAT, exact.shape))
        for name, (flags, least, _) in SCHEMES.items():
            if kind == "lstm" and "short" in name:
                continue  # none has short sums
            place = tool.place(model, samples)
            done = tool.quantize(place, *flags)
            if done.returncode:
                count.add(f"{kind}, {name}", done.stderr)
                continue
            want = exact if name in RUNTIME_LACKS else session(onnx.load(place / "q.onnx")).run(None, {"x": samples[0]})[0]
            least = least if name in RUNTIME_LACKS else 0.999
            try:
                got, said = results(place / "q.onnx", samples[0]), ""
            except RuntimeError as error:
                got, said = None, str(error)
            case = f"{kind}, {name}"
            known = [text for pattern, text in LACKS if fnmatch.fnmatchcase(case, pattern)]
            if any(text in said for text in known):
                refused += 1
                continue
            count.add(case, said or (None if cosine(got, want) > FEWER.get(case, least) else f"cosine {cosine(got, want)}"))
    print(f"{refused} files have a form that OpenVINO is known not to read")


if __name__ == "__main__":
    run(__doc__, "loaded", check_all)
