"""A configured project (budget/) fails its build, with the table of what takes most, where a model takes more than its BUDGET, and builds again when the
budget is raised.

    budget.py --build BUILD --work FOLDER [--c-compiler CC]
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


def call(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Project:
    def __init__(self, arguments):
        self.source, self.binary = arguments.work / "source", arguments.work / "build"
        shutil.copytree(HERE / "budget", self.source)
        shutil.copy(HERE / "project/one.c", self.source)
        shutil.copy(EXAMPLES / "c/celsius.onnx", self.source)
        shutil.copy(EXAMPLES / "two_models/edges.onnx", self.source)
        self.options = ["-G", "Ninja", f"-DCMAKE_PREFIX_PATH={arguments.build}", *([f"-DCMAKE_C_COMPILER={arguments.c_compiler}"] if arguments.c_compiler else [])]

    def build(self, **budgets):
        """Configures with budgets and builds: the exit code of the build, and what it prints."""
        code, text = call("cmake", "-S", self.source, "-B", self.binary, *self.options, *(f"-D{name}={value}" for name, value in budgets.items()))
        if code:
            sys.exit(f"configuring with {budgets} failed:\n{text}")
        return call("cmake", "--build", self.binary, "--", "-k", "0")

    def expect_failure(self, kind, table, flag="--budget", name=None, **budgets):
        code, text = self.build(**budgets)
        said = rf"edges\.onnx: error: takes \d+ bytes of {kind}, which is \d+ more than {flag} {name or kind}=\d+ allows; nothing was written\n"
        found = re.search(said + r"((?: +\d+  .+\n)+)", text)
        if code == 0 or not found or not re.search(table, found[1]):
            sys.exit(f"{budgets}: the build ended with {code} and printed:\n{text}")
        bytes = [int(line[:14]) for line in found[1].splitlines() if line[13] != " " and line[14] == " "]  # the parts, whose own parts stand further right
        if not bytes or bytes != sorted(bytes, reverse=True):
            sys.exit(f"the table is not ordered:\n{found[1]}")

    def expect_success(self, **budgets):
        code, text = self.build(**budgets)
        if code:
            sys.exit(f"{budgets}: the build failed:\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--work", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--c-compiler")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    project = Project(arguments)
    project.expect_success()
    library = project.binary / "models/edges/edges.a"
    before = library.read_bytes()
    project.expect_failure("flash", r"\d+  code\n", BOARD_BUDGET="flash=100;ram=64K;stack=4K")
    project.expect_failure("ram", r"which the caller holds", BOARD_BUDGET="flash=64K;ram=16;stack=4K")
    project.expect_failure("stack", r"\d+  edges_run", BOARD_BUDGET="flash=64K;ram=64K;stack=8")
    project.expect_failure("memory 'slow'", r"its part of the workspace", "--memories", "slow", BOARD_BUDGET="flash=64K;ram=64K;stack=4K", BOARD_MEMORIES="fast=16;slow=64")
    if library.read_bytes() != before:
        sys.exit("a build that failed changed the library of the one before")
    project.expect_success(BOARD_BUDGET="flash=64K;ram=64K;stack=2K", BOARD_MEMORIES="fast=256;slow=64K")
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
