"""Every C and C++ file of the repository is formatted as clang-format (pinned, .clang-format) would. --fix formats them."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMATTER = "/usr/lib/llvm-22/bin/clang-format"


def main():
    listed = subprocess.run(["git", "ls-files", "*.cpp", "*.h", "*.c"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    files = [name for name in listed if (ROOT / name).exists()]
    if "--fix" in sys.argv:
        subprocess.run([FORMATTER, "-i", *files], cwd=ROOT, check=True)
        return
    result = subprocess.run([FORMATTER, "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True) if files else None
    if result and result.returncode:
        lines = [line for line in result.stderr.splitlines() if "error:" in line]
        print("\n".join(lines[:40]))
        sys.exit("run: python3 test/style/format.py --fix")
    print(f"{len(files)} files formatted")


if __name__ == "__main__":
    main()
