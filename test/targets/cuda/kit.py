"""The kit for a machine with a GPU (bench/cuda_kit.py), at tiny sizes, on the emulator: kit.py --ingot build/bin/ingot --emulator build/test/targets/cuda/libcuda.so.1 [--models DIR]

Every kernel and every model of the kit has to be right. A wrong reference, a failing driver and a machine without one have to be said. Where this machine has a driver and a GPU, the
same kit, for architectures instead of the emulator, runs on it, too.
"""
import argparse
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[3]
NET = """<ir_version: 8, opset_import: ["" : 17]> net (float[n, 30] x, int64[2] part) => (float[n, 8] y, float[m, 8] some)
    <float[30, 8] w = {%s}> { p = MatMul(x, w)  y = Tanh(p)  begin = Constant <value = int64[1] {0}> ()  one = Constant <value = int64[1] {1}> ()
    two = Constant <value = int64[1] {2}> ()  end = Slice(part, one, two)  some = Slice(y, begin, end) }"""


def has_gpu():
    """Whether a driver is here that finds a GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def model(root):
    """A model with recorded results in ONNX's layout, under a name that the kit has: an open size, and one that the run reads."""
    folder = root / "mnist-8"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    r = np.random.default_rng(2)
    w, x, part = r.uniform(-1, 1, (30, 8)).astype(np.float32), r.uniform(-1, 1, (5, 30)).astype(np.float32), np.array([7, 3])
    text = NET % ", ".join(map(repr, map(float, w.flat)))
    onnx.save(onnx.parser.parse_model(text), folder / "model.onnx")
    y = np.tanh(x @ w)
    for name, array in (("input_0", x), ("input_1", part), ("output_0", y), ("output_1", y[:3])):
        (data / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
    return root


def make(arguments, out, models, spec, *flags):
    command = [sys.executable, ROOT / "bench/cuda_kit.py", "--ingot", arguments.ingot, "--out", out, "--tiny", "--spec", spec, *flags]
    for folder in models:
        command += ["--models", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")
    print(done.stdout.strip().splitlines()[-1])


def run(out, driver, settings="", *words):
    environment = {**os.environ, "INGOT_EMULATOR": settings}
    if driver:
        environment["INGOT_LIBCUDA"] = str(driver)
    command = [out / "kit", out / "cases", *words] if words else ["sh", out / "run.sh"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=480)
    return done.stdout + done.stderr


def expect(condition, what, text):
    if not condition:
        sys.exit(f"{what}:\n{text}")


def check_right(out, driver, names):
    """Each model has a row that says that it is right, and times. Returns the rows."""
    table = run(out, driver)
    rows = {line[:28].strip(): line for line in table.splitlines()[2:-1]}
    expect(set(names) <= set(rows), "rows are missing", table)
    expect(" 0 wrong, 0 left out" in table.splitlines()[-1], "a model is wrong", table)
    expect(all(re.search(r" right +\S+ +\d+\.\d+ +\d+\.\d+ +\d+\.\d+ +\d+ +\d+", line) for line in rows.values()), "a time is missing", table)
    expect((out / "table.txt").read_text() == table, "the file differs", table)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True), parser.add_argument("--emulator", required=True), parser.add_argument("--models", action="append", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ingot-kit-test-") as scratch:
        scratch = pathlib.Path(scratch)
        models, out = [model(scratch / "models"), *arguments.models], scratch / "kit"
        make(arguments, out, models, "watched")
        rows = check_right(out, os.path.abspath(arguments.emulator), ["fp16 product", "int4 row by matrix", "transpose", "mnist-8"])
        expect(re.search(r"(\d\S*) +(\d\S*)$", rows["fp16 product"]), "a product without rates", rows["fp16 product"])
        # What is bound moves nothing but a status; a gather has one, which says that its indices are good.
        expect(" 0 " in rows["transpose"], "a transpose copies", rows["transpose"])

        needed = subprocess.run(["readelf", "-d", out / "kit"], capture_output=True, text=True).stdout
        expect(set(re.findall(r"NEEDED.*\[(.*)\]", needed)) <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}, "the program needs more than libc", needed)

        case = out / "cases" / "mnist-8.case"
        good = case.read_bytes()
        case.write_bytes(good[:-4] + bytes([good[-4] ^ 0x80]) + good[-3:-1] + bytes([good[-1] ^ 0x40]))
        said = run(out, os.path.abspath(arguments.emulator), "", "400", "mnist-8")
        expect("WRONG" in said and "1 models, 1 wrong" in said, "a wrong result is not seen", said)
        said = run(out, scratch / "none.so", "", "400", "transpose")
        expect("no GPU" in said and "WRONG" in said, "no driver is not said", said)
        said = run(out, os.path.abspath(arguments.emulator), "command=3,code=719", "400", "mnist-8")
        expect("WRONG" in said and "CUDA_ERROR_LAUNCH_FAILED" in said, "a failing device is not said", said)
        if has_gpu():
            make(arguments, scratch / "gpu", models, "sm_75+sm_80")
            check_right(scratch / "gpu", None, ["fp16 product", "mnist-8"])
            print("the same on this machine's GPU")


if __name__ == "__main__":
    main()
