"""Comments of C, C++ and TableGen files are sentences, the files that they name exist, and each file says what it is about.

Finds comments that begin as fragments, which only a reader of the line above understands ("Of such a part.", "The same of
float32"), comments without any verb, names of files and of sections of documents that the repository does not have, and files
of the product that begin without a comment, as their headers do. comments.json holds how many fragments each room still has: a
room may not have more, and the sum only falls. There are none of the rest.

    comments.py                 the check
    comments.py PATH...         lists what is found in these files and folders
    comments.py --rooms         how many fragments each room has
    comments.py --lower         writes what is found into the table, unless the sum would rise (files may move from room to room)
"""
import collections
import json
import pathlib
import re
import sys
import typing

from documents import Repository, listed, missing_paths

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).with_suffix(".json")
SOURCES = ("*.h", "*.hpp", "*.cpp", "*.c", "*.inc", "*.td")
WORD = re.compile(r"[A-Za-z']+")

# Strings are matched so that a // inside of one begins no comment.
TOKEN = re.compile(r'R"([^()\s\\]{0,16})\(.*?\)\1"' r'|"(?:\\.|[^"\\\n])*"' r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'" r"|//[^\n]*|/\*.*?\*/", re.S)
# What C++ itself, tools and other projects want to see is not prose.
NO_PROSE = re.compile(r"namespace\b|NOLINT|clang-format|SPDX|[\w.]+=$|-+$|===|RUN:|CHECK|extern \"C\"$|#|TableGen|[A-Z_]+_H\b|INGOT_|end |IWYU")


class Comment(typing.NamedTuple):
    line: int
    own: bool  # whether no code stands before it on its line
    kind: str  # how it begins: "//", "///", "///<", "/*"
    text: str  # the words, in one line
    thing: bool  # whether it describes a type, a variable, a field or an enumerator, which its name makes the subject of


def commentsOf(source):
    """All comments of a file; neighbouring lines of // at the same column are one."""
    found = []
    line, position = 1, 0
    for match in TOKEN.finditer(source):
        token = match.group()
        line += source.count("\n", position, match.start())
        position = match.start()
        if not token.startswith(("//", "/*")):
            continue
        begin = source.rfind("\n", 0, position) + 1
        own = not source[begin:position].strip()
        last = line + token.count("\n")
        if token.startswith("/*"):
            kind, lines = "/*", [part.strip().lstrip("*").strip() for part in token[2:-2].lstrip("*!<").split("\n")]
        else:
            kind = re.match(r"//+[!<]?<?", token).group()
            lines = [token[len(kind):].strip()]
        previous = found[-1] if found else None
        joins = previous and kind != "/*" and own and previous["last"] == line - 1 and previous["column"] == position - begin
        if joins and previous["kind"] == kind:
            previous["lines"] += lines
        elif previous and own and previous["last"] == line - 1 and not previous["own"] and previous["column"] == position - begin and kind == "//":
            previous["lines"] += lines  # the second line of a comment behind code
        else:
            found.append({"line": line, "own": own, "kind": kind, "lines": lines, "column": position - begin})
            previous = found[-1]
        found[-1]["last"] = last
        found[-1]["end"] = match.end()
    return [Comment(c["line"], c["own"], c["kind"], " ".join(" ".join(c["lines"]).split()),
                    not c["own"] or describesThing(source, c["end"])) for c in found]


def describesThing(source, end):
    """Whether a type or data is declared behind a comment: the declaration ends, or gets its value, before any parenthesis opens. A
    heading over several declarations, with an empty line behind it, counts as well."""
    if re.compile(r"[ \t]*\n[ \t]*\n").match(source, end) and not source[:end].rstrip("*/ \n").endswith("."):
        return True
    match = re.compile(r"\s*(?:\[\[\w+\]\]\s*)?([^;={}()]*)([;={},()])").match(source, end)
    if not match:
        return False
    declaration, stop = match.group(1).strip(), match.group(2)
    if re.match(r"(?:template\s*<.*>\s*)?(?:struct|class|enum|union|typedef|using\s+\w+$|def|defvar)\b", declaration, re.S):
        return True
    if re.match(r"\s*#\s*define\s+\w+(?:\s|$)|[^;(]*\(\*", source[end:end + 400]) and "{" not in declaration:
        return True
    if re.match(r"(?:template|namespace|using|return|if|for|while|#)", declaration):
        return False
    return stop in ";=," or (stop == "{" and bool(re.search(r"\w\s+\w+$", declaration)))


# ---- fragments ----------------------------------------------------------------------------------------------------------------

# The beginnings that need the line above.
OPENERS = [re.compile(pattern, re.I) for pattern in (
    r"(?:and |but |or )?the same(?:$|[,.;:]| (?:of|for|with|as|in|where|when|but|by|on|to|from|at|behind|again|once|way|if|whether|is|and|or|without|that)\b)",
    r"(?:so|as) (?:many|much)\b",
    r"as (?:above|below|before|there)\b",
    r"such an? \w+(?:[.,;:]|$)",
    r"(?:likewise|ditto|similarly|vice versa)\b",
)]
# These do unless a main clause follows: "Of two candidates, the cheaper one wins." is a sentence. Behind a field, on its line, its name
# comes before them: "int64_t lanes; ///< of the widest vector".
UNLESS_CLAUSE = [re.compile(pattern, re.I) for pattern in (
    r"(?:and |but |or )?(?:of|for|in|with|by|from|to) (?:such|those|these|which|whom|it|them|him|one|the (?:same|other|others))\b",
    r"of (?:a|an|the|each|all|some|any|several|two|what|\w+ that)\b",
    r"as (?:these|those|it|they)\b",
    r"(?:those|that) (?:of|which|with|in|behind)\b",
    r"(?:whose|whom|in which|for which|by which|which (?:is|are|has|have|may|can))\b",
    r"(?:or|and|but|nor|also|otherwise)\b",
)]

# Verbs of which neither form is a noun here.
PLAIN_VERBS = """accept agree initialize build allocate allow append appear apply arise arrive ask attain attend become begin belong bind bring broadcast build call
 carry choose claim classify collect combine come compare compile compute concern conflict consume contain contradict contribute convert correct correspond
 cover create decide declare decode decrease define deliver depend dequantize describe detect determine differ divide draw drop enqueue ensure
 enter equal evaluate exceed exist expand expect explain express extend fail fall fetch fill find finish fit fold follow forbid forget gather
 generate get give go grow hang happen help hide hold ignore imply import include infer inherit inline insert interpret join keep know lack last
 lay lead learn leave lend let lie listen live look lose lower make match matter mean measure meet mention merge move multiply name narrow need
 normalize obey occur omit open overflow overlap overwrite own parse pay permit pick prefer prepare prevent produce promise prove provide put
 quantize raise reach recognise shorten lengthen read receive recognize reduce refer refuse rely remain remember remove rename reorder repeat replace represent resize reproduce
 require reserve resolve respect restore resume return rewrite rise run satisfy saturate save say scatter see seem sees send separate serve show shrink
 simplify skip solve speak spread stand start stay stop store subtract succeed suffice swap take tell tend throw touch translate travel treat try
 turn understand unite unpack update use vanish vary verify visit wait walk want warn weigh win wish wrap write yield"""
# Verbs that are nouns as well: a determiner, an adjective or a preposition before one makes it a noun.
NOUN_VERBS = """act add address aim align answer back balance batch bend block bound box branch bundle cache cast catch cause chain change check
 claim clamp close code color compress copy cost count cross cut cycle damage default delay display dot drive dump edit emit end escape estimate
 exit export face factor feed field figure file filter fix flag float flow force form frame free fuse gain group guard guess guide handle hash
 head hit host image increase index input interleave iterate judge jump key label lane layer leak level lift limit line link list load lock log
 loop map mark mask mix model note notice number occupy offer offset order output pack pad page pair park part pass patch pattern permute place
 plan point pool position pre price print process profile program project protect pull push quote range rank rate record register release report
 request reset reshape rest result reverse ring root round rule sample scale scan score search seed sequence set shape share shift sign signal
 size sleep slice slot sort sound space split square stack stage state step stream stretch stride strip study sum supply support switch
 synchronize tail tap target task test text thread tick tie tile time total trace track transfer transform transpose trim type unroll widen cut value view
 void weight work zero profit hurt drain suit suppose travel"""
AUXILIARY = """is are was were be has have had do does did can cannot could may might must will would shall should need isn't aren't doesn't
 don't can't won't came went began became took gave saw knew wrote ran wants said ought it's there's that's let's goes does undoes tries carries applies copies denies
 multiplies relies replies satisfies simplifies specifies supplies varies verifies passes reaches touches fetches matches catches watches
 crosses presses processes expresses mixes fixes finishes pushes guesses discusses"""
# What follows a verb at the beginning of a sentence, and what follows a noun there.
OBJECT = {"the", "a", "an", "CODE", "it", "them", "all", "each", "this", "that", "what", "its", "their", "no", "one"}
NO_OBJECT = {None, "of", "in", "on", "at", "by", "for", "from", "with", "without", "as", "and", "or", "over", "between", "behind", "before", "beside",
             "to", "per", "that", "which", "whose", "where", "when", "than", "like", "along", "around", "divided", "made", "x"}
NOT_BEFORE_VERB = set("""a an the of in on at by for from with without to as than behind before after between into over under per beside
 its their his our your my this these those some any no each every all both many several few most more two three four and or whose which's
 own other another such same first second last next whole only single one""".split()) - {"which", "that", "only", "one", "all", "both", "each"}


# A formula, or an example of what is written, is its own sentence: 1 + erf(x / sqrt(2)); "4.9 MB".
FORMULA = re.compile(r"[=<>]|^\"|[\w)|] [-+*/^] [\w(|]|^[a-z]\w*\(")


def forms(words):
    for word in words.split():
        yield word
        yield word + "es" if word.endswith(("s", "sh", "ch", "x", "z")) else word[:-1] + "ies" if re.search(r"[^aeiou]y$", word) else word + "s"


VERBS = set(forms(PLAIN_VERBS)) | set(AUXILIARY.split())
MAYBE_VERBS = set(forms(NOUN_VERBS))


def firstSentence(text):
    """A comment up to the end of its first sentence: a stop before a blank and a capital letter, or the end."""
    match = re.search(r"[.!?](?=\s+[A-Z`\[(\"'0-9]|\s*$)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)", text)
    return text[:match.start()] if match else text


def hasVerb(sentence):
    """Whether a sentence may have a finite verb, the imperative included. Doubtful words count as verbs."""
    if FORMULA.search(sentence):
        return True
    sentence = re.sub(r"`[^`]*`|'[^' ]*'|\"[^\"]*\"", " CODE ", sentence)
    words = [word.lower() if not word.isupper() else word for word in WORD.findall(sentence)]
    for i, word in enumerate(words):
        if word in VERBS:
            return True
        if word in MAYBE_VERBS:
            before = words[i - 1] if i else None
            behind = words[i + 1] if i + 1 < len(words) else None
            if before is None:
                if behind in OBJECT or (word.endswith("s") and behind not in NO_OBJECT):  # "Copy the rows", "Cuts paths"; not "Rows of x"
                    return True
            elif before not in NOT_BEFORE_VERB:
                return True
    return False


def hasMainClause(sentence):
    """Whether a sentence has a verb before its first relative clause, or behind a comma."""
    clause = re.search(r"[,:] (.*)", sentence)
    main = re.split(r"\b(?:that|which|who|whose|whom|where|when|while|what|as|if|unless|because|since|so)\b", sentence[3:])[0]
    return hasVerb("x " + main) or bool(clause and hasVerb(clause.group(1)))


def isFragment(comment):
    """Why a comment is a fragment, or None."""
    text = comment.text
    if not WORD.search(text) or NO_PROSE.match(text) or (not comment.own and not comment.kind.endswith("<")):
        return None
    sentence = firstSentence(text)
    if any(opener.match(sentence) for opener in OPENERS):
        return "begins as a fragment"
    if comment.own and any(opener.match(sentence) for opener in UNLESS_CLAUSE) and not hasMainClause(sentence):
        return "begins as a fragment"
    if not comment.thing and len(WORD.findall(sentence)) > 1 and not hasVerb(sentence):
        return "has no verb"
    return None


# ---- the repository -----------------------------------------------------------------------------------------------------------


def roomOf(name):
    """The folder of the compiler with one task, and of its largest rooms the folder inside; else the first folder."""
    parts = name.split("/")[:-1]
    if parts[:1] == ["compiler"]:
        return "/".join(parts[:3] if parts[1:2] and parts[1] in ("lower", "emit", "onnx", "driver") else parts[:2])
    return parts[0] if parts else "."


def lacksHead(name):
    """Whether a file of the product does not begin with a comment, and neither does its header nor its TableGen file."""
    if not name.startswith(("compiler/", "targets/", "runtime_support/")):
        return False
    stem = name.rpartition(".")[0]
    texts = [(ROOT / other).read_text().lstrip() for other in (name, f"{stem}.h", f"{stem}.td") if (ROOT / other).exists()]
    return not any(text.startswith(("//", "/*")) for text in texts)


def inspect(files, repository):
    """Fragments and wrong names and heads: (file, line, room, what is wrong, text) each."""
    fragments, wrong = [], []
    for name in files:
        if name.startswith("third_party/"):
            continue
        if lacksHead(name):
            wrong.append((name, 1, roomOf(name), "says nowhere what it is about", "a file, or its header, begins with a comment"))
        for comment in commentsOf((ROOT / name).read_text()):
            reason = isFragment(comment)
            if reason:
                fragments.append((name, comment.line, roomOf(name), reason, comment.text))
            wrong += [(name, comment.line, roomOf(name), f"{missing} does not exist", comment.text) for missing in missing_paths(comment.text, repository)]
    return fragments, wrong


def show(found, most=60):
    for name, line, _, reason, text in found[:most]:
        print(f"{name}:{line}: {reason}: {text[:100]}")
    if len(found) > most:
        print(f"... and {len(found) - most} more")


def main():
    repository = Repository()
    paths = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    fragments, wrong = inspect(listed(*(paths or SOURCES)) if not paths else [f for f in listed(*SOURCES) if any(f.startswith(p) for p in paths)], repository)
    if paths:
        show(fragments + wrong, 10000)
        return
    counts = collections.Counter(room for _, _, room, _, _ in fragments)
    allowed = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    if "--rooms" in sys.argv:
        for room, count in sorted(counts.items(), key=lambda item: -item[1]):
            print(f"{count:5} {room}")
        print(f"{sum(counts.values()):5} together, {len(wrong)} names that do not exist")
        return
    if "--lower" in sys.argv:
        if allowed and sum(counts.values()) > sum(allowed.values()):
            sys.exit(f"{sum(counts.values())} fragments are more than the {sum(allowed.values())} of the table, which only falls")
        TABLE.write_text(json.dumps(dict(sorted(counts.items())), indent=2) + "\n")
        return
    show(wrong)
    over = sorted(room for room, count in counts.items() if count > allowed.get(room, 0))
    for room in over:
        print(f"{room}: {counts[room]} fragments, of which the table allows {allowed.get(room, 0)}")
        show([fragment for fragment in fragments if fragment[2] == room])
    if wrong or over:
        sys.exit("comments are sentences with a subject and a verb, and name files that exist: see CONTRIBUTING.md")
    less = [room for room, count in allowed.items() if counts[room] < count]
    print(f"{sum(counts.values())} fragments left, none new" + (f"; {len(less)} rooms have fewer than their table says: comments.py --lower" if less else ""))


if __name__ == "__main__":
    main()
