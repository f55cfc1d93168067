"""A language model writes 50 tokens, one a run: the caches that a run gives are what the next one takes, and grow from nothing; and once more with caches that have room for all
of them and stay where they are (--cache). ONNX Runtime does the same beside it.

    decode.py --ingot build/bin/ingot [--target T]
"""
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import peer

from cases import ALL, transformers
from open_model import OpenModel, Status

STEPS, ROOM = 50, 70


class Growing:
    """Each run gives caches that are longer."""

    def __init__(self, arguments, case, scratch):
        self.model = OpenModel(arguments.ingot, case.model, scratch, arguments.target)
        self.names = [value.name for value in case.model.graph.input]

    def start(self, batch):
        self.caches = [np.zeros((batch, transformers.CACHES, 0, transformers.WIDTH), np.float32)] * (2 * transformers.LAYERS)

    def step(self, ids, past):
        sizes = {"batch": len(ids), "seq": ids.shape[1], "past": past, "past_room": ROOM}
        logits, *self.caches = self.model.run(dict(zip(self.names, [ids, *self.caches])), sizes)
        return [logits, *[cache[:, :, : past + ids.shape[1]] for cache in self.caches]]


class Staying(Growing):
    """The caches have room."""

    def __init__(self, arguments, case, scratch):
        inputs, outputs = [[value.name for value in values] for values in (case.model.graph.input, case.model.graph.output)]
        flags = [part for pair in zip(inputs[1:], outputs[1:]) for part in ("--cache", "=".join(pair))]
        self.model = OpenModel(arguments.ingot, case.model, scratch, arguments.target, flags)
        self.names = inputs
        places = [tensor.in_place_of for tensor in self.model.outputs]
        assert places == [0, *range(2, 2 + 2 * transformers.LAYERS)], places

    def start(self, batch):
        self.caches = [np.full((batch, transformers.CACHES, ROOM, transformers.WIDTH), np.nan, np.float32) for _ in range(2 * transformers.LAYERS)]


def write(caches, session, batch, first):
    """Begins with `first` tokens, then writes one by one. Returns what differs."""
    names = [value.name for value in session.get_inputs()]
    rng = np.random.default_rng(batch)
    ids = rng.integers(0, 40, (batch, first))
    caches.start(batch)
    theirs = [np.zeros((batch, transformers.CACHES, 0, transformers.WIDTH), np.float32)] * (2 * transformers.LAYERS)
    past = 0
    for step in range(STEPS + 1):
        wanted, *theirs = session.run(None, dict(zip(names, [ids, *theirs])))
        for what, a, b in zip(["logits", *names[1:]], caches.step(ids, past), [wanted, *theirs]):
            if difference := ingot_run.difference(a, b):
                return f"{type(caches).__name__}: batch {batch}, step {step}, {past} tokens before: {what}: {difference}"
        past += ids.shape[1]
        ids = wanted[:, -1:].argmax(-1)
    try:
        caches.step(np.zeros((batch, ROOM), np.int64), past)
    except Status:
        return None
    return None if type(caches) is Growing else "rows that do not fit are written"


def main():
    arguments = ingot_run.parser(__doc__).parse_args()
    case = ALL["decoder"]()
    session = peer.session(case.model)
    runs, wrong = [(1, 1), (1, 17), (2, 5), (3, 1), (8, 2)], []
    for kind in (Growing, Staying):
        with tempfile.TemporaryDirectory(prefix="ingot-decode-") as scratch:
            caches = kind(arguments, case, scratch)
            wrong += [text for batch, first in runs if (text := write(caches, session, batch, first))]
    for text in wrong:
        print(text)
    print(f"{2 * len(runs) - len(wrong)} passed, {len(wrong)} failed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
