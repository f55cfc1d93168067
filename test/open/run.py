"""Models whose sizes are open, compiled once and run at many sizes, compared with ONNX Runtime.

    run.py --ingot build/bin/ingot [--target T] [--only NAME,...] [-j 2] [--bounded] [--variants] [--levels]

No size has a variant of its own there. With --bounded the compiler is told the smallest and the largest of the sizes, and the workspace must be static. With
--variants there are variants for two sizes of the first symbol, beside the general one. With
--levels there is one for each level of x86-64, and each is run (as far as this machine has them).
"""
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import peer
from onnx.reference import ReferenceEvaluator

import cases
from open_model import OpenModel, Refused, Status, one_variant

NEWEST_OF_ONNXRUNTIME = 24
LEVELS = "x86-64-v2,x86-64-v3,x86-64-v4"


def feeds_at(case, sizes, seed):
    rng, feeds = np.random.default_rng(seed), {}
    for value in case.model.graph.input:
        shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in value.type.tensor_type.shape.dim]
        feeds[value.name] = case.fill(rng, value.name, shape, sizes)
    return feeds


def bounds(case):
    names = [name for name in case.sizes[0] if any(d.dim_param == name for v in case.model.graph.input for d in v.type.tensor_type.shape.dim)]
    all = {name: [sizes[name] for sizes in case.sizes] for name in names}
    return [flag for name, sizes in all.items() for flag in ("--dim", f"{name}={min(sizes)}..{max(sizes)}")]


def variants(case):
    name, *_ = [d.dim_param for value in case.model.graph.input for d in value.type.tensor_type.shape.dim if d.dim_param]
    sizes = sorted({sizes[name] for sizes in case.sizes})
    return ["--dim", f"{name}={sizes[0]},{sizes[-1]},*"]


def one(arguments, name):
    case = cases.ALL[name]()
    with tempfile.TemporaryDirectory(prefix="ingot-open-") as scratch:
        try:
            flags = bounds(case) if arguments.bounded else variants(case) if arguments.variants else ["--levels", LEVELS] if arguments.levels else one_variant(case.model)
            model = OpenModel(arguments.ingot, case.model, scratch, arguments.target, flags)
        except Refused as refused:
            finds = arguments.variants and "where a run finds sizes" in str(refused) and OpenModel(arguments.ingot, case.model, scratch, arguments.target).model.found_count
            return name, [] if finds else [f"refused: {refused}"]
        if arguments.bounded and model.model.workspace_bytes < 0:
            return name, ["the workspace is not static"]
        session = ReferenceEvaluator(case.model) if case.opset > NEWEST_OF_ONNXRUNTIME else peer.session(case.model)
        wrong = []
        for seed, sizes in enumerate(case.sizes):
            feeds = feeds_at(case, sizes, seed)
            # ONNX Runtime 1.30 makes sums of nothing, and shapes of nothing, of its own.
            evaluate = ReferenceEvaluator(case.model) if 0 in sizes.values() else session
            try:
                wanted = evaluate.run(None, feeds)
            except ArithmeticError:
                wanted = []  # nothing to compare with
            for level in ingot_run.levels_here(arguments.ingot, [2, 3, 4], "open models") if arguments.levels else (0,):
                try:
                    got = model.run(feeds, sizes, level)
                except Status as status:
                    wrong.append(f"{sizes}, level {level}: {status}")
                    continue
                for output, want, have in zip(case.model.graph.output, wanted, got):
                    if difference := ingot_run.difference(have, want):
                        wrong.append(f"{sizes}, level {level}: {output.name}: {difference}")
    return name, wrong


if __name__ == "__main__":
    ingot_run.run_named(__doc__, cases.ALL, one, most_lines=6, switches=["bounded", "variants", "levels"])
