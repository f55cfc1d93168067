#include "compiler/driver/execution/Board.h"
#include "compiler/driver/Texts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace ingot::driver {
namespace {

constexpr llvm::StringLiteral suffix = ".json";

bool readList(const llvm::json::Value *value, std::vector<std::string> &list) {
  const llvm::json::Array *array = value ? value->getAsArray() : nullptr;
  for (const llvm::json::Value &word : array ? *array : llvm::json::Array()) {
    std::optional<llvm::StringRef> text = word.getAsString();
    if (!text) {
      return false;
    }
    list.push_back(text->str());
  }
  return !list.empty();
}

/// Reads the list of targets, each of which is a list of its name and of flags of the C compiler.
bool readTargets(const llvm::json::Value *value, std::vector<Board::TargetRow> &targets) {
  const llvm::json::Array *array = value ? value->getAsArray() : nullptr;
  for (const llvm::json::Value &row : array ? *array : llvm::json::Array()) {
    std::vector<std::string> words;
    if (!readList(&row, words)) {
      return false;
    }
    targets.push_back({words.front(), {words.begin() + 1, words.end()}});
  }
  return !targets.empty();
}

llvm::Expected<Board> parseBoard(const std::string &path, llvm::StringRef text) {
  auto wrong = [&](const llvm::Twine &why) { return llvm::createStringError(path + ": error: is no board: " + why); };
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    return wrong(llvm::toString(value.takeError()));
  }
  const llvm::json::Object *object = value->getAsObject();
  Board board;
  board.name = llvm::sys::path::stem(path).str();
  if (!object) {
    return wrong("it is not an object");
  }
  const std::pair<const char *, std::vector<std::string> *> lists[] = {
      {"compiler", &board.compiler}, {"sources", &board.sources}, {"run", &board.run}};
  for (const auto &[field, list] : lists) {
    if (!readList(object->get(field), *list)) {
      return wrong("'" + llvm::Twine(field) + "' has to be a list of texts");
    }
  }
  if (!readTargets(object->get("targets"), board.targets)) {
    return wrong("'targets' has to be a list of lists, of a target and flags of the compiler");
  }
  const std::pair<const char *, std::string *> texts[] = {{"script", &board.script}, {"sentence", &board.sentence}};
  for (const auto &[field, to] : texts) {
    std::optional<llvm::StringRef> text = object->getString(field);
    if (!text) {
      return wrong("'" + llvm::Twine(field) + "' has to be a text");
    }
    *to = text->str();
  }
  if (const llvm::json::Value *packages = object->get("packages")) {
    if (!packages->getAsString()) {
      return wrong("'packages' has to be a text");
    }
    board.packages = packages->getAsString()->str();
  }
  if (const llvm::json::Value *perTick = object->get("instructions_per_tick")) {
    if (!perTick->getAsNumber() || *perTick->getAsNumber() < 0) {
      return wrong("'instructions_per_tick' has to be a number, 0 or more");
    }
    board.instructionsPerTick = *perTick->getAsNumber();
  }
  return board;
}

std::string knownBoards() {
  std::string names;
  for (const Text &text : boardTexts()) {
    llvm::StringRef name = text.name;
    if (name.consume_back(suffix)) {
      names += (names.empty() ? "" : ", ") + name.str();
    }
  }
  return names;
}

} // namespace

const Board::TargetRow *Board::rowOf(llvm::StringRef target) const {
  auto row = llvm::find_if(targets, [&](const TargetRow &row) { return row.target == target; });
  return row == targets.end() ? nullptr : &*row;
}

std::optional<std::string> boardOf(llvm::StringRef runner) {
  auto [word, name] = runner.trim().split(' ');
  return word == "board" ? std::optional(name.trim().str()) : std::nullopt;
}

llvm::Expected<Board> findBoard(const std::string &name) {
  if (llvm::StringRef(name).ends_with(suffix)) {
    auto file = llvm::MemoryBuffer::getFile(name);
    if (!file) {
      return llvm::createStringError("--runner: board " + name + ": " + file.getError().message());
    }
    llvm::Expected<Board> board = parseBoard(name, (*file)->getBuffer());
    if (board) {
      llvm::SmallString<128> folder(name);
      llvm::sys::fs::make_absolute(folder);
      board->folder = llvm::sys::path::parent_path(folder).str();
    }
    return board;
  }
  for (const Text &text : boardTexts()) {
    if (text.name == name + suffix.str()) {
      return parseBoard(text.name.str(), text.text);
    }
  }
  return llvm::createStringError("--runner: there is no board '" + name + "'; there are " + knownBoards() +
                                 ", and files NAME.json that describe others");
}

llvm::Expected<std::string> boardTarget(const Board &board, llvm::ArrayRef<std::string> targets) {
  if (targets.empty()) {
    return board.targets.front().target;
  }
  if (targets.size() == 1 && board.rowOf(targets.front())) {
    return targets.front();
  }
  auto names = llvm::map_range(board.targets, [](const Board::TargetRow &row) { return row.target; });
  return llvm::createStringError("--target " + llvm::join(targets, ",") + ": board '" + board.name + "' runs " +
                                 llvm::join(names, " or ") + " (" + board.sentence + ")");
}

} // namespace ingot::driver
