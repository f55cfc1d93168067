"""ingot.Generator on models as ONNX Runtime's model builder and PyTorch's exporter write them, beside the runtime that each exporter has: onnxruntime-genai, and
onnxruntime with caches that grow. 200 tokens each, greedily, of small models of three architectures with random weights from transformers.

    llama   int4 (MatMulNBits, computed in float32: accuracy_level=1), by the model builder: GroupQueryAttention
    qwen3   float32, by the model builder: normalised heads, no rope outside of GroupQueryAttention
    gpt2    float32, by torch.onnx.export: caches are concatenated

    languages.py --build build [--keep FOLDER] [NAMES OF MODELS]

At accuracy_level=4, the model builder's own choice for CPUs, both round activations to bytes, so that sums in another order may make another token."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import package

os.environ["HF_HUB_OFFLINE"] = "1"
STEPS, ROOM, VOCABULARY = 200, 300, 512
PROMPTS = [[5, 17, 42], [1], list(range(2, 90))]
COMMON = {"vocab_size": VOCABULARY, "bos_token_id": 1, "eos_token_id": 0, "initializer_range": 0.2}
BUILT = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3, "num_key_value_heads": 2, "max_position_embeddings": 512, **COMMON}


def model(name):
    """A model of transformers with random weights."""
    import torch
    import transformers

    configurations = {
        "llama": lambda: transformers.LlamaConfig(num_attention_heads=8, **BUILT),
        "qwen3": lambda: transformers.Qwen3Config(num_attention_heads=4, head_dim=32, **BUILT),
        "gpt2": lambda: transformers.GPT2Config(n_positions=512, n_embd=128, n_layer=3, n_head=4, attn_implementation="eager", **COMMON),
    }
    torch.manual_seed(1)
    return transformers.AutoModelForCausalLM.from_config(configurations[name]()).eval()


def build(name, folder, precision):
    """Has the model builder write a model."""
    import tokenizers
    import transformers

    own = tokenizers.Tokenizer(tokenizers.models.BPE())
    own.pre_tokenizer, own.decoder = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False), tokenizers.decoders.ByteLevel()
    own.train_from_iterator([], tokenizers.trainers.BpeTrainer(special_tokens=["</s>", "<s>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    source = folder / "transformers"
    model(name).save_pretrained(source)
    transformers.PreTrainedTokenizerFast(tokenizer_object=own, eos_token="</s>", bos_token="<s>").save_pretrained(source)
    line = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", source, "-o", folder / "built", "-p", precision, "-e", "cpu", "-c", folder / "cache"]
    done = subprocess.run([*line, *(["--extra_options", "accuracy_level=1"] if precision == "int4" else [])], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: the model builder ended with {done.returncode}\n{done.stderr[-2000:]}")
    return folder / "built"


def export(name, folder):
    """Has PyTorch write a model whose caches are inputs and outputs."""
    import torch
    from transformers.cache_utils import DynamicCache

    class Step(torch.nn.Module):
        def __init__(self, own):
            super().__init__()
            self.own = own

        def forward(self, input_ids, attention_mask, position_ids, *past):
            cache = DynamicCache()
            for layer in range(len(past) // 2):
                cache.update(past[2 * layer], past[2 * layer + 1], layer)
            result = self.own(input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids, past_key_values=cache, use_cache=True)
            return (result.logits, *(each for layer in result.past_key_values.layers for each in (layer.keys, layer.values)))

    own = model(name)
    parts = [f"{layer}.{part}" for layer in range(own.config.n_layer) for part in ("key", "value")]
    past = [torch.randn(2, own.config.n_head, 5, own.config.n_embd // own.config.n_head) for _ in parts]
    given = (torch.randint(0, VOCABULARY, (2, 3)), torch.ones(2, 8, dtype=torch.int64), torch.arange(5, 8)[None].repeat(2, 1), *past)
    names, any_size = ["input_ids", "attention_mask", "position_ids"], torch.export.Dim.DYNAMIC
    sizes = {**{each: {0: any_size, 1: any_size} for each in names}, "past": tuple({0: any_size, 2: any_size} for _ in parts)}
    inputs, outputs = names + [f"past_key_values.{part}" for part in parts], ["logits"] + [f"present.{part}" for part in parts]
    folder.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        torch.onnx.export(Step(own).eval(), given, folder / "model.onnx", input_names=inputs, output_names=outputs, dynamic_shapes=sizes, dynamo=True, verbose=False)
    return folder


def by_genai(folder, prompt):
    """What onnxruntime-genai writes."""
    import onnxruntime_genai

    own = onnxruntime_genai.Model(str(folder))
    how = onnxruntime_genai.GeneratorParams(own)
    how.set_search_options(max_length=len(prompt) + STEPS, do_sample=False)
    generator = onnxruntime_genai.Generator(own, how)
    generator.append_tokens(prompt)
    while not generator.is_done():
        generator.generate_next_token()
    return [int(token) for token in generator.get_sequence(0)][len(prompt) :]


def by_onnxruntime(folder, prompt):
    import decoders

    return decoders.expected(folder, prompt, STEPS)


MODELS = {
    "llama": (lambda folder: build("llama", folder, "int4"), by_genai),
    "qwen3": (lambda folder: build("qwen3", folder, "fp32"), by_genai),
    "gpt2": (lambda folder: export("gpt2", folder), by_onnxruntime),
}


def compare(name, folder):
    """Whether ingot writes the same, one by one and all at once."""
    write, expected = MODELS[name]
    written = folder / ("model.onnx" if name == "gpt2" else "built")
    path = (written if name != "gpt2" else folder) if written.exists() else write(folder)
    want = [expected(path, prompt) for prompt in PROMPTS]
    variety = min(len(set(each)) for each in want)
    if any(len(each) != STEPS for each in want) or variety < 10:
        sys.exit(f"{name}: the model is no test: texts of {[len(each) for each in want]} tokens, of which {variety} differ")
    start = time.monotonic()
    generator = ingot.Generator(path, slots=2, max_length=ROOM)
    print(f"{name}: compiled in {time.monotonic() - start:.0f} s; {generator}", flush=True)
    got = [generator.generate(prompt, max_new_tokens=STEPS, stop_tokens=[]) for prompt in PROMPTS]
    together = generator.generate(PROMPTS, max_new_tokens=STEPS, stop_tokens=[])
    for how, texts in (("one by one", got), ("at once", together)):
        if texts != want:
            place = next((prompt, step) for prompt in range(len(PROMPTS)) for step in range(STEPS) if texts[prompt][step] != want[prompt][step])
            sys.exit(f"{name}: {how}, prompt {place[0]} differs from token {place[1]} on")
    print(f"{name}: {len(PROMPTS)} times {STEPS} tokens are the same, one by one and at once; at least {variety} different ones each", flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, required=True), arguments.add_argument("--keep", type=pathlib.Path)
    arguments.add_argument("models", nargs="*", choices=[[], *MODELS])
    given = arguments.parse_args()
    ingot = package.use(given.build.resolve())
    package.need("torch", "onnxscript", "transformers", "onnxruntime_genai")
    with tempfile.TemporaryDirectory() as folder:
        for each in given.models or MODELS:
            compare(each, (given.keep or pathlib.Path(folder)).absolute() / each)
