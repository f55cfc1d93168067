"""Real models through `ingot run`, compared with recorded outputs: within 1e-4 of the largest value plus 1e-3 of each.

    run.py --ingot build/bin/ingot --root DIR [--fetch] [--only REGEX] [--target T] [--levels T,...] [-j 2]

DIR holds folders in ONNX's own layout (model.onnx, test_data_set_0/); --fetch makes those of models.json there first (see fetch.py). A model that cannot be
fetched is skipped and said. With --levels one library is compiled for all of them, and run as each.
"""
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tools"), str(HERE)]
import ingot_run

import fetch


def as_levels(arguments, folder, out):
    """What else `ingot run` is told, run by run."""
    if not arguments.levels:
        return [{}]
    command = [arguments.ingot, "compile", folder / "model.onnx", "--levels", arguments.levels, "--emit", "shared", "--name", "model", "-o", out]
    ingot_run.call(command, folder, ingot_run.VERDICT, seconds=600)  # where this fails, running what is not there tells
    return [{"model": pathlib.Path(out, "model.json"), "flags": ["--as", level]} for level in arguments.as_levels]


def one(arguments, folder):
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="ingot-model-") as out:
        for flags in as_levels(arguments, folder, out):
            verdict, text = ingot_run.run(arguments.ingot, folder, out, arguments.target, seconds=600, **flags)
            close = lambda got, want: ingot_run.difference(got, want, 1e-4, 1e-3)
            if verdict == "pass" and (wrong := ingot_run.compare_outputs(folder, out, close)):
                verdict, text = "wrong", " ".join([*flags.get("flags", []), wrong])
            if verdict != "pass":
                break
    print(f"{folder.name}: {verdict} ({time.time() - begin:.1f} s)", flush=True)
    return folder.name, None if verdict == "pass" else f"{verdict}: {text}"


def fetched(arguments):
    """Folders of the models of models.json; how many could not be had."""
    missing = 0
    for entry in fetch.entries():
        if re.search(arguments.only, entry["name"]):
            try:
                fetch.make(entry, arguments.root)
            except Exception as error:  # no network, a registry that is down
                missing += 1
                ingot_run.skip(entry["name"], error)
    return missing


def main():
    parser = ingot_run.parser(__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True), parser.add_argument("--fetch", action="store_true"), parser.add_argument("--only", default="."), parser.add_argument("--levels")
    arguments = parser.parse_args()
    given = (arguments.levels or "").split(",")
    arguments.as_levels = [f"x86-64-v{level}" for level in ingot_run.levels_here(arguments.ingot, [int(level[-1]) for level in given if level], "models")]
    arguments.ingot = os.path.abspath(arguments.ingot)
    count = ingot_run.Count("models")
    count.skipped = fetched(arguments) if arguments.fetch else 0
    folders = [path.parent for path in sorted(arguments.root.glob("*/model.onnx")) if re.search(arguments.only, path.parent.name)]
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for name, wrong in pool.map(lambda folder: one(arguments, folder), [path for path in folders if (path / "test_data_set_0").exists()]):
            count.add(name, wrong)
    count.finish()


if __name__ == "__main__":
    main()
