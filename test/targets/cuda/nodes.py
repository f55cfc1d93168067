"""ONNX's node tests on a GPU of the emulator: nodes.py --ingot build/bin/ingot --emulator build/test/targets/cuda/libcuda.so.1 [--filter REGEX]
    [--count [--results FILE] [--seconds N] [--models]]

Without --count each test of the filter has to run on the device as a whole (--no-fallback), with each access to memory watched, and may copy its
inputs, its constants and a status to the device, and its results and the status back, once each. With --count all tests of the filter run, with the host beside the device where it refuses a node, and a table says how many
ran where; nothing is watched then. --results keeps what was found in a file, and takes from it what an earlier call found; with --seconds no test
begins after so many, so that a long count may be made in parts. Tests are those of Debian's libonnx-testdata, or of --tests DIR. With --models DIR holds
real models, whose results are as close as test/models/run.py wants them, and which may take ten minutes.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "nodes"), str(HERE.parents[1] / "tools")]
import ingot_run
import onnx
import run as nodes

ONE_OF_EACH = (
    r"^test_(add_bcast|and3d|argmax_keepdims_random|averagepool_2d_pads|batchnorm_example|cast_FLOAT_to_FLOAT16|clip|concat_2d_axis_0|conv_with_strides_padding|convinteger_with_padding"
    r"|convtranspose_pads|cumsum_2d_axis_1|depthtospace_example|det_nd|dequantizelinear_axis|equal_bcast|erf|exp|gather_1|gather_elements_1|gathernd_example_float32"
    r"|gemm_all_attributes|gelu_tanh_1|globalaveragepool|gridsample|group_normalization_epsilon|hardmax_axis_1|instancenorm_epsilon|isnan|layer_normalization_2d_axis1|logsoftmax_axis_1"
    r"|lrn|lstm_defaults|gru_defaults|simple_rnn_defaults|lppool_2d_default|matmul_[234]d|matmulinteger|maxpool_2d_dilations|maxpool_with_argmax_2d_precomputed_pads|mod_mixed_sign_int32"
    r"|mul_int16|mvn|qlinearconv|qlinearmatmul_2D_uint8_float32|quantizelinear_axis|reduce_(max|mean|prod|log_sum_exp|l2)_keepdims_random"
    r"|rms_normalization_2d_axis1|rotary_embedding|scatter_elements_with_axis|scatternd_add|softmax_(axis_0|large_number)|spacetodepth|split_equal_parts_1d_opset18|sum_example|tanh"
    r"|transpose_all_permutations_3|trilu_lower|where_example|attention_4d|swish"
    r"|tile|expand_dim_changed|top_k|onehot_with_axis|range_float_type_positive_delta|blackmanwindow|constant_pad|affine_grid_2d)$"  # sizes are inputs
)
FINE = "device", "nothing to launch", "known"
COUNTED = r"(\d+) launches, \d+ graphs, (\d+) launches of graphs, (\d+) uploads of \d+ bytes, (\d+) downloads of \d+ bytes, \d+ waits, (\d+) bytes held, (\d+) pinned blocks"


def close(got, want):
    """The difference of a model's results, as test/models/run.py has it."""
    return ingot_run.difference(got, want, 1e-4, 1e-3)


def call(arguments, spec, folder, out, flags=()):
    """The verdict and its text, and what the emulator counted: launches, launches of graphs, uploads, downloads."""
    with tempfile.NamedTemporaryFile(prefix="ingot-emulator-") as log:
        command = [arguments.ingot, "run", folder / "model.onnx", "--data", folder / "test_data_set_0", "--out", out, "--target", f"cuda:{spec},x86-64-v3", *flags]
        environment = {**os.environ, "INGOT_LIBCUDA": arguments.emulator, "INGOT_EMULATOR": f"log={log.name}"}
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=arguments.limit, env=environment, preexec_fn=ingot_run.limits)
        except subprocess.TimeoutExpired:
            return "timeout", f"more than {arguments.limit} s", None
        said = re.sub(r"\s+", " ", (done.stderr or done.stdout).strip())[:600]
        if done.returncode:
            return ingot_run.VERDICT.get(done.returncode, "crash"), said, None
        compare = nodes.difference_of_drawn if nodes.DRAWN.match(folder.name) else close if arguments.models else nodes.difference
        found = re.match(COUNTED, pathlib.Path(log.name).read_text())  # nothing where no device was opened
        counted = [int(number) for number in found.groups()] if found else [0] * 6
        if wrong := ingot_run.compare_outputs(folder, out, compare):
            return "wrong", wrong, counted
        return ("left", f"{counted[4]} bytes and {counted[5]} pinned blocks are left", counted) if counted[4] or counted[5] else ("pass", "", counted)


