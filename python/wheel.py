#!/usr/bin/env python3
"""Builds a wheel of this checkout with the Python that runs this, and names it after the glibc that its files need; or a source distribution.

    wheel.py DIST [--build build-static] [-- arguments of pip wheel]
    wheel.py DIST --sdist

A wheel for any Linux (manylinux) says in its name which glibc it needs; libstdc++ follows from that. Both are read from the files."""
import argparse
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
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


def source_distribution(dist):
    """The path of ingot-VERSION.tar.gz: the files that git has, and python/pyproject.toml at the top, where pip looks for it."""
    project = (HERE / "pyproject.toml").read_text()
    # Paths in it are those from the folder that it lies in.
    for old, new in (("README.md", "python/README.md"), ('["ingot"]', '["python/ingot"]'), ('"../build-static', '"build-static')):
        if project.count(old) != 1:
            sys.exit(f"python/pyproject.toml has {old} {project.count(old)} times, and not once")
        project = project.replace(old, new)
    project = project.replace("[tool.scikit-build]\n", '[tool.scikit-build]\ncmake.source-dir = "python"\n')
    facts = dict(re.findall(r'^(name|version|description|requires-python) = "(.+)"$', project, re.M))  # tomllib begins with Python 3.11
    name = f"{facts['name']}-{facts['version']}"
    words = {"Metadata-Version": "2.1", "Name": facts["name"], "Version": facts["version"], "Summary": facts["description"], "Requires-Python": facts["requires-python"]}
    made = {"pyproject.toml": project, "PKG-INFO": "".join(f"{word}: {text}\n" for word, text in words.items())}
    files = subprocess.run(["git", "ls-files", "-z"], cwd=HERE.parent, capture_output=True, text=True, check=True).stdout.split("\0")
    dist.mkdir(parents=True, exist_ok=True)
    with tarfile.open(dist / f"{name}.tar.gz", "w:gz") as archive:
        for file in sorted(filter(None, files)):
            archive.add(HERE.parent / file, f"{name}/{file}", recursive=False)
        for file, text in made.items():
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size, entry.mtime = len(text.encode()), int(time.time())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return dist / f"{name}.tar.gz"


def copy(path, folder):
    (folder / path.name).write_bytes(path.read_bytes())
    return folder / path.name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=pathlib.Path), parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build-static")
    parser.add_argument("--sdist", action="store_true", help="a source distribution in place of a wheel")
    parser.add_argument("more", nargs="*", help="arguments of pip wheel, behind --")
    arguments = parser.parse_args()
    path = source_distribution(arguments.dist.resolve()) if arguments.sdist else build(arguments.dist.resolve(), arguments.build.resolve(), arguments.more)
    print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
