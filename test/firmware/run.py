"""Small models as objects for microcontrollers, linked with the core of the support library and nothing else, and run by an emulator.

    run.py --ingot build/bin/ingot --target cortex-m4 [--only NAME] [--sizes] [--symbols none]

What they compute is compared with onnx's reference evaluator. Each object may need functions of the support library alone, and on processors without
a floating-point unit of the C compiler's; with `--symbols none` it may need nothing at all. The stack is painted before each run: what a run changes of it is within the manifest's stack_bytes, which
is less than twice that (and the allowance of LEAST_STACK), or null where the run asks for memory.
"""
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools")]
import bare
import ingot_run
import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

rng = np.random.default_rng(1)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def integers(low, high, *shape, kind=np.int64):
    return rng.integers(low, high, shape).astype(kind)


# Convolutions of bytes, which have to give the very integers: shapes of the image and the weights, attributes. Sizes that are no multiples of what
# kernels take at a time, padding and strides that leave out pixels, groups, each channel by itself, one axis and three.
CONVOLUTIONS = [
    ((2, 7, 5, 9), (13, 7, 3, 3), "pads=[1,1,1,1]"),
    ((1, 8, 4, 4), (6, 8, 1, 1), ""),
    ((1, 5, 3, 7), (1, 5, 1, 1), "strides=[2,2]"),
    ((1, 1, 11, 6), (4, 1, 5, 4), "strides=[2,2], pads=[2,1,2,2]"),
    ((1, 6, 1, 1), (10, 6, 1, 1), ""),
    ((1, 6, 7, 7), (8, 3, 3, 2), "group=2, dilations=[2,1], pads=[0,1,2,0]"),
    ((1, 3, 6, 5), (3, 1, 3, 3), "group=3, pads=[1,1,1,1]"),
    ((2, 5, 9, 8), (5, 1, 3, 3), "group=5, strides=[2,2], pads=[0,0,1,1]"),
    ((1, 2, 7, 7), (2, 1, 5, 5), "group=2, pads=[2,2,2,2]"),
    ((1, 4, 3, 3), (4, 1, 3, 3), "group=4"),
    ((1, 4, 2, 13), (4, 1, 1, 2), "group=4"),
    ((1, 2, 9, 9), (2, 1, 3, 3), "group=2, dilations=[2,2]"),
    ((1, 3, 10), (3, 1, 3), "group=3, pads=[1,1]"),
    ((1, 3, 10), (5, 3, 4), "pads=[2,1]"),
    ((1, 2, 3, 4, 5), (3, 2, 2, 2, 2), "pads=[1,0,0,0,1,1]"),
    ((1, 20, 6, 7), (5, 20, 3, 3), "strides=[2,1], pads=[1,1,1,1]"),
    ((2, 9, 5, 3), (3, 9, 2, 2), ""),
    ((2, 40, 3, 5), (6, 40, 1, 1), ""),
    ((1, 32, 9, 8), (4, 16, 3, 3), "group=2, dilations=[2,2], pads=[2,2,2,2]"),
    ((1, 2, 12, 11), (3, 2, 6, 6), ""),
    ((1, 9, 12, 90), (2, 9, 1, 1), ""),
    ((1, 3, 4, 23), (3, 1, 2, 3), "group=3, strides=[1,3]"),
    ((1, 2, 5, 6), (2, 1, 3, 3), "group=2, pads=[1,1,1,1]"),
    ((1, 2, 4, 4), (2, 1, 3, 3), "group=2"),
    ((1, 2, 5, 27), (2, 1, 3, 3), "group=2, strides=[2,2], pads=[1,1,1,1]"),
]
PRODUCTS = [((1, 1), (1, 1)), ((1, 7), (7, 13)), ((5, 13), (13, 7)), ((1, 64), (64, 12)), ((2, 3, 16), (16, 2)), ((3, 9), (9, 10)), ((3, 50), (50, 6)), ((2, 33), (33, 4)), ((1, 256), (256, 9))]


def of_bytes(op, cases, zero=True):
    """A model with a node for each of the cases, whose results are int32."""
    inputs = [integers(0, 256, *x, kind=np.uint8) for x, *_ in cases]
    constants = {f"w{k}": integers(-128, 128, *w, kind=np.int8) for k, (_, w, *_) in enumerate(cases)} | {"z": np.uint8(113 if zero else 0)}
    named = [f"uint8{list(x.shape)} x{k}".replace("(", "[") for k, x in enumerate(inputs)]
    results = [f"int32[{','.join('?' * (2 if op == 'MatMulInteger' and x.ndim == 2 else x.ndim))}] y{k}" for k, x in enumerate(inputs)]
    nodes = [f"y{k} = {op} {'<' + case[2] + '>' if len(case) > 2 and case[2] else ''} (x{k}, w{k}, z)" for k, case in enumerate(cases)]
    return f"g ({', '.join(named)}) => ({', '.join(results)}) {{{' '.join(nodes)}}}", constants, inputs


