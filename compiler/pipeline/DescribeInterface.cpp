// Describes a model's function for people and for the headers: its inputs and outputs, the sizes that a run finds or
// checks, its nodes and its kernel calls.
#include "compiler/graph/PackInterface.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/OpWork.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/pipeline/Constraints.h"
#include "compiler/pipeline/State.h"
#include "compiler/support/SymbolNames.h"

using namespace mlir;

namespace ingot::pipeline {

/// Describes a tensor; `packed`: the type that a tensor of bytes holds; null: its own type.
static plan::TensorInfo tensorInfo(Type type, Attribute packed, StringAttr name, const std::string &fallback) {
  auto t = cast<RankedTensorType>(packed ? cast<TypeAttr>(packed).getValue() : type);
  plan::TensorInfo info;
  info.name = name ? name.str() : fallback;
  info.type = static_cast<int32_t>(onnx::numberOfElement(t.getElementType()));
  info.dims = onnx::sizesOf(t);
  t = cast<RankedTensorType>(type);
  info.bytes = support::product(onnx::sizesOf(t)) * support::Size(onnx::elementBytes(t.getElementType()));
  return info;
}

/// Returns the places of a symbol as "axis 0 of input 'x', axis 1 of input 'y'".
static std::string placesOf(const std::string &symbol, llvm::ArrayRef<plan::TensorInfo> inputs) {
  std::string text;
  for (const plan::TensorInfo &input : inputs) {
    for (auto [axis, dim] : llvm::enumerate(input.dims)) {
      if (dim == support::Size::symbol(symbol)) {
        text += (text.empty() ? "" : ", ") + ("axis " + std::to_string(axis)) + " of input '" + input.name + "'";
      }
    }
  }
  return text;
}

/// Names a data-dependent size: "boxes_dim0", with a number appended if another size has that name.
static std::string nameOfDataDependentSize(const plan::ModelInfo &info, const plan::TensorInfo &output, size_t axis) {
  std::string name = output.name + "_dim" + std::to_string(axis), text = support::symbolText(name);
  auto isTaken = [&](const auto &other) { return other.name == text; };
  for (int number = 2; llvm::any_of(info.symbols, isTaken) || llvm::any_of(info.dataDependentSizes, isTaken);
       ++number) {
    text = support::symbolText(name + "_" + std::to_string(number));
  }
  return text;
}

/// Gives the sizes that the run finds names, after the first output that has one.
static void nameDataDependentSizes(plan::ModelInfo &info, const support::Bounds &bounds) {
  for (plan::TensorInfo &output : info.outputs) {
    for (auto [axis, dim] : llvm::enumerate(output.dims)) {
      if (!dim.isDataDependent()) {
        continue;
      }
      output.most = output.capacity();
      output.most[axis] = dim.bounded(bounds);
      output.isAllocated |= output.most[axis].isUnknown();
      auto known = llvm::find_if(info.dataDependentSizes,
                                 [&, &dim = dim](const plan::DataDependentSizeInfo &f) { return f.size == dim; });
      if (known == info.dataDependentSizes.end()) {
        known = info.dataDependentSizes.insert(known,
                                               {nameOfDataDependentSize(info, output, axis), dim, output.most[axis]});
      }
      dim = support::Size::symbol(known->name);
    }
    output.bytes = output.bytes.bounded(bounds);
    // The product may have no bound although each axis has one: memory::planMemory goes by the bytes.
    output.isAllocated |= output.bytes.isUnknown();
  }
}

/// Describes the symbols with their bounds, and what else runs are checked for.
static void describeChecks(func::FuncOp function, plan::ModelInfo &info) {
  SymbolBounds bounds;
  std::vector<std::string> symbols = onnx::symbolsOf(function, function.getArgumentTypes());
  for (const std::string &name : symbols) {
    bounds[name] = {};
  }
  info.requirements = solveChecks(onnx::checksOf(function), bounds);
  info.symbols.clear();
  for (const std::string &name : symbols) {
    const Bound &bound = bounds[name];
    info.symbols.push_back({name, bound.most, bound.least, placesOf(name, info.inputs), bound.by()});
  }
  function.getBody().walk([&](Operation *op) { // ends of branches have checks of their own
    SymbolBounds inside = bounds;
    std::vector<plan::RequirementInfo> others = solveChecks(onnx::checksOf(op), inside);
    for (const auto &[name, bound] : inside) {
      if (bound.least != bounds[name].least || bound.most != bounds[name].most) {
        others.push_back({boundText(name, bound), bound.node()});
      }
    }
    for (const plan::RequirementInfo &other : others) {
      info.requirements.push_back({other.text + ", where this branch is taken", other.node});
    }
  });
}

static std::vector<int64_t> sequencesIn(func::FuncOp function, StringRef attribute) {
  auto counts = function->getAttrOfType<DenseI64ArrayAttr>(attribute);
  return counts ? std::vector<int64_t>(counts.asArrayRef()) : std::vector<int64_t>();
}

static void describeKeys(Attribute keys, plan::TensorInfo &info) {
  if (auto texts = dyn_cast_or_null<ArrayAttr>(keys)) {
    info.hasStringKeys = true;
    for (Attribute text : texts) {
      info.mapKeys.push_back(cast<StringAttr>(text).str());
    }
  } else if (auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(keys)) {
    for (int64_t number : numbers.asArrayRef()) {
      info.mapKeys.push_back(std::to_string(number));
    }
  }
}

void describe(func::FuncOp function, plan::ModelInfo &info) {
  info.inputs.clear(), info.outputs.clear();
  for (auto [i, t] : llvm::enumerate(function.getArgumentTypes())) {
    info.inputs.push_back(tensorInfo(t, function.getArgAttr(i, graph::packedName),
                                     function.getArgAttrOfType<StringAttr>(i, onnx::interfaceName),
                                     "input" + std::to_string(i)));
    info.inputs.back().isOptional = bool(function.getArgAttr(i, onnx::optionalName));
  }
  for (auto [i, t] : llvm::enumerate(function.getResultTypes())) {
    info.outputs.push_back(tensorInfo(t, function.getResultAttr(i, graph::packedName),
                                      function.getResultAttrOfType<StringAttr>(i, onnx::interfaceName),
                                      "output" + std::to_string(i)));
    describeKeys(function.getResultAttr(i, onnx::mapKeysName), info.outputs.back());
  }
  info.inputSequences = sequencesIn(function, onnx::inputSequencesName);
  info.outputSequences = sequencesIn(function, onnx::outputSequencesName);
  describeChecks(function, info);
  info.dataDependentSizes.clear();
  nameDataDependentSizes(info, onnx::boundsOf(function));
}

support::Size countMacs(func::FuncOp function) {
  support::Size macs = 0;
  function.walk([&](Operation *op) {
    if (std::optional<support::Size> own = onnx::multiplyAddsOf(op)) {
      macs = macs + *own;
    }
  });
  return macs;
}

} // namespace ingot::pipeline
