"""The package's types: mypy --strict accepts typed.py but for the lines that say `refused:`, and stubtest finds in the extension what _native.pyi declares.
The package of python/mlserver is accepted as a whole.

    stubs.py --build build
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

import package

# What the package imports for some functions alone, and where it is installed takes minutes to read.
CONFIGURATION = """[mypy]
[mypy-torch.*,sklearn.*,skl2onnx.*,onnx.*,ml_dtypes.*]
follow_imports = skip
follow_imports_for_stubs = True
ignore_missing_imports = True
"""
SAMPLE = pathlib.Path(__file__).resolve().parent / "typed.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    package.use(build)
    package.need("mypy")
    environment = {**os.environ, "MYPYPATH": str(build / "python"), "PYTHONPATH": os.pathsep.join([str(build / "python"), os.environ.get("PYTHONPATH", "")])}
    configuration = pathlib.Path(package.KEPT.name, "mypy.ini")
    configuration.write_text(CONFIGURATION)
    cache = ["--cache-dir", package.KEPT.name, "--config-file", configuration]
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--show-error-codes", *cache, SAMPLE], env=environment, capture_output=True, text=True)
    found = {(int(line), code) for line, code in re.findall(r"typed\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)}
    wanted = {(number, code) for number, line in enumerate(SAMPLE.read_text().splitlines(), 1) for code in re.findall(r"# refused: ([\w-]+)$", line)}
    if not wanted or found != wanted:
        sys.exit(f"mypy finds {sorted(found - wanted)} and not {sorted(wanted - found)}\n{done.stdout}{done.stderr}")
    allowed = pathlib.Path(package.KEPT.name, "allowed.txt")
    allowed.write_text("ingot._native.Model\n")  # its metaclass is nanobind's, of which nothing can be declared; its members are compared
    arguments = ["ingot._native", "--allowlist", allowed, "--mypy-config-file", configuration, "--ignore-disjoint-bases", "--ignore-missing-stub"]
    # It keeps its cache in the folder where it runs, and takes no other.
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", *arguments], env=environment, cwd=package.KEPT.name, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    # MLServer's classes are known where it is installed, and otherwise of any type.
    serving = ["--allow-subclassing-any", "--ignore-missing-imports", "--follow-imports=silent", *cache, package.ROOT / "python/mlserver/ingot_mlserver"]
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", *serving], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    print(f"{len(wanted)} mistakes are refused, everything else is accepted; the extension has what its stub declares")


if __name__ == "__main__":
    main()
