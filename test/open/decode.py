"""A language model writes 50 tokens, one a run: the caches that a run gives are what the next one takes, and grow from nothing. ONNX Runtime does the same beside it.

    decode.py --ingot build/bin/ingot [--target T]
"""
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import onnxruntime

import cases
from open_model import OpenModel

STEPS = 50


def write(model, session, batch, first):
    """Begins with `first` tokens, then writes one by one. Returns what differs."""
    names = [value.name for value in session.get_inputs()]
    rng = np.random.default_rng(batch)
    ids = rng.integers(0, 40, (batch, first))
    ours = theirs = [np.zeros((batch, cases.CACHES, 0, cases.WIDTH), np.float32)] * (2 * cases.LAYERS)
    past = 0
    for step in range(STEPS + 1):
        wanted, *theirs = session.run(None, dict(zip(names, [ids, *theirs])))
        have, *ours = model.run(dict(zip(names, [ids, *ours])), {"batch": batch, "seq": ids.shape[1], "past": past})
        for what, a, b in zip(["logits", *names[1:]], [have, *ours], [wanted, *theirs]):
            if difference := ingot_run.difference(a, b):
                return f"batch {batch}, step {step}, {past} tokens before: {what}: {difference}"
        past += ids.shape[1]
        ids = wanted[:, -1:].argmax(-1)
    return None if ours[0].shape[2] == first + STEPS else f"caches of {ours[0].shape[2]} tokens"


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    case = cases.ALL["decoder"]()
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), providers=["CPUExecutionProvider"])
    with tempfile.TemporaryDirectory(prefix="ingot-decode-") as scratch:
        model = OpenModel(arguments.ingot, case.model, scratch, arguments.target)
        runs = [(1, 1), (1, 17), (2, 5), (3, 1), (8, 2)]
        wrong = [text for batch, first in runs if (text := write(model, session, batch, first))]
    for text in wrong:
        print(text)
    print(f"{len(runs) - len(wrong)} passed, {len(wrong)} failed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
