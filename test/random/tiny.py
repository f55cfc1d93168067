"""Convolutions and pools on tiny images, all of them: every spatial shape of 1, 2, 3 and 7 in one, two and three dimensions, with small windows, strides,
padding, groups and channels that fill blocks or do not, alone and with what kernels apply behind them. Many to a model, each on its own input;
compared with ONNX Runtime.

    tiny.py --ingot build/bin/ingot [--target T] [--every 16] [--first 0] [--only NUMBER] [-j 2]
    tiny.py ... --winograd 4 [--guarded RUNNER RUNTIME]

--every N runs each N-th only, from --first on. --winograd: convolutions of stride 1 with filters of 3, 5 and 7 taps only, and on somewhat larger images, too.
"""
import concurrent.futures
import itertools
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from case import by_onnxruntime

SIZES, SIZES_OF_FILTERS, OF_A_MODEL = [1, 2, 3, 7], [1, 4, 5, 7, 10, 13], 60
KERNELS = {1: [[1], [2], [3]], 2: [[1, 1], [1, 3], [3, 1], [2, 2], [3, 3]], 3: [[1, 1, 1], [1, 1, 3], [3, 1, 1], [1, 3, 1], [2, 2, 2]]}
FILTERS, GROUPS = [[3, 3], [5, 5], [1, 7], [3, 5]], [(96, 48, 3), (32, 64, 2)]  # of blocks
CHANNELS = [(8, 16, 1), (3, 5, 1), (16, 16, 16), (6, 12, 6), (16, 32, 2), (17, 33, 1)]  # in, out, groups
ZEROS = [0, 128, 255, 7, 127]
BEHIND = ["", "Relu", "residual", "scale", "pixels", "channel of images"]


