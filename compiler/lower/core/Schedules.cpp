#include "compiler/lower/core/Schedules.h"
#include "compiler/onnx/constants/Constants.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace ingot::lower {

/// Returns a text of all that a builder may look at: operations, attributes, types, who reads whom, and which operands
/// are constants, but no names and no locations.
static std::string textOf(plan::KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::DenseMap<Value, size_t> numbers;
  auto number = [&](Value v) { numbers.try_emplace(v, numbers.size()); };
  for (auto [v, argument] : llvm::zip_equal(kernel.getIns(), kernel.getBody().getArguments())) {
    number(argument);
    os << v.getType() << (onnx::constantOf(v) ? " constant\n" : "\n");
  }
  for (Operation &op : kernel.getBody().front()) {
    os << op.getName();
    for (Value v : op.getOperands()) {
      os << ' ' << numbers.lookup(v);
    }
    os << ' ' << op.getAttrDictionary() << ' ' << op.getResultTypes() << '\n';
    llvm::for_each(op.getResults(), number);
  }
  os << kernel.getResultTypes();
  return text;
}

std::string keyOf(plan::KernelOp kernel, llvm::StringRef family) {
  std::string key = family.lower();
  llvm::raw_string_ostream os(key);
  for (Value v : kernel.root()->getOperands()) {
    if (auto type = dyn_cast<RankedTensorType>(v.getType())) {
      os << ' ';
      llvm::interleave(onnx::sizesOf(type), os, [&](const support::Size &size) { os << size.text(); }, "x");
    }
  }
  os << ' ' << llvm::format_hex_no_prefix(llvm::xxh3_64bits(textOf(kernel)), 16);
  return key;
}

target::Schedule requestedSchedule(Operation *root) {
  auto requested = root->getParentOp()->getAttrOfType<StringAttr>(scheduleName);
  return requested ? target::Schedule::parse(requested.getValue()).value_or(target::Schedule()) : target::Schedule();
}

} // namespace ingot::lower
