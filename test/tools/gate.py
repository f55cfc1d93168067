"""Runs ctest, says how long each test took, and lists every test that was skipped, with the reason: gate.py BUILD [--keep-times] [--nightly] [ctest's arguments...]

Tests with the label "nightly" are left out without --nightly. The list stands in front of ctest's closing lines, which stay the last. The exit code is ctest's; it is 1 as well if something was skipped that
test/skips.txt does not allow on this machine. A test says what it skips in one of these ways:

    ctest    exit code 77 (SKIP_RETURN_CODE) or DISABLED; the reason is the output's last line
    Python   a line `skipped: REASON` and exit code 77, or, for one case of several, `skipped: CASE: REASON` (ingot_run.skip)
    gtest    GTEST_SKIP() << "reason"
    lit      REQUIRES

    gate.py --list [--skips FILE] [--lacks CONDITIONS | --ingot BIN] JUNIT [LIT]

only lists and judges what the two files hold; --lacks names what the machine is taken to lack. What a processor has is asked of the compiler (host.py),
so that the environment variable INGOT_HOST=x86-64-v3 makes a run as on a machine that has no more.
"""
import argparse
import ctypes
import fnmatch
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request
import xml.etree.ElementTree as xml

import host

ROOT = pathlib.Path(__file__).resolve().parents[2]


