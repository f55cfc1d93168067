"""ONNX's backend suite (the package onnx, all of its node tests, and models that it carries) through ingot.backend.

    backend.py --build build [--filter REGEX] [--every N] [-j 2]

What ingot.backend does not pass stands in backend-known.txt, one `name: reason` or `pattern*: reason` a line; one of those that passes is said, and any other failure
fails the run.
"""
import argparse
import concurrent.futures
import fnmatch
import io
import pathlib
import re
import sys
import unittest
import warnings

import package

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ["OnnxBackendNodeModelTest", "OnnxBackendSimpleModelTest", "OnnxBackendPyTorchConvertedModelTest", "OnnxBackendPyTorchOperatorModelTest"]


def suite():
    """Name -> test; the models that the suite fetches (OnnxBackendRealModelTest) are not among them."""
    import ingot.backend
    import onnx.backend.test

    cases = onnx.backend.test.BackendTest(ingot.backend, "ingot").test_cases
    names = ((case, name) for kind in KINDS for case in [cases[kind]] for name in dir(case) if name.startswith("test_") and name.endswith("_cpu"))
    return {name.removesuffix("_cpu"): case(name) for case, name in names}


def one(build, name):
    """(name, what is wrong or None)"""
    if not TESTS:
        package.use(build)
        warnings.simplefilter("ignore")
        TESTS.update(suite())
    result = unittest.TextTestRunner(stream=io.StringIO()).run(TESTS[name])
    if result.skipped:
        return name, f"skipped by the suite: {result.skipped[0][1]}"
    wrong = [text for _, text in result.failures + result.errors]
    return name, wrong[0].strip().splitlines()[-1][:300] if wrong else None


TESTS = {}  # of this process


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True), parser.add_argument("--filter", default="."), parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="of the tests only each N-th")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    package.use(build)
    names = [name for name in suite() if re.search(arguments.filter, name)][:: arguments.every]
    lines = [line for line in (HERE / "backend-known.txt").read_text().splitlines() if line and not line.startswith("#")]
    known = dict(line.split(": ", 1) for line in lines)
    passed = failed = skipped = 0
    with concurrent.futures.ProcessPoolExecutor(arguments.j) as pool:
        for name, wrong in pool.map(one, [build] * len(names), names, chunksize=8):
            reason = next((text for pattern, text in known.items() if fnmatch.fnmatchcase(name, pattern)), None)
            if wrong and reason:
                skipped += 1
            elif wrong or reason:
                failed += 1
                print(f"{name}: {wrong or 'passes; take it out of backend-known.txt'}", flush=True)
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
