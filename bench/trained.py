"""What quantizers cost in accuracy: models that bench/trained_models.py has trained, quantized by `ingot quantize`, ONNX Runtime and
NNCF with the same 32 samples, and evaluated on data that neither training nor calibration has seen. By hand, not in the gate.

    trained_models.py FOLDER && trained.py --ingot build/bin/ingot FOLDER [--only mlp] [--rows none smooth] [--engine ort|ingot]

The number is the accuracy in %, of language models the perplexity; behind it how far it is from fp32's, and behind that what is noise: of the paired
samples, two standard errors of the difference. Files are computed as they say, by ONNX Runtime without its optimizations (`--engine ingot`: by ingot).
`!` is a file that loses more than 0.3 points, or 0.5 % of perplexity (int4: 0.02), and is no better within the noise. A row that needs what is not there
is left out: NNCF's, and HQQ of ONNX Runtime, which needs torch.
"""
import argparse
import contextlib
import io
import logging
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test" / "tools"))
import ingot_run

# Flags of `ingot quantize`; a row is left out where the model has nothing that they are for.
INGOT = {
    "none": [],
    "quick": ["--effort", "quick"],
    "thorough": ["--effort", "thorough"],
    "min-max": ["--method", "min-max"],
    "percentile": ["--method", "percentile"],
    "mse": ["--method", "mse"],
    "entropy": ["--method", "entropy"],
    "smooth": ["--smooth", "0.5"],
    "dynamic": ["--scheme", "int8-dynamic"],
    "int8-weights": ["--scheme", "int8-weights"],
    "int4": ["--scheme", "int4"],
    "int4 no data": ["--scheme", "int4"],
    "int4 quick": ["--scheme", "int4", "--effort", "quick"],
}


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def outputs(path, x, arguments):
    if arguments.engine == "ort":
        run, step = session(path), 256
        return np.concatenate([run.run(None, {"x": x[k : k + step]})[0] for k in range(0, len(x), step)])
    with tempfile.TemporaryDirectory() as folder:
        data, out = pathlib.Path(folder) / "data", pathlib.Path(folder) / "out"
        data.mkdir()
        (data / "input_0.pb").write_bytes(onnx.numpy_helper.from_array(x).SerializeToString())
        subprocess.run([arguments.ingot, "run", path, "--data", data, "--out", out], check=True, capture_output=True)
        return onnx.numpy_helper.to_array(onnx.load_tensor(str(out / "output_0.pb")))


def losses(path, held, arguments):
    """For each sample what it costs: 1 where a class is wrong, of pixels that is their share, or minus the logarithm of the letters' probability."""
    scores = outputs(path, held["x"], arguments).astype(np.float64)
    answers = held["answers"]
    if scores.ndim in (2, 4):
        return (scores.argmax(1) != answers).reshape(len(answers), -1).mean(1)
    scores -= scores.max(-1, keepdims=True)
    chosen = np.take_along_axis(scores, answers[..., None], -1)[..., 0]
    return (np.log(np.exp(scores).sum(-1)) - chosen).mean(1)  # letters of a piece depend on each other


def row(label, loss, exact, is_language, limit, extra=""):
    off = loss - exact
    noise = 2 * off.std() / len(off) ** 0.5
    if is_language:
        value, base = np.exp(loss.mean()), np.exp(exact.mean())
        difference, noise, most = value - base, noise * base, limit or 0.005 * base
        bad = difference - noise > most
        number = f"{value:8.4f} {difference:+8.4f} ±{noise:.4f}"
    else:
        difference, noise = -100 * off.mean(), 100 * noise
        bad = difference + noise < -0.3
        number = f"{100 - 100 * loss.mean():8.2f} {difference:+8.2f} ±{noise:.2f}"
    print(f"  {label:24} {number} {'!' if bad else ' '} {extra}", flush=True)


class Reader:
    """Calibration data for ONNX Runtime."""

    def __init__(self, files):
        self.files = iter(files)

    def get_next(self):
        file = next(self.files, None)
        return None if file is None else {"x": np.load(file)}


def by_ort(path, files, out, rows):
    """(label, file) of what ONNX Runtime's quantizer makes: with its defaults, and as its documentation recommends."""
    from onnxruntime import quantization

    logging.disable(logging.WARNING)
    from onnxruntime.quantization.calibrate import CalibrationDataReader, CalibrationMethod

    CalibrationDataReader.register(Reader)
    ready = out / "ready.onnx"
    quantization.quant_pre_process(str(path), str(ready), skip_symbolic_shape=True)
    for label, method, per_channel in ("ort defaults", "MinMax", False), ("ort per-channel", "MinMax", True), ("ort entropy", "Entropy", True), ("ort percentile", "Percentile", True):
        to = out / f"{label.replace(' ', '-')}.onnx"
        if not rows or label in rows:
            with contextlib.redirect_stdout(io.StringIO()):
                quantization.quantize_static(str(ready), str(to), Reader(files), per_channel=per_channel, calibrate_method=CalibrationMethod[method])
            yield label, to
    if not rows or "ort dynamic" in rows:
        to = out / "ort-dynamic.onnx"
        quantization.quantize_dynamic(str(ready), str(to))
        yield "ort dynamic", to
    if any(node.op_type == "MatMul" for node in onnx.load(path).graph.node) and (not rows or "ort int4" in rows):
        try:
            from onnxruntime.quantization import matmul_nbits_quantizer as nbits
        except ImportError as error:
            print(f"  ort int4: {error}")
            return

        for label, config in ("ort int4", dict(is_symmetric=True)), ("ort int4 asymmetric", dict(is_symmetric=False)), ("ort int4 hqq", None):
            to = out / f"{label.replace(' ', '-')}.onnx"
            try:
                how = dict(algo_config=nbits.HQQWeightOnlyQuantConfig(block_size=32)) if config is None else dict(block_size=32, **config)
                made = nbits.MatMulNBitsQuantizer(onnx.load(path), **how)
                made.process()
                made.model.save_model_to_file(str(to))
            except ImportError as error:
                print(f"  {label}: {error}")
                continue
            yield label, to


