"""Counts the instructions of the hot loops of a model for 64-bit Arm, from the assembly: arm_loops.py --ingot build/bin/ingot MODEL.onnx [--target cortex-a76] [--most 8]

A hot loop is an innermost loop with multiply-adds of vectors. Of its U steps each multiplies P elements with V vectors, into P x V accumulators:
it needs U x (P x V + P + V) instructions, a multiply-add for each accumulator and a load for each element and each vector. P and V are read off
the loop: how many accumulators there are, how many elements and vectors are loaded. What is counted besides is the loop's own (addresses,
comparison, branch, prefetch) and what should not be there: accumulators on the stack. Equal loops are one row."""
import argparse
import collections
import pathlib
import re
import subprocess
import tempfile

BRANCH = re.compile(r"\s+(?:b\.\w+\s+|cbn?z\s+\w+, |tbn?z\s+\w+, #\d+, |b\s+)(\.L\w+)")
FMLA = re.compile(r"\s+fmla\s+(v\d+)\.4s, v\d+\.4s, (v\d+\.s\[\d\]|v\d+\.4s)")


def innermost(lines):
    """(function, instructions) of each innermost loop."""
    labels, function = {}, ""
    for number, line in enumerate(lines):
        if label := re.match(r"([.\w$]+):", line):
            labels[label[1]] = number
            function = function if label[1].startswith(".L") else label[1]
        if (branch := BRANCH.match(line)) and branch[1] in labels:
            body = lines[labels[branch[1]] + 1 : number + 1]
            if not any(line.startswith(".L") for line in body):
                yield function, [line for line in body if re.match(r"\s+[a-z]", line)]


def loads(body, register):
    """How many registers of a kind (q, s) are loaded from anywhere but the stack."""
    count = 0
    for line in body:
        if match := re.match(rf"\s+(?:ldp\s+{register}\d+, {register}\d+|ldu?r\s+{register}\d+), \[(?!sp)", line):
            count += 2 if "ldp" in match[0] else 1
        count += register == "s" and "ld1r" in line
    return count


def row(body):
    """What is known of a loop; None where it multiplies no elements with vectors."""
    adds = [match for line in body if (match := FMLA.match(line))]
    accumulators = len({match[1] for match in adds})
    if not adds or len(adds) % accumulators:
        return None
    steps = len(adds) // accumulators
    elements, vectors = loads(body, "s") // steps, loads(body, "q") // steps
    if elements * vectors != accumulators:
        return None
    needed = steps * (accumulators + elements + vectors)
    return elements, vectors, steps, len(adds), needed, len(body), sum("[sp" in line and " q" in line for line in body), sum("[sp" in line for line in body)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True), parser.add_argument("--target", default="cortex-a76"), parser.add_argument("--most", type=int, default=8)
    parser.add_argument("model", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([arguments.ingot, "compile", arguments.model, "--target", arguments.target, "--emit", "asm", "-o", out], check=True, stdout=subprocess.DEVNULL)
        (assembly,) = pathlib.Path(out).glob("*.s")
        lines = assembly.read_text().splitlines()
    rows = collections.defaultdict(set)
    for function, body in innermost(lines):
        if found := row(body):
            rows[found].add(function)
    print("| elements x vectors | steps | multiply-adds | needed | counted | ratio | vectors on the stack | other stack | kernels |\n|--|--:|--:|--:|--:|--:|--:|--:|--|")
    for (elements, vectors, steps, adds, needed, counted, spilled, stack), functions in sorted(rows.items(), key=lambda item: -item[0][3])[: arguments.most]:
        names = sorted(functions)
        print(f"| {elements} x {vectors} | {steps} | {adds} | {needed} | {counted} | {counted / needed:.2f} | {spilled} | {stack - spilled} | {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''} |")


if __name__ == "__main__":
    main()
