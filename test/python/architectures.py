"""Models of torchvision and transformers, with random weights, by torch.compile(backend="ingot") beside PyTorch itself. By hand or nightly, as it needs both packages.

    architectures.py --build build [--only REGEX] [--list]

Each model runs in a process of its own. A line of the table says `right`; `wrong`; `error`; or `in PyTorch`, where a part of it was not compiled. Then: how many
graphs torch.compile made and how many of them ingot runs, the seconds of the first call (all compilation, nothing cached) and of a later one, the largest
difference relative to the largest value, and why something runs in PyTorch. Right is a difference of 1e-4. The exit code is 1 if a line is wrong or an error.
"""
import argparse
import functools
import gc
import json
import pathlib
import re
import subprocess
import sys
import time
import warnings

import package

WITHIN = 1e-4
IMAGE = 64
VISION = ["alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_v2_s", "googlenet", "inception_v3", "maxvit_t", "mnasnet0_5", "mobilenet_v2"]
VISION += ["mobilenet_v3_large", "mobilenet_v3_small", "regnet_y_400mf", "resnet18", "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_5", "squeezenet1_1", "swin_t", "vgg11_bn"]
VISION += ["vit_b_32", "segmentation.deeplabv3_mobilenet_v3_large", "segmentation.fcn_resnet50", "segmentation.lraspp_mobilenet_v3_large", "video.r3d_18"]
OPTIONS = {"googlenet": {"aux_logits": False, "init_weights": False}, "inception_v3": {"aux_logits": False, "init_weights": False}, "vit_b_32": {"image_size": 64}}
SIZES = {"inception_v3": 96, "maxvit_t": 224, "alexnet": 96}


def torchvision_model(name):
    """(module, arguments)"""
    import torch
    import torchvision

    options = {} if "." not in name else {"weights_backbone": None} if name.startswith("segmentation") else {}
    place = functools.reduce(getattr, name.split("."), torchvision.models)
    size = SIZES.get(name, IMAGE)
    shape = (1, 3, 8, size, size) if name.startswith("video") else (2, 3, size, size)
    return place(weights=None, **options, **OPTIONS.get(name, {})), (torch.randn(shape),), {}


def transformer(kind, config, inputs, **options):
    """A function that makes (module, arguments) of a class of transformers with a small configuration."""

    def make():
        import transformers

        return getattr(transformers, kind)(getattr(transformers, config)(**options)), (), inputs()

    return make


def tokens(*names, rows=2, length=12):
    import torch

    made = {"input_ids": torch.randint(3, 99, (rows, length))}
    for name in names:
        made[name] = torch.randint(3, 99, (rows, 7)) if name == "decoder_input_ids" else torch.ones(rows, length, dtype=torch.int64)
    return {**made, "use_cache": False} if "decoder_input_ids" in names or not names else made


def image(size=32):
    import torch

    return {"pixel_values": torch.randn(2, 3, size, size)}


def sound(name, *shape):
    import torch

    return {name: torch.randn(2, *shape)}


