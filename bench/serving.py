"""Throughput and latency of models behind MLServer, by gRPC with raw contents: ingot, onnxruntime and OpenVINO in the same server, on one thread each, interleaved.

    bench/serving.py --build build [--zoo FOLDER] [--models NAMES] [--no-batches] [--seconds 4] [--rounds 3] [--connections 4] [--write]

Each connection sends its next request when the last one is answered (closed loop). A model of the zoo is a folder with model.onnx and test_data_set_0; without --zoo
the models are those that the package onnx brings along, on random inputs. All engines are models of one server, which has no workers; bench/serving_peers.py is how
the others run in it. `--write` puts each model's figures into bench/serving.tsv in place of older ones, and makes bench/serving.md of all in it. MLServer and Triton's client are needed (docs/testing.md), and what is not installed is left out.
"""
import argparse
import asyncio
import importlib.metadata
import importlib.util
import os
import pathlib
import platform
import statistics
import sys
import time

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/serving"))
import server
from server import package

ENGINES = {"ingot": "ingot_mlserver.IngotRuntime", "onnxruntime": "serving_peers.OnnxRuntime", "openvino": "serving_peers.OpenVino"}
MODELS = ["light-inception-v1", "basic-pitch", "light-vgg19", "fns-candy", "bert-squad-tf-tiny", "gtcrn-stream", "silero-vad-v6", "light-squeezenet"]
PAGE, TABLE = ROOT / "bench/serving.md", ROOT / "bench/serving.tsv"
BATCHES = "batches"  # the name of the model that shows them
DATATYPES = {np.dtype(name): datatype for name, datatype in (("float32", "FP32"), ("float64", "FP64"), ("float16", "FP16"), ("bool", "BOOL"))}
DATATYPES |= {np.dtype(f"{name}{bits}"): f"{name.upper()}{bits}" for name in ("int", "uint") for bits in (8, 16, 32, 64)}
WIDTHS, LAYERS = (1024, 2048), 4
WAIT = 0.01  # seconds for company


def zoo_models(folder, names):
    """(name, model's path, arrays by input) of a zoo's folders."""
    for name in names:
        path, data = folder / name / "model.onnx", folder / name / "test_data_set_0"
        tensors = [onnx.load_tensor(str(data / f"input_{number}.pb")) for number in range(len(list(data.glob("input_*.pb"))))]
        values = onnx.load(path, load_external_data=False).graph
        initial = {each.name for each in values.initializer}
        inputs = [each.name for each in values.input if each.name not in initial]
        yield name, path, {tensor.name if tensor.name in inputs else inputs[number]: onnx.numpy_helper.to_array(tensor) for number, tensor in enumerate(tensors)}


def light_models(names):
    """The models of the package onnx, whose weights are constants, on random images."""
    folder = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    for path in sorted(folder.glob("*.onnx")):
        name = path.stem.replace("_", "-")
        if not names or name in names:
            graph = onnx.load(path).graph
            value = next(each for each in graph.input if each.name not in {constant.name for constant in graph.initializer})
            shape = [size.dim_value or 1 for size in value.type.tensor_type.shape.dim]
            yield name, path, {value.name: np.random.default_rng(1).random(shape, np.float32)}


def wide_mlp(width):
    """Products that read all of their weights for one row as for many: what batches are good for."""
    rng, nodes, weights = np.random.default_rng(1), [], []
    for layer in range(LAYERS):
        weights.append(onnx.numpy_helper.from_array(rng.standard_normal((width, width)).astype(np.float32) / width**0.5, f"w{layer}"))
        nodes += [onnx.helper.make_node("MatMul", [f"r{layer}", f"w{layer}"], [f"p{layer}"]), onnx.helper.make_node("Relu", [f"p{layer}"], [f"r{layer + 1}"])]
    ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", width]) for name in ("r0", f"r{LAYERS}")]
    graph = onnx.helper.make_graph(nodes, "wide", ports[:1], ports[1:], weights)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)


def request(name, feeds):
    from tritonclient.grpc import service_pb2

    made = service_pb2.ModelInferRequest(model_name=name)
    for key, array in feeds.items():
        made.inputs.add(name=key, datatype=DATATYPES[array.dtype], shape=list(array.shape))
        made.raw_input_contents.append(np.ascontiguousarray(array).tobytes())
    return made


