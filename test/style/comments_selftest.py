"""What comments.py takes for fragments, and for wrong names, and what it leaves alone."""
import pathlib
import tempfile

import comments

# A declaration stands behind each of them: of a function, so that a noun alone is not enough.
FRAGMENTS = [
    "Of such a part.",
    "The same of float32: elements of two vectors, by numbers between them.",
    "The same.",
    "So many output channels fill a quarter of a vector.",
    "As above, with strides.",
    "As many as a power of two.",
    "Likewise for columns.",
    "Of those that are a number.",
    "Of the shortest vectors that make a difference.",
    "Those of TreeEnsemble.",
    "The edge.",
    "Cuts of an axis.",
    "Rings for strips of rows. They are allocated once.",
    "Integers of 32 bits, all scalars or all vectors of one length.",
]
SENTENCES = [
    "Returns the op that makes `v`, or null.",
    "The op that makes `v`, if nothing else reads it.",
    "Whether a convolution adds nothing around its image.",
    "The same function runs every work item, so it reads nothing that another one writes.",
    "Of two candidates, the cheaper one wins.",
    "Of two dequantized operands the product is one of integers.",
    "Such a loop ends after the first iteration.",
    "Copies the rows.",
    "Cuts paths into chains.",
    "Rows lie one behind the other.",
    "1 + erf(x / sqrt(2)).",
    "bytes = rows * stride",
    "Must be called before any thread starts (e.g. in main).",
    "NOLINTNEXTLINE(readability)",
]


def reasons(source):
    return [comments.isFragment(comment) for comment in comments.commentsOf(source)]


def testFragments():
    for text in FRAGMENTS:
        assert reasons(f"/// {text}\nint f(int x) {{ return x; }}\n")[0], text
    for text in SENTENCES:
        assert reasons(f"/// {text}\nint f(int x) {{ return x; }}\n") == [None], text


def testThings():
    """The name of a field or a type is the subject of the phrase that describes it, but "the same" still needs the line above."""
    for declaration in ("int64_t rows = 0;", "struct Tile {", "enum class Kind { a };", "class Tile;", "constexpr int64_t block = 8;", "template <typename T> struct Tile {"):
        assert reasons(f"/// Bytes of a panel.\n{declaration}\n") == [None], declaration
        assert reasons(f"/// The same of columns.\n{declaration}\n") != [None], declaration
    for declaration in ("int64_t rows();", "return rows;", "template <typename T> void f(T x);", "if (x) {"):
        assert reasons(f"/// Bytes of a panel.\n{declaration}\n") == ["has no verb"], declaration
    assert reasons("int rows; ///< of the kernel\nint columns; ///< the same\n") == [None, "begins as a fragment"]
    assert reasons("int f(); // of the kernel\n") == [None]


def testBlocks():
    found = comments.commentsOf('auto s = "// no comment";\n/* One\n * two. */\nint x; // behind\n       // it\n// a\n// b\n\n// c\n')
    assert [comment.text for comment in found] == ["One two.", "behind it", "a b", "c"], found
    assert [comment.line for comment in found] == [2, 4, 6, 9], found
    assert [comment.text for comment in comments.commentsOf("auto r = R\"(// raw)\"; char q = '\"'; int n = 1'000; // yes\n")] == ["yes"]


def testNames():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "docs/memory.md").write_text("# Memory\n## What a run needs, at most\n")
        repository = comments.Repository(["docs/memory.md", "compiler/lower/conv/Chain.cpp", "compiler/lower/conv/Chain.h", "bench/README.md"], root)
        for text, expected in (
            ("see MEASURED.md and bench/README.md", ["MEASURED.md"]),
            ("lower/conv/Chain.h, Chain.cpp; lower/Chain.h", ["lower/Chain.h"]),
            ("compiler/lower/conv has compiler/lower/conv/Chain, not compiler/lower/product", ["compiler/lower/product"]),
            ("docs/memory.md#what-a-run-needs-at-most, docs/memory.md#devices", ["docs/memory.md#devices"]),
            ("docs/memory-of-runs.md, docs/memory/of-runs", ["docs/memory-of-runs.md", "docs/memory/of-runs"]),
            ("NAME.h and lives/NAME.txt, DIR/found.txt, a FAMILY.td, x.mlir, <stdint.h>, \"my.h\" and *.cpp", []),
        ):
            assert list(comments.missing_paths(text, repository)) == expected, (text, list(comments.missing_paths(text, repository)))


def testHeads():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "compiler").mkdir()
        for name, text in (("A.h", "// Says what A is.\n#pragma once\n"), ("A.cpp", "#include \"A.h\"\n"), ("B.cpp", "int b;\n// Behind.\n"), ("C.td", "/* C. */\n"), ("C.cpp", "int c;\n")):
            (root / "compiler" / name).write_text(text)
        kept, comments.ROOT = comments.ROOT, root
        lacking = [name for name in ("A.h", "A.cpp", "B.cpp", "C.td", "C.cpp") if comments.lacksHead(f"compiler/{name}")]
        comments.ROOT = kept
        assert lacking == ["B.cpp"], lacking


def testRooms():
    assert comments.roomOf("compiler/lower/conv/Chain.cpp") == "compiler/lower/conv"
    assert comments.roomOf("compiler/lower/Family.h") == "compiler/lower"
    assert comments.roomOf("compiler/graph/readers/Pad.cpp") == "compiler/graph"
    assert comments.roomOf("runtime_support/core/pool.c") == "runtime_support"


def main():
    tests = [value for name, value in globals().items() if name.startswith("test")]
    for test in tests:
        test()
    print(f"{len(tests)} tests of the check, {len(FRAGMENTS)} fragments, {len(SENTENCES)} sentences")


if __name__ == "__main__":
    main()
