"""The seeds of the gate: a list that grows by a line with each change of the compiler, of which the last ten are run.

    seeds.py          prints them
    seeds.py --add    appends the line of the compiler as it is now to seeds.txt, unless it has one

A line's seed is a hash of what compiler/ and targets/ contain. `./build.sh search` adds it, when it has looked for what that seed finds, too: a gate that draws a seed by itself would refuse a
change for an old mistake that nobody has seen yet."""
import datetime
import hashlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "test" / "random" / "seeds.txt"
COUNT = 10


def present():
    digest = hashlib.sha256()
    for path in sorted(path for folder in ("compiler", "targets") for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def lines():
    return [line.split() for line in LIST.read_text().splitlines() if line and not line.startswith("#")]


def seeds():
    """Numbers; of an empty list that of the compiler as it is now."""
    return [int(key, 16) for key in dict.fromkeys(line[1] for line in lines()[-COUNT:]) or [present()]]


def of(seed, index):
    """The seed of case `index`: `seed`, or with "moving" one of the gate's in turn, which share the cases."""
    if seed != "moving":
        return seed
    if not CACHE:
        CACHE.extend(seeds())
    return CACHE[index % len(CACHE)]


CACHE = []


def add():
    if present() not in [line[1] for line in lines()]:
        with open(LIST, "a") as file:
            file.write(f"{datetime.date.today()} {present()}\n")


if __name__ == "__main__":
    if "--add" in sys.argv:
        add()
    print(*seeds(), sep="\n")
