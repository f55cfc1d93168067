"""Tensors of strings, and maps: small models of random strings, compared with ONNX Runtime; what a run must end with an error value for.

    run.py --ingot build/bin/ingot [--target T] [--only REGEX] [--seed N] [--rounds N]

Every second round has open sizes. Strings are of ASCII and other letters, spaces, separators, and empty ones."""
import builtins
import pathlib
import random
import re
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "tools")]
import ingot_run
import numpy as np
import onnx
import peer
from onnx import TensorProto, helper, numpy_helper

ML, MICROSOFT = "ai.onnx.ml", "com.microsoft"
DOMAINS = {"ML": ML, "MS": MICROSOFT}
STRING, FLOAT, INT = TensorProto.STRING, TensorProto.FLOAT, TensorProto.INT64
PATTERNS = [
    "[a-z]+", "(?i)straße|ab*", r"\w+@\w+\.(com|net)", "a{2,4}b?", ".*", "(a|ab)(c|bcd)*", r"[^,\d]*", r"\bfoo\b.*", "^a$", "(?m)^a$\n^b$", "日.?本", "[Ѐ-ӿ]+", r"\x{65e5}.*", r"\Qa.b\E+",
    r"[[:alpha:]]+\s\S", "(?s).+", "a|", "x*?y", r"[\]a-]+", "(?i)k+", "(?i)i", "(?i)[ı-ſ]*", r"\B\w*", "é+|[é-ü]*", "(?:ab|c){2,}", r"[[:^digit:]]+", "()", "(?P<name>a)b", r"\141b", r"[\w-]+",
]  # fmt: skip
TEXTS = ["abc", "a", "aab", "aaaab", "foo", "foo bar", "a\nb", "日本", "日x本", "Жизнь", "a.b.b", "a.bb", "STRASSE", "Straße", "STRAẞE", "ab@x.com", "a@b.net", "a@b.org", "", "abcbcd", "12", "a,b", "xxy", "y", "K", "\u212a",
         "ſ", "ab c", "-]a", "é", "éé", "ü", "a\n", "abab", "cc", "a-b_c", "i", "I", "ı", "İ"]  # fmt: skip


def array(texts):
    return np.array(texts, object)


def tensor(values, name=""):
    values = np.asarray(values)
    if values.dtype != object:
        return numpy_helper.from_array(values, name)
    texts = [text if isinstance(text, bytes) else text.encode() for text in values.reshape(-1)]
    return TensorProto(name=name, data_type=STRING, dims=values.shape, string_data=texts)  # onnx.helper drops zeros at the end of a text


def read(proto):
    if proto.data_type != STRING:
        return numpy_helper.to_array(proto)
    return np.array(list(proto.string_data) + [None], object)[:-1].reshape(tuple(proto.dims))


def type_of(values):
    return STRING if values.dtype == object else helper.np_dtype_to_tensor_dtype(values.dtype)


def as_bytes(values):
    values = np.asarray(values)
    return np.array([text.encode() if isinstance(text, str) else text for text in values.reshape(-1)] + [None], object)[:-1].reshape(values.shape) if values.dtype.kind in "OUS" else values


def same(got, want):
    got, want = as_bytes(got), as_bytes(want)
    if got.dtype == object or want.dtype == object:
        return got.shape == want.shape and got.tolist() == want.tolist()
    return ingot_run.difference(got, want, 1e-6, 1e-6) is None


