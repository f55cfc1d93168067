"""How the next token is chosen from the scores (logits) of all tokens.

The order is that of transformers and of ONNX Runtime's generator: tokens that occurred already are made less likely, scores are divided by the temperature, the
top_k best are kept, of these the fewest whose probabilities sum up to top_p, and one of them is drawn. Temperature 0 takes the best one."""
import dataclasses
import typing

import numpy as np


@dataclasses.dataclass(frozen=True)
class Sampling:
    """How tokens are chosen.

    temperature         0: the best one (greedy); 1: as the model says; more: more evenly
    top_k               among so many of the best; 0: among all
    top_p               among the fewest whose probabilities sum up to this (0 to 1]
    repetition_penalty  by which positive scores of tokens that occurred are divided, and negative ones multiplied; 1: not at all
    seed                of the random numbers; None: another one each time

    Raises ValueError for a number that makes no sense."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    seed: typing.Optional[int] = None

    def __post_init__(self) -> None:
        bad = lambda name, wanted: ValueError(f"{name}: {getattr(self, name)} is not {wanted}")
        if not 0 <= self.temperature < float("inf"):
            raise bad("temperature", "a number of at least 0")
        if self.top_k < 0:
            raise bad("top_k", "a number of at least 0")
        if not 0 < self.top_p <= 1:
            raise bad("top_p", "above 0 and at most 1")
        if not 0 < self.repetition_penalty < float("inf"):
            raise bad("repetition_penalty", "above 0")
        if self.seed is not None and self.seed < 0:
            raise bad("seed", "a number of at least 0")


class Sampler:
    """Chooses the tokens of one text. `prompt` are the tokens before the first one, for the repetition penalty.

    >>> scores = np.float32([1, 3, 2])
    >>> Sampler(Sampling()).pick(scores)
    1
    >>> Sampler(Sampling(repetition_penalty=2), prompt=[1]).pick(scores)
    2
    >>> sampler = Sampler(Sampling(temperature=1, top_k=2, seed=1))
    >>> sorted({sampler.pick(scores) for _ in range(50)})
    [1, 2]
    """

    def __init__(self, how: Sampling, prompt: typing.Sequence[int] = ()) -> None:
        self._how, self._occurred = how, set(prompt)
        self._random = np.random.default_rng(how.seed)

    def pick(self, scores: typing.Any) -> int:
        """The next token by its number, for `scores` float[vocabulary], which stay as they are."""
        how, scores = self._how, np.asarray(scores, np.float32)
        if how.repetition_penalty != 1:
            scores = scores.copy()
            occurred = np.fromiter(self._occurred, np.int64)
            own = scores[occurred]
            scores[occurred] = np.where(own < 0, own * how.repetition_penalty, own / how.repetition_penalty)
        token = int(np.argmax(scores)) if how.temperature == 0 else self._draw(scores.astype(np.float64) / how.temperature)
        if how.repetition_penalty != 1:
            self._occurred.add(token)
        return token

    def _draw(self, scores: typing.Any) -> int:
        how, tokens = self._how, np.arange(scores.size)
        if 0 < how.top_k < scores.size:
            tokens = np.argpartition(scores, scores.size - how.top_k)[scores.size - how.top_k :]
        if how.top_p < 1:
            tokens = tokens[np.argsort(-scores[tokens], kind="stable")]
        parts = np.exp(scores[tokens] - scores[tokens].max())
        sums = np.cumsum(parts)
        if how.top_p < 1:
            count = int(np.sum(sums - parts < how.top_p * sums[-1]))
            tokens, sums = tokens[:count], sums[:count]
        return int(tokens[np.searchsorted(sums, self._random.random() * sums[-1], side="right")])
