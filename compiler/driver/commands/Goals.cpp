#include "compiler/driver/commands/Goals.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace ingot::driver {
namespace {

struct GoalFlag {
  llvm::StringLiteral flag, value;
};
struct Goal {
  llvm::StringLiteral name;
  llvm::ArrayRef<GoalFlag> flags;
};

/// Weights that Winograd's algorithm has transformed are larger, and other algorithms than the plain one are more code.
constexpr GoalFlag minimalSize[] = {
    {"--optimize", "size"}, {"--winograd", "off"}, {"--strassen", "off"}, {"--chains", "off"}};
constexpr GoalFlag lowLatency[] = {{"--optimize", "speed"}};
/// A processor that is done early sleeps early; nothing is computed twice, and no sums are made that go through memory.
constexpr GoalFlag lowPower[] = {
    {"--optimize", "speed"}, {"--patches", "1"}, {"--strassen", "off"}, {"--split-floats", "off"}};

constexpr Goal rows[] = {{"minimal-size", minimalSize}, {"low-latency", lowLatency}, {"low-power", lowPower}};

std::string sentence() {
  std::string text;
  for (const Goal &goal : rows) {
    text += (text.empty() ? "" : "; ") + goal.name.str() + " (";
    for (const GoalFlag &flag : goal.flags) {
      text += (&flag == goal.flags.begin() ? "" : " ") + flag.flag.str() + " " + flag.value.str();
    }
    text += ")";
  }
  return "A set of flags, each of which may still be given: " + text;
}

} // namespace

void addGoal(CLI::App &app, std::string &goal) {
  std::vector<std::string> names;
  llvm::transform(rows, std::back_inserter(names), [](const Goal &row) { return row.name.str(); });
  app.add_option("--goal", goal, sentence())->check(CLI::IsMember(names))->type_name("GOAL");
}

void applyGoal(CLI::App &app, llvm::StringRef goal) {
  const auto *row = llvm::find_if(rows, [&](const Goal &row) { return row.name == goal; });
  for (const GoalFlag &flag : row == std::end(rows) ? llvm::ArrayRef<GoalFlag>() : row->flags) {
    CLI::Option *option = app.get_option_no_throw(flag.flag.str());
    if (option && option->count() == 0) {
      option->add_result(flag.value.str());
      option->run_callback();
    }
  }
}

} // namespace ingot::driver
