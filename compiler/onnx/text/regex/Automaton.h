// Makes a program a deterministic automaton, whose states are sets of instructions (the construction of subsets).
//
// An assertion about a place between two characters (^, $, \b) depends on the next one. So a state keeps the
// instructions that assert something, and the class of the character before; they are answered when the next byte is
// read, or when the text has ended.
//
// An automaton that searches keeps a set for each place where a match may have begun, the earliest first. Once one of
// them has matched, those that began later are dropped and no more begin, so that the last match seen is the longest
// of those that begin first.
#pragma once
#include "compiler/onnx/text/regex/Program.h"
#include "runtime_support/core/text.h"
#include <map>
#include <set>

namespace ingot::onnx::regex {

enum class MatchUse : uint8_t {
  Whole,  ///< does all of a text match?
  Search, ///< where does the first match in a text end, the longest of those that begin there?
  Longest ///< how far does a match go that begins where reading begins?
};

class Automaton {
public:
  Automaton(const RegexProgram &program, MatchUse use);
  bool isTooLarge() const;
  /// Returns the automaton as the table that runtime_support/core/text.h describes.
  std::vector<char> table() const;

private:
  using Set = std::set<uint32_t>; ///< instructions that wait for a byte or an answer; none is a Split
  struct State {
    std::vector<Set> sets; ///< one for each place where a match may have begun, the earliest first
    ingot_text_beside before = INGOT_TEXT_OTHER;
    bool begins = false; ///< whether matches may begin behind the next byte, too
    bool operator<(const State &o) const {
      return std::tie(sets, before, begins) < std::tie(o.sets, o.before, o.begins);
    }
  };

  const RegexProgram &program;
  bool hasAssertions = false;
  uint8_t classOf[256] = {};
  int classes = 0;
  uint32_t starts[INGOT_TEXT_BESIDES] = {};
  std::deque<State> states;
  std::map<State, uint32_t> known;
  std::vector<uint32_t> transitions;

  void makeClasses();
  uint32_t number(State state);
  void reach(uint32_t at, Set &pending) const;
  Set answered(const Set &pending, ingot_text_beside before, int next) const;
  bool matches(const Set &pending) const;
  uint32_t accepts(const State &state) const;
  void follow(size_t from);
  void followBy(const State &from, int byte, State &next) const;
};

} // namespace ingot::onnx::regex
