"""GreedySearch, Sampling and BeamSearch of com.microsoft over small language models, all drawn at random, against ONNX Runtime: the same tokens for each of some prompts.

    run.py --ingot build/bin/ingot [--target T] [--only SEED,...] [-j 2]

A case draws the operator, how its decoder is written, who holds the weights, which inputs are constants of the model and which a run gives, and sizes that are numbers or
open; then prompts of several batches and lengths, with padding in front or without."""
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]
import ingot_run
import numpy as np
import peer

import models
from open_model import OpenModel, Refused, Status

END, PAD = 2, 1
INPUTS = {
    "GreedySearch": ["input_ids", "max_length", "min_length", "repetition_penalty", "vocab_mask", "prefix_vocab_mask", "attention_mask"],
    "Sampling": ["input_ids", "max_length", "min_length", "repetition_penalty", "vocab_mask", "prefix_vocab_mask", "attention_mask", "presence_mask", "seed"],
    "BeamSearch": ["input_ids", "max_length", "min_length", "num_beams", "num_return_sequences", "length_penalty", "repetition_penalty", "vocab_mask", "prefix_vocab_mask", "attention_mask"],
}
REQUIRED = ["input_ids", "max_length", "num_beams", "num_return_sequences", "length_penalty"]  # ONNX Runtime says so of the last one, and of BeamSearch's min_length
OPEN = ["input_ids", "attention_mask", "prefix_vocab_mask"]  # as large as the batch


class Case:
    def __init__(self, seed):
        self.rng = rng = random.Random(f"generation {seed}")
        self.arrays = np.random.default_rng(seed if isinstance(seed, int) else 1)
        self.kind = rng.choice(["GreedySearch", "GreedySearch", "Sampling", "BeamSearch", "BeamSearch", "BeamSearch"])
        self.t5 = self.kind == "BeamSearch" and rng.random() < 0.4
        self.words = rng.choice([29, 41, 64])
        self.beams = rng.choice([1, 2, 4]) if self.kind == "BeamSearch" else 1
        self.most = rng.choice([9, 14, 20])
        kept = lambda share: rng.random() < share
        self.used = [name for name in INPUTS[self.kind] if name in REQUIRED or kept(0.4) or (name, self.kind) == ("min_length", "BeamSearch")]
        if "presence_mask" in self.used:
            self.used.remove("presence_mask")  # ONNX Runtime takes all of it from the first score: see presence()
        self.fixed = {
            "max_length": np.array(self.most, np.int32), "min_length": np.array(rng.choice([0, 4, 8]), np.int32), "num_beams": np.array(self.beams, np.int32),
            "num_return_sequences": np.array(rng.randint(1, self.beams), np.int32), "length_penalty": np.array(rng.choice([0.5, 1, 1, 2, -1]), np.float32),
            "repetition_penalty": np.array(rng.choice([1, 1.3, 2.5, 0.8]), np.float32), "vocab_mask": self.mask(self.words), "seed": np.array(rng.choice([0, 7, 12345]), np.int32),
        }  # fmt: skip
        self.attributes = dict(eos_token_id=END, pad_token_id=PAD, no_repeat_ngram_size=rng.choice([0, 0, 1, 2, 3]), model_type=int(self.t5))
        if self.kind == "BeamSearch":
            self.attributes["early_stopping"] = rng.randint(0, 1)
        if self.kind == "Sampling":
            self.attributes |= dict(top_p=rng.choice([0.3, 0.8, 1.0]), temperature=rng.choice([0.7, 1.0, 2.0]), min_tokens_to_keep=rng.choice([0, 1, 3]), custom=rng.randint(0, 1))
        if self.t5:
            self.attributes["decoder_start_token_id"] = 0
        if self.kind == "BeamSearch" and self.attributes["no_repeat_ngram_size"] == 1:
            self.attributes["no_repeat_ngram_size"] = 2  # with few tokens left, scores are equal
        self.isOpen = rng.random() < 0.7
        self.batch, self.length = rng.choice([1, 2, 3]), rng.choice([1, 3, 6])
        self.outputs = ["sequences"]
        if self.kind == "BeamSearch":
            self.outputs += [["sequences_scores"], ["sequences_scores", "scores"], []][rng.randrange(3)]

    def mask(self, *shape):
        allowed = (self.arrays.random(shape) < 0.8).astype(np.int32)
        allowed[..., END] = 1
        allowed[..., 5:9] = 1
        return allowed

    def model(self):
        rng, weights = self.rng, {}
        ends = np.zeros(self.words, np.float32)
        ends[END] = rng.choice([-1, 3, 5])
        draw = np.random.default_rng(rng.randrange(1 << 30))
        held = False
        if self.t5:
            starts = rng.random() < 0.6
            encoder, decoder = models.t5(weights, draw, self.words, ends, starts, starts and rng.random() < 0.5)
            graphs = dict(encoder=encoder, decoder=decoder)
        else:
            plain, held = rng.random() < 0.5, rng.random() < 0.3
            graphs = dict(decoder=models.gpt(weights, draw, self.words, ends, plain, held))
            if rng.random() < 0.3:
                graphs["init_decoder"] = models.gpt(weights, draw, self.words, ends, rng.random() < 0.5, held)
        known = [name for name in self.used if name not in OPEN and rng.random() < 0.6]
        rows = ["batch", "length"] if self.isOpen else [self.batch, self.length]
        inputs = list(INPUTS[self.kind])
        while inputs[-1] not in self.used:
            inputs.pop()
        names = [name if name in self.used else "" for name in inputs]
        return models.model(self.kind, names, self.given(self.batch, self.length), self.outputs, graphs, {} if held else weights, self.attributes, known, rows)

    def given(self, batch, length):
        """All inputs, for a prompt drawn anew."""
        ids = self.arrays.integers(3, self.words, (batch, length)).astype(np.int32)
        if length > 2 and self.rng.random() < 0.5:
            for row, front in enumerate(self.arrays.integers(0, length - 1, batch)):
                ids[row, :front] = PAD
        mask = (ids != PAD).astype(np.int32)
        if self.rng.random() < 0.3:
            mask[:, 0] = 0
            mask[:, -1] = 1
        return self.fixed | {"input_ids": ids, "attention_mask": mask, "prefix_vocab_mask": self.mask(batch, self.words)}