ENCODER = {"vocab_size": 99, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
masked = functools.partial(tokens, "attention_mask")
TRANSFORMERS = {
    "albert": transformer("AlbertModel", "AlbertConfig", masked, **ENCODER, embedding_size=32),
    "bert": transformer("BertModel", "BertConfig", masked, **ENCODER),
    "deberta-v2": transformer("DebertaV2Model", "DebertaV2Config", masked, **ENCODER, relative_attention=True, pos_att_type=["p2c", "c2p"]),
    "distilbert": transformer("DistilBertModel", "DistilBertConfig", masked, vocab_size=99, dim=64, n_layers=2, n_heads=4, hidden_dim=128),
    "electra": transformer("ElectraModel", "ElectraConfig", masked, **ENCODER, embedding_size=32),
    "gpt2": transformer("GPT2LMHeadModel", "GPT2Config", tokens, vocab_size=99, n_embd=64, n_layer=2, n_head=4),
    "llama": transformer("LlamaForCausalLM", "LlamaConfig", tokens, **ENCODER, num_key_value_heads=2),
    "opt": transformer("OPTForCausalLM", "OPTConfig", tokens, vocab_size=99, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128, word_embed_proj_dim=64),
    "qwen3": transformer("Qwen3ForCausalLM", "Qwen3Config", tokens, **ENCODER, num_key_value_heads=2, head_dim=16),
    "roberta": transformer("RobertaModel", "RobertaConfig", masked, **ENCODER),
    "t5": transformer("T5ForConditionalGeneration", "T5Config", functools.partial(tokens, "decoder_input_ids"), vocab_size=99, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4),
    "vit": transformer("ViTModel", "ViTConfig", image, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, image_size=32, patch_size=8),
    "wav2vec2": transformer("Wav2Vec2Model", "Wav2Vec2Config", functools.partial(sound, "input_values", 4000), **ENCODER, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4),
}
MODELS = {**{name: functools.partial(torchvision_model, name) for name in VISION}, **TRANSFORMERS}


def run(name):
    """The facts of one model, in this process."""
    import torch
    from ingot import _dynamo, _torch
    from torch.utils import _pytree

    torch.manual_seed(1), torch.set_num_threads(1)
    model, args, kwargs = MODELS[name]()
    for weight in model.eval().parameters():
        if weight.dim() > 1 and not weight.any():  # torchvision begins heads of ViT so, and results would not depend on anything
            torch.nn.init.normal_(weight, std=0.1)
    tensors = lambda results: [each for each in _pytree.tree_leaves(dict(results) if hasattr(results, "items") else results) if isinstance(each, torch.Tensor)]
    with torch.inference_mode(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        want = tensors(model(*args, **kwargs))
        function = torch.compile(model, backend=_torch.backend, options={"cache": False})
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            got = tensors(function(*args, **kwargs))
            seconds.append(time.perf_counter() - start)
    difference = max(float((a.double() - b.double()).abs().max() / max(float(b.double().abs().max()), 1e-30)) for a, b in zip(got, want, strict=True))
    reasons = [str(each.message).split(": ", 1)[1] for each in caught if issubclass(each.category, _torch.FallbackWarning)]
    graphs = [each for each in gc.get_objects() if type(each) is _dynamo.Graph]
    compiled = sum(bool(graph.codes) and graph.reason is None for graph in graphs)
    verdict = "wrong" if not difference <= WITHIN else "in PyTorch" if compiled < len(graphs) or not graphs else "right"
    return {"verdict": verdict, "graphs": len(graphs), "compiled": compiled, "first": seconds[0], "later": seconds[1], "difference": difference, "reasons": "; ".join(reasons)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True), parser.add_argument("--only", default=".*")
    parser.add_argument("--list", action="store_true"), parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    package.use(arguments.build.resolve())
    package.need("torch", "onnxscript", "torchvision", "transformers")
    if arguments.one:
        print(json.dumps(run(arguments.one)))
        return
    names = [name for name in MODELS if re.fullmatch(arguments.only, name)]
    if arguments.list:
        print("\n".join(names))
        return
    print("| model | | graphs | compiled | first call, s | a later one, s | difference | |\n|---|---|---|---|---|---|---|---|", flush=True)
    failed = 0
    for name in names:
        done = subprocess.run([sys.executable, __file__, "--build", arguments.build, "--one", name], capture_output=True, text=True)
        facts = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"verdict": "error", "reasons": (done.stderr.strip().splitlines() or ["no message"])[-1]}
        failed += facts["verdict"] in ("wrong", "error")
        numbers = [f"{facts[key]:{form}}" if key in facts else "" for key, form in (("graphs", ""), ("compiled", ""), ("first", ".1f"), ("later", ".3f"), ("difference", ".1e"))]
        print(f"| {name} | {facts['verdict']} | {' | '.join(numbers)} | {facts['reasons']} |", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
