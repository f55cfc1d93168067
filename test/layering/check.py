"""Who may include whom (docs/architecture.md, "Rooms"). The table below is the rule; the #include lines of every source file and the USES
lists of the CMake files are held against it; that nobody names a target, that no integer of a model passes through a float or is told from others
by its width alone, that only one file spells the name of an attribute, and that files, functions and repeats stay small. Prints each breach as
FILE:LINE and exits 1 if there is one."""
import pathlib
import re
import sys

# support is open to every room of the compiler; a room may always include itself.
PASSES = ["onnx", "plan", "target", "importer", "graph", "fusion", "integer", "partition", "layout", "lower", "memory", "entry", "emit"]
MAY_USE = {
    "support": [],
    "target": [],
    "onnx": ["target"],
    "plan": ["target", "onnx"],
    # What these do is the same for every machine.
    "importer": ["onnx"],
    "graph": ["onnx"],
    "fusion": ["onnx"],
    "integer": ["onnx", "target"],
    "lower": ["plan", "onnx", "target"],
    "partition": ["onnx", "plan", "target", "lower"],
    "layout": ["plan", "onnx", "target", "lower"],
    "memory": ["onnx", "plan", "target"],
    "entry": ["onnx", "plan", "target", "lower"],
    "emit": ["plan", "target"],
    "pipeline": PASSES,
    "report": ["pipeline", "plan"],
    "quantizer": ["importer"],
    "driver": ["pipeline", "report", "quantizer", "target", "importer", "emit", "plan"],
    "tools": [*PASSES, "pipeline"],
    "targets": ["target", "onnx", "plan", "lower", "emit"],
    "runtime_support": [],
}
# Folders within a room: which of the others each may include. What lies in the room itself is open to all of them; a folder that the
# table does not name uses and is used freely.
FOLDERS = {
    "lower": {
        "core": ["bytes"],
        "bytes": ["core"],
        "product": ["core", "bytes"],
        "attention": ["core", "bytes", "product"],
        "conv": ["core", "bytes", "product"],
        "algorithms": ["core", "bytes", "product", "conv"],
        "families": ["core", "bytes", "product", "attention", "conv"],
    },
    "driver": {"execution": [], "quantizing": ["execution"], "packaging": ["execution"], "commands": ["execution", "quantizing", "packaging"]},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]((?:compiler|targets|runtime_support)/[^>"]+)[>"]')
USES = re.compile(r"ingot_room\(\s*(\w+)[^)]*?\bUSES\b([^)]*)\)", re.S)


def room_of(path):
    """The room that a path below the repository belongs to; None for what is outside of the table. Each folder of targets/ is a room of
    its own, because targets may not know each other, and its folder device/ another, because programs link that without the compiler."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "compiler" and len(parts) > 2:
        return parts[1]
    if parts[0] == "targets" and len(parts) > 2:
        return f"{'devices' if parts[2] == 'device' else 'targets'}/{parts[1]}"
    return "runtime_support" if parts[0] == "runtime_support" else None


def allowed(user, used):
    if user == used or used == user.replace("targets/", "devices/"):
        return True
    rule = MAY_USE.get(user.split("/")[0])
    if rule is None or user == "runtime_support":
        return used == "runtime_support"
    # The public C header is what the compiler and the programs that use a model have in common.
    return used in ("support", "runtime_support") or used in rule


def folder_of(path):
    """The room of the compiler and the folder in it that a path belongs to; no folder for what lies in the room itself."""
    parts = pathlib.PurePosixPath(path).parts
    return (parts[1], parts[2] if len(parts) > 3 else None) if parts[0] == "compiler" and len(parts) > 2 else (None, None)


def folders_allow(user, used):
    (room, folder), (other, target) = folder_of(user), folder_of(used)
    rule = FOLDERS.get(room, {})
    return room != other or folder == target or folder not in rule or target not in rule or target in rule[folder]


def includes(root):
    for folder in ("compiler", "targets", "runtime_support"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".c", ".td"):
                continue
            user = room_of(path.relative_to(root).as_posix())
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                used = match and room_of(match.group(1))
                if used and not folders_allow(path.relative_to(root), match.group(1)):
                    yield f"{path.relative_to(root)}:{number}: its folder may not include {match.group(1)}"
                if user in (None, "pch", "generated") or not used or allowed(user, used):
                    continue
                yield f"{path.relative_to(root)}:{number}: {user} may not include {match.group(1)}"


def uses(root):
    for path in sorted(root.glob("compiler/*/CMakeLists.txt")) + sorted(root.glob("targets/*/CMakeLists.txt")):
        user = room_of(path.relative_to(root).as_posix())
        for name, rooms in USES.findall(re.sub(r"#.*", "", path.read_text())):
            for used in re.split(r"\bLINKS\b|\bNO_PCH\b", rooms)[0].split():
                if not allowed(user, used):
                    yield f"{path.relative_to(root)}: room {name} may not use {used}"


def target_names(root):
    """Nobody but the folder itself names a target: in the compiler's code (comments aside) its folder's name does not occur. The formats of packages are
    for certain machines, as those who read them say: their tables name these."""
    names = [path.name for path in (root / "targets").iterdir() if path.is_dir()]
    pattern = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(map(re.escape, names))})(?![A-Za-z0-9])", re.I)
    for path in sorted((root / "compiler").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".td", ".txt") or path.is_relative_to(root / "compiler/driver/packaging"):
            continue
        comment = "#" if path.suffix == ".txt" else "//"
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if match := pattern.search(line.split(comment)[0]):
                yield f"{path.relative_to(root)}:{number}: names the target {match.group(1)}"


# Integers as doubles, which hold 53 bits: of what IR or a constant says, and on the way into a constant. support::Number is for both.
CASTS = r"(?:\bstatic_cast<(?:double|float)>|(?<![\w:<])(?:double|float))\("
INTEGERS_OF_IR = re.compile(r"\bget(?:S|Z)?(?:Int|ExtValue|LimitedValue)\(\)|\bget(?:SExt|ZExt)Value\(\)|(?:\.|->)(?:integer|natural|bits)\(\)|\bintegersOf\(")
INTO_CONSTANT = re.compile(r"\b(?:constant|constantOfType|makeNumber)\((?:[^(),]*,\s*)*static_cast<(?:double|float)>\(")
ROUNDS = re.compile(r"\b(?:signedR|r)oundTo(?:Double|Float)\(|\bbitsTo(?:Double|Float)\(")
WIDTH_ALONE = re.compile(r"\bisInteger\(\d+\)")


def argument(text, start):
    """From `start` to the parenthesis that closes the one before it."""
    depth, at = 1, start
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start : at - 1]


def lossy_integers(text):
    """Where a file's text makes floats of integers that stand in a model: (offset, complaint)."""
    for cast in re.finditer(CASTS, text):
        if INTEGERS_OF_IR.search(argument(text, cast.end())):
            yield cast.start(), "makes a float of an integer of the model; support::Number says whether there is one"
    for into in INTO_CONSTANT.finditer(text):
        yield into.start(), "makes a constant of an integer by way of a float; it takes the integer"
    for rounds in ROUNDS.finditer(text):
        yield rounds.start(), "rounds an integer to a float"


def asked_by_width(text):
    """isInteger(64) is true of uint64, too."""
    for match in WIDTH_ALONE.finditer(text):
        yield match.start(), f"{match.group()} is true with a sign and without; isInt, isUint and isBool of onnx/ElementTypes.h are not"


def integers(root):
    """Behind emit, integers have no sign any more, and their widths are all there is to ask."""
    for path in sorted([*(root / "compiler").rglob("*"), *(root / "targets").rglob("*")]):
        if path.suffix not in (".h", ".cpp", ".td"):
            continue
        text = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), path.read_text(errors="replace"))
        name = path.relative_to(root).as_posix()
        found = [*lossy_integers(text), *(asked_by_width(text) if room_of(name) != "emit" else [])]
        for offset, complaint in found:
            yield f"{name}:{text.count(chr(10), 0, offset) + 1}: {complaint}"


