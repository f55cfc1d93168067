"""Determinants, deformable convolutions, filters of a mel scale, counts of n-grams."""
import numpy as np

from families import op


@op("Det")
def det(c, x):
    c.since(11)
    n = c.choice([1, 2, 3, 5, 8])
    c.node("Det", [c.tensor(c.numbers([*c.choice([[], [3], [2, 2]]), n, n]))])


@op("DeformConv", weight=2)
def deform_conv(c, x):
    c.since(19)
    group, offsets = c.choice([1, 2]), c.choice([1, 2])
    channels, features, kernel = 2 * c.choice([1, 2]), 2 * c.choice([1, 3]), c.kernel(2, 3)
    strides, dilations, pads = [c.choice([1, 2]) for _ in range(2)], [c.choice([1, 2]) for _ in range(2)], [c.choice([0, 1]) for _ in range(4)]
    image = [c.choice([5, 7, 12]) for _ in range(2)]
    out = [(image[i] + pads[i] + pads[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(2)]
    c.need(min(out) > 0)
    batch = c.choice([1, 2])
    taps = offsets * kernel[0] * kernel[1]
    moved = c.numbers([batch, 2 * taps, *out], low=-1.5, high=1.5) + np.float32(0.00713)
    inputs = [c.data([batch, channels, *image]), c.data([features, channels // group, *kernel], constant=True), c.tensor(moved), c.data([features]) if c.chance(0.5) else None]
    mask = [c.data([batch, taps, *out])] if c.chance(0.5) else []
    c.node("DeformConv", [*inputs, *mask], group=group, offset_group=offsets, kernel_shape=c.choice([None, kernel]), strides=strides, dilations=dilations, pads=pads)


@op("MelWeightMatrix")
def mel_weight_matrix(c, x):
    c.since(17)
    integer = lambda n: c.tensor(np.array(n, c.choice([np.int32, np.int64])), constant=True)
    real = lambda n: c.tensor(np.array(n, np.float32), constant=True)
    c.node("MelWeightMatrix", [integer(c.choice([1, 8, 20])), integer(c.choice([16, 64, 256])), integer(c.choice([8000, 16000])), real(c.choice([0.0, 125.0])), real(c.choice([2000.0, 3999.0]))],
           output_datatype=c.choice([None, 1]))  # fmt: skip


@op("TfIdfVectorizer", weight=2)
def tf_idf(c, x):
    c.since(9)
    x = c.data(c.choice([[c.choice([1, 6, 13])], [c.choice([1, 3]), c.choice([1, 6, 13])]]), c.choice([np.int32, np.int64]), 0, 4)
    singles, pairs = [1, 2, 4], [1, 2, 2, 3, 4, 0]
    weights = [0.5, 2.0, 1.0, 0.25, 3.0, 1.5]
    most = c.choice([1, 2])
    indexes = c.choice([[0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4]])
    c.node("TfIdfVectorizer", [x], mode=c.choice(["TF", "IDF", "TFIDF"]), min_gram_length=c.choice([1, most]), max_gram_length=most, max_skip_count=c.choice([0, 1, 5]), ngram_counts=[0, 3],
           ngram_indexes=indexes, pool_int64s=singles + pairs, weights=c.choice([None, weights]))  # fmt: skip
