// The function's arguments and results: the tensors of sequences among them, and outputs compared with what the model
// declares. As ONNX Runtime does, other element types are refused, which no real model that the project knows has; of
// other shapes there is a warning, as models that were cut down after their export have them.
#include "compiler/importer/ElementType.h"
#include "compiler/importer/Importer.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/sizes/Declared.h"
#include "compiler/support/Sequences.h"

using namespace mlir;

namespace ingot::importer {

/// Notes which inputs or outputs are sequences, if any are.
static void noteSequences(func::FuncOp function, llvm::StringRef attribute, llvm::ArrayRef<Spread> all) {
  auto tensors = llvm::map_to_vector(all, [](const Spread &one) { return one.tensors; });
  if (llvm::any_of(tensors, [](int64_t form) { return form != support::isTensor; })) {
    function->setAttr(attribute, DenseI64ArrayAttr::get(function.getContext(), tensors));
  }
}

/// The arguments that are tensors of sequences.
void Importer::gather(func::FuncOp function, llvm::ArrayRef<Spread> inputs) {
  ValueRange arguments = function.getArguments();
  for (const Spread &input : inputs) {
    size_t count = support::tensorsOf(input.tensors);
    if (arguments.size() < count) {
      return; // one of them has been refused
    }
    if (input.tensors == support::isMap) {
      maps[input.name] = {arguments[0], arguments[1]};
    }
    if (input.tensors >= 0) {
      Sequence s;
      s.items = Values(arguments.take_front(count));
      s.element = input.element;
      s.present = input.isAbsent ? truth(locationOf(input.name), false) : Value();
      sequences[input.name] = s;
    }
    arguments = arguments.drop_front(count);
  }
  noteSequences(function, onnx::inputSequencesName, inputs);
}

static SmallVector<int64_t> dimsOf(const pb::TensorShapeProto &shape) {
  SmallVector<int64_t> dims;
  for (const pb::TensorShapeProto::Dimension &dim : shape.dim()) { // some tools write 0 or -1 for an open one
    dims.push_back(dim.dim_value() > 0 ? dim.dim_value() : ShapedType::kDynamic);
  }
  return dims;
}

void Importer::compareDeclared(func::FuncOp function, unsigned number, const pb::ValueInfoProto &output,
                               const ImportOptions &options) {
  if (!output.type().has_tensor_type()) {
    return;
  }
  const pb::TypeProto::Tensor &type = output.type().tensor_type();
  auto computed = cast<TensorType>(function.getResultTypes()[number]);
  Type element = elementType(context, type.elem_type());
  if (type.elem_type() && element != computed.getElementType()) {
    auto maker =
        llvm::find_if(graph.nodes, [&](const Node &node) { return llvm::is_contained(node.outputs, output.name()); });
    Where where = maker == graph.nodes.end() ? Where() : maker->where();
    auto own = static_cast<int32_t>(onnx::numberOfElement(computed.getElementType()));
    problems->add(where, "gives output " + quoted(output.name()) + " the element type " + elementName(own) +
                             ", but the model declares " + elementName(type.elem_type()));
  }
  // The sizes that a user gives or bounds are not all of those that the model speaks of.
  bool isUsers = !options.shapes.empty() || !options.dims.empty() || !options.bounds.empty();
  if (!type.has_shape() || isUsers) {
    return;
  }
  SmallVector<int64_t> dims = dimsOf(type.shape());
  auto ranked = dyn_cast<RankedTensorType>(computed);
  bool isKnown = ranked && ranked.getRank() == static_cast<int64_t>(dims.size()) &&
                 llvm::all_of(llvm::zip_equal(ranked.getShape(), dims), [](auto pair) {
                   auto [size, wanted] = pair;
                   return size == wanted || ShapedType::isDynamic(wanted);
                 });
  if (!isKnown) { // to be right: it is compared when sizes are known
    function.setResultAttr(number, onnx::declaredShapeName, builder.getDenseI64ArrayAttr(dims));
  }
}

/// How a sequence that is an output stands among the results; it gets that form. Nothing: a problem has been added.
std::optional<int64_t> Importer::outputForm(const pb::ValueInfoProto &output, Sequence &s) {
  if (!sequenceTypeOf(output.type())) {
    problems->add("output " + quoted(output.name()) + " is a sequence, but the model says that it is a tensor");
    return std::nullopt;
  }
  if (!s.isRanked()) {
    problems->add("output " + quoted(output.name()) + " has tensors of an unknown number of axes");
    return std::nullopt;
  }
  SequenceFormula f(builder, locationOf(output.name()));
  bool isOptional = output.type().has_optional_type();
  s = isOptional ? f.packed(s) : f.required(s);
  if (isOptional && !s.present) {
    s.present = truth(locationOf(output.name()), true);
  }
  return isOptional ? support::isOptionalPacked : s.isPacked() ? int64_t(support::isPacked) : int64_t(s.items.size());
}

/// Ends the function with the model's outputs; false where one of them is missing, which has been reported.
bool Importer::finish(func::FuncOp function, const ImportOptions &options) {
  SmallVector<Value> results;
  SmallVector<Type> types;
  std::vector<Spread> spread;
  SmallVector<std::string> names;
  llvm::StringMap<int64_t> ranks;
  bool isComplete = true;
  for (const pb::ValueInfoProto &output : graph.proto->output()) {
    if (output.type().tensor_type().has_shape()) {
      ranks[output.name()] = output.type().tensor_type().shape().dim_size();
    }
    auto add = [&](Value result, const std::string &name) {
      results.push_back(result);
      types.push_back(result.getType());
      names.push_back(name);
    };
    if (Given given = givenBy(output.name()); given.sequence) {
      std::optional<int64_t> form = outputForm(output, *given.sequence);
      if (!form) {
        return false;
      }
      spread.push_back({output.name(), *form});
      const Sequence &s = *given.sequence;
      if (s.present) {
        add(s.present, output.name() + ".present");
      }
      if (s.isPacked()) {
        add(s.elements, output.name() + ".elements");
        add(s.shapes, output.name() + ".shapes");
      }
      for (auto [i, item] : llvm::enumerate(s.items)) {
        add(item, nameInSequence(output.name(), i));
      }
      continue;
    }
    spread.push_back({output.name(), support::isTensor});
    auto rows = rowsOfMaps.find(output.name());
    Value result = rows == rowsOfMaps.end() ? value(output.name()) : rows->second.values;
    if (!result) {
      if (maps.contains(output.name())) {
        problems->add("output " + quoted(output.name()) + " is a map that is an input, which is unsupported");
      }
      isComplete = false; // its node has been reported
      continue;
    }
    if (mayBeAbsent(result)) {
      problems->add("output " + quoted(output.name()) + " is an optional value, which is unsupported");
      return false;
    }
    add(result, output.name());
  }
  if (!isComplete) {
    return false;
  }
  noteSequences(function, onnx::outputSequencesName, spread);
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), types));
  for (auto [i, name] : llvm::enumerate(names)) {
    function.setResultAttr(i, "onnx.name", builder.getStringAttr(name));
    if (auto rank = ranks.find(name); rank != ranks.end() && !onnx::ranked(results[i])) {
      function.setResultAttr(i, onnx::declaredRankName, builder.getI64IntegerAttr(rank->second));
    }
    if (auto rows = rowsOfMaps.find(name); rows != rowsOfMaps.end()) {
      function.setResultAttr(i, onnx::mapKeysName, rows->second.keys);
    }
  }
  for (const pb::ValueInfoProto &output : graph.proto->output()) {
    if (auto name = llvm::find(names, output.name()); name != names.end()) {
      compareDeclared(function, static_cast<unsigned>(name - names.begin()), output, options);
    }
  }
  return true;
}

} // namespace ingot::importer
