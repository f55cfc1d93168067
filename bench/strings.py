"""Operators on strings and on sequences beside ONNX Runtime: small models of one operator or few, one thread, interleaved.

    strings.py --ingot build/bin/ingot [--only REGEX] [--core 1] [--rounds 5] [--seconds 0.2] [--target native]

ingot's time is that of a whole call, ONNX Runtime's what its profile says of the nodes alone (the sum of their medians), or a whole call for models with
loops, whose nodes the profile counts twice. `x` is the latter by the former: above 1 ingot is faster."""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

STRING, FLOAT, INT, BOOL = TensorProto.STRING, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
ML, MICROSOFT = "ai.onnx.ml", "com.microsoft"
DOMAINS = {"ML": ML, "MS": MICROSOFT}


def words(rng, count, least=3, most=12, letters="abcdefghijklmnopqrstuvwxyz"):
    return ["".join(rng.choices(letters, k=rng.randint(least, most))) for _ in range(count)]


def tensor(array, name):
    return helper.make_tensor(name, STRING, array.shape, [text.encode() for text in array.reshape(-1)]) if array.dtype == object else numpy_helper.from_array(array, name)


def model(nodes, feeds, outputs, weights=(), opset=20):
    """`nodes`: (operator, inputs, outputs, attributes); ML. and MS. are other domains."""
    made = []
    for op, ins, outs, attributes in nodes:
        domain, _, name = op.rpartition(".")
        made.append(helper.make_node(name, ins, outs, domain=DOMAINS.get(domain), **attributes))
    inputs = [helper.make_tensor_value_info(name, STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype), array.shape) for name, array in feeds.items()]
    graph = helper.make_graph(made, "g", inputs, [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()], [tensor(np.asarray(value), name) for name, value in dict(weights).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(ML, 3), helper.make_opsetid(MICROSOFT, 1)], ir_version=9)