class Suite:
    def __init__(self, arguments):
        self.rng, self.arguments, self.count, self.failed, self.is_open = random.Random(arguments.seed), arguments, 0, [], False
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ingot-strings-"))

    def text(self):
        return "".join(self.rng.choice("abcABC ,,ßÄéЖж日ſİı") for _ in range(self.rng.randint(0, 9)))

    def texts(self, *shape):
        return array([self.text() for _ in range(int(np.prod(shape)))]).reshape(shape)

    def case(self, name, nodes, feeds, outputs, weights=(), want=None, fails=None, opset=20, ml=3):
        """`nodes`: (operator, inputs, outputs, attributes), those of ai.onnx.ml begin with ML, of com.microsoft with MS. `fails`: a piece of the message of the run."""
        if not re.search(self.arguments.only, name):
            return
        self.count += 1
        folder = self.folder / str(self.count)
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        made = [helper.make_node(op.rpartition(".")[2], ins, outs, domain=DOMAINS.get(op.rpartition(".")[0]), **attributes) for op, ins, outs, attributes in nodes]
        feeds = {key: np.asarray(value) for key, value in feeds.items()}
        inputs = [helper.make_tensor_value_info(key, type_of(value), [f"{key}{axis}" if self.is_open else size for axis, size in enumerate(value.shape)]) for key, value in feeds.items()]
        graph = helper.make_graph(made, "strings", inputs, [helper.make_tensor_value_info(key, kind, None) for key, kind in outputs.items()], [tensor(np.asarray(value), key) for key, value in dict(weights).items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(ML, ml), helper.make_opsetid(MICROSOFT, 1)], ir_version=9)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        for number, (key, value) in enumerate(feeds.items()):
            (data / f"input_{number}.pb").write_bytes(tensor(value, key).SerializeToString())
        if want is None and not fails:
            want = peer.session(model).run(None, feeds)
        verdict, message = ingot_run.run(self.arguments.ingot, folder, folder / "out", self.arguments.target)
        if fails:
            good = verdict == "refused" and fails in message
        else:
            got = [read(onnx.TensorProto.FromString((folder / "out" / f"output_{number}.pb").read_bytes())) for number in range(len(outputs))] if verdict == "pass" else []
            good = verdict == "pass" and all(map(same, got, want))
            message = message or f"{[values.tolist() for values in got]}, expected {[np.asarray(values).tolist() for values in want]}"
        if not good:
            self.failed.append(f"{name} ({folder}): {verdict}: {message}")


def joins(suite):
    choice = suite.rng.choice
    suite.case("concat", [("StringConcat", ["x", "y"], ["z"], {})], {"x": suite.texts(2, 3), "y": suite.texts(*choice([(3,), (1,), (2, 1), (2, 3), ()]))}, {"z": STRING})
    suite.case("equal", [("Equal", ["x", "y"], ["z"], {})], {"x": suite.texts(2, 3), "y": array(["a", "", "b"])}, {"z": TensorProto.BOOL})
    suite.case("several-source", [("StringNormalizer", ["x"], ["u"], dict(case_change_action="UPPER", stopwords=["a", "b"])), ("ML.LabelEncoder", ["x"], ["l"], dict(keys_strings=["a", "b"], values_int64s=[1, 2])),
                                  ("Cast", ["l"], ["t"], dict(to=STRING)), ("StringConcat", ["x", "t"], ["c"], {}), ("Unsqueeze", ["c", "axis"], ["y"], {})],
               {"x": array(["a", "Straße,é", "b"])}, {"y": STRING, "u": STRING}, {"axis": [0]}, want=[array([["a1", "Straße,é-1", "b2"]]), array(["STRAßE,É"])])  # fmt: skip


def splits(suite):
    """By white spaces only ASCII's count, as in Python, not ONNX Runtime, of which a tab is none; strings here have none but spaces."""
    choice = suite.rng.choice
    attributes = {"delimiter": choice(["", ",", " ", "ab"])} | choice([{}, {"maxsplit": choice([0, 1, 2, 5])}])
    suite.case("split-source", [("StringSplit", ["x"], ["y", "n"], attributes)], {"x": suite.texts(*choice([(3,), (2, 3), (1,), (2, 1, 3), (7,)]))}, {"y": STRING, "n": INT})
    suite.case("split tabs", [("StringSplit", ["x"], ["y", "n"], {})], {"x": array(["\ta \n b", "\v"])}, {"y": STRING, "n": INT}, want=[array([["a", "b"], ["", ""]]), np.int64([2, 0])])


def normalizes(suite):
    choice = suite.rng.choice
    attributes = dict(case_change_action=choice(["LOWER", "UPPER", "NONE"]), is_case_sensitive=choice([0, 1]), locale="C.UTF-8") | choice([{}, {"stopwords": choice([["a", "AB"], ["éa", ""], ["x"]])}])
    x = choice([suite.texts(5), suite.texts(1, 4), array(["a", "A", "Ab", "éA", "", "x"]), array(["x"])])
    was, suite.is_open = suite.is_open, suite.is_open and x.ndim == 1
    suite.case("normalize", [("StringNormalizer", ["x"], ["y"], attributes)], {"x": x}, {"y": STRING})
    suite.is_open = was