# Names of attributes: those of the compiler's own, and what the accessors of attributes are given.
OWN_NAME = re.compile(r'(?<!\\)"((?:ingot|onnx|plan)\.[a-z_]+(?:\.[a-z_]+)*)"')
GIVEN_NAME = re.compile(r'\b(?:get|set|has|remove)(?:Arg|Result|Discardable)?Attr(?:OfType<[\w:]+>)?\(\s*(?:(?:[^"();,]|\([^"();]*\))+,\s*)?"([\w.]+)"')
COMMENT_OR_INCLUDE = re.compile(r"//[^\n]*|^\s*#\s*include[^\n]*", re.M)
DECLARED_NAME = re.compile(r":\$(\w+)")  # by an operator's definition, whose attributes have accessors


def attribute_names(text):
    """The names of attributes that a file's text spells: (offset, name)."""
    code = COMMENT_OR_INCLUDE.sub(lambda match: " " * len(match.group()), text)
    return sorted({(match.start(1), match.group(1)) for pattern in (OWN_NAME, GIVEN_NAME) for match in pattern.finditer(code)})


def spelled_twice(texts, declared=()):
    """Where a file spells a name that one before it spells, too: (file, offset, complaint)."""
    first = {}
    for file, text in texts.items():
        for offset, name in attribute_names(text):
            if name not in declared and first.setdefault(name, file) != file:
                yield file, offset, f'spells the attribute "{name}", as {first[name]} does; a constant in a header is for both'


