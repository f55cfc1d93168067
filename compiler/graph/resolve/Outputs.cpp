// Makes the function's results, which include the tensors of sequences, and compares outputs with what the model
// declares. Other element types are refused as ONNX Runtime does; no real model that the project knows has them. Other
// shapes get a warning, as models have them that were cut down after their export.
#include "compiler/graph/resolve/Resolver.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/onnx/rewriting/Operators.h"
#include "compiler/onnx/sizes/Declared.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/Sequences.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the node that makes an output, which may be a constant; no node: it is a weight or an argument.
static Where makerOf(Operation *maker) {
  if (auto written = dyn_cast_or_null<onnx::NodeOp>(maker)) {
    return Node(written).where();
  }
  auto name = maker ? dyn_cast<NameLoc>(maker->getLoc()) : NameLoc();
  auto op = name ? dyn_cast<NameLoc>(name.getChildLoc()) : NameLoc();
  return op ? Where{name.getName().str(), op.getName().str()} : Where();
}

void Resolver::compareDeclared(unsigned number, DictionaryAttr declared, Operation *maker) {
  auto computed = cast<TensorType>(function.getResultTypes()[number]);
  auto element = static_cast<int32_t>(declared.getAs<IntegerAttr>("element").getInt());
  if (element && onnx::elementOfNumber(element, context) != computed.getElementType()) {
    auto own = static_cast<int32_t>(onnx::numberOfElement(computed.getElementType()));
    problems->add(makerOf(maker), "gives output " + quoted(declared.getAs<StringAttr>("name").getValue()) +
                                      " the element type " + support::elementType(own).name +
                                      ", but the model declares " + support::elementType(element).name);
  }
  auto ranked = dyn_cast<RankedTensorType>(computed);
  if (auto rank = declared.getAs<IntegerAttr>("rank"); rank && !ranked) {
    function.setResultAttr(number, onnx::declaredRankName, rank);
  }
  auto dims = declared.getAs<DenseI64ArrayAttr>("dims");
  if (!dims) {
    return;
  }
  bool isKnown = ranked && ranked.getRank() == dims.size() &&
                 llvm::all_of(llvm::zip_equal(ranked.getShape(), dims.asArrayRef()), [](auto pair) {
                   auto [size, wanted] = pair;
                   return size == wanted || ShapedType::isDynamic(wanted);
                 });
  if (!isKnown) { // it is compared when sizes are known
    function.setResultAttr(number, onnx::declaredShapeName, dims);
  }
}

/// Returns how a sequence that is an output stands among the results, and gives it that form. Nothing: a problem has
/// been added.
std::optional<int64_t> Resolver::outputForm(DictionaryAttr declared, Sequence &s) {
  StringRef name = declared.getAs<StringAttr>("name").getValue();
  if (!declared.contains("sequence")) {
    problems->add("output " + quoted(name) + " is a sequence, but the model says that it is a tensor");
    return std::nullopt;
  }
  if (!s.isRanked()) {
    problems->add("output " + quoted(name) + " has tensors of an unknown number of axes");
    return std::nullopt;
  }
  SequenceFormula f(builder, NameLoc::get(builder.getStringAttr(name)));
  bool isOptional = declared.contains("optional");
  s = isOptional ? f.packed(s) : f.required(s);
  if (isOptional && !s.present) {
    s.present = truth(NameLoc::get(builder.getStringAttr(name)), true);
  }
  return isOptional ? support::isOptionalPacked : s.isPacked() ? int64_t(support::isPacked) : int64_t(s.items.size());
}

/// Returns the names of the results that a sequence is.
static SmallVector<std::string> namesOf(const std::string &output, const Sequence &s) {
  SmallVector<std::string> names;
  if (s.present) {
    names.push_back(output + ".present");
  }
  if (s.isPacked()) {
    names.append({output + ".elements", output + ".shapes"});
  }
  for (size_t i = 0; i < s.items.size(); ++i) {
    names.push_back(support::nameInSequence(output, i));
  }
  return names;
}

/// Ends the function with the model's outputs. Returns false where one of them is missing, which has been reported.
bool Resolver::finish() {
  Operation *end = function.front().getTerminator();
  auto outputs = cast<ArrayAttr>(function->removeAttr(onnx::outputsName));
  builder.setInsertionPoint(end);
  SmallVector<Value> results;
  SmallVector<std::string> names;
  /// The declaration and node of each result; null: the result is one of a sequence.
  SmallVector<std::pair<DictionaryAttr, Operation *>> tensors;
  SmallVector<int64_t> forms;
  bool isComplete = true;
  for (auto [declared, written] : llvm::zip_equal(outputs.getAsRange<DictionaryAttr>(), end->getOperands())) {
    std::string name = declared.getAs<StringAttr>("name").str();
    if (ResolvedValue resolved = resolvedValue(written); resolved.sequence) {
      std::optional<int64_t> form = outputForm(declared, *resolved.sequence);
      if (!form) {
        return false;
      }
      forms.push_back(*form);
      results.append(tensorsOf(resolved));
      names.append(namesOf(name, *resolved.sequence));
      tensors.resize(results.size());
      continue;
    }
    Value result = value(written);
    if (!result) {
      isComplete = false; // the problem of its node has been reported
      continue;
    }
    if (mayBeAbsent(result)) {
      problems->add("output " + quoted(name) + " is an optional value, which is unsupported");
      return false;
    }
    forms.push_back(support::isTensor);
    results.push_back(result);
    names.push_back(name);
    tensors.push_back({declared, written.getDefiningOp()});
  }
  if (!isComplete) {
    return false;
  }
  if (llvm::any_of(forms, [](int64_t form) { return form != support::isTensor; })) {
    function->setAttr(onnx::outputSequencesName, builder.getDenseI64ArrayAttr(forms));
  }
  func::ReturnOp::create(builder, function.getLoc(), results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(), TypeRange(ValueRange(results))));
  for (auto [i, name] : llvm::enumerate(names)) {
    function.setResultAttr(i, onnx::interfaceName, builder.getStringAttr(name));
    auto [declared, maker] = tensors[i];
    if (declared) {
      compareDeclared(i, declared, maker);
    }
    if (auto keys = declared ? declared.get("keys") : Attribute()) {
      function.setResultAttr(i, onnx::mapKeysName, keys);
    }
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front()))) {
    if (&op == end || isa<onnx::NodeOp>(op)) {
      op.erase();
    }
  }
  return true;
}

} // namespace ingot::graph
