"""What words.py takes for a second meaning of a word, for a private word, and for a word that nobody uses."""
import words

GLOSSARY = "| word | meaning here |\n|---|---|\n| piece | some operators |\n| strip (of weights) | columns |\n| word | 32 bits |\n"


def files(**texts):
    return {"compiler/" + name.replace("_", "/", 1).replace("_", "."): words.code(text) for name, text in texts.items()}


def testGlossary():
    assert words.glossary(GLOSSARY) == ["piece", "strip", "word"]


def testTypes():
    """Types of a header's namespaces are for all; those in classes, in functions and in .cpp files are the room's own."""
    given, everywhere = words.types(files(
        lower_A_h="struct Tile {\n  struct Edge {};\n};\nenum class Form : int { Plain };\nclass Ahead;\n// struct Comment {\nauto s = \"struct Text {\";\ntemplate <typename T> struct Pair : Base<T> {\n};\nclass Last final : public First {\n",
        emit_B_cpp="struct Tile {\n"))
    assert given == {"Tile": {"lower"}, "Form": {"lower"}, "Pair": {"lower"}, "Last": {"lower"}}, given
    assert everywhere["Tile"] == {"lower", "emit"} and everywhere["Edge"] == {"lower"} and "Ahead" not in everywhere


def testMeanings():
    two = files(lower_A_h="struct Window {\n", emit_A_h="struct Window {\n")
    assert list(words.meanings(two, set(), {})) == ["Window: a type of emit, lower; a word has one meaning"]
    assert not list(words.meanings(two, set(), {"Window": ("emit lower", "why")}))
    assert list(words.meanings(two, set(), {"Window": ("emit onnx", "why")}))
    # Outside of headers only a word of the glossary has to mean the same, and only where a header gives it its meaning.
    own = files(target_A_h="struct Piece {\n", lower_A_cpp="struct Piece {\n", lower_B_cpp="struct Strip {\n", emit_B_cpp="struct Strip {\n")
    assert not list(words.meanings(own, set(), {}))
    assert list(words.meanings(own, {"piece", "strip"}, {})) == ["Piece: a type of lower, target; a word has one meaning"]
    assert len(list(words.meanings({}, set(), {"Gone": ("emit lower", "why")}))) == 1


def testPrivateWords():
    header = files(lower_A_h="int oneTurn(); // turn\nint returned, turnips, isFound;\n", lower_A_cpp="int turned;\n")
    assert [line.split("'")[1] for line in words.privateWords(header, set(), {})] == ["isFound", "oneTurn"]
    assert [line.split("'")[1] for line in words.privateWords(header, {"turn"}, {})] == ["isFound"]
    assert not list(words.privateWords(header, {"turn"}, {"isFound": "why"}))
    assert len(list(words.privateWords({}, set(), {"isFound": "why"}))) == 1


def testUnused():
    assert list(words.unused(["machine model", "halo"], ["class MachineModel;", "no such thing"])) == ["docs/glossary.md: nothing else has the word 'halo'"]
    assert not list(words.unused(["halo"], ["Rows of a halo."]))


def main():
    tests = [value for name, value in globals().items() if name.startswith("test")]
    for test in tests:
        test()
    print(f"{len(tests)} tests of the check")


if __name__ == "__main__":
    main()
