"""The suites of the search: each makes case `index` of a seed, tries it, and says what came out.

A suite is a function of (ingot, seed, index, level) that gives a Result; a wrong one carries the model and the inputs that show it, which the search shrinks."""
import collections
import contextlib
import dataclasses
import itertools
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import calibrating
import converting
import coverage
import families
import ingot_run
import networks
import numpy as np
import onnx
import quantizing
import relations
import run as graphs
from case import Case, Skip
from families import dense, quantized
from open_model import one_variant
from trial import BAD, Compiled, Server, elsewhere, trial

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33]
MOST_ELEMENTS = 100_000
SUITES = {}  # name -> (function, share of the cases)


@dataclasses.dataclass
class Result:
    verdict: str
    text: str = ""
    points: list = dataclasses.field(default_factory=list)
    model: onnx.ModelProto = None
    feeds: dict = None
    count: int = 1  # of cases


def suite(name, share=1):
    def register(function):
        SUITES[name] = function, share
        return function

    return register


NAMES = []


def names():
    """Operators to draw: all but those that test/known.txt names."""
    if not NAMES:
        left_out = ingot_run.known("random")
        NAMES.extend(name for name in sorted(families.load()) if not ingot_run.reason(left_out, name))
    return NAMES


def drawn(seed, index, computed):
    """A case and its model: every second one a network, the others operators of any kind."""
    with elsewhere():  # each node is evaluated when it is drawn
        return made(seed, index, computed)


def made(seed, index, computed):
    if index % 2:
        case, model, _ = networks.build(seed, index, computed)
        return case, model
    most = random.Random(f"{seed}/{index}/most").choice([0, 1, 2, 3, 5, 8, 11])
    case, model, root, reasons = graphs.build(seed, index, names(), most)
    if case is None:
        raise Skip(f"{root}: {collections.Counter(reasons).most_common(1)}")
    return case, model


def opened(case, model, rng, every):
    """The model with symbols in its inputs' dimensions: in all of them, or in those of some sizes. Equal sizes are one symbol, or each axis has its own.

    How long a list of axes or sizes is decides the rank of a result. No exporter leaves that open, so it is open here only now and then."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    often, apart = 1.0 if every else rng.choice([0.2, 0.4, 0.7]), rng.random() < 0.4
    chosen = {size: rng.random() < often and (every or size > 1) for value in case.inputs for size in case.values[value].shape}
    symbols, list_too = {}, rng.random() < 0.1
    for value in model.graph.input:
        if value.name in case.lists and not list_too:
            continue
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if chosen[dim.dim_value]:
                name = f"{value.name}_{axis}" if apart or dim.dim_value == 1 else f"s{dim.dim_value}"
                symbols[name] = dim.dim_value
                dim.dim_param = name
    ranked = rng.random() < 0.5
    for value in model.graph.output:
        if ranked:
            for dim in value.type.tensor_type.shape.dim:
                dim.ClearField("value")
        else:
            value.type.tensor_type.ClearField("shape")
    return model, symbols


def feeds_at(case, model, sizes, most=MOST_ELEMENTS):
    """The case's values, repeated or cut to the sizes; None where one has too many elements."""
    feeds = {}
    for value in model.graph.input:
        shape = [sizes[dim.dim_param] if dim.dim_param else dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if np.prod(shape, dtype=np.int64) > most:
            return None
        array = case.values[value.name].array
        feeds[value.name] = np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)
    return feeds


def runs_of(case, model, symbols, rng):
    """Inputs of the case's own sizes; of others, in which equal sizes stay equal; and of sizes that are drawn for each symbol."""
    runs = [case.feeds()]
    if any(node.op_type == "MaxUnpool" for node in model.graph.node):  # repeated indices: who writes last is not said
        return runs
    for _ in range(2):
        other = {size: rng.choice(SIZES) if rng.random() < 0.8 else size for size in sorted(set(symbols.values()))}
        runs.append(feeds_at(case, model, {name: other[size] for name, size in symbols.items()}))
    runs.append(feeds_at(case, model, {name: rng.choice([0, 1, 2, size]) for name, size in symbols.items()}))
    return [feeds for feeds in runs if feeds is not None]


def tried(ingot, case, model, runs, level, flags=()):
    verdict, text, feeds = trial(ingot, model, runs, level, flags)
    told = "" if verdict in ("pass", "refused", "unranked", "trembles") else f"\n    {graphs.describe(case)}"
    return Result(verdict, text + told, coverage.of_case(case), model, feeds)