def strings():
    """(name, nodes, feeds, outputs) of operators on strings."""
    rng = random.Random(1)
    objects = lambda list: np.array(list, object)  # noqa: E731
    keys = list(dict.fromkeys(words(rng, 12_000)))[:10_000]
    known, text = objects(rng.choices(keys, k=10_000)), objects([" ".join(words(rng, rng.randint(1, 5))) for _ in range(10_000)])
    sentences, mixed = objects([" ".join(words(rng, 12)) for _ in range(200)]), objects(words(rng, 10_000, letters="abcXYZéÉж"))
    vocabulary, numbers = keys[:1000], list(range(10_000))
    document = objects(rng.choices(vocabulary[:500] + ["zz"], k=100 * 50)).reshape(100, 50)
    grams = dict(mode="TFIDF", min_gram_length=1, max_gram_length=2, max_skip_count=0, ngram_counts=[0, 500], ngram_indexes=list(range(1000)), pool_strings=vocabulary[:500] + [w for k in range(500) for w in (vocabulary[k], vocabulary[k * 7 % 499])], weights=[1.5] * 1000)
    integers = {key: value for key, value in grams.items() if key != "pool_strings"} | {"pool_int64s": [vocabulary.index(w) for w in grams["pool_strings"]]}
    few = objects(rng.choices(vocabulary[:50], k=10_000))
    x, y, out = {"x": known}, ["x"], {"y": STRING}
    tokens = dict(mark=0, pad_value="#", mincharnum=1)
    return [
        ("StringConcat, 10,000", [("StringConcat", ["x", "x"], ["y"], {})], x, out),
        ("Equal, 10,000", [("Equal", ["x", "z"], ["y"], {})], {"x": known, "z": objects(rng.choices(keys, k=10_000))}, {"y": BOOL}),
        ("StringSplit at spaces, 10,000", [("StringSplit", y, ["y", "n"], {})], {"x": text}, {"y": STRING, "n": INT}),
        ("StringSplit at a comma, 10,000", [("StringSplit", y, ["y", "n"], dict(delimiter=","))], {"x": objects([t.replace(" ", ",") for t in text])}, {"y": STRING, "n": INT}),
        ("StringSplit at two letters, 10,000", [("StringSplit", y, ["y", "n"], dict(delimiter="ab"))], {"x": text}, {"y": STRING, "n": INT}),
        ("StringNormalizer to upper case, 10,000", [("StringNormalizer", y, ["y"], dict(case_change_action="UPPER", locale="C.UTF-8"))], x, out),
        ("StringNormalizer to lower case, letters beyond ASCII", [("StringNormalizer", y, ["y"], dict(case_change_action="LOWER", locale="C.UTF-8"))], {"x": mixed}, out),
        ("StringNormalizer, 100 stop words", [("StringNormalizer", y, ["y"], dict(is_case_sensitive=1, stopwords=keys[:100]))], x, out),
        ("RegexFullMatch [a-z]+, 10,000", [("RegexFullMatch", y, ["y"], dict(pattern="[a-z]+"))], x, {"y": BOOL}),
        ("RegexFullMatch of addresses, 10,000", [("RegexFullMatch", y, ["y"], dict(pattern=r"[\w.]+@[\w.]+\.(com|net|org)"))], {"x": objects([f"{a}@{b}.com" for a, b in zip(known, few)])}, {"y": BOOL}),
        ("LabelEncoder to integers, 10,000 keys", [("ML.LabelEncoder", y, ["y"], dict(keys_strings=keys, values_int64s=numbers))], x, {"y": INT}),
        ("LabelEncoder to floats, 10,000 keys", [("ML.LabelEncoder", y, ["y"], dict(keys_strings=keys, values_floats=[n / 2 for n in numbers]))], x, {"y": FLOAT}),
        ("LabelEncoder to strings, 10,000 keys", [("ML.LabelEncoder", y, ["y"], dict(keys_strings=keys, values_strings=keys[::-1]))], x, out),
        ("LabelEncoder, 100 keys", [("ML.LabelEncoder", y, ["y"], dict(keys_strings=keys[:100], values_int64s=numbers[:100]))], {"x": objects(rng.choices(keys[:120], k=10_000))}, {"y": INT}),
        ("LabelEncoder of integers to strings", [("ML.LabelEncoder", y, ["y"], dict(keys_int64s=numbers, values_strings=keys))], {"x": np.array(rng.choices(numbers, k=10_000))}, out),
        ("CategoryMapper, 1,000 keys", [("ML.CategoryMapper", y, ["y"], dict(cats_strings=vocabulary, cats_int64s=numbers[:1000]))], {"x": objects(rng.choices(vocabulary, k=10_000))}, {"y": INT}),
        ("OneHotEncoder, 20 keys", [("ML.OneHotEncoder", y, ["y"], dict(cats_strings=vocabulary[:20]))], {"x": objects(rng.choices(vocabulary[:25], k=10_000))}, {"y": FLOAT}),
        ("TfIdfVectorizer, 1,000 n-grams, 100 x 50 words", [("TfIdfVectorizer", y, ["y"], grams)], {"x": document}, {"y": FLOAT}),
        ("TfIdfVectorizer of integers, 1,000 n-grams", [("TfIdfVectorizer", y, ["y"], integers)], {"x": np.array(rng.choices(range(510), k=5000)).reshape(100, 50)}, {"y": FLOAT}),
        ("TfIdfVectorizer of integers, skips", [("TfIdfVectorizer", y, ["y"], integers | dict(max_skip_count=3))], {"x": np.array(rng.choices(range(510), k=5000)).reshape(100, 50)}, {"y": FLOAT}),
        ("Tokenizer, characters, 200 sentences", [("MS.Tokenizer", y, ["y"], tokens | dict(separators=[""]))], {"x": sentences}, out),
        ("Tokenizer, one separator", [("MS.Tokenizer", y, ["y"], tokens | dict(separators=[" "]))], {"x": sentences}, out),
        ("Tokenizer, four separators", [("MS.Tokenizer", y, ["y"], tokens | dict(separators=[" ", ",", "ab", "xy+"]))], {"x": sentences}, out),
        ("Tokenizer, expression", [("MS.Tokenizer", y, ["y"], tokens | dict(tokenexp="[a-m]+|[n-z]+", mark=1, mincharnum=2))], {"x": sentences}, out),
        ("Unique, 10,000 of 6,000", [("Unique", y, ["y", "i", "r", "c"], {})], x, {"y": STRING, "i": INT, "r": INT, "c": INT}),
        ("Unique, 10,000 of 50", [("Unique", y, ["y", "i", "r", "c"], {})], {"x": few}, {"y": STRING, "i": INT, "r": INT, "c": INT}),
        ("Unique, as they occur", [("Unique", y, ["y"], dict(sorted=0))], x, out),
        ("Cast from float, 10,000", [("Cast", y, ["y"], dict(to=STRING))], {"x": np.random.default_rng(1).normal(size=10_000).astype(np.float32)}, out),
        ("Cast from integers, 10,000", [("Cast", y, ["y"], dict(to=STRING))], {"x": np.random.default_rng(1).integers(-10**6, 10**6, 10_000)}, out),
        ("Cast to float, 10,000", [("Cast", y, ["y"], dict(to=FLOAT))], {"x": objects([f"{rng.gauss(0, 100):.4f}" for _ in range(10_000)])}, {"y": FLOAT}),
        ("Cast to integers, 10,000", [("Cast", y, ["y"], dict(to=INT))], {"x": objects([str(rng.randint(-10**6, 10**6)) for _ in range(10_000)])}, {"y": INT}),
        ("Gather, 10,000", [("Gather", ["x", "i"], ["y"], {})], x | {"i": np.array(rng.choices(numbers, k=10_000))}, out),
        ("Concat, 2 x 10,000", [("Concat", ["x", "x"], ["y"], dict(axis=0))], x, out),
    ]


