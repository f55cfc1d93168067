"""Every diagnostic of the compiler has a test: its text, or at least half of the longest piece of it, stands in a file under test/.

    check.py [--list]      the diagnostics that no test has; --list: all of them

A diagnostic is a call of one of CALLS, or a string that a function named like WHY returns. Where its text is put together, the pieces are looked at one by
one. Texts that come whole from elsewhere (an error passed on) have no piece and are not counted."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CALLS = r"\b(?:emitError|emitWarning|emitRemark|emitOpError|emitOptionalError|problems(?:\.|->)add|createStringError|ValidationError|node\.error|fail|fileError)\("
WHY = r"\bstd::string (?:\w+::)?(?:why\w*|unsupported\w*|contradiction)\([^;{]*\{"
LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
# What no test can bring about, and why.
UNPROVOKED = {
    "the code generator cannot write this kind of file": "LLVM's x86 writes both kinds",
    "is not the one that was made for the weights": "a guard against another layout of LLVM's objects",
    "the object is neither little-endian ELF nor Mach-O nor COFF": "every target so far is",
    "two functions share a section:": "a guard: LLVM gives each function a section",
    "wrong entry of .stack_sizes": "a guard against another layout of LLVM's objects",
    "wrong number in .stack_sizes:": "a guard against another layout of LLVM's objects",
    "were announced": "a guard against a pass that changes weights after they were counted",
    "cannot write:": "needs a full disk",
    "cannot make the folder": "ingot compile looks at it before it compiles",
    "it is too large for a protobuf file": "needs 2 GiB of small tensors",
    "and --no-allocate forbids to ask for them": "a guard: sizes that nothing bounds are refused when the graph is simple",
    "the support library's code does not fit the model's": "a guard against bitcode that LLVM cannot link",
    "--symbols none: this build of ingot has no code": "for builds without clang",
    "linking the parts of the model's code failed:": "needs an object of LLVM's that LLVM's linker cannot read, or a full disk",
    "bytes where its shape needs": "a guard: files of tensors are checked when they are read",
    "is supported up to opset": "for operators whose newest definition is not taken yet, of which there is none",
    "more than 2 GiB beside the weights": "needs a file that large",
    "a channel block is no vector of the machine": "a guard: blocks are as long as the vectors of the machine that packs the weights",
    "does not fit an index of the machine:": "a guard: sizes without addresses are refused before",
}
SHORTEST = 6  # letters of a piece that says something


def statement(text, start):
    """From `start` to the semicolon that ends the statement."""
    depth, at = 0, start
    while at < len(text):
        if literal := re.match(LITERAL, text[at:]):
            at += literal.end()
            continue
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at], 0)
        if text[at] == ";" and depth <= 0:
            break
        at += 1
    return text[start:at]


def body(text, start):
    """The function whose brace is before `start`."""
    depth, at = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[start:at]


def pieces(code):
    """The texts of a statement: literals side by side are one; both arms of a choice count as one each."""
    joined = re.sub(r'"\s*\n?\s*"', "", code)
    found = [piece.replace("\\'", "'").replace('\\"', '"') for piece in re.findall(LITERAL, joined)]
    return [piece.strip(" '\n") for piece in found if len(re.sub(r"[^a-zA-Z]", "", piece)) >= SHORTEST]


def tested(texts, tests):
    """Whether the tests have half of the longest piece's words in a row, two at least where there are as many."""
    words = max(texts, key=len).split()
    size = max((len(words) + 1) // 2, min(2, len(words)))
    return any(" ".join(words[at : at + size]) in tests for at in range(len(words) - size + 1))


def diagnostics():
    """(file, line, pieces of the text)."""
    for path in sorted([*ROOT.glob("compiler/**/*"), *ROOT.glob("targets/**/*")]):
        if path.suffix not in (".cpp", ".h", ".td") or path.name == "Interfaces.td":
            continue
        text = re.sub(r"^[ \t]*//.*$", lambda match: " " * len(match.group()), path.read_text(), flags=re.M)
        found = [(match.start(), statement(text, match.end())) for match in re.finditer(CALLS, text)]
        for match in re.finditer(WHY, text):
            inside = body(text, match.end())
            found += [(match.end() + part.start(), part.group()) for part in re.finditer(r"return [^;]*;", inside)]
        for at, code in sorted(found):
            if texts := pieces(code):
                yield path.relative_to(ROOT), text.count("\n", 0, at) + 1, texts


def main():
    tests = "\n".join(path.read_text(errors="replace") for path in ROOT.glob("test/**/*") if path.is_file() and path.suffix in (".cpp", ".h", ".py", ".mlir", ".test", ".txt"))
    tests = tests.replace("\\'", "'").replace('\\"', '"')
    tests = re.sub(r'"\s*\n?\s*"', "", tests)
    count = untested = 0
    for path, line, texts in diagnostics():
        count += 1
        has = tested(texts, tests) or max(texts, key=len) in UNPROVOKED
        untested += not has
        if not has or "--list" in sys.argv:
            print(f"{path}:{line}: {max(texts, key=len)}")
    print(f"{count - untested} passed, {untested} failed, 0 skipped")
    sys.exit(untested > 0)


if __name__ == "__main__":
    main()
