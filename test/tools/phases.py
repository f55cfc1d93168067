"""Each phase by itself gives what it gives in the pipeline: phases.py INGOT INGOT-OPT MODEL

What `ingot compile --stop-after` prints after a phase goes through the next one's pass in ingot-opt, and has to be what the pipeline prints after that
phase. Text has no node names, so that kernels' names are compared without them.
"""
import re
import subprocess
import sys

MACHINE_CODE = "emit-lower-to-llvm"  # the phase emit has no steps for ingot-opt
TARGET = "x86-64-v3"
SLACK = 64  # bytes of a workspace behind its arena (plan::ModelInfo::workspaceAlign)


def output(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr[:800]}")
    return done.stdout


def plain(text):
    return re.sub(r"@([a-z]+)_\w*", r"@\1_", text).strip()


def main():
    ingot, opt, model = sys.argv[1:]
    listed = re.search(r"phases:\s+([\w,\s]+?)\n\s+-", output(ingot, "compile", "--help"))
    phases = re.findall(r"\w+", listed.group(1))
    after = {phase: output(ingot, "compile", model, "--target", TARGET, "--stop-after", phase, "-o", sys.argv[3] + ".out") for phase in phases}
    sizes = re.search(r"memref<(\d+)xi8>, %arg\d+: !llvm.ptr\) -> i32", after["entry"]), re.search(r"_weights : memref<(\d+)xi8>", after["entry"])
    for before, phase in zip(phases, phases[1:]):
        options = f"target={TARGET}"
        if phase == "entry":
            options += f" arena={int(sizes[0].group(1)) - SLACK} weights={sizes[1].group(1)}"
        name = MACHINE_CODE if phase == "emit" else f"phase-{phase}"
        got = output(opt, f"--{name}={options}", text=after[before])
        if plain(got) != plain(after[phase]):
            sys.exit(f"{name}: by itself it gives\n{got}\nin the pipeline\n{after[phase]}")
        changed = "changes" if plain(got) != plain(after[before]) else "keeps"
        print(f"{phase} {changed} {len(got.splitlines())} lines")


if __name__ == "__main__":
    main()