def loop(body_nodes, count):
    """A Loop that goes on with a sequence, `count` times (an input: None)."""
    carried = [helper.make_tensor_sequence_value_info(name, FLOAT, None) for name in ("before", "after")]
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"])] + [helper.make_node(op, ins, outs, **attributes) for op, ins, outs, attributes in body_nodes], "body",
                             [helper.make_tensor_value_info("i", INT, []), helper.make_tensor_value_info("c", BOOL, []), carried[0]], [helper.make_tensor_value_info("d", BOOL, []), carried[1]])  # fmt: skip
    return [("SequenceEmpty", [], ["s"], dict(dtype=FLOAT)), ("Loop", [count, "", "s"], ["t"], dict(body=body))]


def sequences():
    """(name, nodes, feeds, outputs, weights) of operators on sequences of 32 tensors 64 x 64."""
    x = np.random.default_rng(1).normal(size=(32, 64, 64)).astype(np.float32)
    y, split = {"y": FLOAT}, ("SplitToSequence", ["x"], ["s"], dict(axis=0, keepdims=1))
    join = ("ConcatFromSequence", ["t"], ["y"], dict(axis=0))
    grow = loop([("SequenceInsert", ["before", "x"], ["after"], {})], "n")
    return [
        ("SplitToSequence, SequenceAt", [split, ("SequenceAt", ["s", "i"], ["y"], {})], {"x": x, "i": np.array(5)}, y, {}),
        ("SplitToSequence, SequenceErase, ConcatFromSequence", [split, ("SequenceErase", ["s", "i"], ["t"], {}), join], {"x": x, "i": np.array(5)}, y, {}),
        ("SplitToSequence, SequenceInsert, ConcatFromSequence", [split, ("SequenceInsert", ["s", "z", "i"], ["t"], {}), join], {"x": x, "z": x[:1], "i": np.array(5)}, y, {}),
        ("the same at a known place", [split, ("SequenceInsert", ["s", "z", "i"], ["t"], {}), join], {"x": x, "z": x[:1]}, y, {"i": np.array(5)}),
        ("SequenceConstruct, ConcatFromSequence", [("SequenceConstruct", ["x", "x", "x"], ["t"], {}), join], {"x": x}, y, {}),
        ("SplitToSequence of run-time lengths, ConcatFromSequence", [("SplitToSequence", ["x", "n"], ["t"], dict(axis=0)), join], {"x": x, "n": np.array([8, 4, 20])}, y, {}),
        ("Loop with SequenceInsert, 16 times, ConcatFromSequence", [*grow, join], {"x": x[0], "n": np.array(16)}, y, {}),
        ("the same, a known number of times", [*grow, join], {"x": x[0]}, y, {"n": np.array(16)}),
    ]