async def load(port, message, seconds, connections):
    """Seconds of each answer, and requests in a second."""
    import grpc
    from tritonclient.grpc import service_pb2_grpc

    times = []

    async def ask(end):
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            while (began := time.perf_counter()) < end:
                await stub.ModelInfer(message)
                times.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*[ask(began + seconds) for _ in range(connections)])
    return times, len(times) / (time.perf_counter() - began)


def answer(port, message):
    import grpc
    from tritonclient.grpc import service_pb2_grpc

    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        reply = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(message)
    return [np.frombuffer(raw, np.float32) for output, raw in zip(reply.outputs, reply.raw_output_contents) if output.datatype == "FP32"]


def alike(one, other):
    """Whether two engines give the same outputs, as far as floats of 32 bits let them."""
    return all(np.allclose(ours, theirs, atol=1e-2 * float(np.abs(ours).max(initial=1)), equal_nan=True) for ours, theirs in zip(one, other))


class Bench:
    def __init__(self, given):
        self.given, self.build = given, given.build.resolve()
        self.engines = {name: kind for name, kind in ENGINES.items() if name == "ingot" or importlib.util.find_spec(name)}

    def served(self, variants):
        """A server with a model for each (name, arguments of add)."""
        running = server.Server(self.build, grpc_max_message_length=256 << 20)
        for name, arguments in variants.items():
            running.add(name, **arguments)
        try:
            return running.start(600)
        except RuntimeError:
            running.__exit__()
            raise

    def measure(self, running, messages, connections):
        """Name -> (requests a second, milliseconds at 50 %, 95 % and 99 %): medians of the rounds."""
        rounds = {name: [] for name in messages}
        for number in range(self.given.rounds + 1):
            for name, message in messages.items():
                times, rate = asyncio.run(load(running.grpc_port, message, self.given.seconds if number else 1, connections))
                if number:  # the first round warms up
                    rounds[name].append((rate, *(1e3 * float(np.percentile(times, share)) for share in (50, 95, 99))))
        return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in rounds.items()}

    def compare(self, model, path, feeds):
        """The engines on one model; those that do not load it are left out."""
        variants = {engine: {"model": path, "implementation": kind, "extra": {"threads": 1}} for engine, kind in self.engines.items()}
        try:
            running = self.served(variants)
        except RuntimeError as error:
            print(f"{model}: {str(error)[-3000:]}", file=sys.stderr)
            variants.pop("openvino")
            running = self.served(variants)
        with running:
            messages = {engine: request(engine, feeds) for engine in variants}
            results = {engine: answer(running.grpc_port, message) for engine, message in messages.items()}
            for engine, outputs in results.items():
                if not alike(results["onnxruntime"], outputs):
                    print(f"{model}: {engine} answers otherwise than onnxruntime, and is not measured", file=sys.stderr)
                    messages.pop(engine)
            if "ingot" not in messages:
                sys.exit(1)
            return self.measure(running, messages, self.given.connections)

    def batches(self):
        """The wide MLPs without batches and with them, by both engines."""
        variants, messages = {}, {}
        for width in WIDTHS:
            path = pathlib.Path(package.KEPT.name, f"wide-{width}.onnx")
            onnx.save(wide_mlp(width), path)
            for engine in ("ingot", "onnxruntime"):
                for rows in (1, 8, 16):
                    limits = {"max_batch_size": rows, "max_batch_time": WAIT} if rows > 1 else {}
                    name = f"{engine}-{width}-{rows}"
                    variants[name] = {"model": path, "implementation": self.engines[engine], "extra": {"threads": 1}, **limits}
                    messages[name] = request(name, {"r0": np.ones((1, width), np.float32)})
        with self.served(variants) as running:
            return self.measure(running, messages, 32)


def table(rows):
    lines = ["| model | engine | requests/s | x onnxruntime | 50 % ms | 95 % ms | 99 % ms |", "|---|---|--:|--:|--:|--:|--:|"]
    for model, engines in rows.items():
        for engine, (rate, *times) in engines.items():
            beside = f"{engines['ingot'][0] / engines['onnxruntime'][0]:.2f}" if engine == "ingot" else ""
            lines.append(f"| {model} | {engine} | {rate:.1f} | {beside} | {' | '.join(f'{each:.1f}' for each in times)} |")
    return lines


