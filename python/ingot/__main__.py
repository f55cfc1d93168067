"""The command line: `python -m ingot` is the program `ingot`; --cmake-dir prints where find_package(ingot) finds the package of the wheel."""
import os
import sys

from . import _program


def main():
    if sys.argv[1:] == ["--cmake-dir"]:
        found = sorted((_program.HERE / "lib").glob("**/cmake/ingot"))
        if not found:
            sys.exit("this package is no installation of ingot, and has no CMake files")
        print(found[0])
        return
    try:
        program = _program.path()
    except FileNotFoundError as error:
        sys.exit(str(error))
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
