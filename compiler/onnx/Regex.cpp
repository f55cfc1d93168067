// A pattern becomes a tree, the tree a program of instructions on bytes (Thompson), and the program an automaton whose
// states are sets of instructions. Characters are UTF-8: a range of them is several sequences of ranges of bytes.
//
// What is asked about a place between two characters (^, $, \b) depends on the next one. A state keeps the instructions
// that ask, and what came before; it is answered when the next byte is read, or the text has ended.
#include "compiler/onnx/Regex.h"
#include "compiler/onnx/Texts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"
#include <deque>
#include <map>
#include <set>

namespace ingot::onnx {
namespace {

constexpr uint32_t lastCharacter = 0x10ffff;
constexpr int mostRepeats = 1000, deepest = 200;
constexpr size_t mostInstructions = 50'000, mostStates = 10'000;

/// Characters from one to another.
struct Range {
  uint32_t first, last;
};
using Ranges = std::vector<Range>;

enum class Ask : uint8_t { TextBegins, TextEnds, LineBegins, LineEnds, WordEdge, NoWordEdge };

struct Tree {
  enum Kind : uint8_t { Empty, Characters, Join, Either, Repeat, Place } kind = Empty;
  Ranges ranges = {};
  std::vector<const Tree *> parts = {};
  int least = 0, most = -1; ///< of a repetition; -1: any number
  Ask ask = Ask::TextBegins;
};

/// Sorted, without overlaps.
Ranges normal(Ranges ranges) {
  llvm::sort(ranges, [](Range a, Range b) { return a.first < b.first; });
  Ranges result;
  for (Range r : ranges) {
    if (!result.empty() && r.first <= result.back().last + 1) {
      result.back().last = std::max(result.back().last, r.last);
    } else {
      result.push_back(r);
    }
  }
  return result;
}

Ranges inverse(Ranges ranges) {
  Ranges result;
  uint32_t next = 0;
  for (Range r : normal(std::move(ranges))) {
    if (r.first > next) {
      result.push_back({next, r.first - 1});
    }
    next = r.last + 1;
  }
  if (next <= lastCharacter) {
    result.push_back({next, lastCharacter});
  }
  return result;
}

/// Letters that are one to whoever ignores case. The two of Turkish are i to nobody else.
const std::multimap<uint32_t, uint32_t> &otherCases() {
  static const std::multimap<uint32_t, uint32_t> cases = [] {
    static constexpr uint32_t dottedCapital = 0x130, dotless = 0x131;
    std::multimap<uint32_t, uint32_t> pairs;
    for (bool upper : {false, true}) {
      eachLetter(upper, [&](uint32_t from, uint32_t to) {
        if (from != dottedCapital && from != dotless) {
          pairs.insert({from, to});
          pairs.insert({to, from});
        }
      });
    }
    return pairs;
  }();
  return cases;
}

Ranges withCases(const Ranges &ranges) {
  const std::multimap<uint32_t, uint32_t> &cases = otherCases();
  llvm::SmallVector<uint32_t> letters;
  for (Range r : ranges) {
    for (auto it = cases.lower_bound(r.first); it != cases.end() && it->first <= r.last; ++it) {
      letters.push_back(it->second);
    }
  }
  std::set<uint32_t> more;
  while (!letters.empty()) {
    uint32_t letter = letters.pop_back_val();
    if (more.insert(letter).second) {
      auto [begin, end] = cases.equal_range(letter);
      for (auto it = begin; it != end; ++it) {
        letters.push_back(it->second);
      }
    }
  }
  Ranges result = ranges;
  for (uint32_t letter : more) {
    result.push_back({letter, letter});
  }
  return normal(result);
}

const Ranges digits = {{'0', '9'}}, words = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
             spaces = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};

class Parser {
public:
  Parser(llvm::StringRef text, std::deque<Tree> &trees) : text(text), trees(trees) {}

  /// Null with `problem` where the pattern is none.
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
  const Tree *characters(Ranges ranges) {
    Tree tree{Tree::Characters};
    tree.ranges = flags.ignoresCase ? withCases(ranges) : normal(std::move(ranges));
    return add(std::move(tree));
  }
  const Tree *place(Ask ask) {
    Tree tree{Tree::Place};
    tree.ask = ask;
    return add(std::move(tree));
  }

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

