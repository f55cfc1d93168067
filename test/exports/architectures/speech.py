"""Speech in, speech out, and codecs of sound."""
import torch
import transformers as hf
from architecture import VOCABULARY, Architecture, mask, positive, real, table, tokens
from architectures.seq2seq import BART

CONVS = {"conv_dim": [16, 16, 16], "conv_stride": [5, 2, 2], "conv_kernel": [10, 3, 3], "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 2}
WAV2VEC = {"vocab_size": 30, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "mask_time_prob": 0.0, "mask_feature_prob": 0.0} | CONVS
WAVES = table("batch samples", (1, 200), (2, 401), (1, 1023), (3, 640))
WHISPER = BART | {"num_mel_bins": 16, "max_source_positions": 20, "max_target_positions": 24, "suppress_tokens": None, "begin_suppress_tokens": None}
VITS = {"vocab_size": 38, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 24, "flow_size": 16, "spectrogram_bins": 9, "use_stochastic_duration_prediction": False}
VITS |= {"duration_predictor_filter_channels": 16, "upsample_initial_channel": 16, "upsample_rates": [4, 2], "upsample_kernel_sizes": [8, 4], "resblock_kernel_sizes": [3], "resblock_dilation_sizes": [[1, 3]]}
VITS |= {"prior_encoder_num_flows": 2, "prior_encoder_num_wavenet_layers": 2, "wavenet_dilation_rate": 1, "noise_scale": 0.0, "pad_token_id": 0}
SPEECHT5 = {"vocab_size": 81, "hidden_size": 32, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 48}
SPEECHT5 |= {"positional_dropout": 0.0, "max_length": 64, "speech_decoder_prenet_units": 16, "num_mel_bins": 10, "speaker_embedding_dim": 6, "speech_decoder_postnet_units": 12, "speech_decoder_prenet_dropout": 0.0}
FASTSPEECH = {"hidden_size": 24, "vocab_size": 40, "num_mel_bins": 10, "encoder_layers": 1, "decoder_layers": 1, "encoder_num_attention_heads": 2, "decoder_num_attention_heads": 2, "encoder_linear_units": 32, "decoder_linear_units": 32}


def hidden(module, **inputs):
    return module(**inputs).last_hidden_state


def whisper_step(module, encoded, decoder_input_ids, position, **caches):
    flat = list(caches.values())
    past = hf.EncoderDecoderCache.from_legacy_cache(tuple(tuple(flat[4 * layer : 4 * layer + 4]) for layer in range(2)))
    result = module.model.decoder(input_ids=decoder_input_ids, encoder_hidden_states=encoded, past_key_values=past, cache_position=position, use_cache=True)
    return module.proj_out(result.last_hidden_state), [layer[:2] for layer in result.past_key_values.to_legacy_cache()]


class Vocoder(torch.nn.Module):
    """The other way of a vocoder: a spectrogram by a Fourier transform of windows."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(16))
        self.mix = torch.nn.Linear(9, 6)

    def forward(self, wave):
        spectrum = torch.stft(wave, 16, 8, window=self.window, center=False, return_complex=False)
        return self.mix(torch.log(spectrum.square().sum(-1) + 1e-3).transpose(1, 2))


def sound(module, input_ids, attention_mask):
    result = module(input_ids, attention_mask=attention_mask)
    return result.waveform, result.sequence_lengths


def mel(module, input_ids, decoder_input_values, speaker_embeddings):
    return module(input_ids=input_ids, decoder_input_values=decoder_input_values, speaker_embeddings=speaker_embeddings).spectrogram


def encoded(module, input_values):
    return module.encode(input_values).audio_codes


def decoded(module, audio_codes):
    return module.decode(audio_codes, [None])[0]


def encodec():
    return hf.EncodecModel(hf.EncodecConfig(num_filters=4, hidden_size=16, upsampling_ratios=[4, 2], codebook_size=32, codebook_dim=16, target_bandwidths=[2.0], sampling_rate=800, num_lstm_layers=1))


def dac():
    return hf.DacModel(hf.DacConfig(encoder_hidden_size=8, decoder_hidden_size=32, downsampling_ratios=[2, 4], n_codebooks=3, codebook_size=32, codebook_dim=4))


def mimi():
    options = {"num_filters": 4, "hidden_size": 16, "upsampling_ratios": [4, 2], "codebook_size": 32, "codebook_dim": 16, "vector_quantization_hidden_dimension": 16, "num_quantizers": 4, "num_semantic_quantizers": 1}
    options |= {"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 24, "upsample_groups": 16, "sampling_rate": 800, "frame_rate": 50, "head_dim": 8, "sliding_window": 16}
    return hf.MimiModel(hf.MimiConfig(**options))


WAVE, SOUND = {"input_values": real("batch", "samples")}, {"input_values": real("batch", 1, "samples")}
CACHES = {f"{part}_{layer}_{what}": real("batch", 4, axis, 8) for layer in range(2) for part, axis in (("self", "past"), ("cross", 20)) for what in ("key", "value")}
WHISPER_STEP = {"encoded": real("batch", 20, 32), "decoder_input_ids": tokens("batch", 1), "position": tokens(1, below=9)}
TEXT = {"input_ids": tokens("batch", "seq", below=38), "attention_mask": mask("batch", "seq")}
ARCHITECTURES = [
    Architecture("wav2vec2", lambda: hf.Wav2Vec2ForCTC(hf.Wav2Vec2Config(**WAV2VEC)), WAVE, WAVES, call=lambda module, input_values: module(input_values).logits),
    Architecture("hubert", lambda: hf.HubertModel(hf.HubertConfig(**WAV2VEC)), WAVE, WAVES, call=hidden),
    Architecture("wavlm", lambda: hf.WavLMModel(hf.WavLMConfig(**WAV2VEC)), WAVE, WAVES, call=hidden),
    Architecture("data2vec-audio", lambda: hf.Data2VecAudioModel(hf.Data2VecAudioConfig(**WAV2VEC, conv_pos_kernel_size=5)), WAVE, WAVES, call=hidden),
    Architecture("whisper-encoder", lambda: hf.WhisperModel(hf.WhisperConfig(**WHISPER)).encoder, {"input_features": real("batch", 16, 40)}, table("batch", (1,), (2,), (5,), (3,)), call=hidden),
    Architecture("whisper-decoder", lambda: hf.WhisperModel(hf.WhisperConfig(**WHISPER)).decoder, {"input_ids": tokens("batch", "seq"), "encoder_hidden_states": real("batch", 20, 32)}, table("batch seq", (1, 1), (2, 5), (1, 17), (3, 12)), call=lambda module, **inputs: module(**inputs, use_cache=False).last_hidden_state),
    Architecture("whisper-cache", lambda: hf.WhisperForConditionalGeneration(hf.WhisperConfig(**WHISPER)), WHISPER_STEP | CACHES, table("batch past", (1, 1), (2, 5), (1, 17), (3, 12)), call=whisper_step),
    Architecture("spectrogram", Vocoder, {"wave": real("batch", "samples")}, table("batch samples", (1, 16), (2, 41), (1, 100), (3, 64))),
    Architecture("ast", lambda: hf.ASTForAudioClassification(hf.ASTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, patch_size=8, frequency_stride=5, time_stride=5, max_length=40, num_mel_bins=24)), {"input_values": real("batch", 40, 24)}, table("batch", (1,), (2,), (5,), (3,))),
    Architecture("vits", lambda: hf.VitsModel(hf.VitsConfig(**VITS)), TEXT, table("batch seq", (1, 1), (2, 5), (1, 17), (3, 12)), call=sound),
    Architecture("speecht5", lambda: hf.SpeechT5ForTextToSpeech(hf.SpeechT5Config(**SPEECHT5)), {"input_ids": tokens("batch", "seq", below=81), "decoder_input_values": real("batch", "frames", 10), "speaker_embeddings": real("batch", 6)}, table("batch seq frames", (1, 1, 1), (2, 5, 7), (1, 17, 4), (3, 12, 9)), call=mel),
    Architecture("hifigan", lambda: hf.SpeechT5HifiGan(hf.SpeechT5HifiGanConfig(model_in_dim=10, upsample_initial_channel=16, upsample_rates=[4, 2], upsample_kernel_sizes=[8, 4], resblock_kernel_sizes=[3, 5], resblock_dilation_sizes=[[1, 3], [1, 2]])), {"spectrogram": real("batch", "frames", 10)}, table("batch frames", (1, 1), (2, 5), (1, 17), (3, 12))),
    Architecture("fastspeech2", lambda: hf.FastSpeech2ConformerModel(hf.FastSpeech2ConformerConfig(**FASTSPEECH)), {"input_ids": tokens(1, "seq", below=40)}, table("seq", (2,), (5,), (17,), (12,)), call=lambda module, input_ids: module(input_ids, attention_mask=torch.ones_like(input_ids), return_dict=True).spectrogram),
    Architecture("encodec-encoder", encodec, SOUND, WAVES, call=encoded),
    Architecture("encodec-decoder", encodec, {"audio_codes": tokens(1, "batch", 2, "frames", below=32)}, table("batch frames", (1, 8), (2, 9), (1, 17), (3, 12)), call=decoded),
    Architecture("dac", dac, SOUND, WAVES, call=lambda module, input_values: module(input_values).audio_values),
    Architecture("mimi", mimi, SOUND, WAVES, call=encoded),
]