# Name: text of the graph, constants, inputs. What of each is hard: products and images; 64-bit division and conversions; float64 behind functions
# of float32; rounding without an instruction; sizes that the run is given or finds; integers of a byte; ends beyond every index.
MODELS = {
    "convolutions": ("g (float[1,3,16,16] x) => (float[1,10] y) {c = Conv <pads=[1,1,1,1]> (x, w) r = Relu (c) d = Conv <group=8, strides=[2,2], pads=[1,1,1,1]> (r, v) "
                     "p = GlobalAveragePool (d) f = Flatten (p) y = Gemm (f, u)}", {"w": floats(8, 3, 3, 3), "v": floats(8, 1, 3, 3), "u": floats(8, 10)}, [floats(1, 3, 16, 16)]),
    "products": ("g (float[N,24] x) => (float[N,7] y) {h = MatMul (x, w) t = Tanh (h) s = MatMul (t, v) y = Softmax (s)}", {"w": floats(24, 33), "v": floats(33, 7)}, [floats(5, 24)]),
    "division": ("g (int64[N] a, int64[N] b) => (int64[N] q, int64[N] r, float[N] f, int64[N] t) {q = Div (a, b) r = Mod (a, b) f = Cast <to=1> (q) h = Sqrt (f) k = Abs (h) t = Cast <to=7> (f)}",
                 {}, [integers(-(1 << 62), 1 << 62, 9), integers(1, 1 << 40, 9)]),
    "functions": ("g (float[9] x) => (float[9] s, float[9] p, float[9] l, float[9] m) {s = Sin (x) a = Abs (x) p = Pow (a, x) e = Exp (x) l = Log (e) m = Mod <fmod=1> (x, e)}", {}, [floats(9) * 3]),
    "rounding": ("g (float[12] x) => (float[12] a, float[12] b, float[12] c, float[12] i) {a = Floor (x) b = Ceil (x) c = Round (x) j = Cast <to=6> (x) i = Cast <to=1> (j)}", {},
                 [np.float32([0.5, -0.5, 1.5, -2.5, 0.49999997, -0.2, 8388607.5, -8388609, 3e9 / 2, 0, -7.75, 2.5])]),
    "doubles": ("g (double[8] x, double[8] z) => (double[8] y, float[8] f) {a = Mul (x, z) b = Add (a, x) c = Div (b, z) d = Abs (c) y = Sqrt (d) f = Cast <to=1> (y)}", {},
                [rng.standard_normal(8), rng.standard_normal(8)]),
    "slices": ("g (float[N,6] x) => (float[M,K] y, int64[2] n) {y = Slice (x, from, to) n = Shape (x)}", {"from": np.int64([1, -4]), "to": np.int64([(1 << 63) - 1, (1 << 63) - 1])}, [floats(5, 6)]),
    "gathers": ("g (float[N,6] x, int64[4] i) => (float[4,6] y) {y = Gather (x, i)}", {}, [floats(5, 6), np.int64([0, -1, 4, -5])]),
    "quantized": ("g (float[1,4,8,8] x) => (float[1,6,8,8] y) {q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) k = DequantizeLinear (w, t, o) c = Conv <pads=[1,1,1,1]> (d, k) "
                  "e = QuantizeLinear (c, u, z) y = DequantizeLinear (e, u, z)}", {"s": np.float32(0.03), "z": np.uint8(120), "w": integers(-90, 90, 6, 4, 3, 3, kind=np.int8), "t": np.float32(0.01),
                  "o": np.int8(0), "u": np.float32(0.05)}, [floats(1, 4, 8, 8)]),
    "convolutions of bytes": of_bytes("ConvInteger", CONVOLUTIONS),
    "products of bytes": of_bytes("MatMulInteger", PRODUCTS),
    "recurrent": ("g (float[5,1,4] x) => (float[1,1,6] h) {e, h = LSTM <hidden_size=6> (x, w, r, b)}", {"w": floats(1, 24, 4), "r": floats(1, 24, 6), "b": floats(1, 48)}, [floats(5, 1, 4)]),
    "copies": ("g (float[4,30] x, uint8[77] b) => (float[30,8] y, uint8[100] p) {c = Concat <axis=0> (x, x) y = Transpose <perm=[1,0]> (c) p = Pad (b, n, z)}",
               {"n": np.int64([11, 12]), "z": np.uint8(7)}, [floats(4, 30), integers(0, 256, 77, kind=np.uint8)]),
    "largest": ("g (float[N,20] x) => (float[N,3] v, int64[N,3] i) {v, i = TopK (x, k)}", {"k": np.int64([3])}, [floats(4, 20)]),
}  # fmt: skip