def network():
    """Whether the package index answers, by pip's own settings."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    try:
        urllib.request.urlopen(f"{index}/numpy/", timeout=30).close()
        return True
    except OSError:
        return False


def emulated(machine):
    """Whether programs for the machine can be linked and run here: an emulator, and a C library when the build was configured."""
    return bool(shutil.which(f"qemu-{machine}")) and pathlib.Path(f"/usr/{machine}-linux-gnu/include/stdio.h").exists()


# What a machine may lack, given the compiler that knows its processor: the only conditions under which test/skips.txt can allow a skip. Packages are none, as
# third_party/install.sh installs them, but for Halide (460 MB with the LLVM 14 that it needs, for one example) and what the Python package converts from:
# PyTorch (6 GB) and scikit-learn, and mypy, which PYTHONPATH may name.
LACKS = {
    "no-avx512": lambda ingot: bool(host.lacks(ingot, "x86-64-v4")),
    "no-avx512-vnni": lambda ingot: bool(host.lacks(ingot, "x86-64-v4")) or "avx512vnni" not in host.features(ingot),
    "no-avx-vnni": lambda ingot: "avxvnni" not in host.features(ingot),
    "no-avx2": lambda ingot: bool(host.lacks(ingot, "x86-64-v3")),
    "no-gcc": lambda _: not shutil.which("gcc") or not shutil.which("g++"),
    "no-network": lambda _: not network(),
    "no-qemu": lambda _: not shutil.which("qemu-x86_64"),
    "no-halide": lambda _: not pathlib.Path("/usr/include/halide14/Halide.h").exists(),
    "no-aarch64": lambda _: not emulated("aarch64"),
    "no-riscv64": lambda _: not emulated("riscv64"),
    "no-torch": lambda _: not all(map(importlib.util.find_spec, ("torch", "onnxscript"))),
    "no-numba": lambda _: not all(map(importlib.util.find_spec, ("torch", "onnxruntime", "numba"))),
    "no-sklearn": lambda _: not importlib.util.find_spec("skl2onnx"),
    "no-mlserver": lambda _: not all(map(importlib.util.find_spec, ("mlserver", "tritonclient", "geventhttpclient", "grpc", "setuptools", "wheel"))),
    "no-triton": lambda _: not all(map(importlib.util.find_spec, ("pytriton", "tritonclient", "geventhttpclient", "grpc"))),
    "no-ray": lambda _: not all(map(importlib.util.find_spec, ("ray", "starlette", "pandas", "pyarrow"))),
    "no-genai": lambda _: not all(map(importlib.util.find_spec, ("torch", "onnxscript", "transformers", "onnxruntime_genai"))),
    "no-openai": lambda _: not all(map(importlib.util.find_spec, ("openai", "starlette", "uvicorn", "tokenizers", "jinja2"))),
    "no-openvino": lambda _: not importlib.util.find_spec("openvino"),
    "no-models": lambda _: "INGOT_MODELS" not in os.environ,
    "no-mypy": lambda _: not importlib.util.find_spec("mypy"),
    "no-seccomp": lambda _: ctypes.CDLL(None).prctl(21) < 0,  # PR_GET_SECCOMP
}


class Allowed:
    """test/skips.txt. A condition is looked at when a skip asks for it, and once."""

    def __init__(self, path, lacks=None, ingot=None):
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        self.entries = [line.split(": ", 2) for line in lines]
        self.ingot, self.holds = ingot, {} if lacks is None else {name: name in lacks for name in LACKS}
        for entry in self.entries:
            if len(entry) != 3 or entry[0] not in LACKS:
                sys.exit(f"{path}: '{': '.join(entry)}' is not CONDITION: TEST: REASON with a condition of {', '.join(LACKS)}")

    def condition(self, name):
        if name not in self.holds:
            self.holds[name] = LACKS[name](self.ingot)
        return self.holds[name]

    def __call__(self, test):
        return any(fnmatch.fnmatchcase(test, pattern) and self.condition(name) for name, pattern, _ in self.entries)


def parse(path):
    """The root of an XML file; control characters, which some test's output has, are left out."""
    return xml.fromstring(re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", path.read_text(errors="replace")))


def skipped_cases(output):
    """(case, reason) of what one test's output says it left out; the case is None where it is the whole test."""
    for match in re.finditer(r"^skipped: (?:([^:\n]+): )?(.+)$", output, re.MULTILINE):
        yield match.group(1), match.group(2)
    for match in re.finditer(r"Skipped\n(.*)\n\s*\[  SKIPPED \] (\S+) \(", output):
        yield match.group(2), match.group(1)


def skipped(junit, lit=None):
    """(test, reason) of everything that a run skipped."""
    for test in parse(junit).iter("testcase"):
        name, output = test.get("name"), test.findtext("system-out", "")
        cases = [(f"{name}/{case}" if case else name, reason) for case, reason in skipped_cases(output)]
        mark = test.find("skipped")
        left_out = test.get("status") == "disabled" or mark is not None and mark.get("message", "").startswith("SKIP_")
        yield from cases
        if left_out and not cases:
            yield name, (output.strip().splitlines() or ["no reason is given"])[-1]
        if name == "lit" and lit and lit.exists():
            for case in parse(lit).iter("testcase"):
                if (mark := case.find("skipped")) is not None:
                    folder = case.get("classname").split(".", 1)[-1].replace(".", "/")
                    yield f"lit/{folder}/{case.get('name')}", mark.get("message")


def report(junit, lit, allowed):
    """Prints the list. Returns how many of it are not allowed."""
    found = sorted(set(skipped(junit, lit)))
    refused = [test for test, _ in found if not allowed(test)]
    print(f"\nskipped: {len(found) or 'nothing'}{f', {len(refused)} of them not allowed here' if refused else ''}")
    for test, reason in found:
        print(f"  {test}: {reason}{' (not allowed by test/skips.txt)' if test in refused else ''}")
    print(flush=True)
    return len(refused)


def seconds(junit):
    """(seconds, test) of each test that ran, the longest first."""
    return sorted(((float(test.get("time", 0)), test.get("name")) for test in parse(junit).iter("testcase")), reverse=True)


def report_times(junit, processor, keep=None, most=30):
    """Prints the longest tests; writes all into the file `keep`, from which docs/generate.py has its table."""
    times = seconds(junit)
    print(f"\nseconds, the longest of {len(times)} tests:")
    for time, name in times[:most]:
        print(f"  {time:6.1f}  {name}")
    print(f"  {sum(time for time, _ in times):6.1f}  all, of which several run at a time", flush=True)
    if keep:
        rows = [f"{time:.1f}\t{name}" for time, name in times]
        keep.write_text("\n".join([f"# Seconds of each test in one run of `gate.py BUILD --keep-times` on {processor}, {os.cpu_count()} processors.", *rows]) + "\n")


def run(build, arguments):
    """ctest, its output passed on as it comes but for the closing lines. Returns (exit code, closing lines)."""
    junit = build / "tests.xml"
    for written in (junit, build / "test/lit.xml"):
        written.unlink(missing_ok=True)
    command = ["ctest", *arguments, "--output-on-failure", "--no-tests=error", "--output-junit", str(junit)]
    command += [] if "--preset" in arguments else ["--test-dir", str(build)]
    command += ["--test-output-size-passed", "10000000", "--test-output-size-failed", "10000000"]
    closing = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace", cwd=ROOT) as ctest:
        for line in ctest.stdout:
            if closing or re.match(r"\d+% tests passed", line):
                closing.append(line)
            else:
                print(line, end="", flush=True)
    return ctest.returncode, "".join(closing)


def main():
    if "--list" in sys.argv:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--list", action="store_true"), parser.add_argument("--skips", type=pathlib.Path, default=ROOT / "test/skips.txt")
        parser.add_argument("--lacks"), parser.add_argument("--ingot", type=pathlib.Path, default=ROOT / "build/bin/ingot"), parser.add_argument("junit", type=pathlib.Path), parser.add_argument("lit", type=pathlib.Path, nargs="?")
        arguments = parser.parse_args()
        sys.exit(report(arguments.junit, arguments.lit, Allowed(arguments.skips, arguments.lacks and arguments.lacks.split(","), arguments.ingot)) > 0)
    build, arguments = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    allowed, keep = Allowed(ROOT / "test/skips.txt", ingot=build / "bin/ingot"), None
    if "--keep-times" in arguments:
        arguments.remove("--keep-times")
        keep = ROOT / "test/times.tsv"
    if "--nightly" in arguments:
        arguments.remove("--nightly")
    elif not {"-R", "-L", "--tests-regex"} & set(arguments):
        arguments += ["-LE", "nightly"]
    code, closing = run(build, arguments)
    refused = 0
    if (junit := build / "tests.xml").exists():
        report_times(junit, host.facts(build / "bin/ingot")["host"]["cpu"], keep)
        refused = report(junit, build / "test/lit.xml", allowed)
    print(closing, end="", flush=True)
    if refused:
        print(f"error: {refused} tests were skipped that test/skips.txt does not allow on this machine; they are listed above", file=sys.stderr)
    sys.exit(code or refused > 0)


if __name__ == "__main__":
    main()
