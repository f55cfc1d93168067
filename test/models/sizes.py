"""More data for large models whose sizes are open: other batches, other sequences, other caches than the recorded ones.

    sizes.py --root build/big --out build/big-sizes [--only REGEX]       then: models.py --ingot ... --root build/big-sizes

Makes a folder for each model of --root that MODELS below knows, with a data set for each of its sizes. Numbers are drawn (seeded) from a normal
distribution, integers from the recorded ones, so that tokens stay tokens; masks are ones, positions go on behind the cache. The wanted outputs are ONNX
Runtime's, without graph optimisations."""
import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import numpy as np
import onnx
import peer
from onnx import helper, numpy_helper


def table(names, *rows):
    return [dict(zip(names, row)) for row in rows]


SEQUENCES = table(("batch", "seq"), (1, 1), (2, 2), (3, 17), (8, 7), (1, 128), (1, 384))
STEPS = ((1, 1, 0), (1, 17, 0), (3, 2, 17), (8, 1, 5), (2, 1, 128), (1, 1, 384), (1, 128, 0), (1, 384, 0))
CACHES = table(("batch", "seq", "past", "total"), *((batch, seq, past, past + seq) for batch, seq, past in STEPS))
LLAMA = [{"s1": s["batch"], "s66": s["batch"], "s27": s["seq"], "s15": s["past"], "s46": s["past"], "s5": s["total"]} for s in CACHES]
MODELS = {
    "bert-base|minilm-l6|minilm-l6-real": SEQUENCES,
    "gpt2-small": CACHES,
    "llama-100m": LLAMA,
    "whisper-tiny-decoder": table(("seq", "past"), (1, 0), (2, 0), (17, 0), (1, 17), (1, 128), (1, 384)),
    "mobilenet-v2|mobilenet-v3-small|resnet50-dynamo": table(("batch",), (1,), (2,), (3,), (8,)),
    "vit-s-focus": table(("batch_size",), (1,), (2,), (3,), (8,)),
    "mtcnn-rnet": table(("N",), (1,), (2,), (3,), (8,)),
    "mtcnn-pnet": table(("N", "M1", "M2"), (1, 13, 17), (2, 24, 31), (3, 47, 12), (8, 40, 40)),
    "lstm-speech": table(("time",), (1,), (2,), (17,), (128,), (384,)),
    "silero-vad-16k-sequence": table(("sequence_length",), (1,), (2,), (17,), (128,)),
    "brainmaze-seizure": table(("batch", "time"), (1, 128), (2, 17), (3, 128), (8, 40)),
    "brainmaze-spindle-eeg": table(("batch_size",), (1,), (2,), (3,)),
}  # fmt: skip


def filled(rng, name, shape, dtype, recorded, sizes):
    if "mask" in name:
        return np.ones(shape, dtype)
    if "position" in name:
        first = sizes.get("past", sizes.get("s15", 0))  # the rows that the cache has
        return np.broadcast_to(np.arange(first, first + shape[-1], dtype=dtype), shape).copy()
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.choice(recorded.reshape(-1), shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, required=True), parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=".")
    arguments = parser.parse_args()
    for folder in sorted(arguments.root.iterdir()):
        rows = next((rows for names, rows in MODELS.items() if re.fullmatch(names, folder.name)), None)
        if rows and re.search(arguments.only, folder.name):
            make(folder, arguments.out / folder.name, rows)
            print(f"{folder.name}: {len(rows)} data sets")


def make(folder, out, rows):
    out.mkdir(parents=True, exist_ok=True)
    for part in folder.iterdir():  # the model, and data files beside it
        if part.is_file() and not (out / part.name).exists():
            (out / part.name).symlink_to(part.resolve())
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    session = peer.session(folder / "model.onnx")
    for k, sizes in enumerate(rows):
        rng, feeds, data = np.random.default_rng(k), {}, out / f"test_data_set_{k}"
        data.mkdir(exist_ok=True)
        inputs = [value for value in graph.input if value.name not in constants]
        for i, value in enumerate(inputs):
            shape = [sizes[d.dim_param] if d.dim_param else d.dim_value for d in value.type.tensor_type.shape.dim]
            recorded = numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / f"input_{i}.pb"))
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            feeds[value.name] = filled(rng, value.name, shape, dtype, recorded, sizes)
            onnx.save_tensor(numpy_helper.from_array(feeds[value.name], value.name), data / f"input_{i}.pb")
        for i, (value, array) in enumerate(zip(session.get_outputs(), session.run(None, feeds))):
            onnx.save_tensor(numpy_helper.from_array(np.asarray(array), value.name), data / f"output_{i}.pb")


if __name__ == "__main__":
    main()