def presence(arguments):
    """What the presence of a token takes from its score, its decoder may as well: ONNX Runtime gets such a one."""
    case = Case("presence")
    case.kind, case.t5, case.isOpen, case.outputs, case.used = "Sampling", False, False, ["sequences"], ["input_ids", "max_length", "seed"]
    case.batch, case.length, case.beams = 2, 3, 1
    case.attributes = dict(eos_token_id=END, pad_token_id=PAD, top_p=0.9)
    mask, ends = np.arange(case.words, dtype=np.int32) % 2, np.zeros(case.words, np.float32)
    given = case.given(2, 3) | {"presence_mask": np.stack([mask, mask])}
    models_ = []
    for used, extra, shift in (["presence_mask"], dict(presence_penalty=2.5), 0), ([], {}, 2.5):
        weights = {}
        graph = models.gpt(weights, np.random.default_rng(3), case.words, (ends - shift * mask).astype(np.float32), False, False)
        names = [name if name in case.used + used else "" for name in INPUTS["Sampling"]]
        models_.append(models.model("Sampling", names, given, case.outputs, dict(decoder=graph), weights, case.attributes | extra, [], [2, 3]))
    feeds = lambda model: {value.name: given[value.name] for value in model.graph.input}
    want = peer.session(models_[1]).run(None, feeds(models_[1]))
    with tempfile.TemporaryDirectory(prefix="ingot-generation-") as scratch:
        got = OpenModel(arguments.ingot, models_[0], scratch, arguments.target).run(feeds(models_[0]), {})
    return list(differences(case, want, got))


