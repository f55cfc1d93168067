#include "compiler/plan/IndexWidth.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

static constexpr unsigned usualBits = 64;

void ingot::plan::setIndexBits(ModuleOp module, unsigned bits) {
  if (bits == usualBits) {
    module->removeAttr(DLTIDialect::kDataLayoutAttrName); // that of a host, if these are kernels of a device
    return;
  }
  Builder b(module.getContext());
  Type index = b.getIndexType();
  DataLayoutEntryInterface entry = DataLayoutEntryAttr::get(index, b.getI32IntegerAttr(static_cast<int32_t>(bits)));
  module->setAttr(DLTIDialect::kDataLayoutAttrName, DataLayoutSpecAttr::get(module.getContext(), entry));
}

unsigned ingot::plan::indexBits(Operation *op) {
  auto module = isa_and_nonnull<ModuleOp>(op) ? cast<ModuleOp>(op) : op ? op->getParentOfType<ModuleOp>() : nullptr;
  auto layout = module ? module->getAttrOfType<DataLayoutSpecAttr>(DLTIDialect::kDataLayoutAttrName) : nullptr;
  for (DataLayoutEntryInterface entry : layout ? layout.getEntries() : DataLayoutEntryListRef()) {
    auto type = dyn_cast<Type>(entry.getKey());
    if (type && type.isIndex()) {
      return static_cast<unsigned>(cast<IntegerAttr>(entry.getValue()).getInt());
    }
  }
  return usualBits;
}

unsigned ingot::plan::indexBits(const OpBuilder &b) { return indexBits(b.getInsertionBlock()->getParentOp()); }

int64_t ingot::plan::mostIndex(unsigned bits) { return bits == usualBits ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1; }
