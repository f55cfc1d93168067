#!/usr/bin/env python3
"""Builds a wheel of this checkout with the Python that runs this, and names it after the glibc that its files need.

    wheel.py DIST [--build build-static] [-- arguments of pip wheel]

A wheel for any Linux (manylinux) says in its name which glibc it needs; libstdc++ follows from that. Both are read from the files."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# The glibc of the oldest systems that have this libstdc++, as PEP 600's profiles say.
STANDARD_LIBRARY = {29: 34, 30: 35, 31: 39, 32: 39, 33: 39}


def needed_glibc(wheel):
    """The minor number of glibc 2.x that the programs and libraries in a wheel need."""
    needs = {17}
    with zipfile.ZipFile(wheel) as files, tempfile.TemporaryDirectory() as folder:
        for name in files.namelist():
            if files.open(name).read(4) == b"\x7fELF":
                said = subprocess.run(["objdump", "-T", files.extract(name, folder)], capture_output=True, text=True, check=True).stdout
                needs |= {int(minor) for minor in re.findall(r"\bGLIBC_2\.(\d+)", said)}
                needs |= {STANDARD_LIBRARY.get(int(minor), 34) for minor in re.findall(r"\bGLIBCXX_3\.4\.(\d+)", said) if int(minor) >= min(STANDARD_LIBRARY)}
    return max(needs)


def build(dist, ingot, more=()):
    """The path of the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"cmake.define.ingot_DIR={ingot}", f"build-dir={ingot}/wheel/{{wheel_tag}}"]
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, *(word for each in settings for word in ("--config-settings", each)), *more, HERE]
        subprocess.run(command, check=True)
        made = next(pathlib.Path(folder).glob("*.whl"))
        machine = made.stem.rsplit("_", 2)
        tag = f"manylinux_2_{needed_glibc(made)}_{'_'.join(machine[1:])}"
        subprocess.run([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, made], check=True, stdout=subprocess.DEVNULL)
        named = next(pathlib.Path(folder).glob("*.whl"))
        dist.mkdir(parents=True, exist_ok=True)
        return copy(named, dist)


def copy(path, folder):
    (folder / path.name).write_bytes(path.read_bytes())
    return folder / path.name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=pathlib.Path), parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build-static")
    parser.add_argument("more", nargs="*", help="arguments of pip wheel, behind --")
    arguments = parser.parse_args()
    path = build(arguments.dist.resolve(), arguments.build.resolve(), arguments.more)
    print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
