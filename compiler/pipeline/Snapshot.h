// Keeps what phases change, for those that try again when it is known what they have led to.
#pragma once
#include "compiler/pipeline/State.h"

namespace ingot::pipeline {

class Snapshot {
public:
  /// Keeps the state as it is, in place of what was kept before.
  void take(const State &state);
  bool isTaken() const { return !variants.empty(); }
  /// Makes the state what it was, but for the policy and the number of patches.
  void restore(State &state) const;

private:
  struct Saved {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    plan::ModelInfo info;
    Result result;
  };
  std::vector<Saved> variants;
  Result result;
  plan::WeightTable weights;
  std::map<std::string, SpecializedSizes> choices;
};

} // namespace ingot::pipeline
