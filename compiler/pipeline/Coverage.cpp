#include "compiler/pipeline/Coverage.h"
#include "compiler/importer/Import.h"
#include "compiler/lower/Family.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/pipeline/Dialects.h"

using namespace mlir;

namespace ingot::pipeline {

static MLIRContext &context() {
  static auto *shared = [] {
    DialectRegistry registry;
    registerDialects(registry);
    auto *made = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *shared;
}

Coverage coverageOf(const std::string &domain, const std::string &op, int64_t opset) {
  if (std::string why = importer::whyRefused(context(), domain, op, opset); !why.empty()) {
    return {"refused", why};
  }
  auto info = RegisteredOperationName::lookup("onnx." + domain + (domain.empty() ? "" : ".") + op, &context());
  auto *importable = info ? info->getInterface<onnx::Importable>() : nullptr;
  if (!importable) {
    return {"importer", ""};
  }
  std::string family = lower::familyNameOf(info->getTypeID());
  std::string how = importable->isForm()                                                    ? "rewrite"
                    : !family.empty()                                                       ? "kernel " + family
                    : info->hasInterface<onnx::Elementwise>()                               ? "elementwise"
                    : info->hasInterface<onnx::Mover>() || info->hasInterface<onnx::View>() ? "movement"
                    : info->hasInterface<onnx::Decomposable>()                              ? "rewrite"
                                                                                            : "control";
  return {how, "", importable->since()};
}

} // namespace ingot::pipeline
