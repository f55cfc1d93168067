"""Objects of earlier versions with today's support library, headers and driver: run.py BUILD [--version V]

Each archive beside this script has what the compiler of the version that it is named for wrote (make.py). Where its INGOT_ABI is today's,
  - each model links with today's support library, and computes what ONNX Runtime did, on one thread and on three, through its manifest,
  - a program that was compiled with that version links and prints what it did then; so does the same program compiled with today's ingot.h and
    that version's headers of models, and one in C++ with today's ingot.hpp,
  - C++ source of that version compiles with today's headers, and a shared library of that version runs,
  - no declaration of that version's ingot.h is gone or changed.
Headers for plug-ins are those of that version, or their number has counted up.
A version of another INGOT_ABI is refused with the messages that docs/compatibility.md names. Those are tested with today's library under the next
number, too."""
import argparse
import json
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import fixture
import ingot_run
from fixture import HERE, HOST, IN_PROGRAM, IN_SOURCE, INCLUDE, MACHINES, MODELS, ROOT, STRICT, call, fails


def verify(build, manifest, folder, threads=1):
    call(build / "bin/ingot", "verify", manifest, "--data", folder / "data" / manifest.stem, "--threads", threads)


def check_model(build, folder, name, work):
    for file in (folder / HOST).glob(f"{name}.*"):
        shutil.copy(file, work)
    call("clang-22", "-shared", "-Wl,-z,defs", work / f"{name}.o", build / MACHINES[HOST].library, "-o", work / f"{name}.so", "-pthread")
    for threads in (1, 3):
        verify(build, work / f"{name}.json", folder, threads)


def check_programs(build, folder, target, work):
    """The program as that version compiled it, and as today's header does."""
    machine, objects = MACHINES[target], [folder / target / f"{name}.o" for name in IN_PROGRAM]
    today = ["-I", INCLUDE, "-I", folder / HOST, HERE / "program.c"]
    for name, code in ("then", [folder / target / "program.o"]), ("now", today):
        program = fixture.link_program(machine, [*code, *objects], build / machine.library, work / f"{target}-{name}")
        printed = call(*machine.runner, program, folder / HOST / "open_sizes.weights")
        assert printed == (folder / "program.txt").read_text(), f"the program compiled {name} prints:\n{printed}"


def check_classes(build, folder, work):
    """A program in C++ with today's ingot.hpp and the classes of that version's headers."""
    then = folder / HOST
    objects = [then / f"{name}.o" for name in ("conv", "found", "strings")]
    program = work / "classes"
    call("clang++-22", *STRICT, "-std=c++17", "-I", INCLUDE, "-I", then, HERE / "program.cpp", *objects, build / MACHINES[HOST].library, "-pthread", "-o", program)
    call(program)


def check_source(build, folder, name, work):
    for file in (folder / "source").glob(f"{name}.*"):
        shutil.copy(file, work)
    call("clang++-22", *STRICT, "-std=c++17", "-shared", "-fPIC", "-I", INCLUDE, "-I", work, work / f"{name}.cpp", build / MACHINES[HOST].library, "-o", work / f"{name}.so")
    verify(build, work / f"{name}.json", folder)


def check_interface(folder):
    today = set(fixture.interface(INCLUDE / "ingot.h"))
    gone = [line for line in (folder / "interface.txt").read_text().splitlines() if line not in today]
    assert not gone, f"ingot.h of {folder.name} says what today's does not, so count INGOT_ABI up (docs/compatibility.md); if it is only the name of a parameter, keep that:\n" + "\n".join(gone)


def check_plug_ins(folder):
    then, today = fixture.facts(folder)["plug_ins"], fixture.plug_ins()
    assert then["version"] != today["version"] or then == today, f"a header for plug-ins has changed since {folder.name}, so count plugInVersion up in PlugIn.h (docs/compatibility.md)"