def draws(winograd):
    """(operator, image, kernel, stride, padded, channels, what stands behind); the last two go round."""
    ways = itertools.product(["Conv", "ConvTranspose", "ConvInteger", "MaxPool", "AveragePool", "LpPool"], [1, 2, 3], [1, 2], [False, True])
    number = 0
    for operator, rank, stride, padded in ways:
        if winograd and (operator.endswith("Pool") or (rank, stride) != (2, 1)):
            continue
        for spatial in itertools.product(SIZES_OF_FILTERS if winograd else SIZES, repeat=rank):
            for kernel in FILTERS if winograd else KERNELS[rank]:
                for batch, channels in itertools.product([1, 3], CHANNELS + (GROUPS if winograd else []) if rank < 3 else CHANNELS[:4]):
                    number += 1
                    behind = BEHIND[number % len(BEHIND)]
                    if operator.endswith("Pool") and (channels[2] > 1 or batch == 3 and rank == 3):
                        continue
                    pads = [padded * (size // 2) for size in kernel]
                    if operator == "ConvTranspose":
                        fits = all((size - 1) * stride + reach > 2 * pad for size, reach, pad in zip(spatial, kernel, pads))
                    else:
                        fits = all(size + 2 * pad >= reach for size, reach, pad in zip(spatial, kernel, pads))
                    if fits and (not padded or any(pads)):
                        yield operator, [batch, channels[0], *spatial], kernel, stride, pads, channels, behind


class Many:
    """A model of many such nodes."""

    def __init__(self, ways):
        self.ways, self.nodes, self.inputs, self.outputs, self.constants, self.feeds = ways, [], [], [], [], {}
        for k, way in enumerate(ways):
            self.add(k, *way)

    def input(self, name, shape, integers=False):
        rng = np.random.default_rng(len(self.feeds))
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.UINT8 if integers else TensorProto.FLOAT, shape))
        self.feeds[name] = rng.integers(0, 256, shape).astype(np.uint8) if integers else rng.standard_normal(shape).astype(np.float32)
        return name

    def weights(self, name, shape, integers=False):
        """Sums of two or four products of small integers by bytes fit 16 bits."""
        rng, most = np.random.default_rng(len(self.constants)), [128, 64, 32][len(self.constants) % 3]
        self.constants.append(numpy_helper.from_array(rng.integers(-most, most, shape).astype(np.int8) if integers else rng.standard_normal(shape).astype(np.float32), name))
        return name

    def integers(self, k, result, behind):
        """Zero points of both factors, and int32 as floats for what stands behind."""
        self.constants.append(numpy_helper.from_array(np.array(ZEROS[k % len(ZEROS)], np.uint8), f"xz{k}"))
        self.constants.append(numpy_helper.from_array(np.array([0, 3][k % 2], np.int8), f"wz{k}"))
        self.nodes[-1].input.extend([f"xz{k}", f"wz{k}"])
        if not behind:
            return result
        self.nodes.append(helper.make_node("Cast", [result], [f"f{k}"], to=TensorProto.FLOAT))
        return f"f{k}"

    def add(self, k, operator, shape, kernel, stride, pads, channels, behind):
        ins, outs, groups = channels
        attributes = {"strides": [stride] * len(kernel), "pads": pads * 2, "kernel_shape": kernel}
        integers = operator == "ConvInteger"
        operands = [self.input(f"x{k}", shape, integers)]
        if "Conv" in operator:
            attributes["group"] = groups
            operands.append(self.weights(f"w{k}", [ins, outs // groups, *kernel] if operator == "ConvTranspose" else [outs, ins // groups, *kernel], integers))
            operands += [self.weights(f"b{k}", [outs])] if k % 2 and not integers else []
        else:
            outs = ins
        extents = [(size - 1) * stride + reach - 2 * pad if operator == "ConvTranspose" else (size + 2 * pad - reach) // stride + 1
                   for size, reach, pad in zip(shape[2:], kernel, pads)]
        self.nodes.append(helper.make_node(operator, operands, [f"y{k}"], name=f"n{k}", **attributes))
        others = {"residual": [shape[0], outs, *extents], "scale": [outs] + [1] * len(extents), "pixels": extents, "channel of images": [shape[0], outs] + [1] * len(extents)}
        result = self.integers(k, f"y{k}", behind) if integers else f"y{k}"
        if behind in others:
            self.nodes.append(helper.make_node("Mul" if behind == "scale" else "Add", [result, self.input(f"r{k}", others[behind])], [f"z{k}"]))
            result = f"z{k}"
        elif behind:
            self.nodes.append(helper.make_node(behind, [result], [f"z{k}"]))
            result = f"z{k}"
        self.outputs.append(helper.make_tensor_value_info(result, TensorProto.INT32 if integers and not behind else TensorProto.FLOAT, [shape[0], outs, *extents]))

    @property
    def model(self):
        graph = helper.make_graph(self.nodes, "tiny", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def text(number, way):
    operator, shape, kernel, stride, pads, channels, behind = way
    return f"{number}: {operator} of {shape}, kernel {kernel}, stride {stride}, pads {pads}, channels {channels}{', ' + behind if behind else ''}"


def one(arguments, numbered):
    many = Many([way for _, way in numbered])
    with tempfile.TemporaryDirectory(prefix="ingot-tiny-") as scratch:
        folder = pathlib.Path(scratch)
        wanted, wrong = by_onnxruntime(many.model, many.feeds), []
        verdict, why = ingot_run.run_on(arguments, folder, many.model, many.feeds.values(), wanted)
        if verdict != "pass":
            return [f"{text(*numbered[0])} and {len(numbered) - 1} more: {verdict}: {why}"], len(numbered)
        for k, want in enumerate(wanted):
            if difference := ingot_run.difference(ingot_run.load(folder / "out" / f"output_{k}.pb"), want):
                wrong.append(f"{text(*numbered[k])}: {difference}")
        return wrong, len(wrong)


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--every", type=int, default=16), parser.add_argument("--first", type=int, default=0), parser.add_argument("--only", type=int)
    parser.add_argument("--guarded", nargs=2, metavar=("RUNNER", "RUNTIME"), help="as run.py has it")
    arguments = parser.parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    chosen = list(enumerate(draws(arguments.winograd)))
    chosen = chosen[arguments.first :: arguments.every] if arguments.only is None else [chosen[arguments.only]]
    models = [chosen[k : k + OF_A_MODEL] for k in range(0, len(chosen), OF_A_MODEL)]
    failed = 0
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for wrong, count in pool.map(one, [arguments] * len(models), models):
            failed += count
            for line in wrong:
                print(line, flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