# Bytes that a bound may be above what a run takes, besides half of it: a call of the support library counts as its deepest function, and a branch
# that data did not take counts.
LEAST_STACK = 192

# What is looked at with --symbols none: sums of floats, divisions, float64, functions, integers, a loop over time, and copies.
WITHOUT_SYMBOLS = ["products", "division", "functions", "doubles", "quantized", "recurrent", "copies"]

STEP = {"quantized": 0.051}  # where a number may round to the neighbour of what it is quantized to


def model_of(text, constants):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 19]> {text}')
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items())
    return model


def wrong_stack(arguments, manifest, changed):
    """What is wrong with the bound of a model's stack, or None."""
    facts = json.loads(manifest.read_text())
    bound = facts["stack_bytes"]
    if arguments.sizes:
        print(f"{facts['name']}: at most {bound} bytes of stack, {changed} used; {facts.get('stack_path')}")
    if not bare.MACHINES[arguments.target].bounds_stack or facts["allocates"]:
        return None if bound is None else f"a bound of the stack, {bound}, where none can be known"
    if bound is None:
        return "no bound of the stack"
    if changed > bound:
        return f"{changed} bytes of stack were used, and the bound is {bound}"
    return f"the bound of the stack is {bound}, and {changed} bytes were used" if bound > 2 * changed + LEAST_STACK else None


def try_one(arguments, name, scratch):
    text, constants, inputs = MODELS[name]
    folder = pathlib.Path(scratch) / name
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    model = model_of(text, constants)
    onnx.save(model, folder / "model.onnx")
    names = [value.name for value in model.graph.input]
    outputs = ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for k, array in enumerate(arrays):
            (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(array)).SerializeToString())
    painted = []
    verdict, wrong = bare.shared(arguments.ingot, arguments.target).run(arguments.ingot, folder, folder / "out", ["--symbols", arguments.symbols], painted=painted)
    if verdict == "pass":
        wrong = ingot_run.compare_outputs(folder, folder / "out", lambda got, want: ingot_run.difference(got, want, STEP.get(name, 5e-5)))
    if arguments.sizes:
        print(bare.call([bare.TOOLS / "llvm-size", folder / "out/model.o"]).stdout.decode())
    if wrong:
        return f"{verdict}: {wrong}"
    own = () if arguments.symbols == "none" else None
    return bare.foreign(folder / "out/model.o", arguments.target, own) or wrong_stack(arguments, folder / "out/model.json", painted[0])


# Sizes that no address reaches, alone or all together: ingot_plan refuses them with INGOT_ERROR_SIZE (12).
SIZES = [([3, 5], 0), ([1 << 20, 1], 0), ([1 << 32, 1], 12), ([(1 << 32) + 2, 3], 12), ([1 << 62, 1 << 62], 12), ([1 << 16, 1 << 16], 12), ([1 << 27, 1], 0), ([1 << 28, 1], 12), ([1 << 31, 0], 12)]


def try_sizes(arguments, scratch):
    """A product between two buffers: 4 N M bytes each."""
    folder = pathlib.Path(scratch) / "sizes"
    folder.mkdir()
    onnx.save(model_of("g (float[N,M] x) => (float[N,M] y) {t = Transpose <perm=[1,0]> (x) s = Softmax (t) u = Transpose <perm=[1,0]> (s) y = Softmax (u)}", {}), folder / "model.onnx")
    machine = bare.shared(arguments.ingot, arguments.target)
    verdict, wrong = machine.make(arguments.ingot, folder, folder)
    for symbols, expected in SIZES if verdict == "pass" else []:
        kind, bytes = bare.plan(machine, folder / "program", symbols)
        if kind != expected or (kind == 0 and bytes < 4 * symbols[0] * symbols[1]):
            return f"{symbols}: status {kind} and {bytes} bytes, expected status {expected}"
    return wrong or None


def main():
    flags = ingot_run.parser(__doc__)
    flags.add_argument("--only"), flags.add_argument("--sizes", action="store_true"), flags.add_argument("--symbols", default="libraries"), flags.set_defaults(bare=True)
    arguments = flags.parse_args()
    if missing := bare.lacks(arguments.target):
        print(f"skipped: no {missing} here")
        sys.exit(77)
    is_narrow = "64" not in bare.MACHINES[arguments.target].triple
    count = ingot_run.Count("firmware")
    with tempfile.TemporaryDirectory(prefix="ingot-firmware-") as scratch:
        for name in [arguments.only] if arguments.only else WITHOUT_SYMBOLS if arguments.symbols == "none" else MODELS:
            count.add(f"{name} on {arguments.target}", try_one(arguments, name, scratch))
        if not arguments.only and is_narrow and arguments.symbols != "none":  # where 64 bits are an address, all these sizes have one
            count.add("sizes", try_sizes(arguments, scratch))
    count.finish()


if __name__ == "__main__":
    main()
