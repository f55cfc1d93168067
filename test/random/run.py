"""Random graphs of one to four operators at odd sizes: compiled, run through `ingot run` and compared with ONNX Runtime.

    run.py --ingot build/bin/ingot [--cases 150] [--seed 1|moving] [--ops Conv,MaxPool] [--only INDEX] [--target T] [-j 2] [--save DIR]
    run.py ... --guarded build/bin/guarded build/lib/libingot_rt.a      with forbidden pages around all buffers
    run.py ... --bare --target cortex-m4      without a C library, under an emulator
    run.py --selftest [--cases N]      the generator alone: which operators it makes, and in which opsets

Case INDEX of a seed is always the same, whatever --cases is, as long as --ops stays. The first operator of a case goes round all operators; the others
are drawn to consume what is there. Each difference is printed and its model and data are saved under --save/SEED-INDEX (model.onnx,
test_data_set_0/), so that `ingot verify SAVE/model.onnx --data SAVE/test_data_set_0` shows it again.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import bare
import ingot_run
import numpy as np
import onnx
from onnx import numpy_helper

import families
import operators
import seeds
from case import Case, Skip, by_reference, node_by_node



# Attributes that no case has, and why.
UNUSED = {
    "saturate": "8-bit floats only", "round_mode": "8-bit floats only", "training_mode": "Dropout then draws numbers at random", "Dropout.seed": "the same", "TfIdfVectorizer.pool_strings": "test/strings", "Range.stash_type": "16-bit floats only",
    "sorted": "0 leaves the order open", "SpaceToDepth.mode": "of an opset that ONNX Runtime does not have yet", **dict.fromkeys(["Attention.left_window_size", "Attention.right_window_size"], "the same: test/nodes/newest.py"),
}  # fmt: skip


# Operators that no case has, and where they are tested.
ELSEWHERE = {
    "Constant": "in all of them", "If": "test/control", "Loop": "test/control",
    **dict.fromkeys(["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"], "test/driver/random-numbers.test"),
    "com.microsoft.QLinearSoftmax": "test/quantize: ONNX Runtime divides whole numbers",
    "com.microsoft.DynamicQuantizeLSTM": "test/quantize: a number that is quantized to its neighbour moves what follows",
    "ImageDecoder": "test/driver/images.test, test/runtime_support/ImageTest.cpp, test/nodes/newest.py: ONNX Runtime does not have it",
    **dict.fromkeys(["StringConcat", "StringSplit", "StringNormalizer", "RegexFullMatch", "com.microsoft.Tokenizer", "com.microsoft.WordConvEmbedding", *(f"ai.onnx.ml.{name}" for name in ("CategoryMapper", "DictVectorizer", "CastMap", "ZipMap"))], "test/strings"),
    **dict.fromkeys([f"com.microsoft.{name}" for name in ("GreedySearch", "Sampling", "BeamSearch", "DecoderMaskedSelfAttention")], "test/generation"),
    **dict.fromkeys([f"com.microsoft.{name}" for name in ("RemovePadding", "RestorePadding", "PackedAttention", "PackedMultiHeadAttention", "SparseAttention", "DecoderAttention", "RelativePositionBias",
                                                          "GatedRelativePositionBias", "GemmaRotaryEmbedding", "GroupNorm", "SkipGroupNorm", "BiasAdd", "BiasSplitGelu", "NhwcConv",
                                                          "NhwcFusedConv", "ComplexMul", "ComplexMulConj", "Rfft", "Irfft", "GemmFastGelu", "FusedMatMulActivation", "BiasSoftmax", "BiasDropout",
                                                          "BitmaskBiasDropout", "BitmaskDropout", "IsAllFinite", "TorchEmbedding", "MatMulNBitsMlp", "MatMulNBitsQkv", "MulInteger", "ReduceSumInteger", "QOrderedGelu", "QOrderedLayerNormalization", "QuantizeWithOrder",
                                                          "DequantizeWithOrder")], "test/microsoft"),
    "ai.onnx.preview.FlexAttention": "test/nodes/newest.py: ONNX Runtime does not have it", "ai.onnx.preview.training.Gradient": "test/gradient",
    "com.microsoft.QLinearReduceMean": "ONNX Runtime has no kernel for it: it is written as operators that are tested",
}  # fmt: skip


def uncovered(used):
    """What of ingot's operators the generators leave out: operators, and attributes as Operator.attribute. `used` has what cases were made of."""
    missing = [name for name in operators.names() + operators.elsewhere() if name not in ELSEWHERE and name not in used]
    for name, schema in operators.schemas().items():
        missing += [f"{name}.{attribute}" for attribute in schema.attributes if name in used and not {attribute, f"{name}.{attribute}"} & {*used, *UNUSED}]
    return missing


