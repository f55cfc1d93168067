"""clang-tidy (.clang-tidy) on a bounded set of sources: those changed by the newest commits, at most --files of them, because MLIR's headers
make one file cost some 4 seconds. `tidy.py --all` takes every file of the build. Needs BUILD/compile_commands.json.

    tidy.py BUILD [--files N] [--commits N] [--all] [-j 2]
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDY = "/usr/lib/llvm-22/bin/clang-tidy"


def changed(commits):
    """Names of the files that the newest commits changed, newest first."""
    log = subprocess.run(["git", "log", f"-{commits}", "--name-only", "--pretty=format:"], cwd=ROOT, capture_output=True, text=True).stdout
    return list(dict.fromkeys(line for line in log.splitlines() if line))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--files", type=int, default=16)
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("-j", type=int, default=2)
    arguments = parser.parse_args()
    commands = json.loads((arguments.build / "compile_commands.json").read_text())
    sources = [pathlib.Path(command["directory"], command["file"]).resolve() for command in commands]
    built = [str(path.relative_to(ROOT)) for path in sources if path.is_relative_to(ROOT) and arguments.build.resolve() not in path.parents]
    files = built if arguments.all else [name for name in changed(arguments.commits) if name in set(built)][: arguments.files]
    tidy = lambda name: subprocess.run([TIDY, "--quiet", "-p", str(arguments.build.resolve()), name], cwd=ROOT, capture_output=True, text=True)
    bad = []
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for name, result in zip(files, pool.map(tidy, files)):
            if result.returncode:
                bad.append(name)
                print(result.stdout, flush=True)
    print(f"clang-tidy: {len(files) - len(bad)} files clean, {len(bad)} not, of {len(built)}: {' '.join(files)}")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
