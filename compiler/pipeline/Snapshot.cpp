#include "compiler/pipeline/Snapshot.h"

using namespace mlir;

namespace ingot::pipeline {

static OwningOpRef<ModuleOp> copyOf(const OwningOpRef<ModuleOp> &module) {
  return cast<ModuleOp>(module.get()->clone());
}

void Snapshot::take(const State &state) {
  variants.clear();
  for (const Variant &variant : state.variants) {
    variants.push_back({copyOf(variant.module), variant.info, variant.result});
  }
  result = state.result;
  weights = state.weights;
  choices = state.choices;
}

void Snapshot::restore(State &state) const {
  state.result = result;
  state.weights = weights;
  state.choices = choices;
  state.variants.resize(variants.size()); // phases may have added some
  for (auto [variant, saved] : llvm::zip_equal(state.variants, variants)) {
    variant.module = copyOf(saved.module);
    variant.info = saved.info;
    variant.result = saved.result;
  }
}

} // namespace ingot::pipeline