def check_refusal(folder, include, library, work):
    """What says that `library` and `include` are of another version than the objects."""
    then, abi = folder / HOST, fixture.facts(folder)["abi"]
    said = fails("clang-22", "-Wl,--gc-sections", then / "program.o", *(then / f"{name}.o" for name in IN_PROGRAM), library, "-pthread", "-o", work / "refused")
    assert re.search(rf"undefined.*ingot_abi_{abi}\b", said), f"the linker says of a library of another version:\n{said}"
    said = fails("clang++-22", "-std=c++17", "-fsyntax-only", "-I", include, "-I", then, HERE / "program.cpp")
    assert f"conv.h is for version {abi} of the interface in ingot.h" in said, f"the compiler says of a header of another version:\n{said}"
    program = work / "other"
    call("clang++-22", *STRICT, "-std=c++17", "-I", include, HERE / "other_version.cpp", then / "lookup.o", library, "-o", program)
    printed = call(program)
    assert printed == "6 model: the model was compiled for another version of ingot.h\n0 6 6\n", f"a program with a library of another version prints:\n{printed}"


def check_next_version(folder, work):
    """Today's library and headers under the next number."""
    copy, include = work / "next", work / "next/include"
    shutil.copytree(ROOT / "runtime_support", copy)
    header, abi = include / "ingot.h", fixture.abi()
    header.write_text(header.read_text().replace(f"#define INGOT_ABI {abi}\n", f"#define INGOT_ABI {abi + 1}\n").replace(f"ingot_abi_{abi}\n", f"ingot_abi_{abi + 1}\n"))
    sources = [*(copy / "core").glob("*.c"), *(copy / "hosted").glob("*.c")]
    objects = work / "objects"
    objects.mkdir()
    for source in sources:
        call("clang-22", "-std=gnu11", "-O0", "-I", include, "-c", source, "-o", objects / f"{source.stem}.o")
    call("/usr/lib/llvm-22/bin/llvm-ar", "rcs", copy / "library.a", *sorted(objects.glob("*.o")))
    check_refusal(folder, include, copy / "library.a", work)


def check_old_library(build, folder, work):
    """The driver's message about a shared library of another INGOT_ABI, and about a manifest of a later version."""
    for file in (folder / "shared").iterdir():
        shutil.copy(file, work)
    manifest = work / "conv.json"
    if fixture.facts(folder)["abi"] != fixture.abi():
        said = fails(build / "bin/ingot", "verify", manifest, "--data", folder / "data/conv")
        assert "conv.so: error: was compiled by another version of ingot (ABI " in said, said
        return
    verify(build, manifest, folder)
    text = json.loads(manifest.read_text())
    text["manifest_version"] += 1
    manifest.write_text(json.dumps(text))
    said = fails(build / "bin/ingot", "verify", manifest, "--data", folder / "data/conv")
    assert "conv.json: error: has version " in said, said


def checks_of(build, folder):
    """Yields (name, check) for a version's folder; a check gets a folder to work in."""
    yield f"{folder.name}: plug-ins", lambda work: check_plug_ins(folder)
    yield f"{folder.name}: shared library", lambda work: check_old_library(build, folder, work)
    if fixture.facts(folder)["abi"] != fixture.abi():
        yield f"{folder.name}: refused", lambda work: check_refusal(folder, INCLUDE, build / MACHINES[HOST].library, work)
        return
    yield f"{folder.name}: interface", lambda work: check_interface(folder)
    yield f"{folder.name}: next version", lambda work: check_next_version(folder, work)
    yield f"{folder.name}: classes", lambda work: check_classes(build, folder, work)
    for name in IN_SOURCE:
        yield f"{folder.name}: source of {name}", lambda work, name=name: check_source(build, folder, name, work)
    for name in MODELS:
        yield f"{folder.name}: {name}", lambda work, name=name: check_model(build, folder, name, work)
    for target, machine in MACHINES.items():
        if not (build / machine.library).exists():
            ingot_run.skip(f"objects for {target}", "there is no support library for it")
            continue
        yield f"{folder.name}: programs for {target}", lambda work, target=target: check_programs(build, folder, target, work)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--version", default="*", help="only this one")
    arguments = parser.parse_args()
    count = ingot_run.Count("compatibility")
    with tempfile.TemporaryDirectory(prefix="ingot-versions-") as versions:
        for archive in sorted(HERE.glob(f"{arguments.version}.tar.gz")):
            with tarfile.open(archive) as tar:
                tar.extractall(versions)
        for folder in sorted(pathlib.Path(versions).iterdir()):
            for name, check in checks_of(arguments.build, folder):
                with tempfile.TemporaryDirectory(prefix="ingot-compatibility-") as work:
                    try:
                        check(pathlib.Path(work))
                        count.add(name, None)
                    except AssertionError as error:
                        count.add(name, str(error))
    count.finish()


if __name__ == "__main__":
    main()