def bad(arguments):
    """Prompts without room for one more token, and more sequences than beams, end the run."""
    case, wrong = Case("bad"), []
    case.kind, case.t5, case.isOpen, case.outputs = "BeamSearch", False, True, ["sequences"]
    case.used = ["input_ids", "max_length", "num_beams", "num_return_sequences"]
    case.attributes, weights = dict(eos_token_id=END, pad_token_id=PAD), {}
    graph = models.gpt(weights, np.random.default_rng(3), case.words, np.zeros(case.words, np.float32), False, False)
    names = [name if name in case.used else "" for name in INPUTS["BeamSearch"]]
    model = models.model("BeamSearch", names, case.given(2, 3), case.outputs, dict(decoder=graph), weights, case.attributes, [], ["batch", "length"])
    with tempfile.TemporaryDirectory(prefix="ingot-generation-") as scratch:
        compiled = OpenModel(arguments.ingot, model, scratch, arguments.target)
        for most, beams, returned, ends in (5, 2, 2, None), (4, 1, 1, None), (3, 2, 1, 5), (2, 2, 1, 5), (9, 2, 3, 5), (9, 2, 0, 5), (-1, 2, 1, 12), (9, -2, -3, 12):
            numbers = {"max_length": most, "num_beams": beams, "num_return_sequences": returned}
            feeds = {"input_ids": case.given(2, 3)["input_ids"]} | {name: np.array(value, np.int32) for name, value in numbers.items()}
            try:
                compiled.run(feeds, {"batch": 2, "length": 3})
                said = None
            except Status as status:
                said = int(str(status).split()[1].rstrip(","))
            if said != ends:
                wrong.append(f"{numbers}: status {said} instead of {ends}")
    return wrong


def sizes(arguments):
    """Only the length of what is kept changes from one turn of the loop to the next, whatever else is open."""
    case, weights = Case("sizes"), {}
    case.attributes = dict(eos_token_id=END, pad_token_id=PAD)
    names = [name if name in [*REQUIRED, "min_length"] else "" for name in INPUTS["BeamSearch"]]
    graph = models.gpt(weights, np.random.default_rng(3), case.words, np.zeros(case.words, np.float32), False, False)
    known = [name for name in names if name and name != "input_ids"]
    model = models.model("BeamSearch", names, case.given(2, 3), ["sequences"], dict(decoder=graph), weights, case.attributes, known, ["batch", "length"])
    with tempfile.TemporaryDirectory(prefix="ingot-generation-") as scratch:
        path = pathlib.Path(scratch) / "m.onnx"
        path.write_bytes(model.SerializeToString())
        command = [arguments.ingot, "compile", path, "-o", scratch, "--stop-after", "fuse"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    found = re.findall(r"onnx\.grows = (\[\[.*?\]\])", said)
    changing = found[0].count("#onnx.sizes") if found else 0
    return [] if len(found) == 1 and changing == 1 else [f"{len(found)} loops, of which the first has {changing} sizes that change"]


SPECIAL = {"presence": presence, "bad": bad, "sizes": sizes}


def one(arguments, name):
    if name in SPECIAL:
        return name, SPECIAL[name](arguments)
    case = Case(int(name))
    model, wrong = case.model(), []
    try:
        session = peer.session(model)
    except Exception as error:  # a case that the test should not draw
        return name, [f"ONNX Runtime refuses the model: {str(error)[:300]}"]
    inputs = [value.name for value in model.graph.input]
    with tempfile.TemporaryDirectory(prefix="ingot-generation-") as scratch:
        try:
            compiled = OpenModel(arguments.ingot, model, scratch, arguments.target)
        except Refused as refused:
            return name, [f"refused: {refused}"]
        for batch, length in [(1, 1), (2, 3), (3, 7), (1, 6)] if case.isOpen else [(case.batch, case.length)] * 2:
            if length >= case.most:
                continue
            given = case.given(batch, length)
            feeds = {key: given[key] for key in inputs}
            want = session.run(None, feeds)
            try:
                got = compiled.run(feeds, {"batch": batch, "length": length})
            except Status as status:
                wrong.append(f"[{batch}, {length}]: {status}")
                continue
            wrong += [f"[{batch}, {length}]: {text}" for text in differences(case, want, got)]
    return name, wrong


def differences(case, want, got):
    """ONNX Runtime leaves open what stands behind the last step, which is padding here, or 0."""
    for name, expected, have in zip(case.outputs, want, got):
        if name == "sequences" and case.kind != "BeamSearch":
            written = 1 + np.nonzero((have != PAD).any(0))[0].max()
            expected, have = expected[:, : written + 1], have[:, : written + 1]
        if name == "scores":
            steps = [step for step in range(len(expected)) if have[step].any()]
            expected, have = expected[steps], have[steps]
        if name == "sequences" and not np.array_equal(expected, have):
            yield f"{name}: {have.tolist()} instead of {expected.tolist()}"
        elif name != "sequences" and (difference := ingot_run.difference(have, expected)):
            yield f"{name}: {difference}"


if __name__ == "__main__":
    ingot_run.run_named(__doc__, [*SPECIAL, *(str(seed) for seed in range(40))], one)
