"""Time series: forecasts from a window of values."""
import torch
import transformers as hf
from architecture import Architecture, positive, real, table

BATCHES = table("batch", (1,), (2,), (5,), (3,))
SERIES = {"prediction_length": 4, "context_length": 12, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}
SERIES |= {"lags_sequence": [1, 2, 3], "num_time_features": 2}
PAST = {"past_values": positive("batch", 15), "past_time_features": real("batch", 15, 2), "past_observed_mask": positive("batch", 15), "future_values": positive("batch", 4), "future_time_features": real("batch", 4, 2)}


def forecast(module, **inputs):
    result = module(**inputs, return_dict=True)
    return result.last_hidden_state, result.loc, result.scale


def patches(module, past_values):
    return module(past_values=past_values).prediction_outputs


class TemporalConvolution(torch.nn.Module):
    """TCN: dilated causal convolutions."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Conv1d(4 if i == 0 else 16, 16, 3, dilation=2**i) for i in range(3))
        self.head = torch.nn.Conv1d(16, 2, 1)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            y = torch.relu(layer(torch.nn.functional.pad(x, (2 * 2**i, 0))))
            x = x + y if i else y
        return self.head(x)


class Basis(torch.nn.Module):
    """N-BEATS: blocks that explain what the ones before them left."""

    def __init__(self):
        super().__init__()
        make = lambda: torch.nn.Sequential(torch.nn.Linear(24, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 24 + 6))
        self.blocks = torch.nn.ModuleList(make() for _ in range(3))

    def forward(self, x):
        forecast = 0
        for block in self.blocks:
            backcast, more = block(x).split([24, 6], dim=-1)
            x, forecast = x - backcast, forecast + more
        return forecast


class Inverted(torch.nn.Module):
    """iTransformer: attention among any number of variables, each window standardised."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = torch.nn.Linear(16, 32), torch.nn.Linear(32, 4)
        self.body = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, activation="gelu"), 2, enable_nested_tensor=False)

    def forward(self, x):
        mean, spread = x.mean(1, keepdim=True), torch.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)
        y = self.head(self.body(self.embed(((x - mean) / spread).transpose(1, 2))))
        return y.transpose(1, 2) * spread + mean


ARCHITECTURES = [
    Architecture("patchtst", lambda: hf.PatchTSTForPrediction(hf.PatchTSTConfig(num_input_channels=3, context_length=24, patch_length=6, patch_stride=3, d_model=32, num_attention_heads=4, num_hidden_layers=2, ffn_dim=48, prediction_length=5)), {"past_values": real("batch", 24, 3)}, BATCHES, call=patches),
    Architecture("patchtsmixer", lambda: hf.PatchTSMixerForPrediction(hf.PatchTSMixerConfig(num_input_channels=3, context_length=24, patch_length=6, patch_stride=3, d_model=16, num_layers=2, prediction_length=5)), {"past_values": real("batch", 24, 3)}, BATCHES, call=patches),
    Architecture("time-series-transformer", lambda: hf.TimeSeriesTransformerModel(hf.TimeSeriesTransformerConfig(**SERIES)), PAST, BATCHES, call=forecast),
    Architecture("informer", lambda: hf.InformerModel(hf.InformerConfig(**SERIES, attention_type="full")), PAST, BATCHES, call=forecast),
    Architecture("autoformer", lambda: hf.AutoformerModel(hf.AutoformerConfig(**SERIES, moving_average=5)), PAST, BATCHES, call=lambda module, **inputs: module(**inputs).last_hidden_state),
    Architecture("tcn", TemporalConvolution, {"x": real("batch", 4, "time")}, table("batch time", (1, 1), (2, 5), (1, 17), (3, 40))),
    Architecture("n-beats", Basis, {"x": real("batch", 24)}, BATCHES),
    Architecture("itransformer", Inverted, {"x": real("batch", 16, "variables")}, table("batch variables", (1, 1), (2, 5), (1, 17), (3, 8))),
]
