#include "compiler/pipeline/Coverage.h"
#include "compiler/importer/Import.h"
#include "compiler/lower/Family.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/interfaces/Expansion.h"
#include "compiler/onnx/rewriting/Operators.h"
#include "compiler/pipeline/Dialects.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

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

namespace {
using support::ElementKind;
using support::ElementType;

struct TypeGroup {
  const char *word;
  bool (*has)(const ElementType &);
};
} // namespace

static constexpr TypeGroup kGroups[] = {
    {"floats", [](const ElementType &type) { return type.isFloat() && type.bits >= 16; }},
    {"integers",
     [](const ElementType &type) {
       return (type.kind == ElementKind::Signed || type.kind == ElementKind::Unsigned) && type.bits >= 8;
     }},
    {"booleans", [](const ElementType &type) { return type.kind == ElementKind::Bool; }},
    {"strings", [](const ElementType &type) { return type.kind == ElementKind::String; }},
    {"8-bit floats", [](const ElementType &type) { return type.isFloat() && type.bits == 8; }},
    {"few bits", [](const ElementType &type) { return type.isPacked() && type.kind != ElementKind::Bool; }},
    {"any", [](const ElementType &) { return true; }}};

/// Returns the types in words; those of a group are together where all of them are there.
static std::string textOf(llvm::ArrayRef<int32_t> numbers) {
  std::vector<std::string> words;
  std::vector<int32_t> left(numbers.begin(), numbers.end());
  for (const TypeGroup &group : llvm::reverse(kGroups)) {
    std::vector<int32_t> members;
    for (const ElementType &type : support::elementTypes()) {
      if (type.kind != ElementKind::None && group.has(type) && onnx::elementOfNumber(type.number, &context())) {
        members.push_back(type.number);
      }
    }
    if (llvm::all_of(members, [&](int32_t number) { return llvm::is_contained(left, number); })) {
      words.emplace_back(group.word);
      llvm::erase_if(left, [&](int32_t number) { return llvm::is_contained(members, number); });
    }
  }
  std::reverse(words.begin(), words.end());
  for (int32_t number : left) {
    words.push_back(support::elementType(number).name.str());
  }
  return llvm::join(words, ", ");
}

Coverage coverageOf(const std::string &domain, const std::string &op, int64_t opset) {
  if (std::string why = onnx::whyRefused(&context(), domain, op, opset); !why.empty()) {
    return {"refused", why};
  }
  std::optional<RegisteredOperationName> info = onnx::lookupOperator(&context(), domain, op);
  auto *importable = info ? info->getInterface<onnx::Importable>() : nullptr;
  if (!importable) {
    return {"resolved", ""};
  }
  std::string family = lower::familyNameOf(info->getTypeID());
  std::string how = importable->isAlias()                                                   ? "rewrite"
                    : !family.empty()                                                       ? "kernel " + family
                    : info->hasInterface<onnx::Elementwise>()                               ? "elementwise"
                    : info->hasInterface<onnx::Mover>() || info->hasInterface<onnx::View>() ? "movement"
                    : info->hasInterface<onnx::Decomposable>()                              ? "rewrite"
                    : info->hasInterface<onnx::Expandable>()                                ? "rewrite"
                                                                                            : "control";
  Coverage coverage = {how, "", importable->since()};
  for (const std::vector<int32_t> &numbers : importer::operandTypes(context(), domain, op)) {
    coverage.types.push_back(textOf(numbers));
  }
  return coverage;
}

} // namespace ingot::pipeline
