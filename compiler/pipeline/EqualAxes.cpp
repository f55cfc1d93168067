// Joins axes of one name that may differ (--independent-dims, and names that exporters reuse), which are imported as
// symbols of their own. The model's operators tell which of them need to be equal: a copy is simplified, and where two
// symbols of one name meet in a check that holds when they are equal, they are one symbol from the beginning. So a
// model in which all of them meet is compiled as if the name were that of one size.
#include "compiler/graph/Simplify.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/pipeline/State.h"
#include "compiler/support/SymbolNames.h"

using namespace mlir;
using ingot::support::Size;
using ingot::support::Symbol;

namespace ingot::pipeline {

namespace {

/// The symbols of the open axes, and which of them are equal.
class EqualSymbols {
public:
  explicit EqualSymbols(func::FuncOp function) {
    for (const importer::OpenAxis &axis : importer::openAxes(function)) {
      Symbol symbol = Symbol::chosen(support::symbolText(axis.symbol));
      if (!axis.name.empty() && numbers.try_emplace(symbol, symbols.size()).second) {
        auto [first, isFirst] = firstOf.try_emplace(axis.name, symbols.size());
        isShared |= !isFirst;
        symbols.push_back({symbol, first->second, symbols.size()});
      }
    }
  }
  /// Whether several symbols have one name in the model.
  bool any() const { return isShared; }

  /// Makes all symbols that have one name equal.
  void joinAll() {
    for (Row &row : symbols) {
      row.leader = row.first;
    }
  }
  /// Makes the symbols of a check equal, if it holds then.
  void join(const onnx::SizeCheck &check) {
    std::map<size_t, std::vector<size_t>> met; // symbols that meet, by their first
    for (const Size &size : check.sizes) {
      size.eachSymbol([&](Symbol symbol) {
        if (auto number = numbers.find(symbol); number != numbers.end()) {
          met[symbols[number->second].first].push_back(number->second);
        }
      });
    }
    for (auto &[first, all] : met) {
      size_t least = *llvm::min_element(all);
      if (llvm::any_of(all, [&](size_t one) { return one != least; }) && holdsIfEqual(check, all)) {
        for (size_t one : all) {
          size_t a = leaderOf(one), b = leaderOf(least);
          symbols[std::max(a, b)].leader = std::min(a, b);
        }
      }
    }
  }
  /// Returns the first of the symbols that are equal to the symbol.
  Size leading(Symbol symbol) {
    auto number = numbers.find(symbol);
    return number == numbers.end() ? Size(symbol) : Size(symbols[leaderOf(number->second)].symbol);
  }

private:
  struct Row {
    Symbol symbol;
    size_t first, leader; ///< `first`: the number of the first symbol that has the name
  };
  std::vector<Row> symbols;
  std::map<Symbol, size_t> numbers;
  std::map<std::string, size_t> firstOf;
  bool isShared = false;

  size_t leaderOf(size_t number) {
    while (symbols[number].leader != number) {
      number = symbols[number].leader = symbols[symbols[number].leader].leader;
    }
    return number;
  }
  bool holdsIfEqual(const onnx::SizeCheck &check, ArrayRef<size_t> equal) {
    auto first = [&](Symbol symbol) {
      auto number = numbers.find(symbol);
      bool isOne = number != numbers.end() && llvm::is_contained(equal, number->second);
      return Size(isOne ? symbols[equal.front()].symbol : symbol);
    };
    auto sizes = llvm::map_to_vector(check.sizes, [&](const Size &size) { return size.replaced(first); });
    return sizes.size() == 1 ? sizes[0].atLeast(0) : sizes[0] == sizes[1];
  }
};

} // namespace

void joinEqualAxes(State &s) {
  func::FuncOp function = s.model().function();
  EqualSymbols equal(function);
  if (!equal.any()) {
    return;
  }
  OwningOpRef<ModuleOp> copy = s.model().module->clone();
  func::FuncOp tried = *copy->getOps<func::FuncOp>().begin();
  ScopedDiagnosticHandler silent(&s.context, [](Diagnostic &) { return success(); });
  if (failed(graph::simplify(tried)) || failed(graph::findSizes(tried, s.options.allocate)) ||
      failed(graph::requireSizes(tried))) {
    equal.joinAll(); // the operators may take no sizes that differ
  }
  tried.walk([&](Operation *op) {
    for (const onnx::SizeCheck &check : onnx::checksOf(op)) {
      equal.join(check);
    }
  });
  replaceSymbols(function, [&](Symbol symbol) { return equal.leading(symbol); });
}

} // namespace ingot::pipeline
