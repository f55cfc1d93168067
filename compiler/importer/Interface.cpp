// The function's arguments, the tensors of sequences and maps among them, and what the model declares of its outputs,
// with which graph::resolve compares what they are.
#include "compiler/importer/Importer.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/onnx/Optional.h"
#include "compiler/onnx/rewriting/Operators.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/support/Sequences.h"
#include "compiler/support/SymbolNames.h"

using namespace mlir;

namespace ingot::importer {

std::string nameOfKeys(llvm::StringRef map) { return (map + "[keys]").str(); }
std::string nameOfValues(llvm::StringRef map) { return (map + "[values]").str(); }

func::FuncOp Importer::arguments(ModuleOp module, const ImportOptions &options) {
  std::vector<Spread> spread;
  std::vector<Input> inputs = readInputs(context, *graph.proto, options, *problems, spread);
  initializers(*graph.proto, {});
  SmallVector<Type> types = llvm::map_to_vector(inputs, [](const Input &input) { return input.type; });
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), options.name, builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  SmallVector<DictionaryAttr> attributes;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    function.getArgument(i).setLoc(locationOf(input.name));
    values[input.name] = function.getArgument(i);
    NamedAttrList given;
    given.set(onnx::interfaceName, builder.getStringAttr(input.name));
    if (input.isOptional) {
      given.set(onnx::optionalName, builder.getUnitAttr());
    }
    SmallVector<llvm::StringRef> symbols(input.symbols.begin(), input.symbols.end());
    given.set(dimsName, builder.getStrArrayAttr(symbols));
    attributes.push_back(given.getDictionary(context));
  }
  function.setAllArgAttrs(attributes);
  gather(function, spread);
  bounds(function, options);
  return function;
}

/// Nodes that make the sequences of the arguments that are their tensors.
void Importer::gather(func::FuncOp function, llvm::ArrayRef<Spread> inputs) {
  ValueRange arguments = function.getArguments();
  SmallVector<int64_t> codes;
  for (const Spread &input : inputs) {
    size_t count = support::tensorsOf(input.tensors);
    if (arguments.size() < count) {
      return; // one of them has been refused
    }
    codes.push_back(input.tensors);
    if (input.tensors == support::isMap) {
      maps[input.name] = {arguments[0], arguments[1]};
    }
    if (input.tensors >= 0) {
      NamedAttrList given;
      if (input.isAbsent) {
        given.set("type", sequenceAttribute(input.element));
      } else {
        given.set("dtype", builder.getI64IntegerAttr(onnx::numberOfElement(input.element)));
      }
      Inputs items{SmallVector<Value>(arguments.take_front(count)), SmallVector<llvm::StringRef>(count, input.name)};
      Where where{input.name, input.isAbsent ? "Optional" : "SequenceConstruct", 0};
      values[input.name] = make(where, "", items, builder.getNoneType(), given)->getResult(0);
    }
    arguments = arguments.drop_front(count);
  }
  if (llvm::any_of(codes, [](int64_t code) { return code != support::isTensor; })) {
    function->setAttr(onnx::inputSequencesName, builder.getDenseI64ArrayAttr(codes));
  }
}

/// The bounds of symbols become facts, which the compiler may build upon and a run checks.
void Importer::bounds(func::FuncOp function, const ImportOptions &options) {
  std::vector<OpenAxis> open = openAxes(function);
  onnx::Sizes facts;
  auto fact = [&](const onnx::Size &size) {
    facts.push_back(size);
    onnx::addCheck(function, {{size}, ""});
  };
  for (const auto &[name, bounds] : options.bounds) {
    std::vector<std::string> symbols = symbolsNamed(open, name);
    if (symbols.empty()) {
      problems->add("--dim gives bounds to " + quoted(name) + ", which is not an open dimension of any input");
    }
    for (const std::string &symbol : symbols) {
      onnx::Size size = onnx::Size::symbol(support::symbolText(symbol));
      if (bounds.second) {
        fact(onnx::Size(*bounds.second) - size);
      }
      if (bounds.first > 0) {
        fact(size - onnx::Size(bounds.first));
      }
    }
  }
  onnx::setFacts(function, facts);
}

static SmallVector<int64_t> dimsOf(const pb::TensorShapeProto &shape) {
  SmallVector<int64_t> dims;
  for (const pb::TensorShapeProto::Dimension &dim : shape.dim()) { // some tools write 0 or -1 for an open one
    dims.push_back(dim.dim_value() > 0 ? dim.dim_value() : ShapedType::kDynamic);
  }
  return dims;
}

/// What the model says of an output.
DictionaryAttr Importer::declaration(const pb::ValueInfoProto &output, bool comparesShape) {
  const pb::TypeProto::Tensor &type = output.type().tensor_type();
  NamedAttrList list;
  list.set("name", builder.getStringAttr(output.name()));
  list.set("element", builder.getI64IntegerAttr(type.elem_type()));
  if (type.has_shape()) {
    list.set("rank", builder.getI64IntegerAttr(type.shape().dim_size()));
  }
  if (type.has_shape() && comparesShape) {
    list.set("dims", builder.getDenseI64ArrayAttr(dimsOf(type.shape())));
  }
  if (sequenceTypeOf(output.type())) {
    list.set("sequence", builder.getUnitAttr());
  }
  if (output.type().has_optional_type()) {
    list.set("optional", builder.getUnitAttr());
  }
  if (auto keys = keysOfMaps.find(output.name()); keys != keysOfMaps.end()) {
    list.set("keys", keys->second);
  }
  return list.getDictionary(context);
}

/// Ends the function with the model's outputs.
void Importer::finish(func::FuncOp function, const ImportOptions &options) {
  // The sizes that a user gives or bounds are not all of those that the model speaks of.
  bool comparesShapes = options.shapes.empty() && options.dims.empty() && options.bounds.empty();
  SmallVector<Value> results;
  SmallVector<Attribute> outputs;
  for (const pb::ValueInfoProto &output : graph.proto->output()) {
    if (maps.contains(output.name())) {
      problems->add("output " + quoted(output.name()) + " is a map that is an input, which is unsupported");
      continue;
    }
    results.push_back(value(output.name()));
    outputs.push_back(declaration(output, comparesShapes));
  }
  auto end = func::ReturnOp::create(builder, function.getLoc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), end->getOperandTypes()));
  function->setAttr(onnx::outputsName, builder.getArrayAttr(outputs));
}

} // namespace ingot::importer
