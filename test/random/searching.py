"""The search itself: what would be wrong is seen, shrunk and kept as a case that passes once it is right; what ends the process is known with its model; the table gets its lines.

    searching.py --ingot build/bin/ingot"""
import contextlib
import io
import os
import pathlib
import sys
import tempfile

import search  # of this folder; it finds test/tools
import found
import ingot_run
import seeds
import trial

FAILED = []


def check(name, condition, seen=""):
    if not condition:
        FAILED.append(name)
        print(f"{name}: {seen}")


def searched(arguments, folder, *flags):
    """What a search prints."""
    search.TABLE, found.FOLDER, seeds.LIST = folder / "searched.tsv", folder / "found", folder / "seeds.txt"
    seeds.LIST.touch()
    sys.argv = ["search.py", "--ingot", arguments.ingot, "--work", str(folder / "work"), "--jobs", "1", "--levels", "native", "--suites", "static", "--seed", "7", *flags]
    with contextlib.redirect_stdout(said := io.StringIO()), contextlib.suppress(SystemExit):
        search.main()
    return said.getvalue()


def wrong(arguments, folder):
    """A compiler that errs in every product."""
    compare = trial.compare
    products = lambda model: any(node.op_type in ("Conv", "Gemm", "MatMul") for node in model.graph.node)
    trial.compare = lambda model, *rest: ("wrong", "on purpose") if products(model) else compare(model, *rest)
    said = searched(arguments, folder, "--cases", "6", "--shrink", "1")
    trial.compare = compare
    kept = list((folder / "found").glob("*.txt"))
    check("a finding is kept", len(kept) == 1 and "wrong: on purpose" in said, said)
    for path in kept:
        model, feeds, level, _ = found.read(path)
        check("it is small", len(model.graph.node) == 1 and products(model), path.read_text())
        check("it passes now", trial.trial(arguments.ingot, model, [feeds], level)[0] == "pass", path.read_text())
    rows = [line.split("\t") for line in (folder / "searched.tsv").read_text().splitlines()]
    row = dict(zip(rows[0], rows[1]))
    check("the table has a line", len(rows) == 2 and int(row["wrong"]) > 0 and int(row["cases"]) == int(row["passed"]) + int(row["wrong"]), rows)
    check("the seed is noted", len(seeds.lines()) == 1 and seeds.lines()[0][1] == seeds.present(), seeds.lines())


def crash(arguments, folder):
    """Code that ends the process."""
    at = trial.Compiled.at
    trial.Compiled.at = lambda self, feeds: (at(self, feeds), os.kill(os.getpid(), 9))
    said = searched(arguments, folder, "--cases", "2", "--gate")
    trial.Compiled.at = at
    check("a crash is seen", said.count("the run ended with -9") == 2 and "0 passed, 2 failed" in said, said)
    check("its model is kept", len(list((folder / "work").glob("static-*/model.onnx"))) == 2, said)


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    arguments.ingot = os.path.abspath(arguments.ingot)
    for test in (wrong, crash):
        with tempfile.TemporaryDirectory(prefix="ingot-searching-") as folder:
            test(arguments, pathlib.Path(folder))
    print(f"{'no' if not FAILED else len(FAILED)} check failed")
    sys.exit(bool(FAILED))


if __name__ == "__main__":
    main()