@suite("static", 8)
def static(ingot, seed, index, level):
    case, model = drawn(f"{seed}/static", index, False)
    return tried(ingot, case, model, [case.feeds()], level)


def open_suite(ingot, seed, index, level, every):
    seed = f"{seed}/{'open' if every else 'mixed'}"
    rng = random.Random(f"{seed}/{index}")
    case, model = drawn(seed, index, True)
    model, symbols = opened(case, model, rng, every)
    return tried(ingot, case, model, runs_of(case, model, symbols, rng), level, one_variant(model) if rng.random() < 0.5 else ())


@suite("open", 4)
def all_open(ingot, seed, index, level):
    return open_suite(ingot, seed, index, level, True)


@suite("mixed", 4)
def some_open(ingot, seed, index, level):
    return open_suite(ingot, seed, index, level, False)


@suite("relations", 2)
def related(ingot, seed, index, level):
    case, model = drawn(f"{seed}/relations", index, True)
    verdict, text, shown = relations.check(ingot, case, model, random.Random(f"{seed}/{index}/relation"), level)
    return Result(verdict, text + (f"\n    {graphs.describe(case)}" if verdict in ("wrong", "declined") else ""), coverage.of_case(case), shown or model, case.feeds())


@suite("large", 0.4)
def large(ingot, seed, index, level):
    """Networks whose sizes are those of real ones, as they are chosen to be computed by themselves; the bits do not depend on who computes what."""
    rng = random.Random(f"{seed}/{index}/large")
    with elsewhere():
        case, model, _ = networks.build(f"{seed}/large", index, computed=rng.random() < 0.3, kind=networks.LargeCase)
    runs = [case.feeds()]
    if case.computed:
        model, symbols = opened(case, model, rng, every=rng.random() < 0.3)
        sizes = {size: rng.choice([size + 1, size // 2 + 1, size * 3 // 2]) for size in sorted(set(symbols.values()))}
        other = feeds_at(case, model, {name: sizes[size] for name, size in symbols.items()}, case.most_elements)
        runs += [other] if other else []
    else:
        runs += of_batches(case, model, runs[0])
    return threaded(ingot, case, model, runs, level, rng.choice([[], [], [], ["--accuracy", "strict"]]), rng)


AROUND_CONVOLUTIONS = ["Add", "AveragePool", "Clip", "Concat", "Elu", "HardSigmoid", "MaxPool", "Mul", "Pad", "Relu", "Sigmoid", "Sub", "Tanh"]


def small_filter(case, x):
    integers = case.chance(0.4) if x is None else x.dtype in (np.uint8, np.int8)
    (quantized if integers else dense).small_filter(case, x)


def begun(seed, index, first):
    """A case that begins with what `first` puts there, and its result."""
    families.load()
    for attempt in itertools.count():
        case = Case(seed, f"{index}.{attempt}")
        with contextlib.suppress(Skip):
            return case, first(case, None)


def convolutions(seed, index):
    """3x3 convolutions of stride 1 and what stands around them; some with open batches, others with open heights and widths."""
    case, _ = begun(seed, index, small_filter)
    for _ in range(case.choice([0, 1, 2, 3, 5])):
        kept, x = case.keep(), case.values[case.choice(case.results())]
        try:
            if case.chance(0.4):
                small_filter(case, x)
            else:
                graphs.grow(case, AROUND_CONVOLUTIONS, 1)
        except Skip:
            case.take_back(kept)
    model = case.model(case.results(), final=True)
    many = case.feeds()
    if case.chance(0.4):
        model, symbols = opened(case, model, case.rng, every=case.chance(0.5))
        return case, model, runs_of(case, model, symbols, case.rng)
    return case, model, [many, *of_batches(case, model, many)]


def of_batches(case, model, many):
    """Runs of other numbers of images, of a model that is made to take them; none for most."""
    if not (case.chance(0.3) and all(array.ndim for array in many.values()) and len({array.shape[0] for array in many.values()}) == 1):
        return []
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return [{name: np.resize(array, [count, *array.shape[1:]]) for name, array in many.items()} for count in (1, 2, 7)]


@suite("winograd", 2)
def winograd(ingot, seed, index, level):
    """Small images, which are by Winograd's algorithm only where a flag says so; the bits do not depend on who computes what."""
    with elsewhere():
        case, model, runs = convolutions(f"{seed}/winograd", index)
    rng = random.Random(f"{seed}/{index}/winograd")
    return threaded(ingot, case, model, runs, level, ["--winograd", rng.choice("24")], rng)


def layers(seed, index):
    """Convolutions that follow each other, some with a second reader."""
    case, x = begun(seed, index, dense.layer)
    for _ in range(case.choice([1, 2, 2, 3, 5])):
        kept = case.keep()
        try:
            x = dense.layer(case, case.values[case.choice(case.results())] if case.chance(0.1) else x)
        except Skip:
            case.take_back(kept)
    if case.chance(0.2):
        case.extra.add(case.choice([name for node in case.nodes if node.op_type == "Conv" for name in node.output]))
    model, many = case.model(case.results(), final=True), case.feeds()
    return case, model, [many, *of_batches(case, model, many)]


@suite("chains", 2)
def chained(ingot, seed, index, level):
    """Small images, whose layers are one kernel only where a flag says so; the bits do not depend on who computes which rows."""
    with elsewhere():
        case, model, runs = layers(f"{seed}/chains", index)
    return threaded(ingot, case, model, runs, level, ["--chains", "possible"], random.Random(f"{seed}/{index}/chains"))


def products(seed, index):
    """Products of rows with constant matrices that follow each other."""
    case, x = begun(seed, index, dense.product)
    for _ in range(case.choice([0, 1, 2])):
        kept = case.keep()
        try:
            x = dense.product(case, x)
        except Skip:
            case.take_back(kept)
    model, many = case.model(case.results(), final=True), case.feeds()
    return case, model, [many]


@suite("strassen", 1)
def strassen(ingot, seed, index, level):
    """Small products, which are by Strassen's algorithm only where a flag says so; the bits do not depend on who computes what."""
    with elsewhere():
        case, model, runs = products(f"{seed}/strassen", index)
    return threaded(ingot, case, model, runs, level, ["--strassen", "on"], random.Random(f"{seed}/{index}/strassen"))


@suite("split", 1)
def split_floats(ingot, seed, index, level):
    """Small products and images, whose factors are split only where a flag says so, for matrix registers; the bits do not depend on who computes what."""
    rng = random.Random(f"{seed}/{index}/split")
    with elsewhere():
        case, model, runs = rng.choice([products, convolutions])(f"{seed}/split", index)
    return threaded(ingot, case, model, runs, level, ["--split-floats", "on"], rng)


def schedules(ingot, model, level, rng):
    """A table for --tuning: for most kernels of the model one of the schedules that they can have."""
    with tempfile.TemporaryDirectory(prefix="ingot-tuned-") as folder:
        path = pathlib.Path(folder, "model.onnx")
        onnx.save(model, path)
        _, said, _ = Server.of(ingot).run([ingot, "tune", str(path), "--target", level, "--list"])
    lines = re.findall(r"^\S+ .* [0-9a-f]{16}: .*=\d+$", said, re.MULTILINE)
    kernels = [list(choices) for _, choices in itertools.groupby(lines, lambda line: line.split(":")[0])]
    return "\n".join(["ingot tuning 1", *(rng.choice(choices) for choices in kernels if rng.random() < 0.9), ""])


@suite("tuned", 1)
def tuned(ingot, seed, index, level):
    """Networks whose kernels have drawn schedules; a finding is not shrunk, since another shape is another kernel."""
    if "@" in level or level.startswith("source"):
        raise Skip("schedules are of one machine")
    rng = random.Random(f"{seed}/{index}/tuned")
    with elsewhere():
        if rng.random() < 0.7:
            case, model, runs = rng.choice([layers, convolutions, products])(f"{seed}/tuned", index)
        else:
            case, model, _ = networks.build(f"{seed}/tuned", index)
            runs = [case.feeds()]
    table = schedules(ingot, model, level, rng)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(table), file.flush()
        result = threaded(ingot, case, model, runs, level, ["--tuning", file.name], rng)
    return dataclasses.replace(result, text=f"{result.text}\n    {table}" if result.verdict in BAD else result.text)


def to_be_quantized(seed, index, level, rng):
    """A network, mostly, of known sizes and with data that a quantizer takes."""
    if "@" in level or level.startswith("source"):
        raise Skip("quantizers measure on one machine")
    with elsewhere():
        kind = rng.choice(["layers", "any", "network", "network"])
        if kind == "layers":
            case, model, _ = rng.choice([layers, convolutions, products])(seed, index)
        elif kind == "any":
            case, model = drawn(seed, index, False)
        else:
            case, model, _ = networks.build(seed, index)
    if not model.graph.input or any(dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim):
        raise Skip("no inputs, or open sizes")
    if any(array.dtype.kind == "f" and np.isnan(array).any() for array in case.feeds().values()):
        raise Skip("data with values that are no numbers, which quantizers refuse")
    return case, model


@suite("quantized", 1)
def through_quantize(ingot, seed, index, level):
    """Networks that `ingot quantize` makes smaller; a finding is kept whole, since what is shrunk is tried as it is."""
    rng = random.Random(f"{seed}/{index}/quantized")
    case, model = to_be_quantized(f"{seed}/quantized", index, level, rng)
    for output in model.graph.output:  # onnx.checker wants a shape of each
        if output.name in case.values and not output.type.tensor_type.HasField("shape"):
            output.CopyFrom(onnx.helper.make_tensor_value_info(output.name, output.type.tensor_type.elem_type, case.values[output.name].shape))
    verdict, text = quantizing.check(ingot, model, case.feeds(), rng, level)
    return Result(verdict, text + (f"\n    {graphs.describe(case)}" if verdict in BAD else ""), coverage.of_case(case), model, case.feeds())


@suite("calibrated", 0.5)
def through_bad_data(ingot, seed, index, level):
    """Networks through `ingot quantize` with weights and data that are bad; a finding is kept whole."""
    rng = random.Random(f"{seed}/{index}/calibrated")
    case, model = to_be_quantized(f"{seed}/calibrated", index, level, rng)
    verdict, text = calibrating.check(ingot, model, case.feeds(), rng, level)
    return Result(verdict, text + (f"\n    {graphs.describe(case)}" if verdict in BAD else ""), coverage.of_case(case), model, case.feeds())


@suite("converted", 1)
def through_tools(ingot, seed, index, level):
    """Networks that the tools of ONNX Runtime quantize, narrow and fuse; a finding is what these made, kept whole."""
    rng = random.Random(f"{seed}/{index}/converted")
    case, model = to_be_quantized(f"{seed}/converted", index, level, rng)
    made, told = converting.made(rng, model, case.feeds())
    runs = [case.feeds()]
    if is_open := rng.random() < 0.5:
        made, symbols = opened(case, made, rng, every=rng.random() < 0.3)
        runs = runs_of(case, made, symbols, rng)
    verdict, text, feeds = converting.check(ingot, made, runs, level)
    if verdict == "refused" and not is_open and quantizing.runs(ingot, model, case.feeds(), level):
        verdict = "wrong"
    return Result(verdict, f"{told}, {text}\n    {graphs.describe(case)}" if verdict in BAD else text, coverage.of_case(case), made, feeds)


def threaded(ingot, case, model, runs, level, flags, rng):
    """Tried, and for bits that threads change."""
    result = tried(ingot, case, model, runs, level, flags)
    if result.verdict == "pass" and not level.startswith("source"):
        with Compiled(ingot, model, level, flags) as compiled:
            wanted = compiled.at(runs[0])
            for count in (2, 3, 16):
                got = compiled.in_threads(runs[0], count, rng.random())
                if any(a.tobytes() != b.tobytes() for a, b in zip(got, wanted, strict=True)):
                    return dataclasses.replace(result, verdict="wrong", text=f"other bits with {count} threads\n    {graphs.describe(case)}", feeds=runs[0])
    return result


def program(script, *arguments, count):
    """A suite that is a program of its own."""
    done = subprocess.run([sys.executable, HERE.parent / script, *map(str, arguments)], capture_output=True, text=True)
    return Result("pass" if done.returncode == 0 else "wrong", done.stdout[-2000:] + done.stderr[-500:] if done.returncode else "", count=count)


def number_of(seed, index):
    return random.Random(f"{seed}/{index}/program").randrange(1 << 30)


@suite("loops", 0.05)
def loops(ingot, seed, index, level):
    numbers = [str(number_of(seed, index) + k) for k in range(10)]
    return program("control/random_loops.py", "--ingot", ingot, "--target", level, "-j", 1, "--only", ",".join(numbers), count=10)


@suite("hostile", 0.02)
def hostile(ingot, seed, index, level):
    return program("hostile/run.py", "--ingot", ingot, "--seed", number_of(seed, index), "--mutations", 60, "--only", "mutations", "-j", 1, count=60)