def by_nncf(path, files, out, rows):
    """(label, file) of what NNCF makes: with its defaults, for transformers, and of weights alone, with data and without."""
    try:
        import nncf
    except ImportError as error:
        print(f"  nncf: {error}")
        return
    logging.getLogger("nncf").setLevel(logging.ERROR)
    newer = onnx.version_converter.convert_version(onnx.load(path), 21)
    newer.ir_version = 10
    samples = lambda: nncf.Dataset([{"x": np.load(file)} for file in files])
    # Small tables stay in float, as ingot leaves them: ONNX Runtime refuses the form in which 3.4 writes them as int4.
    blocks = dict(ratio=1.0, group_size=32, all_layers=True, ignored_scope=nncf.IgnoredScope(types=["Gather"]))
    asymmetric = nncf.CompressWeightsMode.INT4_ASYM
    ways = {
        "nncf": lambda: nncf.quantize(newer, samples(), subset_size=len(files)),
        "nncf transformer": lambda: nncf.quantize(newer, samples(), subset_size=len(files), model_type=nncf.ModelType.TRANSFORMER),
    }
    if any(node.op_type == "MatMul" for node in newer.graph.node):
        ways["nncf int4"] = lambda: nncf.compress_weights(newer, mode=asymmetric, **blocks)
        ways["nncf int4, ends in int8"] = lambda: nncf.compress_weights(newer, mode=asymmetric, **{**blocks, "all_layers": False})
        ways["nncf int4 awq, scales"] = lambda: nncf.compress_weights(newer, mode=asymmetric, dataset=samples(), awq=True, scale_estimation=True, **blocks)
        ways["nncf int4 gptq"] = lambda: nncf.compress_weights(newer, mode=asymmetric, dataset=samples(), gptq=True, **blocks)
    for label, make in ways.items():
        if rows and label not in rows:
            continue
        to = out / f"{label.replace(' ', '-').replace(',', '')}.onnx"
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                onnx.save(make(), to)
            session(to)
        except Exception as error:  # what it or ONNX Runtime does not take is its own
            print(f"  {label}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
            continue
        yield label, to


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rows", nargs="*", default=[], help=f"of {', '.join(INGOT)}, and of ONNX Runtime's and NNCF's")
    parser.add_argument("--engine", choices=["ort", "ingot"], default="ort")
    parser.add_argument("--without-ort", action="store_true", help="leave out ONNX Runtime's quantizer")
    parser.add_argument("--without-nncf", action="store_true", help="leave out NNCF")
    arguments = parser.parse_args()
    for folder in sorted(path.parent for path in arguments.folder.glob("*/model.onnx")):
        if arguments.only and folder.name not in arguments.only:
            continue
        held, model = np.load(folder / "held.npz"), folder / "model.onnx"
        is_language = held["answers"].ndim == 2
        exact = losses(model, held, arguments)
        print(f"{folder.name}: fp32 {np.exp(exact.mean()) if is_language else 100 - 100 * exact.mean():.4f}, {model.stat().st_size // 1024} KiB", flush=True)
        with tempfile.TemporaryDirectory() as made:
            out = pathlib.Path(made)
            for label, flags in INGOT.items():
                if arguments.rows and label not in arguments.rows:
                    continue
                to = out / "ingot.onnx"
                begin = ingot_run.resource.getrusage(ingot_run.resource.RUSAGE_CHILDREN).ru_utime
                data = [] if "no data" in label else ["--data", folder / "samples"]
                done = subprocess.run([arguments.ingot, "quantize", model, *data, "-o", to, *flags], capture_output=True, text=True)
                spent = ingot_run.resource.getrusage(ingot_run.resource.RUSAGE_CHILDREN).ru_utime - begin
                if done.returncode:
                    print(f"  {label:24} {done.stderr.strip().splitlines()[-1].replace(str(arguments.folder) + '/', '')}", flush=True)
                    continue
                onnx.checker.check_model(str(to))
                row(label, losses(to, held, arguments), exact, is_language, 0.02 if "int4" in label else None, f"{to.stat().st_size // 1024:5} KiB {spent:6.1f} s of CPU")
            files = sorted((folder / "samples").iterdir())
            for makers, left_out in (by_ort, arguments.without_ort), (by_nncf, arguments.without_nncf):
                for label, to in () if left_out else makers(model, files, out, arguments.rows):
                    row(label, losses(to, held, arguments), exact, is_language, 0.02 if "int4" in label else None, f"{to.stat().st_size // 1024:5} KiB")


if __name__ == "__main__":
    main()
