"""Decoders of text: a whole sequence at once, and steps that go on from a cache."""
import transformers as hf
from architecture import VOCABULARY, Architecture, ones, real, table, tokens

SMALL = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 64, "pad_token_id": 0}
LAYERS, HEADS, WIDTH = 2, 4, 8  # of the caches

SEQUENCES = table("batch seq", (1, 1), (2, 5), (1, 17), (3, 12))
STEPS = table("batch seq past total", (1, 1, 0), (1, 7, 0), (2, 1, 5), (1, 3, 16), (3, 2, 11))
for row in STEPS:
    row["total"] = row["seq"] + row["past"]


def without_cache(module, **inputs):
    return module(**inputs, use_cache=False).logits


def with_cache(module, input_ids, attention_mask, **past):
    pairs = list(past.values())
    cache = hf.DynamicCache.from_legacy_cache(tuple(zip(pairs[::2], pairs[1::2])))
    result = module(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
    return result.logits, result.past_key_values


def decoder(name, model, config, heads=HEADS, **options):
    make = lambda: model(config(**SMALL | options))
    text = {"input_ids": tokens("batch", "seq"), "attention_mask": ones("batch", "seq")}
    step = {"input_ids": tokens("batch", "seq"), "attention_mask": ones("batch", "total")}
    cache = {f"past_{layer}_{what}": real("batch", heads, "past", WIDTH) for layer in range(LAYERS) for what in ("key", "value")}
    return [Architecture(name, make, text, SEQUENCES, call=without_cache), Architecture(f"{name}-cache", make, step | cache, STEPS, call=with_cache)]


ARCHITECTURES = [
    *decoder("gpt2", hf.GPT2LMHeadModel, hf.GPT2Config),
    *decoder("gpt-neox", hf.GPTNeoXForCausalLM, hf.GPTNeoXConfig),
    *decoder("opt", hf.OPTForCausalLM, hf.OPTConfig, ffn_dim=48, word_embed_proj_dim=32),
    *decoder("bloom", hf.BloomForCausalLM, hf.BloomConfig),
    *decoder("llama", hf.LlamaForCausalLM, hf.LlamaConfig, heads=2, num_key_value_heads=2),
    *decoder("mistral", hf.MistralForCausalLM, hf.MistralConfig, heads=2, num_key_value_heads=2, sliding_window=8),
    *decoder("qwen2", hf.Qwen2ForCausalLM, hf.Qwen2Config, heads=2, num_key_value_heads=2),
    *decoder("qwen3", hf.Qwen3ForCausalLM, hf.Qwen3Config, heads=2, num_key_value_heads=2, head_dim=8),
    *decoder("phi", hf.PhiForCausalLM, hf.PhiConfig),
    *decoder("gemma", hf.GemmaForCausalLM, hf.GemmaConfig, heads=1, num_key_value_heads=1, head_dim=8),
    *decoder("falcon", hf.FalconForCausalLM, hf.FalconConfig, heads=1),
]
