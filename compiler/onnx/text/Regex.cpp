// Compiles a pattern: it becomes a tree (regex/Parse.h), the tree becomes a program (regex/Program.h), and the program
// becomes an automaton (regex/Automaton.h).
#include "compiler/onnx/text/Regex.h"
#include "compiler/onnx/text/regex/Automaton.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::onnx {

using namespace regex;

static llvm::Expected<Automaton> determinized(const RegexProgram &program, MatchUse use) {
  if (program.isTooLong()) {
    return llvm::createStringError("is too long once its repetitions are written out, which is unsupported");
  }
  Automaton automaton(program, use);
  if (automaton.isTooLarge()) {
    return llvm::createStringError("needs an automaton of more than 10,000 states, which is unsupported");
  }
  return automaton;
}

llvm::Expected<std::vector<char>> automatonOf(llvm::StringRef pattern) {
  std::deque<Tree> trees;
  llvm::Expected<const Tree *> tree = parse(pattern, trees);
  if (!tree) {
    return tree.takeError();
  }
  RegexProgram program(*tree, Direction::Forwards);
  llvm::Expected<Automaton> automaton = determinized(program, MatchUse::Whole);
  if (!automaton) {
    return automaton.takeError();
  }
  return automaton->table();
}

/// A search needs two automata. The first reads forwards and finds where the match ends; the second reads the pattern
/// backwards from that end, and its longest match begins where the match begins.
static llvm::Expected<Searcher> searcherOf(const Tree *tree) {
  RegexProgram forwards(tree, Direction::Forwards), backwards(tree, Direction::Backwards);
  llvm::Expected<Automaton> end = determinized(forwards, MatchUse::Search);
  if (!end) {
    return end.takeError();
  }
  llvm::Expected<Automaton> begin = determinized(backwards, MatchUse::Longest);
  if (!begin) {
    return begin.takeError();
  }
  return Searcher{end->table(), begin->table()};
}

llvm::Expected<Searcher> searcherOf(llvm::StringRef pattern) {
  std::deque<Tree> trees;
  llvm::Expected<const Tree *> tree = parse(pattern, trees);
  return tree ? searcherOf(*tree) : tree.takeError();
}

/// Returns the characters of a pattern that matches one of them or more in a row; null for any other pattern.
static const CharacterRanges *oneOf(const Tree *tree) {
  bool isAny = tree->kind == Tree::Repeat && tree->least == 1 && tree->most < 0;
  if (isAny || (tree->kind == Tree::Join && tree->parts.size() == 1)) {
    return oneOf(tree->parts.front());
  }
  return tree->kind == Tree::Characters ? &tree->ranges : nullptr;
}

/// Neighbouring patterns of one character each are joined to one search for any of them, which needs one pass over a
/// text in place of several.
llvm::Expected<std::vector<Searcher>> separatorsOf(llvm::ArrayRef<llvm::StringRef> patterns) {
  std::deque<Tree> trees;
  std::vector<Searcher> searchers;
  CharacterRanges characters;
  auto add = [&](const Tree *tree) -> llvm::Error {
    llvm::Expected<Searcher> searcher = searcherOf(tree);
    if (!searcher) {
      return searcher.takeError();
    }
    searchers.push_back(std::move(*searcher));
    return llvm::Error::success();
  };
  auto addCharacters = [&]() -> llvm::Error {
    if (characters.empty()) {
      return llvm::Error::success();
    }
    Tree one{Tree::Characters}, any{Tree::Repeat};
    one.ranges = normal(std::move(characters)), any.least = 1;
    characters.clear();
    any.parts = {&trees.emplace_back(std::move(one))};
    return add(&trees.emplace_back(std::move(any)));
  };
  for (llvm::StringRef pattern : patterns) {
    auto named = [&](llvm::Error error) {
      return llvm::createStringError("'" + pattern + "' " + llvm::toString(std::move(error)));
    };
    llvm::Expected<const Tree *> tree = parse(pattern, trees);
    if (!tree) {
      return named(tree.takeError());
    }
    if (const CharacterRanges *ranges = oneOf(*tree)) {
      llvm::append_range(characters, *ranges);
    } else if (llvm::Error error = addCharacters()) {
      return named(std::move(error));
    } else if (llvm::Error error = add(*tree)) {
      return named(std::move(error));
    }
  }
  if (llvm::Error error = addCharacters()) {
    return std::move(error);
  }
  return searchers;
}

} // namespace ingot::onnx