def batch_table(results):
    lines = ["| products | engine | batch | requests/s | x batch 1 | 50 % ms | 99 % ms |", "|---|---|--:|--:|--:|--:|--:|"]
    for name, (rate, half, _, last) in results.items():
        engine, width, rows = name.rsplit("-", 2)
        beside = f"{rate / results[f'{engine}-{width}-1'][0]:.2f}" if rows != "1" else ""
        lines.append(f"| {width}x{width} | {engine} | {rows} | {rate:.1f} | {beside} | {half:.1f} | {last:.1f} |")
    return lines


def known():
    """Model -> engine -> figures, as bench/serving.tsv has them."""
    rows = {}
    for line in TABLE.read_text().splitlines()[1:] if TABLE.exists() else []:
        model, engine, *figures = line.split("\t")
        rows.setdefault(model, {})[engine] = [float(each) for each in figures]
    return rows


def keep(rows):
    lines = ["model\tengine\trequests_s\thalf_ms\tmost_ms\tlast_ms"]
    lines += ["\t".join([model, engine, *(f"{each:.2f}" for each in figures)]) for model, engines in sorted(rows.items()) for engine, figures in engines.items()]
    TABLE.write_text("\n".join(lines) + "\n")


def page(rows, given):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    rows = dict(rows)
    batches = rows.pop(BATCHES, {})
    better = sum(engines["ingot"][0] >= 1.5 * engines["onnxruntime"][0] for engines in rows.values())
    text = f"""# Behind a server

Written by `bench/serving.py` on {time.strftime("%Y-%m-%d")}: MLServer {importlib.metadata.version('mlserver')} without workers, gRPC with raw contents.
{given.connections} connections in a closed loop, one thread for each run, a run for each processor. Medians of the rounds of a model, the engines
interleaved in one server. onnxruntime {importlib.metadata.version('onnxruntime')} and OpenVINO {importlib.metadata.version('openvino')} have the same checks, queue and threads;
where OpenVINO has no line, the server with it did not start, or it answered otherwise.
The machine has {os.cpu_count()} virtual cores ({cpu}), of which client and server had {len(os.sched_getaffinity(0))};
its load was {os.getloadavg()[0]:.0f} when this was written. Where other jobs run, ratios are rough and times say nothing of a machine of one's own.

{better} of {len(rows)} models have at least 1.5 times the throughput of onnxruntime. A request takes some milliseconds of a processor besides the
model's run, nearly all of it in MLServer and gRPC; its tensors stay arrays (python/mlserver/ingot_mlserver/_contents.py).

{chr(10).join(table(rows))}

## Batches

{LAYERS} products, 32 connections that send one row each; `batch` is `max_batch_size`, with {1e3 * WAIT:.0f} ms to wait. A run reads all weights, for one
row as for many, so rows that share it cost little; the server's own time for each request they do not share. So a batch pays where a run takes
longer than that, and it fills only where so many requests come while it waits.

{chr(10).join(batch_table(batches))}
"""
    PAGE.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True), parser.add_argument("--zoo", type=pathlib.Path), parser.add_argument("--models", nargs="*")
    parser.add_argument("--seconds", type=float, default=4), parser.add_argument("--rounds", type=int, default=3), parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--write", action="store_true"), parser.add_argument("--no-batches", action="store_true")
    parser.add_argument("--page", action="store_true", help="only writes the page of bench/serving.tsv")
    given = parser.parse_args()
    package.use(given.build.resolve())
    server.need()
    package.need("onnxruntime")
    if given.page:
        return page(known(), given)
    bench = Bench(given)

    def measured(name, figures, lines):
        print("\n".join(lines), flush=True)
        if given.write:
            rows = {**known(), name: figures}
            keep(rows)
            page(rows, given)

    for name, path, feeds in zoo_models(given.zoo, MODELS if given.models is None else given.models) if given.zoo else light_models(given.models):
        figures = bench.compare(name, path, feeds)
        measured(name, figures, table({name: figures}))
    if not given.no_batches:
        figures = bench.batches()
        measured(BATCHES, figures, batch_table(figures))


if __name__ == "__main__":
    main()
