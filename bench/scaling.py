"""What compiling costs as models grow: seconds of CPU by phase, peak memory and their exponents, for models of N repeated pieces.

    scaling.py --ingot build/bin/ingot [--models conv,slices,...] [--sizes 250,1000,4000,16000] [--target x86-64-v3] [--limit 600] [--keep FOLDER]

Each line has a model's size, the seconds of CPU that one thread takes in all (`--jobs 1`), those of the phases that take most, and the peak of memory. The
exponent compares a line with the one above: 1 where cost grows as the model does, 2 where it grows as its square. The seconds of phases are `--timing`'s, by
the clock; where other programs run, they are scaled to the CPU's."""
import argparse
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "growth"))
from models import MODELS


def measure(arguments, path, folder):
    """CPU seconds, those of each phase, and peak bytes; None where it takes too long."""
    command = [arguments.ingot, "compile", path, "-o", folder, "--name=m", "--jobs=1", "--timing", f"--target={arguments.target}"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (arguments.limit, arguments.limit))
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=limit)
    text = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        return None, text.strip().splitlines()[-1:] or [f"ended by signal {-child.returncode}"]
    cpu = used.ru_utime + used.ru_stime
    phases = {name: float(seconds) for seconds, name in re.findall(r"([\d.]+) s  (\w+)", text)}
    total = phases.pop("total") or 1e-9
    return {"cpu": cpu, "peak": used.ru_maxrss * 1024, "phases": {name: seconds * cpu / total for name, seconds in phases.items()}}, None


def exponent(now, before, ratio):
    return f"{math.log(now / before) / math.log(ratio):5.2f}" if before else "     "


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--sizes", default="250,1000,4000,16000")
    parser.add_argument("--target", default="x86-64-v3")
    parser.add_argument("--limit", type=int, default=600, help="seconds of CPU for one compilation")
    parser.add_argument("--keep", type=pathlib.Path, help="where models are written and kept")
    arguments = parser.parse_args()
    print(f"{'model':12} {'N':>6} {'CPU s':>7} {'exp':>5} {'peak MB':>8} {'exp':>5}  phases")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in arguments.models.split(","):
            before, size_before = None, 1
            for size in map(int, arguments.sizes.split(",")):
                path = folder / f"{name}-{size}.onnx"
                if not path.exists():
                    onnx.save(MODELS[name](size), path)
                now, why = measure(arguments, path, pathlib.Path(temporary) / "out")
                if not now:
                    print(f"{name:12} {size:6} not compiled: {why[0]}", flush=True)
                    break
                powers = [exponent(now[what], before and before[what], size / size_before) for what in ("cpu", "peak")]
                most = sorted(now["phases"].items(), key=lambda item: -item[1])[:5]
                told = ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in most)
                print(f"{name:12} {size:6} {now['cpu']:7.2f} {powers[0]} {now['peak'] / 1e6:8.0f} {powers[1]}  {told}", flush=True)
                before, size_before = now, size


if __name__ == "__main__":
    main()