def labels(suite):
    choice = suite.rng.choice
    keys = list(dict.fromkeys(["a", "b", "", "é"] + [suite.text() for _ in range(3)]))
    x = array([choice(keys + ["zz", suite.text()]) for _ in range(6)]).reshape(2, 3)
    numbers = list(range(len(keys)))

    def case(name, op, values, kind, ml=3, **attributes):
        suite.case(name, [("ML." + op, ["x"], ["y"], attributes)], {"x": values}, {"y": kind}, ml=ml, opset=9 if ml == 1 else 20)

    case("labels to integers", "LabelEncoder", x, INT, keys_strings=keys, values_int64s=numbers, default_int64=-7)
    case("labels to floats", "LabelEncoder", x, FLOAT, keys_strings=keys, values_floats=[n / 3 for n in numbers])
    case("labels to strings", "LabelEncoder", x, STRING, keys_strings=keys, values_strings=keys[::-1], default_string="none")
    case("integers to labels", "LabelEncoder", np.array([0, 3, 1, 99, -1]), STRING, keys_int64s=numbers, values_strings=keys)
    case("floats to labels", "LabelEncoder", np.float32([0, 3, 1, 99, 0.5]), STRING, keys_floats=[float(n) for n in numbers], values_strings=keys)
    case("old labels", "LabelEncoder", x, INT, ml=1, classes_strings=keys, default_int64=5)
    case("categories", "CategoryMapper", x, INT, cats_strings=keys, cats_int64s=[n + 5 for n in numbers], default_int64=-3)
    case("categories back", "CategoryMapper", np.array([5, 6, 1]), STRING, cats_strings=keys, cats_int64s=[n + 5 for n in numbers])
    case("one hot", "OneHotEncoder", x, FLOAT, cats_strings=keys)
    scores = dict(coefficients=[1.0, 2.0, -1.0, 0.5, 0.0, -2.0], intercepts=[0.0, 0.5, 1.0], classlabels_strings=["u", "v", "w"])
    rows = np.float32(suite.rng.choices([-1, 0.5, 2], k=6)).reshape(3, 2)
    suite.case("linear", [("ML.LinearClassifier", ["x"], ["y", "z"], scores)], {"x": rows}, {"y": STRING, "z": FLOAT})
    support = dict(classlabels_strings=["u", "v", "w"], coefficients=[1.0, -0.5, 2.0, 0.5, -1.0, 1.5], support_vectors=[0.0, 1.0, 1.0, -1.0, -2.0, 0.5], vectors_per_class=[1, 1, 1], rho=[0.25, -0.5, 0.125], kernel_type="LINEAR", kernel_params=[1.0, 0.0, 1.0])
    suite.case("support vectors", [("ML.SVMClassifier", ["x"], ["y", "z"], support)], {"x": rows}, {"y": STRING, "z": FLOAT})
    suite.case("one hot, unknown", [("ML.OneHotEncoder", ["x"], ["y"], dict(cats_strings=["a"], zeros=0))], {"x": array(["a", "b"])}, {"y": FLOAT}, fails="node 'y': a string is not UTF-8 or no number, or a label is none that is known")
    suite.case("one hot of numbers, unknown", [("ML.OneHotEncoder", ["x"], ["y"], dict(cats_int64s=[3, 1], zeros=0))], {"x": np.array([1, 2])}, {"y": FLOAT}, fails="node 'y': a string is not UTF-8 or no number, or a label is none that is known")
    grams = dict(max_gram_length=2, min_gram_length=1, max_skip_count=1, mode=choice(["TF", "IDF", "TFIDF"]), ngram_counts=[0, 3], ngram_indexes=[0, 1, 2, 3, 4], weights=[1.0, 2.0, 3.0, 4.0, 5.0])
    rows = suite.rng.choice([(6,), (2, 6), (3, 1), (1, 13)])
    suite.case("n-grams", [("TfIdfVectorizer", ["x"], ["y"], grams | dict(pool_strings=["a", "b", "c", "a", "b", "b", "c"]))], {"x": array(suite.rng.choices("abcd", k=int(np.prod(rows)))).reshape(rows)}, {"y": FLOAT})


