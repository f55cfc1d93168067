"""Language models: tokens a second, the time to the first token, and memory, of ingot.Generator beside onnxruntime-genai.

    bench/generator.py --build build [--threads 1,2] [--prompt 128] [--tokens 64] [--folder FOLDER] [--small] [--only ingot,genai]

The model has 1.2 billion weights in 4 bits, drawn at random, in the form of ONNX Runtime's model builder (test/python/decoders.py; `accuracy_level=4`, its own choice
for CPUs); `--small` is one of 50 million. It is written to FOLDER, where the next run finds it. Each runtime runs in a process of its own, one after the other in
three rounds; medians are printed as rows of bench/generator.md. Memory is the most that the process had (its peak resident set), with the mapped pages of weights."""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test/python"))
ROUNDS = 3


def write(folder, small):
    """Writes the model, unless it is there."""
    import decoders

    if (folder / "genai_config.json").exists():
        return
    sizes = decoders.Sizes(32000, 1024, 16, 4, 4, 4096, 1024, 4) if small else decoders.Sizes(128256, 2048, 32, 8, 16, 8192, 4096, 4)
    names = {"past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"}
    results = {"logits": "logits", **{name.replace("past", "present"): text.replace("past_key_values", "present") for name, text in names.items()}}
    inputs = {"input_ids": "input_ids", "attention_mask": "attention_mask", **names}
    decoder = {"filename": "model.onnx", "head_size": sizes.head, "hidden_size": sizes.width, "num_attention_heads": sizes.heads}
    decoder |= {"num_hidden_layers": sizes.layers, "num_key_value_heads": sizes.key_heads, "inputs": inputs, "outputs": results, "session_options": {"provider_options": []}}
    model = {"type": "llama", "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2, "vocab_size": sizes.vocabulary, "context_length": sizes.room, "decoder": decoder}
    search = {"max_length": sizes.room, "past_present_share_buffer": True}
    decoders.grouped(folder, sizes=sizes, config={"model": model, "search": search})


def by_ingot(folder, threads, length):
    import ingot

    generator = ingot.Generator(folder, threads=threads, max_length=length)
    return lambda prompt: generator.tokens(prompt, stop_tokens=[])


def by_genai(folder, threads, length):
    import onnxruntime_genai

    configuration = onnxruntime_genai.Config(str(folder))
    configuration.overlay(json.dumps({"model": {"decoder": {"session_options": {"intra_op_num_threads": threads}}}}))
    model = onnxruntime_genai.Model(configuration)

    def start(prompt):
        how = onnxruntime_genai.GeneratorParams(model)
        how.set_search_options(max_length=length, min_length=length, do_sample=False)
        generator = onnxruntime_genai.Generator(model, how)
        generator.append_tokens(prompt)
        while not generator.is_done():
            generator.generate_next_token()
            yield generator.get_next_tokens()[0]

    return start


RUNTIMES = {"ingot": by_ingot, "genai": by_genai}


def measure(given):
    """One runtime in this process: {what: seconds, MB}."""
    prompt = [3 + 7 * place % 1000 for place in range(given.prompt)]
    start = time.monotonic()
    tokens = RUNTIMES[given.one](given.folder, int(given.threads), given.prompt + given.tokens)
    loaded = time.monotonic() - start
    next(iter(tokens(prompt[:2])))
    start = time.monotonic()
    text = iter(tokens(prompt))
    next(text)
    first = time.monotonic()
    count = sum(1 for _ in text)
    speed = count / (time.monotonic() - first)
    return {"load": loaded, "first": first - start, "speed": speed, "memory": peak()}


def peak():
    """MB that this process had at most; getrusage counts what its parent had, too."""
    text = pathlib.Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM")) / 1000


def processor():
    names = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{names[0]}, {len(names)} processors" if names else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True), parser.add_argument("--threads", default="1,2"), parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=64), parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/language-model")
    parser.add_argument("--small", action="store_true"), parser.add_argument("--only", default="ingot,genai"), parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.environ.setdefault("INGOT_PROGRAM", str(given.build.resolve() / "bin/ingot"))
    sys.path.insert(0, str(given.build.resolve() / "python"))
    if given.one:
        print(json.dumps(measure(given)))
        return
    write(given.folder, given.small)
    print(f"{processor()}; load of the machine {os.getloadavg()[0]:.1f}; {given.prompt} tokens of prompt, {given.tokens} written\n")
    print("| threads | runtime | tokens a second | time to the first token | memory |\n|--:|---|--:|--:|--:|", flush=True)
    for threads in given.threads.split(","):
        found = {name: [] for name in given.only.split(",")}
        for _ in range(ROUNDS):
            for name, results in found.items():
                line = [sys.executable, __file__, "--build", given.build, "--one", name, "--threads", threads, "--prompt", str(given.prompt), "--tokens", str(given.tokens), "--folder", given.folder]
                done = subprocess.run(line, capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"{name}: {done.stderr[-2000:]}")
                results.append(json.loads(done.stdout.splitlines()[-1]))
        for name, results in found.items():
            middle = {key: statistics.median(each[key] for each in results) for key in results[0]}
            print(f"| {threads} | {name} | {middle['speed']:.1f} | {middle['first']:.2f} s | {middle['memory']:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
