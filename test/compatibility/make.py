"""Makes the fixtures of a version: what its compiler writes of the models of models.py, which later versions are tested with (run.py).

    make.py BUILD          BUILD is a build folder; writes VERSION.tar.gz beside this script, where VERSION is what `ingot --version` says

An archive of that name is replaced, which is right only until the version is released. See README.md.
"""
import gzip
import json
import pathlib
import shutil
import sys
import tarfile
import tempfile

import fixture
import models
from fixture import HERE, HOST, IN_PROGRAM, IN_SOURCE, INCLUDE, MACHINES, MODELS, STRICT, call


def keep(made, out, names):
    out.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(made / name, out)


def compile_model(ingot, scratch, name, out, *flags):
    call(ingot, "compile", scratch / name / "model.onnx", "--name", name, "-o", out, *flags, *models.MODELS[name][1])


def keep_models(ingot, scratch, out, target, names, kinds):
    """The files of these kinds of these models, as they are for a target."""
    for name in names:
        made = scratch / target / name
        compile_model(ingot, scratch, name, made, "--target", target, "--emit", "obj")
        keep(made, out / target, [f"{name}.{kind}" for kind in kinds if (made / f"{name}.{kind}").exists()])


def make(build, scratch, out):
    ingot, host = build / "bin/ingot", out / HOST
    models.write(scratch)
    for name in MODELS:
        call(ingot, "verify", scratch / name / "model.onnx", "--data", scratch / name, *models.MODELS[name][1])
        keep(scratch / name, out / "data" / name, sorted(path.name for path in (scratch / name).glob("*.pb")))
    for target, machine in MACHINES.items():
        keep_models(ingot, scratch, out, target, IN_PROGRAM, ("o", "json", "h", "weights") if target == HOST else ("o",))
        call("clang-22", *machine.flags, *STRICT, "-Os", "-std=c11", "-I", INCLUDE, "-I", host, "-c", HERE / "program.c", "-o", out / target / "program.o")
    keep_models(ingot, scratch, out, HOST, [name for name in MODELS if name not in IN_PROGRAM], ("o", "json"))
    for name in IN_SOURCE:
        made = scratch / "source" / name
        compile_model(ingot, scratch, name, made, "--target", "portable", "--emit", "cpp")
        keep(made, out / "source", [path.name for path in sorted(made.iterdir())])
    compile_model(ingot, scratch, "conv", scratch / "shared", "--target", HOST, "--emit", "shared")
    keep(scratch / "shared", out / "shared", ["conv.so", "conv.json"])
    program = fixture.link_program(MACHINES[HOST], [host / "program.o", *(host / f"{name}.o" for name in IN_PROGRAM)], build / MACHINES[HOST].library, scratch / "program")
    (out / "program.txt").write_text(call(program, host / "open_sizes.weights"))
    (out / "interface.txt").write_text("\n".join(fixture.interface(INCLUDE / "ingot.h")) + "\n")


def nameless(entry):
    """An entry of an archive without its time and owner, so that the same files make the same archive."""
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.isdir() else 0o644
    return entry


def pack(folder, archive):
    with archive.open("wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(folder.rglob("*")):
            tar.add(path, path.relative_to(folder.parent), recursive=False, filter=nameless)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    version = call(build / "bin/ingot", "--version").split()[-1]
    archive = HERE / f"{version}.tar.gz"
    with tempfile.TemporaryDirectory(prefix="ingot-fixtures-") as scratch:
        scratch = pathlib.Path(scratch)
        out = scratch / "new" / version
        make(build, scratch, out)
        (out / "version.json").write_text(json.dumps({"version": version, "abi": fixture.abi(), "plug_ins": fixture.plug_ins()}, indent=2) + "\n")
        pack(out, archive)
        files = [path for path in out.rglob("*") if path.is_file()]
        print(f"{archive}: {len(files)} files of {sum(path.stat().st_size for path in files)} bytes, packed {archive.stat().st_size}")


if __name__ == "__main__":
    main()