SEPARATORS = [[""], [" "], [","], [" ", ","], ["[ ,]+", "b"], ["ab", "bc"], ["a|ab|abc", "ß"], [r"\b"], ["x*"], ["(a|b)*c", r"\s"], ["^a", "a$"], ["日", "é", "[A-C]"], [" $|,", "a"], ["(?i)AB?"], [r"\B,", r"(?m)$"]]
EXPRESSIONS = [".", "[a-z]+", "a*", r"\w+", "a|ab|abc", "[a-c]{2,3}", r"\bab?", "[^ ,]+", "日|é+|ß", "(a|b)*c", "^a", ".*c", "(?i)[a-c]+|,", r"\B.", "(ab|a)(bc|c)?"]


def tokens(suite):
    choice = suite.rng.choice
    how = choice([{"separators": choice(SEPARATORS)}, {"tokenexp": choice(EXPRESSIONS)}])
    is_of_characters = how in ({"separators": [""]}, {"tokenexp": "."})
    attributes = how | dict(mark=choice([0, 1]), pad_value=choice(["", "#", "日"]), mincharnum=1 if is_of_characters else choice([1, 1, 2, 3]))
    x = choice([suite.texts(3), suite.texts(2, 3), suite.texts(1), suite.texts(13), array(["", ""]), array(["abcabcc", "a,b ,c", "aab"])])
    suite.case(f"tokens {attributes}", [("MS.Tokenizer", ["x"], ["y"], attributes)], {"x": x}, {"y": STRING})


def uniques(suite):
    choice = suite.rng.choice
    few, outputs = [suite.text() for _ in range(4)] + ["", "a", "a\0", "abcdefgh", "abcdefghi", "abcdefgh\0", "abcdefghijklmnopqrst", "abcdefghijklmnopqrsu", "é"], {"y": STRING, "i": INT, "r": INT, "c": INT}
    shape = choice([(1,), (7,), (13, 2), (3, 4, 2), (200,)])
    x = array(suite.rng.choices(few if choice([True, False]) else few[:4], k=int(np.prod(shape)))).reshape(shape)
    attributes = choice([{}, {"axis": choice(range(-len(shape), len(shape)))}]) | choice([{}, {"sorted": choice([0, 1])}])
    suite.case(f"unique {attributes}", [("Unique", ["x"], list(outputs), attributes)], {"x": x}, outputs, want=unique(x, **attributes))
    if x.ndim == 1:
        y, _, numbers, counts = unique(x, sorted=0)
        suite.case("unique of com.microsoft", [("MS.Unique", ["x"], ["y", "r", "c"], {})], {"x": x}, {"y": STRING, "r": INT, "c": INT}, want=[y, numbers, counts])


def unique(x, axis=None, sorted=1):
    """As the standard says; ONNX Runtime's strings end at a zero where numpy's do."""
    slices = [row for row in np.moveaxis(x, axis, 0)] if axis is not None else list(x.reshape(-1))
    keys = [tuple(text.encode() for text in np.asarray(row, object).reshape(-1)) for row in slices]
    order = list(dict.fromkeys(keys)) if not sorted else builtins.sorted(set(keys))
    first, numbers = [keys.index(key) for key in order], [order.index(key) for key in keys]
    y = np.take(x, first, axis) if axis is not None else array([slices[number] for number in first])
    return [y, np.int64(first), np.int64(numbers), np.int64([numbers.count(number) for number in range(len(order))])]


def embeddings(suite):
    """A word without characters is what ONNX Runtime leaves as it was: there are none."""
    choice, numbers = suite.rng.choice, np.random.default_rng(suite.rng.randrange(1 << 30))
    window, longest, size, filters = choice([1, 2, 3]), choice([3, 5, 12]), choice([1, 4, 13]), choice([1, 7, 16])
    words = np.zeros((choice([1, 3, 7]), longest), np.int32)
    for row in words:
        length = suite.rng.randint(1, longest)
        row[:length] = numbers.integers(1, 20, length)
    weights = {name: numbers.normal(size=shape).astype(np.float32) for name, shape in [("w", (filters, 1, window, size)), ("b", (filters,)), ("c", (20, size))]}
    said = choice([{}, dict(embedding_size=filters, conv_window_size=window, char_embedding_size=size)])
    suite.case("embeddings", [("MS.WordConvEmbedding", ["x", "w", "b", "c"], ["y"], said)], {"x": words}, {"y": FLOAT}, weights)


