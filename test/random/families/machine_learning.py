"""Operators of ai.onnx.ml but for trees (trees.py): linear models, support vectors, preparation of features."""
import numpy as np

from families import op

ML = "ai.onnx.ml."


def rows(c, x, low=2, high=2):
    x = x or c.data([c.extent(), c.choice([1, 2, 3, 5, 17])])
    c.need(x.dtype == np.float32 and low <= x.rank <= high and x.array.size)
    return x


def numbers(c, count):
    return [float(v) for v in c.numbers([count], np.float32)]


@op("ai.onnx.ml.LinearRegressor")
def linear_regressor(c, x):
    x, targets = rows(c, x), c.choice([1, 1, 3])
    c.node(ML + "LinearRegressor", [x], coefficients=numbers(c, targets * x.shape[1]), intercepts=numbers(c, targets) if c.chance(0.7) else None, targets=targets,
           post_transform=c.choice([None, "NONE", "SOFTMAX", "LOGISTIC"]) if targets > 1 else None)  # fmt: skip


@op("ai.onnx.ml.LinearClassifier", weight=2)
def linear_classifier(c, x):
    x, classes = rows(c, x), c.choice([2, 3, 5])
    scores = 1 if classes == 2 and c.chance(0.6) else classes
    c.node(ML + "LinearClassifier", [x], outputs=2, coefficients=numbers(c, scores * x.shape[1]), intercepts=numbers(c, scores), classlabels_ints=[7 * k - 3 for k in range(classes)],
           multi_class=c.choice([None, 0, 1]), post_transform=c.choice([None, "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]))  # fmt: skip


@op("ai.onnx.ml.SVMClassifier", weight=3)
def svm_classifier(c, x):
    """Labels of strings are in test/strings. One score with PROBIT is not compared: ONNX Runtime leaves a column of it unwritten, and it needs a kernel's name."""
    x, classes = rows(c, x), c.choice([2, 3, 4, 7])
    pairs, kind = classes * (classes - 1) // 2, c.choice(["LINEAR", "POLY", "RBF", "SIGMOID"])
    per_class = [c.choice([1, 2, 5]) for _ in range(classes)] if c.chance(0.7) else None  # none: linear
    vectors = sum(per_class or [])
    coupled = bool(per_class) and c.chance(0.5)
    transform = c.choice([None, "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
    c.node(ML + "SVMClassifier", [x], outputs=2, classlabels_ints=[5 * k - 2 for k in range(classes)], vectors_per_class=per_class,
           coefficients=numbers(c, (classes - 1) * vectors or classes * x.shape[1]), support_vectors=numbers(c, vectors * x.shape[1]) if per_class else None, rho=numbers(c, pairs),
           kernel_type=kind, kernel_params=[0.25, 0.5, 2.0], post_transform=transform,
           prob_a=[-abs(v) - 0.1 for v in numbers(c, pairs)] if coupled else None, prob_b=numbers(c, pairs) if coupled else None)  # fmt: skip


@op("ai.onnx.ml.SVMRegressor", weight=2)
def svm_regressor(c, x):
    x = rows(c, x)
    vectors = c.choice([1, 3, 17])
    kind = c.choice([None, "LINEAR", "POLY", "RBF", "SIGMOID"])
    c.node(ML + "SVMRegressor", [x], coefficients=numbers(c, vectors), support_vectors=numbers(c, vectors * x.shape[1]), n_supports=vectors, rho=numbers(c, 1), kernel_type=kind,
           kernel_params=[0.25, 0.5, 2.0], one_class=c.choice([None, 0]), post_transform=c.choice([None, "NONE"]))  # fmt: skip


@op("ai.onnx.ml.Normalizer")
def normalizer(c, x):
    x = rows(c, x)
    c.need((x.array.max(axis=1) > 0).all())
    c.node(ML + "Normalizer", [x], norm=c.choice([None, "MAX", "L1", "L2"]))


@op("ai.onnx.ml.Scaler")
def scaler(c, x):
    x = rows(c, x)
    count = c.choice([1, x.shape[1]])
    c.node(ML + "Scaler", [x], scale=numbers(c, count), offset=numbers(c, count))


@op("ai.onnx.ml.Imputer")
def imputer(c, x):
    if c.chance(0.3):
        x = c.data([c.extent(9), c.extent(9)], np.int64)
        count = c.choice([1, x.shape[1]])
        return c.node(ML + "Imputer", [x], imputed_value_int64s=[c.choice(range(9)) for _ in range(count)], replaced_value_int64=c.choice([None, 0, 1]))
    shape = [c.extent(17), c.extent(17)]
    array = c.numbers(shape)
    nan = c.chance(0.5)
    array[np.asarray(c.numbers(shape, np.int64, 0, 3)) == 0] = np.nan if nan else 0.5
    count = c.choice([1, shape[1]])
    c.node(ML + "Imputer", [c.tensor(array, constant=False)], imputed_value_floats=numbers(c, count), replaced_value_float=float("nan") if nan else 0.5)


@op("ai.onnx.ml.Binarizer")
def binarizer(c, x):
    x = rows(c, x, 1, 3)
    c.need(x.exact)
    c.node(ML + "Binarizer", [x], exact=True, threshold=c.choice([None, 0.25, -1.0]))


@op("ai.onnx.ml.ArrayFeatureExtractor")
def feature_extractor(c, x):
    x = rows(c, x, 1, 3)
    places = [c.choice(range(x.shape[-1])) for _ in range(c.choice([1, 3, 7]))]
    c.node(ML + "ArrayFeatureExtractor", [x, c.tensor(np.array([places] if c.chance(0.5) else places, np.int64))], exact=True)


@op("ai.onnx.ml.FeatureVectorizer")
def feature_vectorizer(c, x):
    x = rows(c, x)
    others = [c.data([x.shape[0], *([c.extent(3)] if c.chance(0.2) else []), c.extent(5)]) for _ in range(c.choice([0, 1, 3]))]
    widths = [int(np.prod(v.shape[1:])) for v in [x, *others]]
    c.node(ML + "FeatureVectorizer", [x, *others], exact=True, inputdimensions=[c.choice([width] * 3 + [width + 2, max(width - 1, 1)]) for width in widths])


@op("ai.onnx.ml.OneHotEncoder")
def one_hot_encoder(c, x):
    x = c.data(c.choice([[c.extent(9)], [c.extent(9), 1]]), c.choice([np.int64, np.int64, np.float32]))
    if x.dtype == np.float32:
        x = c.tensor(np.round(x.array))
    places = c.choice([[-1, 0, 2, 5], range(-2, 3)])
    c.node(ML + "OneHotEncoder", [x], exact=True, cats_int64s=list(places), zeros=c.choice([None, 1] if len(places) == 4 else [None, 0, 0, 1]))


@op("ai.onnx.ml.LabelEncoder", weight=2)
def label_encoder(c, x):
    """ONNX Runtime has 64-bit integers and floats as attributes since version 2."""
    keys = c.choice(["int64s", "floats"])
    values = c.choice(["int64s", "floats"])
    lists = dict(int64s=[3, -1, 0, 2], floats=[0.5, -1.0, 2.0, float("nan") if c.chance(0.3) else 7.0])
    x = c.tensor(np.array([c.choice(lists[keys] + [1]) for _ in range(c.extent(17))], np.int64 if keys == "int64s" else np.float32), constant=False)
    default = {"default_int64": c.choice([None, 9])} if values == "int64s" else {"default_float": c.choice([None, 9.5])}
    c.node(ML + "LabelEncoder", [x], exact=True, **{f"keys_{keys}": lists[keys], f"values_{values}": [v for v in lists[values][::-1] if v == v] + ([4] if values == "int64s" else [4.0]) * (lists[values][-1] != lists[values][-1])}, **default)