def attributes(root):
    """Whoever writes an attribute and whoever reads it mean the same constant, which says what the attribute means."""
    paths = [path for folder in ("compiler", "targets", "test") for path in sorted((root / folder).rglob("*")) if path.suffix in (".h", ".cpp", ".td")]
    texts = {path.relative_to(root).as_posix(): path.read_text(errors="replace") for path in paths}
    declared = {name for file, text in texts.items() if file.endswith(".td") for name in DECLARED_NAME.findall(text)}
    for file, offset, complaint in spelled_twice(texts, declared):
        yield f"{file}:{texts[file].count(chr(10), 0, offset) + 1}: {complaint}"


MOST_LINES, MOST_OF_FUNCTION = 600, 100  # of a file, of a function
REPEAT, MOST_REPEATED = 8, 0.005  # lines that make a repeat, and the share of lines that may be in one
# What a function's first line is not behind: the statement before has ended there.
ENDED = re.compile(r"[;{}\\]$|^$|^\s*(?://|#|(?:public|private|protected):)")
NO_FUNCTION = re.compile(r"\s*(?:namespace|class|struct|enum|union|extern)\b|.*=\s*\{$")


def long_functions(text):
    """Where functions begin that are too long, and their lines. Code is as clang-format writes it: the brace that ends a function stands as
    far to the right as its first line."""
    lines = text.splitlines()
    for at in (at for at, line in enumerate(lines) if line.endswith("{")):
        start = at
        while start and not ENDED.search(re.sub(r"\s*//.*", "", lines[start - 1])):
            start -= 1
        head = " ".join(lines[start : at + 1])
        if "(" not in head or head.count("(") != head.count(")") or NO_FUNCTION.match(head):
            continue
        end = re.match(" *", lines[start]).group() + "}"
        length = 1 + next((i for i in range(at, len(lines)) if lines[i].startswith(end)), at) - start
        if length > MOST_OF_FUNCTION:
            yield start + 1, length