def moves(suite):
    """Operators that do not look at elements."""
    x, indices = suite.texts(3, 4), np.array([[2, 0, -1]] * 3)
    y = {"y": STRING}
    for name, op, feeds, weights, attributes in [
        ("transpose", "Transpose", {}, {}, {}), ("identity", "Identity", {}, {}, {}), ("concat along", "Concat", {"z": suite.texts(3, 2)}, {}, dict(axis=1)), ("gather", "Gather", {"i": np.array([2, 0, -1])}, {}, dict(axis=1)),
        ("gather elements", "GatherElements", {"i": indices}, {}, dict(axis=1)), ("gather nd", "GatherND", {"i": np.array([[2, 0], [1, -1]])}, {}, {}),
        ("scatter elements", "ScatterElements", {"i": np.array([[2, 0]] * 3), "u": suite.texts(3, 2)}, {}, dict(axis=1)), ("scatter nd", "ScatterND", {"i": np.array([[2], [0]]), "u": suite.texts(2, 4)}, {}, {}),
        ("reshape", "Reshape", {}, {"s": [2, -1]}, {}), ("slice", "Slice", {}, {"a": [1, 0], "b": [3, 2]}, {}), ("expand", "Expand", {}, {"s": [2, 3, 4]}, {}), ("tile", "Tile", {}, {"s": [2, 3]}, {}),
        ("compress", "Compress", {"c": np.array([True, False, True])}, {}, dict(axis=0)), ("constant", "Concat", {}, {"k": suite.texts(3, 2)}, dict(axis=1)), ("extract", "ML.ArrayFeatureExtractor", {"i": np.array([[2, 0]])}, {}, {}),
    ]:  # fmt: skip
        is_open, suite.is_open = suite.is_open, suite.is_open and name not in ("reshape", "expand", "scatter elements", "compress", "gather nd")
        suite.case(name, [(op, ["x", *feeds, *weights], ["y"], attributes)], {"x": x} | feeds, y, weights)
        suite.is_open = is_open
    suite.case("where", [("Where", ["c", "x", "z"], ["y"], {})], {"c": np.array([True, False, True, False]), "x": x, "z": suite.texts(3, 4)}, y)
    suite.case("split axis", [("Split", ["x"], ["y", "z"], dict(axis=1, num_outputs=2))], {"x": suite.texts(3, 4)}, {"y": STRING, "z": STRING})
    suite.case("shape", [("Shape", ["x"], ["y"], {}), ("Size", ["x"], ["z"], {})], {"x": x}, {"y": INT, "z": INT})
    suite.case("constants", [("Constant", [], ["k"], dict(value_strings=["u", ""])), ("Constant", [], ["l"], dict(value_string="q")), ("StringConcat", ["x", "k"], ["m"], {}), ("StringConcat", ["l", "m"], ["y"], {})], {"x": suite.texts(3, 2)}, y)
    suite.case("pad", [("Pad", ["x", "p"], ["y"], {})], {"x": array(["a", "b"])}, y, {"p": [1, 2]}, want=[array(["", "a", "b", "", ""])])
    branches = [helper.make_graph([helper.make_node("Identity" if name == "t" else "StringConcat", ["x", "x"][: 1 + (name == "e")], [name])], name, [], [helper.make_tensor_value_info(name, STRING, None)]) for name in "te"]
    suite.case("if", [("If", ["c"], ["y"], dict(then_branch=branches[0], else_branch=branches[1]))], {"c": np.array(suite.rng.random() < 0.5), "x": suite.texts(3)}, y)
    body = helper.make_graph([helper.make_node("StringConcat", ["v", "x"], ["w"]), helper.make_node("Identity", ["c"], ["d"])], "body", [helper.make_tensor_value_info("i", INT, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                              helper.make_tensor_value_info("v", STRING, [2])], [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info("w", STRING, [2])])  # fmt: skip
    is_open, suite.is_open = suite.is_open, False
    suite.case("loop", [("Loop", ["n", "", "x"], ["y"], dict(body=body))], {"n": np.array(3), "x": suite.texts(2)}, y)
    suite.is_open = is_open


def casts(suite):
    numbers = np.array([0, 1.5, -2, 1e10, 1e-7, np.nan, np.inf, -np.inf, 123456.789, 0.1, 3.0, -0.0, 1e20, 1e8, 99999999] + [suite.rng.gauss(0, 1) * 10 ** suite.rng.randint(-9, 9) for _ in range(5)])
    for kind in (np.float32, np.float64, np.float16):
        with np.errstate(all="ignore"):
            suite.case(f"write {kind.__name__} source", [("Cast", ["x"], ["y"], dict(to=STRING))], {"x": numbers.astype(kind)}, {"y": STRING})
    for kind in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, bool):
        values = np.array([0, 1]) if kind is bool else np.array([0, 100, np.iinfo(kind).min, np.iinfo(kind).max], kind)
        suite.case(f"write {kind.__name__}", [("Cast", ["x"], ["y"], dict(to=STRING))], {"x": values.astype(kind)}, {"y": STRING})
    texts = array(["1", "-2.5", "1e3", "nan", "NaN", "inf", "-INF", "+7", ".5", "1e-40", "3.4028235e38", "1e50", "0.1", "123456789.123456789", " 7"])
    for to in (FLOAT, TensorProto.DOUBLE):
        suite.case("read floats source", [("Cast", ["x"], ["y"], dict(to=to))], {"x": texts}, {"y": to})
    for to in (2, 3, 4, 5, 6, 7, 9, 12, 13):
        suite.case(f"read {to}", [("CastLike", ["x", "z"], ["y"], {})], {"x": array(["0", "1", "100"]), "z": np.zeros(1, helper.tensor_dtype_to_np_dtype(to))}, {"y": to})
    for text, to in [("", 1), ("x", 1), ("1.5", 7), ("3x", 1), ("0x10", 7), ("300", 2), ("-1", 2), ("99999999999999999999", 7)]:
        suite.case(f"no number {text}", [("Cast", ["x"], ["y"], dict(to=to))], {"x": array([text])}, {"y": to}, fails="node 'y': a string is not UTF-8 or no number, or a label is none that is known")


