// Keeps the symbols of the arguments, which are the caller's; behind each argument stands a Reshape to the sizes that
// are left. Only requirements of every run are solved, since ops in regions may not run.
#include "compiler/graph/SolveSizes.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::graph {
namespace {

struct Solution {
  support::Symbol symbol;
  int64_t value;
  onnx::Sizes check() const { return {symbol, value}; }
};

/// Returns the symbol of the caller and the value that make `a` and `b` equal, where there is only one.
std::optional<Solution> solutionOf(const Size &a, const Size &b) {
  Size difference = a - b;
  std::set<support::Symbol> symbols;
  difference.eachSymbol([&](support::Symbol symbol) { symbols.insert(symbol); });
  if (difference.isUnknown() || symbols.size() != 1 || symbols.begin()->isDataDependent()) {
    return std::nullopt;
  }
  auto at = [&](int64_t value) { return difference.evaluate([&](support::Symbol) { return std::optional(value); }); };
  std::optional<int64_t> rest = at(0), next = at(1);
  int64_t factor, value;
  if (!rest || !next || __builtin_sub_overflow(*next, *rest, &factor) || factor == 0) {
    return std::nullopt;
  }
  bool linear = difference == Size(factor) * *symbols.begin() + Size(*rest);
  if (!linear || __builtin_sub_overflow(0, *rest, &value) || value % factor || value / factor < 1) {
    return std::nullopt;
  }
  return Solution{*symbols.begin(), value / factor};
}

bool isKnown(func::FuncOp function, const Solution &solution) {
  return llvm::any_of(onnx::checksOf(function), [&](const auto &check) { return same(check.sizes, solution.check()); });
}

void apply(func::FuncOp function, const Solution &solution, const std::string &node) {
  std::vector<onnx::SizeCheck> before = onnx::checksOf(function);
  onnx::replaceSymbol(function, solution.symbol, solution.value);
  onnx::addCheck(function, {solution.check(), node});
  for (const onnx::SizeCheck &check : before) {
    if (check.node.empty()) { // the check comes from --dim, which may say that no run has this value
      onnx::addCheck(function, check);
    }
  }
  Location loc = NameLoc::get(StringAttr::get(function.getContext(), node));
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    auto type = onnx::ranked(argument);
    if (!type || llvm::none_of(onnx::sizesOf(type), [&](const Size &s) { return s.mentions(solution.symbol); })) {
      continue;
    }
    onnx::Sizes sizes = onnx::sizesOf(type);
    for (Size &size : sizes) {
      size = size.replaced(solution.symbol, solution.value);
    }
    Value known = onnx::Formula(b, loc).reshapeTo(argument, sizes);
    argument.replaceAllUsesExcept(known, known.getDefiningOp());
  }
}

} // namespace

bool solveSizes(func::FuncOp function) {
  if (llvm::any_of(function.getArguments(), [](BlockArgument argument) { return onnx::optionalInput(argument); })) {
    return false; // the argument itself is asked whether an optional input is there
  }
  auto solve = [&](Operation &op) {
    for (const onnx::SizeCheck &requirement : onnx::requirementsOf(&op)) {
      std::optional<Solution> solution = solutionOf(requirement.sizes[0], requirement.sizes[1]);
      if (solution && !isKnown(function, *solution)) {
        apply(function, *solution, requirement.node);
        return true;
      }
    }
    return false;
  };
  return solve(*function) || llvm::any_of(function.getBody().front(), solve);
}

} // namespace ingot::graph
