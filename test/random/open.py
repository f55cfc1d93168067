"""The random cases with open sizes: input dimensions become symbols (equal sizes one symbol), the model is compiled once and run at several sizes.

    open.py --ingot build/bin/ingot [--cases 150] [--seed 1] [--ops ...] [--first N] [--only INDEX] [--target T] [-j 2] [--save DIR]

What ingot refuses to compile, and sizes that it declines with an error value, are counted and summed up; a difference, a crash, a write outside of a buffer or
other bits when work is split is a failure. Case INDEX is that of run.py with --first INDEX.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import signal
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import onnx

import families
from case import Skip, by_reference, evaluate
from open_model import OpenModel, Refused, Status, one_body
from run import build, describe

SECONDS = 120
SIZES = [2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33]


def opened(case, model, rng):
    """The model with symbols in its inputs' dimensions; the sizes that they stand for. Ones stay: they may be there to be repeated."""
    model, sizes = onnx.ModelProto.FromString(model.SerializeToString()), {}
    often = rng.choice([0.3, 0.7, 1.0])
    chosen = {size: rng.random() < often for value in case.inputs for size in case.values[value].shape}
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value > 1 and chosen[dim.dim_value]:
                sizes[f"s{dim.dim_value}"] = dim.dim_value
                dim.dim_param = f"s{dim.dim_value}"
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return model, sizes


def feeds_at(case, model, sizes):
    """The case's values, repeated or cut to the sizes."""
    feeds = {}
    for value in model.graph.input:
        shape = [sizes[dim.dim_param] if dim.dim_param else dim.dim_value for dim in value.type.tensor_type.shape.dim]
        array = case.values[value.name].array
        feeds[value.name] = np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)
    return feeds


def differs(model, feeds, got, wanted):
    for have, want in zip(got, wanted, strict=True):
        if difference := ingot_run.difference(have, np.asarray(want)):
            try:
                again = by_reference(model, feeds)
                if all(ingot_run.difference(h, np.asarray(w)) is None for h, w in zip(got, again, strict=True)):
                    return None
            except Exception:  # the evaluator fails in ways of its own
                pass
            return difference
    return None


def check(arguments, names, index, scratch):
    case, model, outputs, _ = build(arguments.seed, index, names)
    if case is None:
        return "none", ""
    rng = random.Random(f"{arguments.seed}/{index}/open")
    model, sizes = opened(case, model, rng)
    if not sizes:
        return "none", ""
    told = f"\n    {describe(case)}\n    {sizes}"
    onnx.save(model, pathlib.Path(arguments.save) / f"open-{arguments.seed}-{index}.onnx")
    try:
        compiled = OpenModel(arguments.ingot, model, scratch, arguments.target, one_body(model) if index % 2 else ())
    except Refused as refused:
        return ("refused" if "exit 1:" in str(refused) else "bug"), str(refused).replace(scratch, "") + told
    declined = 0
    for turn in range(4):
        now = dict(sizes) if turn == 0 else {name: rng.choice(SIZES if turn < 3 else [0, 1, 2, 40]) for name in sizes}
        feeds = feeds_at(case, model, now)
        try:
            wanted = evaluate(model, feeds)
        except Skip:
            wanted = None
        if 0 in now.values() and any("Pool" in node.op_type for node in model.graph.node):
            wanted = None  # windows over nothing but padding: each evaluator has an opinion
        try:
            got = compiled.run(feeds, now)
        except Status as status:
            told_before = "is taken as" in compiled.warnings  # a Squeeze without axes
            if not str(status).startswith("status") or (turn == 0 and wanted is not None and not told_before):
                return "wrong", f"{now}: {status}{told}"
            declined += wanted is not None
            continue
        if wanted is not None and (difference := differs(model, feeds, got, wanted)):
            return "wrong", f"{now}: {difference}{told}"
    return "declined" if declined else "pass", ""


def one(arguments, names, index):
    """In a process of its own: the code that is tested may end it."""
    with tempfile.TemporaryDirectory(prefix="ingot-open-") as scratch:
        result, child = pathlib.Path(scratch) / "result.json", os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            try:
                verdict = check(arguments, names, index, scratch)
            except BaseException as error:
                verdict = "error", f"{type(error).__name__}: {str(error)[:300]}"
            result.write_text(json.dumps(verdict))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            return index, "crash", f"{status}; build/random/open-{arguments.seed}-{index}.onnx"
        return index, *json.loads(result.read_text())


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--cases", type=int, default=150), parser.add_argument("--seed", type=int, default=1), parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--ops"), parser.add_argument("--only", type=int), parser.add_argument("--save", default="build/random")
    arguments = parser.parse_args()
    pathlib.Path(arguments.save).mkdir(parents=True, exist_ok=True)
    arguments.ingot = os.path.abspath(arguments.ingot)
    left_out = ingot_run.known("random")
    known = families.load()
    names = arguments.ops.split(",") if arguments.ops else [name for name in sorted(known) if not ingot_run.reason(left_out, name)]
    indices = range(arguments.first, arguments.first + arguments.cases) if arguments.only is None else [arguments.only]
    verdicts, refusals = collections.Counter(), collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for index, verdict, text in pool.map(one, *zip(*[(arguments, names, index) for index in indices])):
            verdicts[verdict] += 1
            if verdict == "refused":
                refusals[re.sub(r".*error: (node '[^']*'( \([^)]*\))?: )?", "", text.split("\n")[0])[:110]] += 1
            if verdict in ("wrong", "bug", "crash", "error") or (arguments.only is not None and text):
                print(f"case {index}: {verdict}: {text}", flush=True)
    for reason, count in refusals.most_common(12):
        print(f"refused {count}: {reason}")
    print(dict(verdicts))
    bad = sum(verdicts[v] for v in ("wrong", "bug", "crash", "error"))
    print(f"{verdicts['pass'] + verdicts['declined']} passed, {bad} failed, {verdicts['none'] + verdicts['refused']} skipped")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
