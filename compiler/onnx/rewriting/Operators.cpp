// Looks operators up by the name that their op has in the dialect, "onnx.DOMAIN.OP" without a domain for the
// standard's.
#include "compiler/onnx/rewriting/Operators.h"
#include "compiler/onnx/interfaces/NodeKinds.h"

using namespace mlir;

namespace ingot::onnx {

std::optional<RegisteredOperationName> lookupOperator(MLIRContext *context, StringRef domain, StringRef op) {
  std::string name = ("onnx." + domain + (domain.empty() ? "" : ".") + op).str();
  return RegisteredOperationName::lookup(name, context);
}

/// Whether a node becomes something else than an op of its name.
static bool hasRulesOfItsOwn(RegisteredOperationName info) {
  return isControl(info) || info.hasTrait<SequenceNode>() || info.hasTrait<OptionalNode>();
}

bool isNewer(StringRef domain, int64_t opset) {
  // Operators of com.microsoft have one version, whatever a model imports.
  return domain != "com.microsoft" && opset > newestVersion(domain).value_or(opset);
}

/// Constant, control flow, sequences and optional values have no Importable op, and rules of their own.
std::string whyRefused(MLIRContext *context, StringRef domain, StringRef op, int64_t opset) {
  std::optional<RegisteredOperationName> info = lookupOperator(context, domain, op);
  auto *importable = info ? info->getInterface<Importable>() : nullptr;
  if (!importable && !(domain.empty() && op == "Constant") && !(info && hasRulesOfItsOwn(*info))) {
    std::string newest = isNewer(domain, opset) ? std::to_string(*newestVersion(domain)) : "";
    return "unknown or unsupported operator" + (newest.empty() ? "" : "; the newest known opset is " + newest);
  }
  int64_t through = domain.empty() && importable ? importable->through() : opset;
  if (std::min(opset, newestOpset) <= through) {
    return "";
  }
  return "is supported up to opset " + std::to_string(through) + ", as opset " + std::to_string(importable->since()) +
         " defines it; a newer one defines it otherwise";
}

/// A registered name has traits, but no way to list them; so the ones for two to five results are tried.
std::optional<unsigned> resultCount(RegisteredOperationName info) {
  if (info.hasTrait<OpTrait::OneResult>()) {
    return 1;
  }
  if (info.hasTrait<OpTrait::NResults<2>::Impl>()) {
    return 2;
  }
  if (info.hasTrait<OpTrait::NResults<3>::Impl>()) {
    return 3;
  }
  if (info.hasTrait<OpTrait::NResults<4>::Impl>()) {
    return 4;
  }
  if (info.hasTrait<OpTrait::NResults<5>::Impl>()) {
    return 5;
  }
  return std::nullopt;
}

} // namespace ingot::onnx
