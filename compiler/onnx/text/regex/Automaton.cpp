#include "compiler/onnx/text/regex/Automaton.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot::onnx::regex {

static constexpr size_t mostStates = 10'000;

static ingot_text_beside besideOf(int byte) {
  return isWordByte(byte) ? INGOT_TEXT_WORD : byte == '\n' ? INGOT_TEXT_LINE : INGOT_TEXT_OTHER;
}

Automaton::Automaton(const Program &program, Use use) : program(program) {
  asks = llvm::any_of(program.code, [](const Instruction &i) { return i.kind == Instruction::Place; });
  makeClasses();
  number({}); // the state 0, in which nothing can match any more
  Set start;
  reach(program.start, start);
  for (ingot_text_beside before : {INGOT_TEXT_OTHER, INGOT_TEXT_EDGE, INGOT_TEXT_LINE, INGOT_TEXT_WORD}) {
    if (use != Use::Whole || before == INGOT_TEXT_EDGE) {
      starts[before] = number({{start}, before, use == Use::Search});
    }
  }
  for (size_t i = 0; i < states.size() && !isTooLarge(); ++i) {
    follow(i);
  }
}

bool Automaton::isTooLarge() const { return states.size() > mostStates; }

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
  for (const Instruction &i : program.code) {
    if (i.kind == Instruction::Bytes && i.first <= i.last) {
      begins.insert(i.first);
      begins.insert(i.last + 1);
    }
  }
  int number = -1;
  for (int byte = 0; byte < 256; ++byte) {
    bool isOther = asks && byte > 0 && besideOf(byte) != besideOf(byte - 1);
    number += begins.count(byte) || isOther ? 1 : 0;
    classOf[byte] = static_cast<uint8_t>(number);
  }
  classes = number + 1;
}

uint32_t Automaton::number(State state) {
  auto isAsking = [&](uint32_t i) { return program.code[i].kind == Instruction::Place; };
  if (llvm::none_of(state.sets, [&](const Set &set) { return llvm::any_of(set, isAsking); })) {
    state.before = INGOT_TEXT_OTHER;
  }
  auto [it, isNew] = known.try_emplace(state, static_cast<uint32_t>(states.size()));
  if (isNew) {
    states.push_back(std::move(state));
  }
  return it->second;
}

/// Puts all instructions that wait into `waiting` which are reached from `at` without reading a byte.
void Automaton::reach(uint32_t at, Set &waiting) const {
  llvm::SmallVector<uint32_t> stack = {at};
  llvm::SmallDenseSet<uint32_t> seen;
  while (!stack.empty()) {
    uint32_t i = stack.pop_back_val();
    if (!seen.insert(i).second) {
      continue;
    }
    if (program.code[i].kind == Instruction::Split) {
      stack.append({program.code[i].next, program.code[i].other});
    } else {
      waiting.insert(i);
    }
  }
}

/// Whether an assertion holds at a place. `next` is the byte behind it; -1: the text ends.
static bool holds(Ask ask, ingot_text_beside before, int next) {
  bool edge = (before == INGOT_TEXT_WORD) != (next >= 0 && isWordByte(next));
  switch (ask) {
  case Ask::TextBegins:
    return before == INGOT_TEXT_EDGE;
  case Ask::TextEnds:
    return next < 0;
  case Ask::LineBegins:
    return before == INGOT_TEXT_EDGE || before == INGOT_TEXT_LINE;
  case Ask::LineEnds:
    return next < 0 || next == '\n';
  case Ask::WordEdge:
    return edge;
  case Ask::NoWordEdge:
    return !edge;
  }
  llvm_unreachable("what can be asked");
}

/// Returns the instructions that wait once all assertions have been answered.
Automaton::Set Automaton::answered(const Set &asking, ingot_text_beside before, int next) const {
  if (!asks) {
    return asking;
  }
  Set waiting, asked;
  llvm::SmallVector<uint32_t> stack(asking.begin(), asking.end());
  while (!stack.empty()) {
    uint32_t i = stack.pop_back_val();
    if (program.code[i].kind != Instruction::Place) {
      waiting.insert(i);
    } else if (asked.insert(i).second && holds(program.code[i].ask, before, next)) {
      Set more;
      reach(program.code[i].next, more);
      stack.append(more.begin(), more.end());
    }
  }
  return waiting;
}

bool Automaton::matches(const Set &waiting) const {
  return llvm::any_of(waiting, [&](uint32_t i) { return program.code[i].kind == Instruction::Match; });
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
    Set waiting = answered(set, from.before, byte), reached;
    for (uint32_t i : waiting) {
      const Instruction &code = program.code[i];
      if (code.kind == Instruction::Bytes && code.first <= byte && byte <= code.last) {
        reach(code.next, reached);
      }
    }
    add(std::move(reached));
    if (matches(waiting)) {
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
