"""Encoders of text."""
import transformers as hf
from architecture import VOCABULARY, Architecture, mask, table, tokens

SMALL = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "max_position_embeddings": 64}
SEQUENCES = table("batch seq", (1, 1), (2, 5), (1, 17), (3, 12))
TEXT = {"input_ids": tokens("batch", "seq"), "attention_mask": mask("batch", "seq")}


def encoder(name, model, config, **options):
    return Architecture(name, lambda: model(config(**SMALL | options)), TEXT, SEQUENCES)


ARCHITECTURES = [
    encoder("bert", hf.BertModel, hf.BertConfig),
    encoder("bert-qa", hf.BertForQuestionAnswering, hf.BertConfig, attn_implementation="eager"),
    encoder("distilbert", hf.DistilBertForSequenceClassification, hf.DistilBertConfig, dim=32, n_layers=2, n_heads=4, hidden_dim=48),
    encoder("roberta", hf.RobertaForTokenClassification, hf.RobertaConfig),
    encoder("albert", hf.AlbertModel, hf.AlbertConfig, embedding_size=16),
    encoder("electra", hf.ElectraModel, hf.ElectraConfig, embedding_size=16),
    encoder("deberta", hf.DebertaModel, hf.DebertaConfig, relative_attention=True, pos_att_type=["c2p", "p2c"]),
    encoder("deberta-v2", hf.DebertaV2Model, hf.DebertaV2Config, relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8, conv_kernel_size=3),
    encoder("mpnet", hf.MPNetModel, hf.MPNetConfig),
    encoder("modernbert", hf.ModernBertModel, hf.ModernBertConfig, pad_token_id=0, local_attention=8, attn_implementation="sdpa"),
    encoder("xlm-roberta", hf.XLMRobertaForMaskedLM, hf.XLMRobertaConfig),
    encoder("nystromformer", hf.NystromformerModel, hf.NystromformerConfig, segment_means_seq_len=64, num_landmarks=64),
    Architecture("fnet", lambda: hf.FNetModel(hf.FNetConfig(**SMALL)), {"input_ids": tokens("batch", "seq")}, SEQUENCES),
    encoder("clip-text", hf.CLIPTextModelWithProjection, hf.CLIPTextConfig, projection_dim=24, eos_token_id=98),
]
