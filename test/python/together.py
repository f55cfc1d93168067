"""ingot in one process with PyTorch, onnxruntime and numba, which bring a libstdc++, threads and an LLVM of their own: in whichever order they are imported, each
computes what it computes alone, and errors stay exceptions.

    together.py --build build
"""
import itertools
import os
import subprocess
import sys

import package

MODULES = ("torch", "onnxruntime", "numba", "ingot")
CELSIUS = package.ROOT / "examples/c/celsius.onnx"
BODY = """
import importlib, sys
for name in sys.argv[2:]:
    importlib.import_module(name)
import ingot, numba, numpy as np, onnxruntime, torch

x = np.float32([[0], [10], [20], [30], [100]])
expected = [32, 50, 68, 86, 212]
m = ingot.compile(sys.argv[1])
session = onnxruntime.InferenceSession(sys.argv[1])
for _ in range(3):
    assert m(x).ravel().tolist() == expected
    assert torch.from_dlpack(m(torch.from_numpy(x))).ravel().tolist() == expected
    assert np.allclose(session.run(None, {session.get_inputs()[0].name: x})[0].ravel(), expected)
    assert numba.njit(lambda a: a.sum())(x) == x.sum()
    assert np.allclose(torch.relu(torch.from_numpy(x) @ torch.ones(1, 3)), x * np.ones(3))
for error, call in ((ingot.ShapeError, lambda: m(x[:2])), (ingot.CompileError, lambda: ingot.compile(b"x")), (RuntimeError, lambda: torch.ones(2) @ torch.ones(3))):
    try:
        call()
    except error:
        continue
    sys.exit(f"no {error}")
"""


def main():
    build, _ = package.command_line(__doc__)
    package.need(*(name for name in MODULES if name != "ingot"))
    package.use(build)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    orders = list(itertools.permutations(MODULES))
    for order in orders:
        done = subprocess.run([sys.executable, "-c", BODY, str(CELSIUS), *order], capture_output=True, text=True, env=environment)
        if done.returncode:
            sys.exit(f"{', '.join(order)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{len(orders)} orders of {', '.join(MODULES)}")


if __name__ == "__main__":
    main()