def whole(arguments, folder):
    """The test on the device alone: (name, sentence of what is wrong or None)."""
    with tempfile.TemporaryDirectory(prefix="ingot-cuda-") as out:
        verdict, text, counted = call(arguments, "watched", folder, out, ["--no-fallback"])
    if verdict != "pass":
        return folder.name, f"{verdict}: {text}"
    launches, _, uploads, downloads, *_ = counted
    graph = onnx.load(folder / "model.onnx").graph
    if not launches:
        return folder.name, "nothing was launched"
    if uploads > len(graph.input) + 2 or downloads > len(graph.output) + 1:
        return folder.name, f"{uploads} uploads for {len(graph.input)} inputs, {downloads} downloads for {len(graph.output)} outputs"
    return folder.name, None


def anywhere(arguments, folder):
    """Where the test runs: (name, device, part, host or a verdict, why)."""
    with tempfile.TemporaryDirectory(prefix="ingot-cuda-") as out:
        verdict, why, counted = call(arguments, "emulated", folder, out, ["--no-fallback"])
        if verdict == "pass":
            return folder.name, "device" if counted[0] else "nothing to launch", ""
        if verdict == "refused":
            verdict, text, counted = call(arguments, "emulated", folder, out)
            why = text if verdict != "pass" else why
            verdict = verdict if verdict != "pass" else "part" if counted[0] else "host"
    return folder.name, verdict, why


def reason_of(text):
    """A refusal's reason, without the node."""
    reason = text.partition("cuda:emulated: ")[2] or text.partition("error: ")[2] or text
    return re.sub(r" \S*model\.onnx.*|; x86-64-v3: .*", "", reason)[:100]


def counted_before(path):
    """What a file of results says: name -> (verdict, why)."""
    lines = path.read_text().splitlines() if path and path.exists() else []
    return {name: (verdict, why) for name, verdict, why in (line.split("\t") for line in lines)}


def count(arguments, pool, folders):
    """Says how many tests ran where, and why not on the device. Returns how many of them are wrong; what test/known.txt names is wrong on the host, too."""
    known = ingot_run.known("nodes")
    results, until = counted_before(arguments.results), time.monotonic() + arguments.seconds
    names = [folder.name for folder in folders]
    ask = lambda folder: anywhere(arguments, folder) if time.monotonic() < until else (folder.name, None, "")
    for name, verdict, why in pool.map(ask, [folder for folder in folders if folder.name not in results]):
        if verdict:
            results[name] = verdict, why
            if arguments.results:
                with arguments.results.open("a") as file:
                    file.write(f"{name}\t{verdict}\t{why}\n")
    asked = {name: results[name] for name in names if name in results}
    results = {name: ("known" if verdict == "wrong" and ingot_run.reason(known, name) else verdict, why) for name, (verdict, why) in asked.items()}
    verdicts, reasons = collections.Counter(verdict for verdict, _ in results.values()), collections.Counter()
    for name, (verdict, why) in results.items():
        if verdict in ("part", "host", "refused"):
            reasons[f"{verdict}: {reason_of(why)}"] += 1
        elif verdict not in FINE:
            print(f"{name}: {verdict}: {why}", flush=True)
    for reason, number in reasons.most_common():
        print(f"{number:5} {reason}")
    print(f"{len(results)} of {len(names)} tests: " + ", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common()))
    return sum(number for verdict, number in verdicts.items() if verdict not in (*FINE, "part", "host", "refused"))


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--emulator", required=True)
    parser.add_argument("--tests", type=pathlib.Path, action="append"), parser.add_argument("--filter"), parser.add_argument("--count", action="store_true"), parser.add_argument("--models", action="store_true")
    parser.add_argument("--results", type=pathlib.Path), parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    arguments.limit = 600 if arguments.models else 120
    arguments.ingot, arguments.emulator = os.path.abspath(arguments.ingot), os.path.abspath(arguments.emulator)
    wanted = re.compile(arguments.filter or ("." if arguments.count else ONE_OF_EACH))
    tests = arguments.tests or [pathlib.Path("/usr/share/libonnx-testdata/data/node")]
    folders = [path.parent for root in tests for path in sorted(root.glob("*/model.onnx")) if wanted.search(path.parent.name)]
    if not folders:
        print(f"skipped: no tests in {tests[0]} (Debian package libonnx-testdata)")
        sys.exit(77)
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        if arguments.count:
            sys.exit(count(arguments, pool, folders) > 0)
        failures = [(name, text) for name, text in pool.map(lambda folder: whole(arguments, folder), folders) if text]
    for name, text in failures:
        print(f"{name}: {text}")
    print(f"{len(folders)} node tests on the device, {len(failures)} failures")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
