"""Ten threads that call the same models: every result has the same bits, and the process does not grow.

    soak.py --build build [--seconds 6] [--threads 10]

Models with sizes of each call, sizes that a run finds, memory that a run allocates, strings, sequences, and given outputs, and a call that fails. The process may grow
in the first third of the time, in which each thread gets what a run needs; then by 8 MB at most, however long it goes on. By hand: nice -n 19 ... --seconds 600.
"""
import argparse
import gc
import os
import pathlib
import sys
import threading
import time

import numpy as np
import package

MOST_GROWTH = 8 << 20  # bytes, after the first third of the time


def cases(ingot):
    """(what, function of no arguments) whose results are compared with those of its first call."""
    rng = np.random.default_rng(1)
    compiled = lambda text, **options: ingot.compile(package.parse(text), **options)
    numbers = ", ".join(map(str, rng.standard_normal(64 * 64).astype(np.float32)))
    product = compiled(f"(float[N, 64] x) => (float[N, 64] y) <float[64, 64] w = {{{numbers}}}> {{ p = MatMul(x, w) q = Tanh(p) y = MatMul(q, w) }}")
    found = compiled("(float[N] x) => (int64[1, M] i) { i = NonZero(x) }")
    made = compiled("(int64 n) => (int64[M] i) { z = Constant<value_int = 0>() o = Constant<value_int = 1>() i = Range(z, n, o) }")
    text = compiled('(string[N] s) => (string[N] t) { k = Constant<value_string = "!">() t = StringConcat(s, k) }')
    parts = compiled("(float[N] x) => (seq(float[M]) s) { k = Constant<value_int = 2>() s = SplitToSequence<axis = 0>(x, k) }")
    picked = compiled("(float[4] x, int64[2] i) => (float[2] picked) { picked = Gather(x, i) }")
    session = ingot.InferenceSession(package.parse("(float[N] x) => (float[N] y) { y = Exp(x) }").SerializeToString())

    def refused():
        try:
            picked([1, 2, 3, 4], [0, 9])
        except ingot.RunError as error:
            return str(error)

    def given(x):
        y = np.empty_like(x)
        product(x, out=y)
        return y

    for rows in (1, 3, 64, 200):
        x = rng.standard_normal((rows, 64)).astype(np.float32)
        yield f"product of {rows} rows", lambda x=x: product(x)
        yield f"product of {rows} rows into given memory", lambda x=x: given(x)
        sparse = (x[0] > 0.5 * (rows % 2)).astype(np.float32)
        yield f"indices {rows}", lambda x=sparse: found(x)
        yield f"range {rows}", lambda n=rows: made(n * 100)
        yield f"strings {rows}", lambda s=[f"{value}" for value in x[0]]: text(s)
        yield f"sequences {rows}", lambda x=x[0]: parts(x)
        yield f"session {rows}", lambda x=x[0]: session.run(None, {"x": x})
    yield "an index outside", refused


def bits(result):
    if isinstance(result, (list, tuple)):
        return [bits(each) for each in result]
    return (result.shape, result.tolist() if result.dtype == object else result.tobytes()) if isinstance(result, np.ndarray) else result


def resident():
    """Bytes of memory that the process has."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True), parser.add_argument("--seconds", type=float, default=6), parser.add_argument("--threads", type=int, default=10)
    arguments = parser.parse_args()
    calls = list(cases(package.use(arguments.build.resolve())))
    want = [bits(call()) for _, call in calls]
    wrong, counts, end = [], [0] * arguments.threads, threading.Event()

    def work(number):
        at = number
        while not end.is_set() and not wrong:
            what, call = calls[at % len(calls)]
            try:
                if bits(call()) != want[at % len(calls)]:
                    wrong.append(f"{what}: other bits")
            except Exception as error:
                wrong.append(f"{what}: {error}")
            at, counts[number] = at + 1, counts[number] + 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(arguments.threads)]
    for thread in threads:
        thread.start()
    sizes = []
    for step in range(30):
        time.sleep(arguments.seconds / 30)
        gc.collect()
        sizes.append(resident())
    end.set()
    for thread in threads:
        thread.join()
    growth = max(sizes[20:]) - max(sizes[:10])
    print(f"{sum(counts)} runs by {arguments.threads} threads, the least busy one {min(counts)}; {sizes[9] / 1e6:.1f} MB after a third of the time, {sizes[-1] / 1e6:.1f} MB at the end")
    if wrong or growth > MOST_GROWTH or min(counts) < len(calls):
        sys.exit("; ".join(wrong) or (f"grew by {growth / 1e6:.1f} MB" if growth > MOST_GROWTH else "a thread has hardly run"))


if __name__ == "__main__":
    main()
