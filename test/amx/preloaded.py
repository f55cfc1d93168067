"""Runs another test on a machine with AMX: preloaded.py libamx.so SCRIPT.py --ingot BIN arguments..."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import gate


def main():
    if gate.LACKS["no-avx512"](sys.argv[sys.argv.index("--ingot") + 1]):
        print("skipped: tiles stand beside vectors of AVX-512")
        sys.exit(77)
    os.execve(sys.executable, [sys.executable, *sys.argv[2:]], os.environ | {"LD_PRELOAD": os.path.abspath(sys.argv[1])})


if __name__ == "__main__":
    main()
