// A program as a deterministic automaton, whose states are sets of instructions.
//
// What is asked about a place between two characters (^, $, \b) depends on the next one. A state keeps the instructions
// that ask, and what came before; it is answered when the next byte is read, or the text has ended.
//
// An automaton that searches keeps a set for each place where a match may have begun, the earliest first. Once one of
// them has matched, those that began later are dropped and no more begin, so that the last match seen is the longest
// one of those that begin first.
#pragma once
#include "compiler/onnx/text/regex/Program.h"
#include "runtime_support/core/text.h"
#include <map>
#include <set>

namespace ingot::onnx::regex {

enum class Use : uint8_t {
  Whole,  ///< does all of a text match?
  Search, ///< where does the first match in a text end, the longest of those that begin there?
  Longest ///< how far does a match go that begins where reading begins?
};

class Automaton {
public:
  Automaton(const Program &program, Use use);
  bool isTooLarge() const;
  /// That of runtime_support/core/text.h.
  std::vector<char> table() const;

private:
  using Set = std::set<uint32_t>; ///< of instructions that wait, of which none is a Split
  struct State {
    std::vector<Set> sets; ///< by where they began
    ingot_text_beside before = INGOT_TEXT_OTHER;
    bool begins = false; ///< whether matches may begin behind the next byte, too
    bool operator<(const State &o) const {
      return std::tie(sets, before, begins) < std::tie(o.sets, o.before, o.begins);
    }
  };

  const Program &program;
  bool asks = false;
  uint8_t classOf[256] = {};
  int classes = 0;
  uint32_t starts[INGOT_TEXT_BESIDES] = {};
  std::deque<State> states;
  std::map<State, uint32_t> known;
  std::vector<uint32_t> transitions;

  void makeClasses();
  uint32_t number(State state);
  void reach(uint32_t at, Set &waiting) const;
  Set answered(const Set &waiting, ingot_text_beside before, int next) const;
  bool matches(const Set &waiting) const;
  uint32_t accepts(const State &state) const;
  void follow(size_t from);
  void followBy(const State &from, int byte, State &next) const;
};

} // namespace ingot::onnx::regex