def patterns(suite):
    texts = array(TEXTS + [suite.text() for _ in range(20)])
    for number, pattern in enumerate(PATTERNS):
        suite.case(f"pattern {pattern} {'source' if number < 3 else ''}", [("RegexFullMatch", ["x"], ["y"], dict(pattern=pattern))], {"x": texts}, {"y": TensorProto.BOOL})
    long = array(["a" * 100_000 + "b"])
    suite.case("long text", [("RegexFullMatch", ["x"], ["y"], dict(pattern="(a*)*(a|aa)*b"))], {"x": long}, {"y": TensorProto.BOOL}, want=[np.array([True])])


def bytes_of_any_kind(suite):
    """What is not UTF-8 is moved, compared and split, but has no letters."""
    x = array([b"\xff\xfea", b"\xc3", b"ok"])
    suite.case("bytes", [("StringConcat", ["x", "x"], ["y"], {})], {"x": x}, {"y": STRING}, want=[array([b"\xff\xfea\xff\xfea", b"\xc3\xc3", b"okok"])])
    suite.case("bytes that match", [("RegexFullMatch", ["x"], ["y"], dict(pattern=".*"))], {"x": x}, {"y": TensorProto.BOOL}, want=[np.array([False, False, True])])
    suite.case("letters of bytes", [("StringNormalizer", ["x"], ["y"], dict(case_change_action="UPPER"))], {"x": x}, {"y": STRING}, fails="node 'y': a string is not UTF-8")