def sizes(root):
    """Files and functions fit their bounds, and little stands in two places."""
    places, total = {}, 0
    for path in sorted([*(root / "compiler").rglob("*"), *(root / "targets").rglob("*")]):
        if path.suffix not in (".h", ".cpp", ".td"):
            continue
        name, text = path.relative_to(root).as_posix(), path.read_text(errors="replace")
        if (length := len(text.splitlines())) > MOST_LINES:
            yield f"{name}: has {length} lines; {MOST_LINES} are the most. Divide it by meaning"
        for line, length in long_functions(text):
            yield f"{name}:{line}: a function of {length} lines; {MOST_OF_FUNCTION} are the most"
        code = [line.strip() for line in text.splitlines() if line.strip() and not re.match(r"\s*(?://|#|\})", line)]
        total += len(code)
        for at in range(len(code) - REPEAT + 1):
            places.setdefault("\n".join(code[at : at + REPEAT]), []).append((name, at))
    repeated = {(name, at + i) for those in places.values() if len(those) > 1 for name, at in those for i in range(REPEAT)}
    if len(repeated) > MOST_REPEATED * total:
        files = sorted({name for name, _ in repeated})
        yield f"{len(repeated)} of {total} lines stand in two places, more than {MOST_REPEATED:.1%}: in {', '.join(files)}"


def selftest():
    """Each of these is found, and none of those."""
    body = "  x();\n" * MOST_OF_FUNCTION
    for head, found in {"void f() {": 1, "static int f(int a,\n             int b) {": 1, "namespace a {": 0, "struct S {": 0, "const int a[] = {": 0}.items():
        if len([*long_functions(f"{head}\n{body}}}\n")]) != found:
            return [f"selftest: judged wrongly: {head}"]
    bad = ["double d = static_cast<double>(attr.getInt());", "double(i.getValue().getSExtValue())", "static_cast<double>((*integersOf(v))[0])",
           "w.constant(static_cast<double>(count), type)", "constantOfType(type, static_cast<double>(n))", "value.roundToDouble()", "static_cast<float>(*n.integer())"]
    good = ["static_cast<double>(elements)", "w.constant(count, type)", "auto x = static_cast<double>(lanes) * f;", "f(double(1 << 24))"]
    missed = [text for text in bad if not any(lossy_integers(text))] + [text for text in good if any(lossy_integers(text))]
    missed += [text for text in ["type.isInteger(64)", "isInteger(1)"] if not any(asked_by_width(text))] + [text for text in ["isInteger()", "isInt(t, 64)"] if any(asked_by_width(text))]
    twice = ['op->setAttr("plan.x", a);', 'name == "onnx.some_name"', 'f.setArgAttr(i, "llvm.x", b);', 'f.getArgAttr(x.number(), "llvm.x")', 'op->getAttrOfType<mlir::UnitAttr>("x")',
             'op->removeAttr(\n    "x")']
    once = ['#include "ingot.h"', '// "ingot.x"', 'name == "onnx.Abs"', 'op->hasAttr(xName)', 'op->getAttr("declared")', 'b.getStringAttr("x")', 'error("plan.x is bad")']
    missed += [text for text in twice if not any(spelled_twice({"a": text, "b": text}))] + [text for text in once if any(spelled_twice({"a": text, "b": text}, {"declared"}))]
    missed += [text for text in twice if any(spelled_twice({"a": text + text}))]
    return [f"selftest: judged wrongly: {text}" for text in missed]


def unknown_rooms(root):
    for path in sorted((root / "compiler").iterdir()):
        if path.is_dir() and path.name not in MAY_USE and path.name not in ("pch", "generated"):
            yield f"compiler/{path.name}: a room without a line in the table of test/layering/check.py"


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    breaches = [*selftest(), *unknown_rooms(root), *includes(root), *uses(root), *target_names(root), *integers(root), *attributes(root), *sizes(root)]
    print("\n".join(breaches) if breaches else "every include and every USES list agrees with the table, integers stay what they are, attributes have one name, and sizes are within their bounds")
    sys.exit(bool(breaches))


if __name__ == "__main__":
    main()
