// Parses by recursive descent, a function for each level of the grammar, as RE2's documentation describes the syntax:
//
//   either    join | join | ...                  alternatives
//   join      repeated repeated ...              one behind the other, and \Q...\E
//   repeated  atom, atom*, atom+, atom?, atom{2,5}
//   atom      a character, ., [set], \d, ^, $, (either), (?i:either)
//
// A character is one of Unicode. Its flags are applied while it is parsed: with i a letter becomes the set of both
// cases, so that what follows knows nothing of flags. Groups capture nothing, since only the whole match is of use.
// What would need memory of the past (references to groups, looking behind) is refused, because no automaton does it.
#include "compiler/onnx/text/regex/Parse.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

namespace ingot::onnx::regex {
namespace {

/// RE2 has the same limit of repetitions; nesting is limited because the parser is recursive.
constexpr int mostRepeats = 1000, deepest = 200;

/// Takes the pattern from `text`, whose front is the place where parsing is. The first problem is kept.
class Parser {
public:
  Parser(llvm::StringRef text, std::deque<Tree> &trees) : text(text), trees(trees) {}

  /// Returns the tree; null, with a `problem`, where the text is no pattern.
  const Tree *parse() {
    const Tree *tree = either(0);
    if (problem.empty() && !text.empty()) {
      problem = "has a ) without a (";
    }
    return problem.empty() ? tree : nullptr;
  }
  std::string problem;

private:
  llvm::StringRef text;
  std::deque<Tree> &trees;
  struct Flags {
    bool ignoresCase = false, lines = false, dotsAll = false;
  } flags;

  const Tree *fail(const llvm::Twine &why) {
    if (problem.empty()) {
      problem = why.str();
    }
    return nullptr;
  }
  const Tree *add(Tree tree) { return &trees.emplace_back(std::move(tree)); }
  /// Makes a set of characters, which has both cases of its letters where case is ignored.
  const Tree *characters(CharacterRanges ranges) {
    Tree tree{Tree::Characters};
    tree.ranges = flags.ignoresCase ? withCases(ranges) : normal(std::move(ranges));
    return add(std::move(tree));
  }
  /// A place takes no character: the begin or end of a line, of the text, or of a word.
  const Tree *place(Assertion assertion) {
    Tree tree{Tree::Place};
    tree.assertion = assertion;
    return add(std::move(tree));
  }

  /// Parses alternatives up to a parenthesis that closes, or the end. Flags that are set inside end with it.
  const Tree *either(int depth) {
    if (depth > deepest) {
      return fail("is nested too deeply");
    }
    Flags outside = flags;
    Tree tree{Tree::Either};
    do {
      const Tree *part = join(depth);
      if (!part) {
        return nullptr;
      }
      tree.parts.push_back(part);
    } while (text.consume_front("|"));
    flags = outside;
    return tree.parts.size() == 1 ? tree.parts.front() : add(std::move(tree));
  }

  /// Parses a sequence. Between \Q and \E each character stands for itself, and a repetition behind \E is one of the
  /// last.
  const Tree *join(int depth) {
    Tree tree{Tree::Join};
    while (!text.empty() && text.front() != '|' && text.front() != ')') {
      if (text.consume_front("\\Q")) { // what follows stands for itself, up to \E
        size_t end = std::min(text.find("\\E"), text.size());
        llvm::StringRef quoted = text.take_front(end);
        text = text.drop_front(end);
        text.consume_front("\\E");
        std::swap(text, quoted);
        while (problem.empty() && !text.empty()) {
          uint32_t c = character();
          tree.parts.push_back(characters({{c, c}}));
        }
        text = quoted;
        if (problem.empty() && !tree.parts.empty()) {
          tree.parts.back() = repeated(tree.parts.back());
        }
        continue;
      }
      const Tree *part = atom(depth);
      part = part ? repeated(part) : nullptr;
      if (!part) {
        return nullptr;
      }
      tree.parts.push_back(part);
    }
    return problem.empty() ? add(std::move(tree)) : nullptr;
  }

  /// Takes one character from the pattern.
  uint32_t character() {
    const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.begin());
    const auto *begin = at;
    llvm::UTF32 c = 0;
    if (llvm::convertUTF8Sequence(&at, begin + text.size(), &c, llvm::strictConversion) != llvm::conversionOK) {
      fail("is not UTF-8");
      text = "";
      return 0;
    }
    text = text.drop_front(at - begin);
    return c;
  }

