"""What a step of decoding costs by how many tokens there are: one GroupQueryAttention over a cache with room for all, beside onnxruntime.

    bench/decode_lengths.py --build build [--room 2048] [--lengths 1,16,128,512,2048] [--heads 32] [--key-heads 8] [--width 64]

One thread. Calls of both are interleaved, and the lowest time of each is printed; the cache is the output's memory, as a generator has it. onnxruntime takes memory of its
own for what it gives, so its cache is bound to the same memory (past_present_share_buffer)."""
import argparse
import pathlib
import sys
import time

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
import package

ROUNDS, CALLS = 30, 10


def model(heads, key_heads, width):
    f, port = onnx.TensorProto.FLOAT, onnx.helper.make_tensor_value_info
    rows = [port(name, f, [1, 1, n * width]) for name, n in (("q", heads), ("k", key_heads), ("v", key_heads))]
    caches = [[port(f"{when}_{name}", f, [1, key_heads, "room", width]) for name in ("key", "value")] for when in ("past", "present")]
    mask, node = port("mask", onnx.TensorProto.INT64, [1, "total"]), onnx.helper.make_node
    inputs = [*rows, *caches[0], mask]
    constants = [onnx.numpy_helper.from_array(np.array(value, np.int64), name) for name, value in (("one", 1), ("axis", [1]))]
    nodes = [node("ReduceSum", ["mask", "axis"], ["sum"], keepdims=0), node("Sub", ["sum", "one"], ["last"]), node("Cast", ["last"], ["lengths"], to=6)]
    nodes += [node("Shape", ["mask"], ["shape"]), node("Gather", ["shape", "one"], ["columns"]), node("Cast", ["columns"], ["total"], to=6)]
    names = [each.name for each in (*rows, *caches[0])]
    nodes.append(node("GroupQueryAttention", [*names, "lengths", "total"], ["y", "present_key", "present_value"], domain="com.microsoft", num_heads=heads, kv_num_heads=key_heads))
    graph = onnx.helper.make_graph(nodes, "step", inputs, [port("y", f, [1, 1, heads * width]), *caches[1]], constants)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def by_ingot(made, room):
    import ingot

    step = ingot.compile(made, threads=1, dims={"room": room, "total": room})
    return lambda feeds: step.run(feeds, out={"present_key": feeds["past_key"], "present_value": feeds["past_value"]})["y"]


def by_onnxruntime(made, room):
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), settings, providers=["CPUExecutionProvider"])

    def run(feeds):
        binding = session.io_binding()
        values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items() if not name.startswith("past")}
        for name in ("key", "value"):
            values[f"past_{name}"] = binding_of(feeds[f"past_{name}"])
            binding.bind_ortvalue_output(f"present_{name}", values[f"past_{name}"])
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        binding.bind_output("y")
        session.run_with_iobinding(binding)
        return binding.get_outputs()[2].numpy()

    kept = {}

    def binding_of(array):
        return kept.setdefault(id(array), onnxruntime.OrtValue.ortvalue_from_numpy(array))

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True), parser.add_argument("--room", type=int, default=2048), parser.add_argument("--lengths", default="1,16,128,512,2048")
    parser.add_argument("--heads", type=int, default=32), parser.add_argument("--key-heads", type=int, default=8), parser.add_argument("--width", type=int, default=64)
    given = parser.parse_args()
    package.use(given.build.resolve())
    made = model(given.heads, given.key_heads, given.width)
    engines = {"ingot": by_ingot(made, given.room), "onnxruntime": by_onnxruntime(made, given.room)}
    rng = np.random.default_rng(1)
    random = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    print("| tokens | ingot | onnxruntime |\n|--:|--:|--:|")
    for length in map(int, given.lengths.split(",")):
        feeds = {"q": random(1, 1, given.heads * given.width), **{name: random(1, 1, given.key_heads * given.width) for name in "kv"}}
        feeds |= {f"past_{name}": random(1, given.key_heads, given.room, given.width) for name in ("key", "value")}
        feeds["mask"] = np.int64([np.arange(given.room) < length])  # as long as the cache, as a generator's is
        results, times = {name: run(feeds) for name, run in engines.items()}, {name: [] for name in engines}
        np.testing.assert_allclose(results["ingot"].reshape(-1), results["onnxruntime"].reshape(-1), rtol=1e-3, atol=1e-4)
        for _ in range(ROUNDS):
            for name, run in engines.items():
                began = time.perf_counter()
                for _ in range(CALLS):
                    run(feeds)
                times[name].append((time.perf_counter() - began) / CALLS)
        print(f"| {length} | " + " | ".join(f"{1e6 * min(each):.0f} us" for each in times.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
