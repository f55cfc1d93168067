// Builds the automaton breadth first: states are numbered when they are first reached, and follow() computes where each
// of them goes for one byte of each class, until no new state appears. For the pattern a*b with MatchUse::Whole:
//
//   state 1: {a, b}   a -> 1   b -> 2   other -> 0
//   state 2: {match}  accepts at the end of the text
//   state 0: {}       nothing matches any more
//
// The number of states may be exponential in the length of a pattern, hence the limit.
#include "compiler/onnx/text/regex/Automaton.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot::onnx::regex {

static constexpr size_t mostStates = 10'000;

/// Assertions ask no more of a neighbouring byte than its kind: part of a word, the end of a line, or another.
static ingot_text_beside besideOf(int byte) {
  return isWordByte(byte) ? INGOT_TEXT_WORD : byte == '\n' ? INGOT_TEXT_LINE : INGOT_TEXT_OTHER;
}

Automaton::Automaton(const RegexProgram &program, MatchUse use) : program(program) {
  hasAssertions =
      llvm::any_of(program.code, [](const RegexInstruction &i) { return i.kind == RegexInstruction::Place; });
  makeClasses();
  number({}); // the state 0, in which nothing can match any more
  Set start;
  reach(program.start, start);
  for (ingot_text_beside before : {INGOT_TEXT_OTHER, INGOT_TEXT_EDGE, INGOT_TEXT_LINE, INGOT_TEXT_WORD}) {
    if (use != MatchUse::Whole || before == INGOT_TEXT_EDGE) {
      starts[before] = number({{start}, before, use == MatchUse::Search});
    }
  }
  for (size_t i = 0; i < states.size() && !isTooLarge(); ++i) {
    follow(i);
  }
}

bool Automaton::isTooLarge() const { return states.size() > mostStates; }

