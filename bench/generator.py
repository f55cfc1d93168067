"""Language models: tokens a second, the time to the first token, and memory, of ingot.Generator beside onnxruntime-genai and llama.cpp.

    bench/generator.py --build build [--threads 1,2] [--prompt 128] [--tokens 64] [--folder FOLDER] [--small] [--only ingot,genai,llama]

The model has 1.2 billion weights in 4 bits, drawn at random, in the form of ONNX Runtime's model builder (test/python/decoders.py; `accuracy_level=4`, its own choice
for CPUs); `--small` is one of 50 million. llama.cpp gets one of the same sizes in its own form, GGUF with Q4_0 for all matrices (packages llama-cpp-python, built here, and
gguf). They are written to FOLDER, where the next run finds them. Each runtime runs in a process of its own, one after the other in
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
BLOCK = 32  # weights of Q4_0 that share a scale


def sizes_of(small):
    import decoders

    return decoders.Sizes(32000, 1024, 16, 4, 4, 4096, 1024, 4) if small else decoders.Sizes(128256, 2048, 32, 8, 16, 8192, 4096, 4)


def write(folder, sizes):
    """Writes the model, unless it is there."""
    import decoders

    if (folder / "genai_config.json").exists():
        return
    names = {"past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"}
    results = {"logits": "logits", **{name.replace("past", "present"): text.replace("past_key_values", "present") for name, text in names.items()}}
    inputs = {"input_ids": "input_ids", "attention_mask": "attention_mask", **names}
    decoder = {"filename": "model.onnx", "head_size": sizes.head, "hidden_size": sizes.width, "num_attention_heads": sizes.heads}
    decoder |= {"num_hidden_layers": sizes.layers, "num_key_value_heads": sizes.key_heads, "inputs": inputs, "outputs": results, "session_options": {"provider_options": []}}
    model = {"type": "llama", "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2, "vocab_size": sizes.vocabulary, "context_length": sizes.room, "decoder": decoder}
    search = {"max_length": sizes.room, "past_present_share_buffer": True}
    decoders.grouped(folder, sizes=sizes, config={"model": model, "search": search})


def write_gguf(folder, sizes):
    """Writes a model of the same sizes as llama.cpp has them, unless it is there: blocks of a scale in float16 and 16 bytes with two weights each."""
    if (folder / "model.gguf").exists():
        return
    import gguf
    import numpy as np

    rng, q4 = np.random.default_rng(1), gguf.GGMLQuantizationType.Q4_0
    folder.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(folder / "unfinished.gguf", "llama")
    writer.add_context_length(sizes.room), writer.add_embedding_length(sizes.width), writer.add_block_count(sizes.layers), writer.add_feed_forward_length(sizes.inner)
    writer.add_head_count(sizes.heads), writer.add_head_count_kv(sizes.key_heads), writer.add_rope_dimension_count(sizes.head), writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(sizes.vocabulary), writer.add_tokenizer_model("none"), writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)

    def matrix(name, rows, columns):
        blocks = rng.integers(0, 256, (rows, columns // BLOCK, 2 + BLOCK // 2), dtype=np.uint8)
        blocks[:, :, :2] = np.full((rows, columns // BLOCK, 1), 0.12 / columns**0.5, np.float16).view(np.uint8)
        writer.add_tensor(name, blocks.reshape(rows, -1), raw_dtype=q4)

    norm = lambda name: writer.add_tensor(name, np.ones(sizes.width, np.float32))
    matrix("token_embd.weight", sizes.vocabulary, sizes.width), norm("output_norm.weight"), matrix("output.weight", sizes.vocabulary, sizes.width)
    keys = sizes.key_heads * sizes.head
    for layer in range(sizes.layers):
        norm(f"blk.{layer}.attn_norm.weight"), norm(f"blk.{layer}.ffn_norm.weight")
        shapes = {"attn_q": (sizes.heads * sizes.head, sizes.width), "attn_k": (keys, sizes.width), "attn_v": (keys, sizes.width), "attn_output": (sizes.width, sizes.heads * sizes.head)}
        shapes |= {"ffn_gate": (sizes.inner, sizes.width), "ffn_up": (sizes.inner, sizes.width), "ffn_down": (sizes.width, sizes.inner)}
        for name, shape in shapes.items():
            matrix(f"blk.{layer}.{name}.weight", *shape)
    writer.write_header_to_file(), writer.write_kv_data_to_file(), writer.write_tensors_to_file(), writer.close()
    (folder / "unfinished.gguf").rename(folder / "model.gguf")


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


def by_llama(folder, threads, length):
    import llama_cpp
    import numpy as np

    model = llama_cpp.Llama(str(folder / "model.gguf"), n_ctx=length + 1, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False)

    def start(prompt):
        model.reset()
        pending = prompt
        for _ in range(length - len(prompt)):
            model.eval(pending)
            scores = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(model.ctx, -1), (model.n_vocab(),))
            pending = [int(scores.argmax())]
            yield pending[0]

    return start


RUNTIMES = {"ingot": by_ingot, "genai": by_genai, "llama": by_llama}


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
    parser.add_argument("--small", action="store_true"), parser.add_argument("--only", default="ingot,genai,llama"), parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    os.environ.setdefault("INGOT_PROGRAM", str(given.build.resolve() / "bin/ingot"))
    sys.path.insert(0, str(given.build.resolve() / "python"))
    if given.one:
        print(json.dumps(measure(given)))
        return
    write(given.folder, sizes_of(given.small))
    if "llama" in given.only.split(","):
        write_gguf(given.folder, sizes_of(given.small))
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
