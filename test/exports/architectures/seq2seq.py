"""Encoders with decoders, whole and as the step of a decoder that goes on from its caches."""
import torch
import transformers as hf
from architecture import VOCABULARY, Architecture, mask, real, table, tokens
from transformers.modeling_outputs import BaseModelOutput

T5 = {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20}
BART = {"vocab_size": VOCABULARY, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}
BART |= {"max_position_embeddings": 64, "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2, "bos_token_id": 1, "forced_eos_token_id": None}
LAYERS, HEADS, WIDTH = 2, 4, 8

BOTH = {"input_ids": tokens("batch", "encoded"), "attention_mask": mask("batch", "encoded"), "decoder_input_ids": tokens("batch", "decoded")}
STEP = {"encoded": real("batch", "encoded", 32), "attention_mask": mask("batch", "encoded"), "decoder_input_ids": tokens("batch", "decoded")}
CACHES = {f"{part}_{layer}_{what}": real("batch", HEADS, axis, WIDTH) for layer in range(LAYERS) for part, axis in (("self", "past"), ("cross", "encoded")) for what in ("key", "value")}


def whole(module, **inputs):
    result = module(**inputs, use_cache=False)
    return result.logits, result.encoder_last_hidden_state


def step(module, encoded, attention_mask, decoder_input_ids, **caches):
    flat = list(caches.values())
    past = hf.EncoderDecoderCache.from_legacy_cache(tuple(tuple(flat[4 * layer : 4 * layer + 4]) for layer in range(LAYERS)))
    result = module(encoder_outputs=BaseModelOutput(encoded), attention_mask=attention_mask, decoder_input_ids=decoder_input_ids, past_key_values=past, use_cache=True)
    present = result.past_key_values  # a tuple of layers already, of some models in the older transformers
    return result.logits, [layer[:2] for layer in (present.to_legacy_cache() if hasattr(present, "to_legacy_cache") else present)]


def both(name, make):
    return [
        Architecture(name, make, BOTH, table("batch encoded decoded", (1, 1, 1), (2, 5, 3), (1, 17, 8), (3, 9, 12)), call=whole),
        Architecture(f"{name}-cache", make, STEP | CACHES, table("batch encoded decoded past", (1, 1, 1, 1), (2, 5, 1, 3), (1, 17, 1, 8), (3, 9, 2, 7)), call=step),
    ]


class PlainTransformer(torch.nn.Module):
    """nn.Transformer, as people write it who do not use a library of models."""

    def __init__(self):
        super().__init__()
        self.embed, self.position = torch.nn.Embedding(VOCABULARY, 32), torch.nn.Parameter(torch.zeros(64, 32))
        self.body = torch.nn.Transformer(32, 4, 2, 2, 48, batch_first=True)

    def forward(self, source, target):
        embed = lambda ids: self.embed(ids) + self.position[: ids.shape[1]]
        causal = torch.triu(torch.full((target.shape[1], target.shape[1]), float("-inf")), diagonal=1)
        return self.body(embed(source), embed(target), tgt_mask=causal, tgt_is_causal=False)


ARCHITECTURES = [
    *both("t5", lambda: hf.T5ForConditionalGeneration(hf.T5Config(**T5))),
    *both("flan-t5", lambda: hf.T5ForConditionalGeneration(hf.T5Config(**T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False))),
    *both("bart", lambda: hf.BartForConditionalGeneration(hf.BartConfig(**BART))),
    *both("marian", lambda: hf.MarianMTModel(hf.MarianConfig(**BART))),
    *both("pegasus", lambda: hf.PegasusForConditionalGeneration(hf.PegasusConfig(**BART))),
    Architecture("nn-transformer", PlainTransformer, {"source": tokens("batch", "encoded"), "target": tokens("batch", "decoded")}, table("batch encoded decoded", (1, 1, 1), (2, 5, 3), (3, 9, 12))),
]
