#include "compiler/lower/KernelKey.h"
#include "compiler/lower/Family.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/plan/KernelAttributes.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace ingot::lower {

// The properties are left to meanSame().
static constexpr auto flags = OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreProperties;

/// Gives the data-dependent sizes in a kernel numbers in the order of their first use; returns their symbols in this
/// order.
static std::vector<support::Symbol> renumberDataDependentSizes(plan::KernelOp kernel) {
  std::vector<support::Symbol> dataDependentSizes;
  auto number = [&](support::Symbol symbol) {
    if (!symbol.isDataDependent()) {
      return symbol;
    }
    auto it = llvm::find(dataDependentSizes, symbol);
    auto place = it - dataDependentSizes.begin();
    if (it == dataDependentSizes.end()) {
      dataDependentSizes.push_back(symbol);
    }
    return support::Symbol::dataDependent(place);
  };
  auto renumber = [&](const support::Size &size) { return size.replaced(number); };
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](onnx::SizeAttr size) -> Attribute {
    return onnx::SizeAttr::get(size.getContext(), renumber(size.getValue()));
  });
  replacer.addReplacement([&](onnx::SizesAttr sizes) -> Attribute {
    return onnx::SizesAttr::get(sizes.getContext(), llvm::map_to_vector<4>(sizes.getValues(), renumber));
  });
  replacer.addReplacement([&](onnx::SymbolAttr symbol) -> Attribute {
    return onnx::SymbolAttr::get(symbol.getContext(), number(symbol.getValue()));
  });
  replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  return dataDependentSizes;
}

KernelKey::KernelKey(plan::KernelOp kernel) : kernel(kernel.clone()) {
  for (Value v : kernel.getIns()) {
    constant.push_back(onnx::constantOf(v) != nullptr);
  }
  (*this->kernel)->setOperands({});
  (*this->kernel)->removeAttr(kernelName);
  dataDependentSizes = renumberDataDependentSizes(*this->kernel);
  (*this->kernel)->walk([&](Operation *op) {
    auto ignore = OperationEquivalence::ignoreHashValue;
    hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(op, ignore, ignore, flags));
  });
}

SmallVector<Operation *> KernelKey::operations() const {
  SmallVector<Operation *> all;
  Operation *root = kernel.get();
  root->walk([&](Operation *op) { all.push_back(op); });
  return all;
}

/// Whether two operations that are equal but for their properties have equal ones, too. Some models write an attribute
/// at one node and leave it to its default at another one. Only the generated printers know that these are equal: they
/// leave out what is at its default.
static bool meanSame(Operation *a, Operation *b) {
  auto printed = [](Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    // The kernel has no operands, so it would not verify.
    op->print(os, OpPrintingFlags().useLocalScope().skipRegions().assumeVerified());
    return text;
  };
  return a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute() || printed(a) == printed(b);
}

bool operator==(const KernelKey &a, const KernelKey &b) {
  return a.hash == b.hash && a.constant == b.constant &&
         OperationEquivalence::isEquivalentTo(*a.kernel, *b.kernel, flags) &&
         llvm::all_of_zip(a.operations(), b.operations(), meanSame);
}

} // namespace ingot::lower