def build(seed, index, names, most=None):
    """Case `index`. A draw that does not fit (Skip) is drawn again with another sub-seed. At most `most` operators follow the first one.
    Returns (case, model, reasons of failed draws)."""
    reasons = []
    order = [name for name in names for _ in range(families.GENERATORS[name][1])]
    root = order[(index * 7919) % len(order)] if len(order) % 7919 else order[index % len(order)]
    for attempt in range(60):
        case = Case(seed, f"{index}.{attempt}")
        try:
            families.GENERATORS[root][0](case, None)
        except Skip as skip:
            reasons.append(str(skip))
            continue
        grow(case, names, case.rng.choice([0, 1, 1, 2, 3]) if most is None else most)
        outputs = case.results()
        return case, case.model(outputs, final=True), outputs, reasons
    return None, None, root, reasons


def grow(case, names, most):
    """Up to `most` more operators; one that does not fit leaves the case as it was."""
    for _ in range(most):
        if case.finds:  # what follows may repeat an axis that happens to be 1 here
            return
        for _ in range(6):
            name = case.choice(names)
            x = case.values[case.choice(case.results())]
            kept = case.keep()
            try:
                families.GENERATORS[name][0](case, x)
                break
            except Skip:
                case.take_back(kept)


def save(folder, case, model, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for k, name in enumerate(case.inputs):
        (data / f"input_{k}.pb").write_bytes(numpy_helper.from_array(case.values[name].array, name).SerializeToString())
    for k, name in enumerate(outputs):
        (data / f"output_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(case.values[name].array), name).SerializeToString())


def describe(case):
    steps = []
    for node in case.nodes:
        if node.op_type != "Constant":
            shapes = [f"{case.values[name].dtype}{case.values[name].shape}".replace("float32", "f").replace("int64", "i64") if name else "-" for name in node.input]
            attributes = ", ".join(f"{a.name}={onnx.helper.get_attribute_value(a)}"[:60] for a in node.attribute if a.type != onnx.AttributeProto.TENSOR)
            steps.append(f"{node.op_type}({' '.join(shapes)}{'; ' if attributes else ''}{attributes})")
    return f"opset {case.opset}: " + " -> ".join(steps)


def decide(model, feeds, folder, out):
    """The verdict on out/output_K.pb and a sentence. The recorded values are ONNX Runtime's, which may be wrong itself: a difference from them
    is disputed where another evaluator gives what ingot gave: onnx's for the whole model, or node by node with what ONNX Runtime gets wrong (case.evaluate) by onnx's."""
    wrong = ingot_run.compare_outputs(folder, out, ingot_run.difference)
    if wrong is None:
        return "pass", ""
    for other in by_reference, node_by_node:
        try:
            wanted = other(model, feeds)
            if all(ingot_run.difference(ingot_run.load(out / f"output_{k}.pb"), np.asarray(want)) is None for k, want in enumerate(wanted)):
                return "disputed", wrong
        except Exception:  # the evaluator fails in ways of its own; or an output is missing
            continue
    return "wrong", wrong


def one(arguments, names, index):
    seed = seeds.of(arguments.seed, index)
    case, model, outputs, reasons = build(seed, index, names)
    if case is None:
        return index, "none", f"{outputs}: {collections.Counter(reasons).most_common(2)}", []
    made = [f"{node.domain}.{node.op_type}".lstrip(".") for node in case.nodes if node.op_type != "Constant"]
    if arguments.selftest:
        attributes = [f"{node.op_type}.{attribute.name}" for node in case.nodes for attribute in node.attribute]
        return index, "pass", describe(case), made + attributes
    with tempfile.TemporaryDirectory(prefix="ingot-random-") as scratch:
        folder = pathlib.Path(scratch) / "case"
        save(folder, case, model, outputs)
        if arguments.bare:
            verdict, text = bare.shared(arguments.ingot, arguments.target).run(arguments.ingot, folder, folder / "out")
        elif arguments.guarded:
            verdict, text = ingot_run.run_guarded(arguments.ingot, *arguments.guarded, folder, folder / "out", arguments.target, index % 2 == 0)
        else:
            verdict, text = ingot_run.run(arguments.ingot, folder, folder / "out", arguments.target)
        if verdict == "pass":
            verdict, text = decide(model, case.feeds(), folder, folder / "out")
        if verdict == "disputed":
            text = f"{text}\n    {describe(case)}"
        elif verdict != "pass" or arguments.only is not None:
            kept = pathlib.Path(arguments.save) / f"{seed}-{index}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            text = f"{text}\n    {describe(case)}\n    {kept}"
    return index, verdict, text, made


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--cases", type=int, default=150), parser.add_argument("--seed", type=lambda text: text if text == "moving" else int(text), default=1)
    parser.add_argument("--ops", help="only these operators; default: all but those that test/known.txt names"), parser.add_argument("--without", default="", help="all but these operators")
    parser.add_argument("--first", type=int, default=0), parser.add_argument("--only", type=int)
    parser.add_argument("--save", default="build/random"), parser.add_argument("--selftest", action="store_true")
    parser.add_argument("--guarded", nargs=2, metavar=("RUNNER", "RUNTIME"), help="with forbidden pages around all buffers: test/tools/guarded.c and libingot_rt.a")
    parser.add_argument("--bare", action="store_true", help="--target is a machine without an operating system: test/tools/bare.py")
    arguments = parser.parse_args()
    if arguments.bare and (missing := bare.lacks(arguments.target)):
        print(f"skipped: no {missing} here")
        sys.exit(77)
    if not arguments.selftest:
        arguments.ingot = os.path.abspath(arguments.ingot)
    if arguments.bare:
        bare.shared(arguments.ingot, arguments.target)  # is built once, for all processes of the pool
    known = families.load()
    left_out = {} if arguments.selftest else ingot_run.known("random")
    names = arguments.ops.split(",") if arguments.ops else [name for name in sorted(known) if not ingot_run.reason(left_out, name)]
    names = [name for name in names if name not in arguments.without.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no generator for {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    indices = range(arguments.first, arguments.first + arguments.cases) if arguments.only is None else [arguments.only]
    report(arguments, names, indices)


def report(arguments, names, indices):
    verdicts, used, failed = collections.Counter(), collections.Counter(), collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for index, verdict, text, made in pool.map(one, *zip(*[(arguments, names, index) for index in indices]), chunksize=4):
            verdicts[verdict] += 1
            used.update(set(made))
            if verdict == "disputed":
                print(f"case {index}: as the reference evaluator, not as ONNX Runtime: {text}", flush=True)
            elif verdict != "pass":
                failed.update(set(made))
                print(f"case {index}: {verdict}: {text}", flush=True)
            elif arguments.only is not None or (arguments.selftest and len(indices) <= 20):
                print(f"case {index}: {text}")
    if failed:
        print("in failing cases: " + ", ".join(f"{name} {count}/{used[name]}" for name, count in failed.most_common(30)))
    bad = sum(count for verdict, count in verdicts.items() if verdict not in ("pass", "disputed", "none"))
    if arguments.selftest and len(indices) >= 20 * len(names) and (missing := uncovered(used)):
        print(f"no case has: {', '.join(missing)}")
        bad += len(missing)
    print(f"{len({*used} & {*operators.names(), *operators.elsewhere()})} operators; " + re.sub(r"[{}']|Counter\(|\)", "", str(dict(verdicts))))
    print(f"{verdicts['pass'] + verdicts['disputed']} passed, {bad} failed, {verdicts['none']} skipped")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
