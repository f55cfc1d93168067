"""The core of libingot_rt.a needs nothing but itself: no undefined symbol beyond the core, at most 16 KB of code and constants (and 28 KB more
for strings, of which a model links what it calls), no writable
data but what the processor said. What it asks for weakly (of an operating system, if there is one) does not count. And a program that calls only the core pulls no thread or file code out of the archive."""
import argparse
import subprocess
import sys

LIMIT, STRINGS_LIMIT = 16 * 1024, 28 * 1024
STRINGS = tuple(f"{name}.c.o" for name in ("keys", "letters", "numbers", "patterns", "pieces", "ranks", "strings"))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--size", required=True)
    parser.add_argument("--program")
    parser.add_argument("objects", nargs="+")
    arguments = parser.parse_args()
    objects = [path for argument in arguments.objects for path in argument.split(";")]

    symbols = [line.split()[-2:] for line in output(arguments.nm, "-g", *objects).splitlines() if line and not line.endswith(":")]
    symbols = [(kind, name) for kind, name in symbols if kind != "w"]
    defined = {name for kind, name in symbols if kind != "U"}
    problems = [f"undefined: {name}" for kind, name in symbols if kind == "U" and name not in defined]
    problems += [f"a name without prefix: {name}" for name in defined if not name.startswith("ingot_")]

    text = 0
    for part, limit in (([path for path in objects if path.endswith(STRINGS)], STRINGS_LIMIT), ([path for path in objects if not path.endswith(STRINGS)], LIMIT)):
        rows = [line.split() for line in output(arguments.size, *part).splitlines()[1:]]
        text, data = (sum(int(row[column]) for row in rows) for column in range(2))
        if text + data > limit:
            problems.append(f"{text + data} bytes of code, expected at most {limit}")
    writable = [line for line in output(arguments.nm, *objects).splitlines() if line.split()[-2:-1] and line.split()[-2] in "dDbBcC" and line.split()[-1] not in ("machineLevel", "machineTiles")]
    problems += [f"writable data: {line}" for line in writable]

    program = output(arguments.nm, arguments.program) if arguments.program else ""
    problems += [f"the program that uses the core has {word}" for word in ("ingot_pool", "ingot_weights", "pthread_create") if word in program]

    print("\n".join(problems) if problems else f"core: {text} bytes of code and constants, {len(defined)} functions, nothing undefined")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
