"""Real models through C++ source: each is compiled to source, which a compiler of the system builds, and compared with its recorded outputs.

    through_source.py ROOT --ingot build/bin/ingot [--target portable] [--compiler g++] [--flags '-O2 -march=native'] [--only REGEX] [--most-macs 1e9] [-j 2]
    through_source.py ROOT --compiler riscv64-linux-gnu-g++ --flags=-O2 --runner 'qemu-riscv64 -L /usr/riscv64-linux-gnu'
    through_source.py ROOT --compiler clang++-22 --flags '-O2 --target=aarch64-linux-gnu -fuse-ld=lld' --runner 'qemu-aarch64 -L /usr/aarch64-linux-gnu' --target armv8-a

ROOT has a folder for each model: the model and its test_data_set_*. What ingot refuses is said and no failure; by hand, not part of `ctest`."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
from open_model import build_source


def one(arguments, model):
    """(verdict, what is said)"""
    data = sorted(model.parent.glob("test_data_set_*"))
    with tempfile.TemporaryDirectory(prefix="ingot-source-") as folder:
        out = pathlib.Path(folder)
        done = subprocess.run([arguments.ingot, "compile", model, "--name", "m", "--emit", "cpp", "--target", arguments.target, "-o", out], capture_output=True, text=True)
        if done.returncode:
            return ("refused" if done.returncode == 1 else "bug"), done.stderr.strip().splitlines()[0]
        macs = json.loads((out / "m.json").read_text())["macs"]
        if isinstance(macs, int) and macs > arguments.most_macs:
            return "large", f"{macs} multiply-adds"
        if not data:
            return "refused", "no recorded data"
        code, said = build_source(out, arguments.compiler, arguments.flags.split())
        if code:
            return "source", said
        runner = ["--runner", arguments.runner] if arguments.runner else []
        done = subprocess.run([arguments.ingot, "verify", out / "m.json", *runner, *(word for folder in data for word in ("--data", folder))], capture_output=True, text=True)
        return ("pass", "") if done.returncode == 0 else ("wrong", next((line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("ok")), ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path), parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--target", default="portable")
    parser.add_argument("--compiler", default="g++"), parser.add_argument("--flags", default="-O2 -march=native"), parser.add_argument("--only", default="")
    parser.add_argument("--most-macs", type=float, default=1e9), parser.add_argument("--runner"), parser.add_argument("-j", type=int, default=1)
    arguments = parser.parse_args()
    counts = {}
    models = [model for model in sorted(arguments.root.glob("*/*.onnx")) if re.search(arguments.only, model.parent.name)]
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for model, (verdict, said) in zip(models, pool.map(lambda model: one(arguments, model), models)):
            counts[verdict] = counts.get(verdict, 0) + 1
            print(f"{verdict}: {model.parent.name}  {said}"[:400], flush=True)
    print(", ".join(f"{verdict} {count}" for verdict, count in sorted(counts.items())))
    sys.exit(any(counts.get(verdict) for verdict in ("wrong", "source", "bug")) or not counts)


if __name__ == "__main__":
    main()