/// States are written as offsets of their rows, `width` entries each, so that a step of the run is one addition and one
/// load: next = rows[state + classOf[byte]]. The last entry of a row has the bits of accepts().
std::vector<char> Automaton::table() const {
  std::vector<char> bytes;
  auto append = [&](uint32_t value) {
    const char *from = reinterpret_cast<const char *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  uint32_t width = static_cast<uint32_t>(classes) + 1;
  append(width);
  for (uint32_t start : starts) {
    append(start * width);
  }
  bytes.insert(bytes.end(), classOf, classOf + 256);
  for (size_t i = 0; i < states.size(); ++i) {
    for (int c = 0; c < classes; ++c) {
      append(transitions[i * static_cast<size_t>(classes) + static_cast<size_t>(c)] * width);
    }
    append(accepts(states[i]));
  }
  return bytes;
}

/// Gives bytes that no instruction tells apart the same class, which makes rows of transitions short.
void Automaton::makeClasses() {
  std::set<int> begins = {0};
  for (const RegexInstruction &i : program.code) {
    if (i.kind == RegexInstruction::Bytes && i.first <= i.last) {
      begins.insert(i.first);
      begins.insert(i.last + 1);
    }
  }
  int number = -1;
  for (int byte = 0; byte < 256; ++byte) {
    bool isOther = hasAssertions && byte > 0 && besideOf(byte) != besideOf(byte - 1);
    number += begins.count(byte) || isOther ? 1 : 0;
    classOf[byte] = static_cast<uint8_t>(number);
  }
  classes = number + 1;
}

/// Returns the state's number, which is new for a new state. A state without assertions forgets the byte before: states
/// that differ in nothing else are one.
uint32_t Automaton::number(State state) {
  auto isAssertion = [&](uint32_t i) { return program.code[i].kind == RegexInstruction::Place; };
  if (llvm::none_of(state.sets, [&](const Set &set) { return llvm::any_of(set, isAssertion); })) {
    state.before = INGOT_TEXT_OTHER;
  }
  auto [it, isNew] = known.try_emplace(state, static_cast<uint32_t>(states.size()));
  if (isNew) {
    states.push_back(std::move(state));
  }
  return it->second;
}

/// Puts all instructions that wait into `pending` which are reached from `at` without reading a byte.
void Automaton::reach(uint32_t at, Set &pending) const {
  llvm::SmallVector<uint32_t> stack = {at};
  llvm::SmallDenseSet<uint32_t> seen;
  while (!stack.empty()) {
    uint32_t i = stack.pop_back_val();
    if (!seen.insert(i).second) {
      continue;
    }
    if (program.code[i].kind == RegexInstruction::Split) {
      stack.append({program.code[i].next, program.code[i].other});
    } else {
      pending.insert(i);
    }
  }
}

/// Whether an assertion holds at a place. `next` is the byte behind it; -1: the text ends.
static bool holds(Assertion assertion, ingot_text_beside before, int next) {
  bool edge = (before == INGOT_TEXT_WORD) != (next >= 0 && isWordByte(next));
  switch (assertion) {
  case Assertion::TextBegins:
    return before == INGOT_TEXT_EDGE;
  case Assertion::TextEnds:
    return next < 0;
  case Assertion::LineBegins:
    return before == INGOT_TEXT_EDGE || before == INGOT_TEXT_LINE;
  case Assertion::LineEnds:
    return next < 0 || next == '\n';
  case Assertion::WordEdge:
    return edge;
  case Assertion::NoWordEdge:
    return !edge;
  }
  llvm_unreachable("an assertion");
}

/// Returns the instructions that wait once all assertions have been answered.
Automaton::Set Automaton::answered(const Set &unanswered, ingot_text_beside before, int next) const {
  if (!hasAssertions) {
    return unanswered;
  }
  Set pending, answeredOnes;
  llvm::SmallVector<uint32_t> stack(unanswered.begin(), unanswered.end());
  while (!stack.empty()) {
    uint32_t i = stack.pop_back_val();
    if (program.code[i].kind != RegexInstruction::Place) {
      pending.insert(i);
    } else if (answeredOnes.insert(i).second && holds(program.code[i].assertion, before, next)) {
      Set more;
      reach(program.code[i].next, more);
      stack.append(more.begin(), more.end());
    }
  }
  return pending;
}

bool Automaton::matches(const Set &pending) const {
  return llvm::any_of(pending, [&](uint32_t i) { return program.code[i].kind == RegexInstruction::Match; });
}

/// Returns a bit for each ingot_text_beside: whether a match ends in this state if that follows.
uint32_t Automaton::accepts(const State &state) const {
  static constexpr std::pair<ingot_text_beside, int> examples[] = {
      {INGOT_TEXT_OTHER, ' '}, {INGOT_TEXT_EDGE, -1}, {INGOT_TEXT_LINE, '\n'}, {INGOT_TEXT_WORD, 'a'}};
  uint32_t bits = 0;
  for (auto [beside, next] : examples) {
    if (llvm::any_of(state.sets, [&](const Set &set) { return matches(answered(set, state.before, next)); })) {
      bits |= 1u << beside;
    }
  }
  return bits;
}

/// Computes a state's transitions, one for each class, by the first byte of the class.
void Automaton::follow(size_t from) {
  for (int byte = 0, last = -1; byte < 256; ++byte) {
    if (classOf[byte] == last) {
      continue;
    }
    last = classOf[byte];
    State next;
    followBy(states[from], byte, next);
    transitions.push_back(number(std::move(next)));
  }
}

/// Computes the state behind a byte. The sets keep their order, the earliest beginning first; an instruction that
/// several sets reach stays in the first of them only, since the later match could not become better.
void Automaton::followBy(const State &from, int byte, State &next) const {
  Set seen; // an instruction stays in the set of the match that began first
  auto add = [&](Set set) {
    std::erase_if(set, [&](uint32_t i) { return !seen.insert(i).second; });
    if (!set.empty()) {
      next.sets.push_back(std::move(set));
    }
  };
  next.before = besideOf(byte);
  next.begins = from.begins;
  for (const Set &set : from.sets) {
    Set pending = answered(set, from.before, byte), reached;
    for (uint32_t i : pending) {
      const RegexInstruction &code = program.code[i];
      if (code.kind == RegexInstruction::Bytes && code.first <= byte && byte <= code.last) {
        reach(code.next, reached);
      }
    }
    add(std::move(reached));
    if (matches(pending)) {
      next.begins = false;
      break;
    }
  }
  if (next.begins) {
    Set start;
    reach(program.start, start);
    add(std::move(start));
  }
}

} // namespace ingot::onnx::regex