  const Tree *join(int depth) {
    Tree tree{Tree::Join};
    while (!text.empty() && text.front() != '|' && text.front() != ')') {
      if (text.consume_front("\\Q")) { // as it is, up to \E
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

  /// One character of the pattern.
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
      text.consume_front("?"); // the shortest one first is the same for a match of the whole text
      Tree tree{Tree::Repeat};
      tree.parts = {part}, tree.least = least, tree.most = most;
      part = add(std::move(tree));
    }
  }

  /// {n}, {n,} or {n,m}; anything else in braces stands for itself.
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

  const Tree *atom(int depth) {
    if (text.consume_front("(")) {
      return group(depth);
    }
    if (text.consume_front("[")) {
      Ranges ranges;
      return bracket(ranges) ? add({Tree::Characters, std::move(ranges)}) : nullptr;
    }
    if (text.consume_front(".")) {
      return add({Tree::Characters, flags.dotsAll ? Ranges{{0, lastCharacter}} : inverse({{'\n', '\n'}})});
    }
    if (text.consume_front("^")) {
      return place(flags.lines ? Ask::LineBegins : Ask::TextBegins);
    }
    if (text.consume_front("$")) {
      return place(flags.lines ? Ask::LineEnds : Ask::TextEnds);
    }
    if (text.starts_with("*") || text.starts_with("+") || text.starts_with("?")) {
      return fail("repeats nothing");
    }
    if (text.consume_front("\\")) {
      if (std::optional<Ask> ask = placeEscape()) {
        return place(*ask);
      }
      Ranges ranges;
      bool isClass = false;
      return escape(ranges, isClass) ? characters(std::move(ranges)) : nullptr;
    }
    uint32_t c = character();
    return problem.empty() ? characters({{c, c}}) : nullptr;
  }

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
      } else if (text.consume_front(")")) { // (?i): up to the end of the group around it
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

  /// Leaves ) or :.
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
      case 'U': // which of several matches is found first
        break;
      default:
        fail("has a group that begins with (?" + llvm::Twine(text.front()) + ", which is unsupported");
        return false;
      }
    }
    return true;
  }

  std::optional<Ask> placeEscape() {
    for (auto [letter, ask] :
         {std::pair("A", Ask::TextBegins), {"z", Ask::TextEnds}, {"b", Ask::WordEdge}, {"B", Ask::NoWordEdge}}) {
      if (text.consume_front(letter)) {
        return ask;
      }
    }
    return std::nullopt;
  }

  /// What follows a backslash.
  bool escape(Ranges &ranges, bool &isClass) {
    if (text.empty()) {
      fail("ends with a backslash");
      return false;
    }
    char c = text.front();
    isClass = true;
    switch (c) {
    case 'd':
    case 'D':
      ranges = c == 'd' ? digits : inverse(digits);
      break;
    case 's':
    case 'S':
      ranges = c == 's' ? spaces : inverse(spaces);
      break;
    case 'w':
    case 'W':
      ranges = c == 'w' ? words : inverse(words);
      break;
    default:
      isClass = false;
      if (std::optional<uint32_t> code = codeEscape()) {
        ranges = {{*code, *code}};
        return true;
      }
      return false;
    }
    text = text.drop_front();
    return true;
  }

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
    if (c >= '0' && c <= '7') { // three octal digits, or up to three that begin with a zero
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

  /// Behind a [.
  bool bracket(Ranges &ranges) {
    bool others = text.consume_front("^");
    for (bool first = true; first || !text.starts_with("]"); first = false) {
      Ranges part;
      bool isClass = false;
      if (text.empty()) {
        fail("has a [ without a ]");
      }
      if (!problem.empty() || !bracketPart(part, isClass)) {
        return false;
      }
      if (!isClass && text.starts_with("-") && text.size() > 1 && text[1] != ']') {
        text = text.drop_front();
        Ranges end;
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

  bool bracketPart(Ranges &part, bool &isClass) {
    if (text.consume_front("[:")) {
      size_t end = text.find(":]");
      isClass = true;
      llvm::StringRef name = text.take_front(std::min(end, text.size()));
      bool others = name.consume_front("^");
      part = named(name);
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

  static Ranges named(llvm::StringRef name) {
    return llvm::StringSwitch<Ranges>(name)
        .Case("alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}})
        .Case("alpha", {{'A', 'Z'}, {'a', 'z'}})
        .Case("ascii", {{0, 0x7f}})
        .Case("blank", {{'\t', '\t'}, {' ', ' '}})
        .Case("cntrl", {{0, 0x1f}, {0x7f, 0x7f}})
        .Case("digit", digits)
        .Case("graph", {{'!', '~'}})
        .Case("lower", {{'a', 'z'}})
        .Case("print", {{' ', '~'}})
        .Case("punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}})
        .Case("space", {{'\t', '\r'}, {' ', ' '}})
        .Case("upper", {{'A', 'Z'}})
        .Case("word", words)
        .Case("xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}})
        .Default({});
  }
};

// The program.

struct Instruction {
  enum Kind : uint8_t { Split, Bytes, Place, Match } kind = Match;
  uint8_t first = 0, last = 0; ///< of Bytes
  Ask ask = Ask::TextBegins;
  uint32_t next = 0, other = 0;
};

class Program {
public:
  std::vector<Instruction> code;
  uint32_t start = 0;

  explicit Program(const Tree *tree) {
    uint32_t end = add({Instruction::Match});
    start = write(tree, end);
  }
  bool isTooLong() const { return code.size() >= mostInstructions; }

private:
  uint32_t add(Instruction i) {
    if (!isTooLong()) {
      code.push_back(i);
    }
    return static_cast<uint32_t>(code.size()) - 1;
  }
  uint32_t split(uint32_t a, uint32_t b) {
    Instruction i{Instruction::Split};
    i.next = a, i.other = b;
    return add(i);
  }

  /// Code that goes on at `next`; where it begins.
  uint32_t write(const Tree *tree, uint32_t next) {
    if (isTooLong()) {
      return next;
    }
    switch (tree->kind) {
    case Tree::Empty:
      return next;
    case Tree::Characters:
      return characters(tree->ranges, next);
    case Tree::Join:
      for (const Tree *part : llvm::reverse(tree->parts)) {
        next = write(part, next);
      }
      return next;
    case Tree::Either: {
      uint32_t all = write(tree->parts.back(), next);
      for (const Tree *part : llvm::reverse(llvm::ArrayRef(tree->parts).drop_back())) {
        all = split(write(part, next), all);
      }
      return all;
    }
    case Tree::Place: {
      Instruction i{Instruction::Place};
      i.ask = tree->ask, i.next = next;
      return add(i);
    }
    case Tree::Repeat:
      return repeat(tree, next);
    }
    llvm_unreachable("a kind of tree");
  }

  uint32_t repeat(const Tree *tree, uint32_t next) {
    const Tree *part = tree->parts.front();
    uint32_t end = next;
    if (tree->most < 0) {
      uint32_t loop = split(next, next);
      uint32_t body = write(part, loop);
      code[loop].next = body;
      next = loop;
    }
    for (int i = tree->least; i < tree->most; ++i) {
      next = split(write(part, next), end);
    }
    for (int i = 0; i < tree->least; ++i) {
      next = write(part, next);
    }
    return next;
  }

  uint32_t bytes(uint8_t first, uint8_t last, uint32_t next) {
    Instruction i{Instruction::Bytes};
    i.first = first, i.last = last, i.next = next;
    return add(i);
  }

  uint32_t characters(const Ranges &ranges, uint32_t next) {
    std::optional<uint32_t> all;
    auto sequence = [&](llvm::ArrayRef<std::pair<uint8_t, uint8_t>> pairs) {
      uint32_t at = next;
      for (auto [first, last] : llvm::reverse(pairs)) {
        at = bytes(first, last, at);
      }
      all = all ? split(at, *all) : at;
    };
    for (Range r : ranges) {
      utf8(r.first, r.last, sequence);
    }
    return all ? *all : bytes(1, 0, next); // no character: nothing matches
  }

  /// Sequences of ranges of bytes that are the characters of a range: cut where the number of bytes changes, and so
  /// that all bytes behind the first one that differs take all of their values.
  template <typename Found> static void utf8(uint32_t first, uint32_t last, Found found) {
    static constexpr uint32_t ends[] = {0x7f, 0x7ff, 0xd7ff, 0xdfff, 0xffff, lastCharacter};
    for (uint32_t end : ends) {
      if (first <= end && end < last) {
        utf8(first, end, found);
        return utf8(end + 1, last, found);
      }
    }
    if (first >= 0xd800 && last <= 0xdfff) {
      return; // halves of surrogates are no characters
    }
    if (last > 0x7f) {
      for (int i = 1; i < 4; ++i) {
        uint32_t mask = (1u << (6 * i)) - 1;
        if ((first & ~mask) == (last & ~mask)) {
          continue;
        }
        if (first & mask) {
          utf8(first, first | mask, found);
          return utf8((first | mask) + 1, last, found);
        }
        if ((last & mask) != mask) {
          utf8(first, (last & ~mask) - 1, found);
          return utf8(last & ~mask, last, found);
        }
      }
    }
    char low[4], high[4], *lowEnd = low, *highEnd = high;
    llvm::ConvertCodePointToUTF8(first, lowEnd);
    llvm::ConvertCodePointToUTF8(last, highEnd);
    llvm::SmallVector<std::pair<uint8_t, uint8_t>, 4> pairs;
    for (ptrdiff_t i = 0; i < lowEnd - low; ++i) {
      pairs.push_back({static_cast<uint8_t>(low[i]), static_cast<uint8_t>(high[i])});
    }
    found(pairs);
  }
};

// The automaton.

bool isWordByte(int byte) { return llvm::isAlnum(static_cast<char>(byte)) || byte == '_'; }

class Automaton {
public:
  explicit Automaton(const Program &program) : code(program.code) {
    asks = llvm::any_of(code, [](const Instruction &i) { return i.kind == Instruction::Place; });
    makeClasses();
    number({}); // of no instructions: nothing can match any more
    std::set<uint32_t> start;
    reach(program.start, start);
    first = number({start, Begin});
    for (size_t i = 0; i < states.size() && states.size() <= mostStates; ++i) {
      follow(i);
    }
  }
  bool isTooLarge() const { return states.size() > mostStates; }

  std::vector<char> table() const {
    std::vector<char> bytes;
    auto append = [&](auto value) {
      const char *from = reinterpret_cast<const char *>(&value);
      bytes.insert(bytes.end(), from, from + sizeof value);
    };
    append(static_cast<uint32_t>(states.size()));
    append(static_cast<uint32_t>(classes));
    append(static_cast<uint32_t>(first));
    for (const State &state : states) {
      append(static_cast<uint32_t>(accepts(state)));
    }
    bytes.insert(bytes.end(), classOf, classOf + 256);
    for (uint16_t next : transitions) {
      append(next);
    }
    return bytes;
  }

private:
  enum Before : uint8_t { Other, Begin, Line, Word }; ///< what is in front of a place
  /// Instructions that are waiting, of which none is a Split.
  struct State {
    std::set<uint32_t> waiting;
    uint8_t before = Other;
    bool operator<(const State &o) const { return std::tie(waiting, before) < std::tie(o.waiting, o.before); }
  };

  const std::vector<Instruction> &code;
  bool asks = false;
  uint8_t classOf[256] = {};
  int classes = 0;
  size_t first = 0;
  std::deque<State> states;
  std::map<State, size_t> known;
  std::vector<uint16_t> transitions;

  /// Bytes that no instruction tells apart.
  void makeClasses() {
    std::set<int> begins = {0};
    auto cut = [&](int firstByte, int lastByte) {
      begins.insert(firstByte);
      begins.insert(lastByte + 1);
    };
    for (const Instruction &i : code) {
      if (i.kind == Instruction::Bytes && i.first <= i.last) {
        cut(i.first, i.last);
      }
    }
    if (asks) {
      for (Range r : words) {
        cut(static_cast<int>(r.first), static_cast<int>(r.last));
      }
      cut('\n', '\n');
    }
    int number = -1;
    for (int byte = 0; byte < 256; ++byte) {
      number += begins.count(byte) ? 1 : 0;
      classOf[byte] = static_cast<uint8_t>(number);
    }
    classes = number + 1;
  }

  size_t number(State state) {
    if (llvm::none_of(state.waiting, [&](uint32_t i) { return code[i].kind == Instruction::Place; })) {
      state.before = Other; // nobody asks
    }
    auto [it, isNew] = known.try_emplace(state, states.size());
    if (isNew) {
      states.push_back(std::move(state));
    }
    return it->second;
  }

  /// All instructions that wait where `at` goes without reading.
  void reach(uint32_t at, std::set<uint32_t> &waiting) const {
    llvm::SmallVector<uint32_t> stack = {at};
    llvm::SmallDenseSet<uint32_t> seen;
    while (!stack.empty()) {
      uint32_t i = stack.pop_back_val();
      if (!seen.insert(i).second) {
        continue;
      }
      if (code[i].kind == Instruction::Split) {
        stack.append({code[i].next, code[i].other});
      } else {
        waiting.insert(i);
      }
    }
  }

  /// `next` is the byte behind the place; -1: the text ends.
  static bool holds(Ask ask, uint8_t before, int next) {
    bool edge = (before == Word) != (next >= 0 && isWordByte(next));
    switch (ask) {
    case Ask::TextBegins:
      return before == Begin;
    case Ask::TextEnds:
      return next < 0;
    case Ask::LineBegins:
      return before == Begin || before == Line;
    case Ask::LineEnds:
      return next < 0 || next == '\n';
    case Ask::WordEdge:
      return edge;
    case Ask::NoWordEdge:
      return !edge;
    }
    llvm_unreachable("what can be asked");
  }

  /// What waits once all questions have been answered.
  std::set<uint32_t> answered(const State &state, int next) const {
    std::set<uint32_t> waiting, asked;
    llvm::SmallVector<uint32_t> stack(state.waiting.begin(), state.waiting.end());
    while (!stack.empty()) {
      uint32_t i = stack.pop_back_val();
      if (code[i].kind != Instruction::Place) {
        waiting.insert(i);
      } else if (asked.insert(i).second && holds(code[i].ask, state.before, next)) {
        std::set<uint32_t> more;
        reach(code[i].next, more);
        stack.append(more.begin(), more.end());
      }
    }
    return waiting;
  }

  bool accepts(const State &state) const {
    return llvm::any_of(answered(state, -1), [&](uint32_t i) { return code[i].kind == Instruction::Match; });
  }

  void follow(size_t from) {
    for (int byte = 0, last = -1; byte < 256; ++byte) {
      if (classOf[byte] == last) {
        continue;
      }
      last = classOf[byte];
      State next;
      for (uint32_t i : asks ? answered(states[from], byte) : states[from].waiting) {
        if (code[i].kind == Instruction::Bytes && code[i].first <= byte && byte <= code[i].last) {
          reach(code[i].next, next.waiting);
        }
      }
      next.before = isWordByte(byte) ? Word : byte == '\n' ? Line : Other;
      transitions.push_back(static_cast<uint16_t>(number(std::move(next))));
    }
  }
};

} // namespace

llvm::Expected<std::vector<char>> automatonOf(llvm::StringRef pattern) {
  std::deque<Tree> trees;
  Parser parser(pattern, trees);
  const Tree *tree = parser.parse();
  if (!tree) {
    return llvm::createStringError(parser.problem);
  }
  Program program(tree);
  if (program.isTooLong()) {
    return llvm::createStringError("is too long once its repetitions are written out, which is unsupported");
  }
  Automaton automaton(program);
  if (automaton.isTooLarge()) {
    return llvm::createStringError("needs an automaton of more than 10,000 states, which is unsupported");
  }
  return automaton.table();
}

} // namespace ingot::onnx