class OnnxRuntime:
    """Strings come from Python in each call, which takes longer than most kernels: what the profile says of the nodes counts."""

    def __init__(self, path, feeds, scratch):
        self.path, self.feeds, self.prefix = path, feeds, str(scratch / "profile")

    def session(self, profile):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 3
        options.enable_profiling, options.profile_file_prefix = profile, self.prefix
        return onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])

    def run(self, seconds):
        session, times, end = self.session(profile=False), [], time.perf_counter() + seconds
        binding = session.io_binding()
        for name, array in self.feeds.items():
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)))
        for output in session.get_outputs():
            binding.bind_output(output.name)
        while len(times) < 5 or time.perf_counter() < end:
            begin = time.perf_counter()
            session.run_with_iobinding(binding)
            times.append(time.perf_counter() - begin)
        return statistics.median(times) * 1e6

    def kernels(self, seconds):
        session, nodes, count, end = self.session(profile=True), collections.defaultdict(list), 0, time.perf_counter() + seconds
        while count < 5 or time.perf_counter() < end:
            session.run(None, self.feeds)
            count += 1
        path = pathlib.Path(session.end_profiling())
        for event in json.loads(path.read_text()):
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                nodes[event["name"]].append(event["dur"])
        path.unlink()
        return sum(statistics.median(times) for times in nodes.values())


def prepare(folder, proto, feeds):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    for number, (name, array) in enumerate(feeds.items()):
        (data / f"input_{number}.pb").write_bytes(tensor(array, name).SerializeToString())


def ingot(arguments, folder):
    command = [arguments.ingot, "compile", folder / "model.onnx", "--name", "m", "-o", folder, "--emit", "shared", *(["--target", arguments.target] if arguments.target else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[0])

    def run(seconds):
        done = subprocess.run([arguments.ingot, "bench", folder / "m.json", "--data", folder / "test_data_set_0", "--threads", "1", "--json", "--seconds", str(seconds)], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[0])
        return json.loads(done.stdout)["median_us"]

    return run


def measure(arguments, folder, case):
    name, nodes, feeds, outputs, *weights = case
    proto = model(nodes, feeds, outputs, *weights)
    prepare(folder, proto, feeds)
    ours, theirs = ingot(arguments, folder), OnnxRuntime(folder / "model.onnx", feeds, folder)
    time_them = theirs.run if any(op == "Loop" for op, *_ in nodes) else theirs.kernels
    rounds = [(ours(arguments.seconds), time_them(arguments.seconds)) for _ in range(arguments.rounds)]
    mine, others = map(statistics.median, zip(*rounds))
    print(f"| {name} | {mine:.1f} | {others:.0f} | {others / mine:.2f} |", flush=True)


def benchmark(description, what, cases):
    """The whole program: measures the cases that the command line asks for; the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--only", default=""), parser.add_argument("--core", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5), parser.add_argument("--seconds", type=float, default=0.2), parser.add_argument("--target")
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[arguments.core % len(cores)]})
    print(f"| {what} | ingot, us | ONNX Runtime, us | x |\n|---|--:|--:|--:|")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ingot-bench-") as scratch:
        for number, case in enumerate(case for case in cases if re.search(arguments.only, case[0])):
            try:
                measure(arguments, pathlib.Path(scratch, str(number)), case)
            except Exception as error:  # noqa: BLE001: the others are still to be measured
                failed += 1
                print(f"| {case[0]} | {str(error).splitlines()[0][:150]} |", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(benchmark(__doc__, "operators", strings() + sequences()))
