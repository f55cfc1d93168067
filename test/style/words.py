"""A word has one meaning, and headers are written in words that everybody knows.

- No two rooms give types of one name in their headers. A type with the name of a word of docs/glossary.md is of one room, wherever it stands.
  SHARED lists the exceptions, each with the reason why both mean the same, or why neither can have another name.
- No name in a header has one of the private words that this project once had for other things (PRIVATE), unless the glossary has it.
  OWN lists the names that may nevertheless.
- Each word of the glossary is used somewhere in the code or in another document.

An exception that is needed no more is reported, too.

    words.py           the check
    words.py --names   the names of types that headers have, with their rooms
"""
import collections
import pathlib
import re
import sys

from comments import TOKEN
from documents import listed

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Rooms that may have types of one name: the name, the rooms, and why.
SHARED = {
    "Node": ("graph importer onnx", "a node of the model: as the file has it, while it is resolved, and on its way to an op"),
    "Subgraph": ("graph importer", "a subgraph of a node, at the same two stages"),
    "Options": ("emit pipeline quantizer", "what the user may choose of what the room does"),
    "Result": ("emit pipeline", "what the room gives back"),
    "ElementType": ("importer support target", "the element type of a tensor; plug-ins include target's and know no other room"),
    "Image": ("emit lower target", "the descriptor's record of a device's image; the kernel family of the operators for pictures"),
    "Device": ("emit partition", "the descriptor's record of a device; the device itself, while nodes are placed"),
    "Symbol": ("emit support", "the descriptor's record of a symbol"),
    "Group": ("lower partition", "a kernel's group, while it is formed and when it is built"),
}
# Words with a private meaning, and what the field calls the thing.
PRIVATE = {
    "found": "data-dependent, result",
    "asked": "requested, host allocation",
    "told": "reported, requested",
    "said": "requested, given",
    "tell": "report",
    "tells": "report",
    "asker": "query",
    "halves": "bf16, f16",
    "quad": "dot product of four",
    "quads": "dot products of four",
    "turn": "iteration, phase, transposed",
    "turns": "iterations",
    "turned": "transposed, rotated",
    "apart": "split, separate, distance",
    "settle": "finish, decide",
    "settled": "hidden, finished",
    "unite": "unify, merge",
    "handed": "forwarded",
    "waiting": "spilled, pending",
}
# Names in headers that may have a private word, and why.
OWN = {}

DECLARED = re.compile(r"^([ \t]*)(?:template\s*<[^;{}]*?>\s*)?(?:class|struct|union|enum(?:\s+class)?)\s+(?:alignas\([^)]*\)\s*)?([A-Z]\w*)(?:\s+final)?\s*(?::(?!:)[^;{}]*)?\{", re.M)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def code(text):
    """A C++ file without comments, strings and includes; lines stay where they are."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r"^[ \t]*#.*$", "", TOKEN.sub(blank, text), flags=re.M)


def glossary(text):
    """The words of the table, without what stands behind them in parentheses."""
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    return [re.sub(r"\s*\(.*", "", word) for word in rows[1:]]  # the first row is the table's head


def spelled(name):
    """A type's name as words: MachineModel is "machine model"."""
    return " ".join(PART.findall(name)).lower()


def types(files):
    """For each name of a type: the rooms whose headers give it to all, and all rooms that have a type of that name."""
    given, everywhere = collections.defaultdict(set), collections.defaultdict(set)
    for path, text in files.items():
        room = path.split("/")[1]
        for match in DECLARED.finditer(text):
            everywhere[match.group(2)].add(room)
            if path.endswith(".h") and not match.group(1):
                given[match.group(2)].add(room)
    return given, everywhere


def meanings(files, words, shared):
    """Breaches of the first rule."""
    given, everywhere = types(files)
    needed = set()
    for name in sorted(everywhere):
        rooms = everywhere[name] if spelled(name) in words and name in given else given[name]
        allowed = set(shared.get(name, ("", ""))[0].split())
        if len(rooms) > 1:
            needed.add(name)
            if not rooms <= allowed:
                yield f"{name}: a type of {', '.join(sorted(rooms))}; a word has one meaning"
    for name in sorted(shared.keys() - needed):
        yield f"{name}: only one room has a type of that name, so SHARED need not list it"


def privateWords(files, words, own):
    """Breaches of the second rule."""
    needed = set()
    for path, text in files.items():
        for name in sorted(set(IDENTIFIER.findall(text))) if path.endswith(".h") else ():
            parts = [part.lower() for part in PART.findall(name)]
            for word in sorted(PRIVATE.keys() & set(parts) - set(words)):
                needed.add(name)
                if name not in own:
                    yield f"{path}: '{name}' has the private word '{word}'; better: {PRIVATE[word]}"
    for name in sorted(own.keys() - needed):
        yield f"{name}: no header has that name, so OWN need not list it"


def unused(words, texts):
    """Breaches of the third rule: neither the word nor a name made of it occurs."""
    known = {part.lower() for text in texts for name in set(IDENTIFIER.findall(text)) for part in PART.findall(name)}
    for word in words:
        if not all(part in known or part + "s" in known for part in map(str.lower, PART.findall(word))):
            yield f"docs/glossary.md: nothing else has the word '{word}'"


def main():
    names = [name for name in listed("*.h", "*.cpp") if name.startswith("compiler/") and name.count("/") > 1]
    files = {name: code((ROOT / name).read_text()) for name in names}
    if "--names" in sys.argv[1:]:
        for name, rooms in sorted(types(files)[0].items()):
            print(name, *sorted(rooms))
        return
    words = glossary((ROOT / "docs/glossary.md").read_text())
    documents = [(ROOT / name).read_text() for name in listed("*.md") if name != "docs/glossary.md"]
    breaches = [*meanings(files, {word.lower() for word in words}, SHARED), *privateWords(files, {word.lower() for word in words}, OWN),
                *unused(words, [*documents, *((ROOT / name).read_text() for name in names)])]
    print(*breaches, sep="\n", end="\n" if breaches else "")
    print(f"{len(files)} files, {len(words)} words of the glossary, {len(SHARED) + len(OWN)} exceptions" if not breaches else f"{len(breaches)} words to mend")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