def maps(suite):
    """DictVectorizer, CastMap and ZipMap, through files of maps."""
    if not re.search(suite.arguments.only, "map"):
        return
    for name, keys, key_type in [("strings", ["b", "zz", "a"], STRING), ("integers", [7, 99, -1], INT)]:
        folder = suite.folder / f"map-{name}"
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        vocabulary = {"string_vocabulary": ["a", "b", "c"]} if key_type == STRING else {"int64_vocabulary": [-1, 7, 8]}
        labels = {"classlabels_strings": ["k,", 'é"', "\\"]} if key_type == STRING else {"classlabels_int64s": [5, -1, 3]}
        nodes = [helper.make_node("DictVectorizer", ["x"], ["y"], domain=ML, **vocabulary), helper.make_node("ZipMap", ["y"], ["z"], domain=ML, **labels)]
        number = helper.make_tensor_type_proto(FLOAT, [])
        graph = helper.make_graph(nodes, "maps", [helper.make_value_info("x", helper.make_map_type_proto(key_type, number))],
                                  [helper.make_tensor_value_info("y", FLOAT, [1, 3]), helper.make_value_info("z", helper.make_sequence_type_proto(helper.make_map_type_proto(key_type, number)))])  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(ML, 1)], ir_version=8)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        values = [1.5, 2.5, -3.0]
        given = onnx.MapProto(key_type=key_type, values=onnx.SequenceProto(elem_type=1, tensor_values=[numpy_helper.from_array(np.float32(v)) for v in values]))
        (given.string_keys if key_type == STRING else given.keys).extend(key.encode() if key_type == STRING else key for key in keys)
        (data / "input_0.pb").write_bytes(given.SerializeToString())
        want = peer.session(model).run(None, {"x": dict(zip(keys, values))})
        suite.count += 1
        verdict, message = ingot_run.run(suite.arguments.ingot, folder, folder / "out", suite.arguments.target)
        got = {}
        if verdict == "pass":
            row = numpy_helper.to_array(onnx.load_tensor(str(folder / "out" / "output_0.pb")))
            sequence = onnx.SequenceProto.FromString((folder / "out" / "output_1.pb").read_bytes())
            (one,) = sequence.map_values
            names = [key.decode() for key in one.string_keys] if key_type == STRING else list(one.keys)
            got = dict(zip(names, [float(numpy_helper.to_array(v)) for v in one.values.tensor_values]))
        if verdict != "pass" or not np.array_equal(row, want[0]) or got != want[1][0]:
            suite.failed.append(f"maps of {name} ({folder}): {verdict}: {message} {got}, expected {want}")
            continue
        for number in (0, 1):  # verify reads what run wrote, also where another tool has ordered the keys otherwise
            written = folder / "out" / f"output_{number}.pb"
            content = written.read_bytes()
            if number:
                sequence = onnx.SequenceProto.FromString(content)
                one = sequence.map_values[0]
                for field in (one.string_keys, one.keys, one.values.tensor_values):
                    turned = list(field)[::-1]
                    del field[:]
                    field.extend(turned)
                content = sequence.SerializeToString()
            (data / f"output_{number}.pb").write_bytes(content)
        if not suite.arguments.target:
            verdict, message = ingot_run.call([suite.arguments.ingot, "verify", folder / "model.onnx", "--data", data], folder, ingot_run.VERDICT)
            if verdict != "pass":
                suite.failed.append(f"verify of maps of {name} ({folder}): {message}")


def elsewhere(suite):
    """No strings are sent to another machine."""
    if not re.search(suite.arguments.only, "elsewhere"):
        return
    suite.count += 1
    folder, x = suite.folder / "elsewhere", helper.make_tensor_value_info("x", STRING, [1])
    (folder / "test_data_set_0").mkdir(parents=True)
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [helper.make_tensor_value_info("y", STRING, [1])])
    (folder / "model.onnx").write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9).SerializeToString())
    (folder / "test_data_set_0" / "input_0.pb").write_bytes(tensor(array(["a"])).SerializeToString())
    verdict, message = ingot_run.run(suite.arguments.ingot, folder, folder / "out", flags=["--runner", "env"])
    if verdict != "refused" or "--runner: the model has strings, which are not sent to other machines" not in message:
        suite.failed.append(f"elsewhere: {verdict}: {message}")


def main():
    parser = ingot_run.argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--target")
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    suite = Suite(parser.parse_args())
    for number in range(suite.arguments.rounds):
        suite.is_open = number % 2 == 1
        for group in (joins, splits, normalizes, labels, tokens, tokens, uniques, embeddings, moves, casts):
            group(suite)
    suite.is_open = False
    for group in (patterns, bytes_of_any_kind, maps, elsewhere):
        group(suite)
    print("\n".join(suite.failed))
    print(f"{suite.count} models, {len(suite.failed)} failed")
    if not suite.failed:
        ingot_run.shutil.rmtree(suite.folder)
    return bool(suite.failed) or not suite.count


if __name__ == "__main__":
    sys.exit(main())