  /// Wraps `part` in the repetition behind it, of which there may be one: RE2 refuses a** as well.
  const Tree *repeated(const Tree *part) {
    bool before = false;
    for (;;) {
      int least = 0, most = -1;
      if (text.consume_front("*")) {
      } else if (text.consume_front("+")) {
        least = 1;
      } else if (text.consume_front("?")) {
        most = 1;
      } else if (!counted(least, most)) {
        return problem.empty() ? part : nullptr;
      }
      if (before) {
        return fail("repeats a repetition");
      }
      before = true;
      // "as few as possible" is the same for a match of a whole text, and a search takes the longest match
      text.consume_front("?");
      Tree tree{Tree::Repeat};
      tree.parts = {part}, tree.least = least, tree.most = most;
      part = add(std::move(tree));
    }
  }

  /// Reads {n}, {n,} or {n,m}; anything else in braces stands for itself.
  bool counted(int &least, int &most) {
    llvm::StringRef rest = text;
    unsigned low = 0, high = 0;
    if (!rest.consume_front("{") || rest.consumeInteger(10, low)) {
      return false;
    }
    bool comma = rest.consume_front(","), open = comma && rest.starts_with("}");
    if ((comma && !open && rest.consumeInteger(10, high)) || !rest.consume_front("}")) {
      return false;
    }
    high = comma ? high : low;
    if (low > unsigned(mostRepeats) || high > unsigned(mostRepeats) || (!open && high < low)) {
      fail("repeats " + llvm::Twine(low) + " to " + llvm::Twine(high) + " times; at most 1000 are supported");
      return false;
    }
    text = rest;
    least = int(low), most = open ? -1 : int(high);
    return true;
  }

  /// Parses what a repetition would apply to.
  const Tree *atom(int depth) {
    if (text.consume_front("(")) {
      return group(depth);
    }
    if (text.consume_front("[")) {
      CharacterRanges ranges;
      return bracket(ranges) ? add({Tree::Characters, std::move(ranges)}) : nullptr;
    }
    if (text.consume_front(".")) {
      return add({Tree::Characters, flags.dotsAll ? CharacterRanges{{0, lastCharacter}} : inverse({{'\n', '\n'}})});
    }
    if (text.consume_front("^")) {
      return place(flags.lines ? Assertion::LineBegins : Assertion::TextBegins);
    }
    if (text.consume_front("$")) {
      return place(flags.lines ? Assertion::LineEnds : Assertion::TextEnds);
    }
    if (text.starts_with("*") || text.starts_with("+") || text.starts_with("?")) {
      return fail("repeats nothing");
    }
    if (text.consume_front("\\")) {
      if (std::optional<Assertion> assertion = placeEscape()) {
        return place(*assertion);
      }
      CharacterRanges ranges;
      bool isClass = false;
      return escape(ranges, isClass) ? characters(std::move(ranges)) : nullptr;
    }
    uint32_t c = character();
    return problem.empty() ? characters({{c, c}}) : nullptr;
  }

  /// Parses what follows a parenthesis: a name, which is read and forgotten, flags, and alternatives.
  const Tree *group(int depth) {
    Flags outside = flags;
    if (text.consume_front("?")) {
      if (text.starts_with("P<") || text.starts_with("<")) {
        text.consume_front("P");
        size_t end = text.find('>');
        bool isName = end != llvm::StringRef::npos && end > 1 &&
                      llvm::all_of(text.slice(1, end), [](char c) { return llvm::isAlnum(c) || c == '_'; });
        if (!isName) {
          return fail("has a group with an invalid name, or looks behind, which is unsupported");
        }
        text = text.drop_front(end + 1);
      } else if (!groupFlags()) {
        return nullptr;
      } else if (text.consume_front(")")) { // (?i) holds up to the end of the group around it
        return add({Tree::Empty});
      } else {
        text.consume_front(":");
      }
    }
    const Tree *inside = either(depth + 1);
    flags = outside;
    if (inside && !text.consume_front(")")) {
      return fail("has a ( without a )");
    }
    return inside;
  }

  /// Reads the flags behind (?, and leaves the ) or : behind them.
  bool groupFlags() {
    bool on = true;
    for (; !text.empty() && text.front() != ')' && text.front() != ':'; text = text.drop_front()) {
      switch (text.front()) {
      case '-':
        on = false;
        break;
      case 'i':
        flags.ignoresCase = on;
        break;
      case 'm':
        flags.lines = on;
        break;
      case 's':
        flags.dotsAll = on;
        break;
      case 'U': // the flag only says which of several matches is found first
        break;
      default:
        fail("has a group that begins with (?" + llvm::Twine(text.front()) + ", which is unsupported");
        return false;
      }
    }
    return true;
  }

