"""What this host can run, as the compiler sees it: `ingot targets --json`. No test asks the processor itself.

The environment variable INGOT_HOST cuts the host down: `INGOT_HOST=x86-64-v3 ./build.sh test` is the gate as a machine without AVX-512 runs it, `native` included. Libraries of several
levels choose among the levels that are left (ingot_exec::level). The peers, ONNX Runtime and the compilers of C++ source, keep the whole processor, so no reference may depend on it (peer.py)."""
import functools
import json
import re
import subprocess
import sys


@functools.cache
def facts(ingot):
    return json.loads(subprocess.run([str(ingot), "targets", "--json"], capture_output=True, text=True, check=True).stdout)


def features(ingot):
    """LLVM's names of what the processor has: {"avx2", "avx512f", ...}."""
    return {name[1:] for name in facts(ingot)["host"].get("features", "").split(",") if name.startswith("+")}


@functools.cache
def lacks(ingot, level):
    """What the host lacks to run code for a level, such as x86-64-v4; empty where it lacks nothing."""
    levels = {each["spec"]: each["host_lacks"] for target in facts(ingot)["targets"] for each in target["levels"]}
    return levels.get(level, "it is not a level of this build")


def level(ingot):
    """The highest level of x86-64 that the host runs, as ingot_exec has it; 0 on another architecture."""
    return max([number for number in (2, 3, 4) if not lacks(ingot, f"x86-64-v{number}")], default=0)


def lacking(ingot, target):
    """(level, what the host lacks for it) of the first level that a target of the tests runs and the host does not; None where it runs them all. T@LEVELS runs T alone."""
    if (target or "").startswith("bare:"):
        import bare  # which needs this module

        missing = bare.lacks(target.removeprefix("bare:"))
        return (target, missing) if missing else None
    running = re.sub(r"(x86-64-v\d)@x86\S*", r"\1", target or "")
    wanted = dict.fromkeys(re.findall(r"x86-64-v\d", running))
    return next(((name, lack) for name in wanted if (lack := lacks(ingot, name))), None)


def require(ingot, target):
    """Ends a test whose target the host does not run, as one that was skipped."""
    if lack := lacking(ingot, target):
        print(f"skipped: this host lacks {lack[1]} for {lack[0]}")
        sys.exit(77)
