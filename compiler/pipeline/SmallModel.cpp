// Which models get a body for a batch of 1 beside the one for any batch: those that do so little for it that the other
// costs of an open batch (checks, loops of one turn, copies of what is a view where the batch is 1) would be felt.
#include "compiler/onnx/Found.h"
#include "compiler/onnx/Shapes.h"
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

/// What the model does for a batch of 1, in multiplications and elements of results. Most of what is open beside the
/// batch is larger than 1.
static std::optional<int64_t> workOfOne(func::FuncOp function, const std::string &batch) {
  constexpr int64_t usual = 16;
  Size work = countMacs(function);
  function.walk([&](Operation *op) {
    for (Value result : op->getResults()) {
      if (RankedTensorType type = onnx::ranked(result)) {
        work = work + product(onnx::sizesOf(type));
      }
    }
  });
  return work.evaluate([&](StringRef symbol) -> std::optional<int64_t> { return symbol == batch ? 1 : usual; });
}

/// Whether runs of both kinds are let in: of a batch of 1, and of others.
static bool mayBeOneOrMore(func::FuncOp function, const std::string &batch) {
  for (const Size &fact : onnx::factsOf(function)) {
    std::optional<int64_t> here =
        fact.evaluate([&](StringRef symbol) { return symbol == batch ? std::optional<int64_t>(1) : std::nullopt; });
    if (here && *here < 0) {
      return false;
    }
  }
  return llvm::none_of(onnx::checksOf(function), [&](const onnx::SizeCheck &check) {
    auto [symbol, number] = StringRef(check.text).split('=');
    int64_t only;
    return symbol == batch && !number.getAsInteger(10, only);
  });
}

bool deservesBodyForOne(func::FuncOp function, const std::string &batch) {
  constexpr int64_t small = 1 << 15; // docs/sizes.md has the figures
  std::optional<int64_t> work = workOfOne(function, batch);
  return work && *work >= 0 && *work <= small && mayBeOneOrMore(function, batch) && onnx::foundInside(function).empty();
}

} // namespace ingot::pipeline
