"""The wheel: built from the build folder by python/wheel.py, installed into an environment of its own outside of the tree, where six lines compile and run a model,
without any compiler on the PATH; `ingot` is a command there, and a project finds CMake's package in it. The source distribution gives the same wheel.

    wheel.py --build build

This wheel's program needs LLVM's shared libraries, unless the build folder is one of the preset `static`."""
import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile

import package

MOST_BYTES = 90_000_000
SIX_LINES = """\
import ingot
import numpy as np
m = ingot.compile("celsius.onnx")
x = np.float32([[0], [10], [20], [30], [100]])
print(m(x).tolist())
assert m(x).ravel().tolist() == [32, 50, 68, 86, 212]
"""


def builder():
    """python/wheel.py as a module."""
    spec = importlib.util.spec_from_file_location("wheel_builder", package.ROOT / "python/wheel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def sources(folder, build, wheel):
    """Of the source distribution, pip makes a wheel with the same files; without a build of ingot it says what is missing."""
    archive = builder().source_distribution(folder / "sources")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder / "again", "--config-settings", f"build-dir={folder}/again-build", archive]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode == 0 or "needs a build of ingot" not in done.stdout + done.stderr:
        sys.exit(f"a wheel without a build of ingot: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    shutil.rmtree(folder / "again-build", ignore_errors=True)
    call(*command[:-1], "--config-settings", f"cmake.define.ingot_DIR={build}", archive)
    files = lambda path: sorted(name for name in zipfile.ZipFile(path).namelist() if ".dist-info/" not in name)
    if files(next((folder / "again").glob("*.whl"))) != files(wheel):
        sys.exit("the wheel of the source distribution has other files than that of the checkout")
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    package.use(build)
    for module in ("scikit_build_core", "wheel"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: no {module} here (third_party/requirements.txt)")
            sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="ingot-wheel-") as name:
        folder = pathlib.Path(name)
        wheel = builder().build(folder / "dist", build, ["--no-build-isolation"])
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        if wheel.stat().st_size > MOST_BYTES or not re.search(r"-manylinux_2_\d+_\w+\.whl$", wheel.name):
            sys.exit("the wheel is too large, or its name does not say for which systems it is")
        sources(folder, build, wheel)
        venv.create(folder / "venv", with_pip=False)
        python = folder / "venv/bin/python"
        site = call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        call(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--no-deps", "--no-index", wheel)
        import numpy

        for path in pathlib.Path(numpy.__file__).parents[1].glob("numpy*"):  # what pip would fetch
            pathlib.Path(site, path.name).symlink_to(path)
        shutil.copy(package.ROOT / "examples/c/celsius.onnx", folder)
        bare = {"HOME": str(folder), "PATH": "/nonexistent"}
        print(call(python, "-c", SIX_LINES, cwd=folder, env=bare).strip())
        call(folder / "venv/bin/ingot", "compile", "celsius.onnx", "-o", "out", cwd=folder, env=bare)
        cmake = call(python, "-m", "ingot", "--cmake-dir", env=bare).strip()
        shutil.copytree(package.ROOT / "examples/c", folder / "c")
        call("cmake", "-S", folder / "c", "-B", folder / "c-build", f"-Dingot_DIR={cmake}")
        call("cmake", "--build", folder / "c-build")
        print(call(next(path for path in (folder / "c-build").glob("*") if path.is_file() and os.access(path, os.X_OK))).strip())


if __name__ == "__main__":
    main()
