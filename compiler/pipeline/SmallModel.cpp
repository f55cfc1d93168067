// Decides which models get a variant for a batch of 1 beside the one for any batch: those that do so little for it that
// the other costs of an open batch (checks, loops of one iteration, copies of what is a view where the batch is 1)
// would be felt.
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/pipeline/State.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::pipeline {

std::string batchOf(func::FuncOp function) {
  TypeRange types = function.getArgumentTypes();
  onnx::Sizes first = types.empty() ? onnx::Sizes() : onnx::sizesOf(cast<RankedTensorType>(types.front()));
  std::vector<std::string> symbols = onnx::symbolsOf(types);
  bool open = !first.empty() && !symbols.empty() && first.front() == Size::symbol(symbols.front());
  return open ? symbols.front() : "";
}

/// Returns the work of the model for a batch of 1, in multiplications and elements of results.
static std::optional<int64_t> workOfOne(func::FuncOp function, const plan::ModelInfo &info, const std::string &batch) {
  std::map<std::string, int64_t> sizes;
  for (const plan::SymbolInfo &symbol : info.symbols) {
    constexpr int64_t usual = 16; // most sizes that are open beside the batch are larger than 1
    sizes[symbol.name] = std::max(symbol.least, symbol.most < 0 ? usual : std::min(usual, symbol.most));
  }
  sizes[batch] = 1;
  Size work = countMacs(function);
  function.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      if (RankedTensorType type = onnx::ranked(result)) {
        work = work + product(onnx::sizesOf(type));
      }
    }
  });
  return work.evaluate([&](StringRef symbol) -> std::optional<int64_t> { return sizes.at(symbol.str()); });
}

bool deservesVariantForOne(func::FuncOp function, const std::string &batch) {
  if (!onnx::symbolsDefinedInside(function).empty()) {
    return false; // sizes that a run finds do not choose a variant
  }
  plan::ModelInfo info;
  describe(function, info);
  bool oneOrMore = llvm::any_of(info.symbols, [&](const plan::SymbolInfo &symbol) {
    return symbol.name == batch && symbol.least <= 1 && (symbol.most < 0 || symbol.most > 1);
  });
  constexpr int64_t small = 100000; // docs/sizes-internals.md has the figures
  std::optional<int64_t> work = oneOrMore ? workOfOne(function, info, batch) : std::nullopt;
  return work && *work <= small;
}

} // namespace ingot::pipeline