  std::optional<Assertion> placeEscape() {
    for (auto [letter, assertion] : {std::pair("A", Assertion::TextBegins),
                                     {"z", Assertion::TextEnds},
                                     {"b", Assertion::WordEdge},
                                     {"B", Assertion::NoWordEdge}}) {
      if (text.consume_front(letter)) {
        return assertion;
      }
    }
    return std::nullopt;
  }

  /// Reads what follows a backslash: a class of characters, or the code of one.
  bool escape(CharacterRanges &ranges, bool &isClass) {
    if (text.empty()) {
      fail("ends with a backslash");
      return false;
    }
    ranges = escapedClass(text.front());
    isClass = !ranges.empty();
    if (!isClass) {
      std::optional<uint32_t> code = codeEscape();
      ranges = {{code.value_or(0), code.value_or(0)}};
      return code.has_value();
    }
    text = text.drop_front();
    return true;
  }

  /// Returns the code of one escaped character: \n and its like, \x41, \x{1F600}, octal \101, or a mark that stands for
  /// itself.
  std::optional<uint32_t> codeEscape() {
    static constexpr llvm::StringLiteral letters = "afnrtv", means = "\a\f\n\r\t\v";
    char c = text.front();
    size_t letter = letters.find(c);
    unsigned code = 0;
    if (letter != llvm::StringRef::npos) {
      code = static_cast<unsigned char>(means[letter]);
      text = text.drop_front();
      return code;
    }
    if (c == 'x') {
      text = text.drop_front();
      bool brace = text.consume_front("{");
      size_t length = brace ? text.find('}') : 2;
      if (length == llvm::StringRef::npos || text.size() < length || text.take_front(length).getAsInteger(16, code) ||
          code > lastCharacter) {
        fail("has \\x without a hexadecimal code behind it");
        return std::nullopt;
      }
      text = text.drop_front(length + brace);
      return code;
    }
    if (c >= '0' && c <= '7') { // an octal code has three digits, or up to three that begin with a zero
      size_t length = 1;
      while (length < 3 && length < text.size() && text[length] >= '0' && text[length] <= '7') {
        ++length;
      }
      if (c != '0' && length < 3) {
        fail("refers back to a group, which is unsupported");
        return std::nullopt;
      }
      (void)text.take_front(length).getAsInteger(8, code);
      text = text.drop_front(length);
      return code;
    }
    if (llvm::isAlnum(c)) {
      fail("has \\" + llvm::Twine(c) + ", which is unsupported");
      return std::nullopt;
    }
    uint32_t own = character();
    return problem.empty() ? std::optional(own) : std::nullopt;
  }

  /// Reads a set of characters behind its [.
  bool bracket(CharacterRanges &ranges) {
    bool others = text.consume_front("^");
    for (bool first = true; first || !text.starts_with("]"); first = false) {
      CharacterRanges part;
      bool isClass = false;
      if (text.empty()) {
        fail("has a [ without a ]");
      }
      if (!problem.empty() || !bracketPart(part, isClass)) {
        return false;
      }
      if (!isClass && text.starts_with("-") && text.size() > 1 && text[1] != ']') {
        text = text.drop_front();
        CharacterRanges end;
        if (!bracketPart(end, isClass)) {
          return false;
        }
        if (isClass || end.front().first < part.front().first) {
          fail("has a range of characters that ends before it begins");
          return false;
        }
        part.front().last = end.front().last;
      }
      llvm::append_range(ranges, part);
    }
    text = text.drop_front();
    ranges = flags.ignoresCase ? withCases(ranges) : normal(ranges);
    ranges = others ? inverse(ranges) : ranges;
    return true;
  }

  /// Reads one element of a set: a class [:alpha:] or [:^alpha:], an escape, or a character, which may begin a range.
  bool bracketPart(CharacterRanges &part, bool &isClass) {
    if (text.consume_front("[:")) {
      size_t end = text.find(":]");
      isClass = true;
      llvm::StringRef name = text.take_front(std::min(end, text.size()));
      bool others = name.consume_front("^");
      part = namedClass(name);
      if (end == llvm::StringRef::npos || part.empty()) {
        fail("has an unknown class of characters [:" + name + ":]");
        return false;
      }
      part = others ? inverse(part) : part;
      text = text.drop_front(end + 2);
      return true;
    }
    if (text.consume_front("\\")) {
      return escape(part, isClass);
    }
    uint32_t c = character();
    part = {{c, c}};
    return problem.empty();
  }
};

} // namespace

llvm::Expected<const Tree *> parse(llvm::StringRef pattern, std::deque<Tree> &trees) {
  Parser parser(pattern, trees);
  const Tree *tree = parser.parse();
  return tree ? llvm::Expected<const Tree *>(tree) : llvm::createStringError(parser.problem);
}

} // namespace ingot::onnx::regex
