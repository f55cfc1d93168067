"""State-space models and other recurrences."""
import torch
import transformers as hf
from architecture import VOCABULARY, Architecture, real, table, tokens
from torch.nn import functional as F

SEQUENCES = table("batch seq", (1, 1), (2, 5), (1, 17), (3, 12))
BATCHES = table("batch", (1,), (2,), (5,), (3,))
MAMBA = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8, "use_mambapy": False, "pad_token_id": 0}


def logits(module, input_ids):
    return module(input_ids, use_cache=False).logits


class SelectiveScan(torch.nn.Module):
    """One layer of Mamba; its recurrence in the form that needs no loop: sums of logarithms along the sequence."""

    def __init__(self, width=16, state=4):
        super().__init__()
        self.proj_in, self.proj_x = torch.nn.Linear(width, 2 * width), torch.nn.Linear(width, 1 + 2 * state)
        self.conv, self.proj_out = torch.nn.Conv1d(width, width, 4, groups=width, padding=3), torch.nn.Linear(width, width)
        self.log_a, self.state = torch.nn.Parameter(torch.zeros(width, state)), state

    def forward(self, x):
        x, gate = self.proj_in(x).chunk(2, dim=-1)
        x = F.silu(self.conv(x.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2))
        delta, b, c = self.proj_x(x).split([1, self.state, self.state], dim=-1)
        decay = -0.1 * F.softplus(delta)[..., None] * torch.exp(self.log_a)
        total = torch.cumsum(decay, dim=1)
        states = torch.cumsum(torch.exp(-total) * (x[..., None] * b[:, :, None, :]), dim=1) * torch.exp(total)
        return self.proj_out(torch.einsum("bldn,bln->bld", states, c) * F.silu(gate))


class Diagonal(torch.nn.Module):
    """S4D: a long convolution whose kernel is computed for the length at hand."""

    def __init__(self, width=8, state=4):
        super().__init__()
        self.log_a, self.c = torch.nn.Parameter(torch.zeros(width, state)), torch.nn.Parameter(torch.zeros(width, state))

    def forward(self, x):
        length = x.shape[-1]
        kernel = torch.einsum("dn,dnl->dl", self.c, torch.exp(-torch.exp(self.log_a)[..., None] * torch.arange(length)))
        toeplitz = torch.arange(length)[:, None] - torch.arange(length)[None, :]
        matrix = torch.where(toeplitz >= 0, kernel[:, toeplitz.clamp(min=0)], 0.0)
        return torch.einsum("dij,bdj->bdi", matrix, x)


class Tagger(torch.nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.embed, self.body = torch.nn.Embedding(VOCABULARY, 16), kind(16, 24, 2, batch_first=True, **options)
        self.head = torch.nn.Linear(48 if options.get("bidirectional") else 24, 7)

    def forward(self, input_ids):
        states, last = self.body(self.embed(input_ids))
        return self.head(states), last


class Step(torch.nn.Module):
    """An LSTM whose states the caller keeps."""

    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.LSTM(12, 24, 2), torch.nn.Linear(24, 5)

    def forward(self, x, hidden, cell):
        states, (hidden, cell) = self.body(x, (hidden, cell))
        return torch.sigmoid(self.head(states)), hidden, cell


IDS = {"input_ids": tokens("batch", "seq")}
ARCHITECTURES = [
    # transformers' Mamba runs over the positions in Python, so that their number is what was traced.
    Architecture("mamba", lambda: hf.MambaForCausalLM(hf.MambaConfig(**MAMBA)), {"input_ids": tokens("batch", 6)}, BATCHES, call=logits),
    Architecture("mamba2", lambda: hf.Mamba2ForCausalLM(hf.Mamba2Config(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=8, num_heads=8, head_dim=8, n_groups=2, chunk_size=8)), IDS, SEQUENCES, call=logits),
    Architecture("rwkv", lambda: hf.RwkvForCausalLM(hf.RwkvConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, rescale_every=0)), {"input_ids": tokens("batch", 6)}, BATCHES, call=logits),
    Architecture("selective-scan", SelectiveScan, {"x": real("batch", "seq", 16)}, SEQUENCES),
    Architecture("s4d", Diagonal, {"x": real("batch", 8, "seq")}, SEQUENCES),
    Architecture("lstm-tagger", lambda: Tagger(torch.nn.LSTM, bidirectional=True), IDS, SEQUENCES),
    Architecture("gru-tagger", lambda: Tagger(torch.nn.GRU), IDS, SEQUENCES),
    Architecture("rnn-tagger", lambda: Tagger(torch.nn.RNN, nonlinearity="relu", bidirectional=True), IDS, SEQUENCES),
    Architecture("lstm-step", Step, {"x": real("seq", "batch", 12), "hidden": real(2, "batch", 24), "cell": real(2, "batch", 24)}, SEQUENCES),
]
