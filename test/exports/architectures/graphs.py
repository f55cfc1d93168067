"""Networks on graphs, written by hand: messages along edges, summed at the nodes that they reach."""
import torch
from architecture import Architecture, Input, real, table
from torch.nn import functional as F

SIZES = table("nodes edges", (5, 1), (7, 16), (13, 29), (40, 101))


def edges(*dims):
    """Pairs of nodes; all sizes above have five nodes at least."""
    return Input(dims, lambda rng, shape: rng.integers(0, 5, shape))


GRAPH = {"x": real("nodes", 12), "edges": edges(2, "edges")}


class Convolution(torch.nn.Module):
    """GCN: normalised by degrees."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(12, 16), torch.nn.Linear(16, 5)

    def spread(self, x, source, target):
        degree = torch.ones(x.shape[0]).index_add(0, target, torch.ones(target.shape[0]))
        weight = degree[source].rsqrt() * degree[target].rsqrt()
        return x / degree[:, None] + torch.zeros_like(x).index_add(0, target, x[source] * weight[:, None])

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        x = F.relu(self.spread(self.first(x), source, target))
        return F.log_softmax(self.spread(self.second(x), source, target), dim=-1)


class Attention(torch.nn.Module):
    """GAT: a softmax over the edges that reach a node."""

    def __init__(self, heads=3, width=4):
        super().__init__()
        self.heads, self.width = heads, width
        self.project, self.at_source, self.at_target = torch.nn.Linear(12, heads * width), torch.nn.Parameter(torch.zeros(heads, width)), torch.nn.Parameter(torch.zeros(heads, width))

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        h = self.project(x).view(-1, self.heads, self.width)
        score = F.leaky_relu((h * self.at_source).sum(-1)[source] + (h * self.at_target).sum(-1)[target], 0.2)
        index = target[:, None].expand(-1, self.heads)
        most = torch.full((x.shape[0], self.heads), -1e9).scatter_reduce(0, index, score, "amax")
        weight = torch.exp(score - most[target])
        total = torch.zeros(x.shape[0], self.heads).scatter_add(0, index, weight)
        message = h[source] * (weight / total[target])[..., None]
        return F.elu(torch.zeros_like(h).index_add(0, target, message).flatten(1))


class Sage(torch.nn.Module):
    """GraphSAGE: the mean of the neighbours; and one vector for the whole graph."""

    def __init__(self):
        super().__init__()
        self.own, self.other, self.head = torch.nn.Linear(12, 16), torch.nn.Linear(12, 16), torch.nn.Linear(32, 3)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        mean = torch.zeros_like(x).scatter_reduce(0, target[:, None].expand(-1, x.shape[1]), x[source], "mean", include_self=False)
        h = F.relu(self.own(x) + self.other(mean))
        return self.head(torch.cat([h.mean(0), h.amax(0)]))


ARCHITECTURES = [
    Architecture("gcn", Convolution, GRAPH, SIZES),
    Architecture("gat", Attention, GRAPH, SIZES),
    Architecture("graph-sage", Sage, GRAPH, SIZES),
]
