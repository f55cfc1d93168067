// The dialect's registration, and the helpers by which ops are made and typed.
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/Family.h"
#include "compiler/onnx/Formats.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include "compiler/onnx/Dialect.cpp.inc"
#include "compiler/onnx/Interfaces.cpp.inc"

using namespace mlir;

namespace ingot::onnx {

// Each family file registers the ops of its .td; the listings are made from the folders. Those of expanded/ are
// declared here alone: another one there does not compile all families again.
#define FAMILY(Name) void register##Name(OnnxDialect &dialect);
#include "compiler/onnx/expanded/All.inc"
#undef FAMILY
void OnnxDialect::initialize() {
  addSizeAttributes();
#define FAMILY(Name) register##Name(*this);
#include "compiler/onnx/expanded/All.inc"
#include "compiler/onnx/ops/All.inc"
#undef FAMILY
}

Operation *OnnxDialect::materializeConstant(OpBuilder &b, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements && elements.getType() == type ? makeConstant(b, loc, elements).getDefiningOp() : nullptr;
}

/// A model of a newer version is refused, since an operator may mean something else in it.
std::optional<int64_t> newestVersion(StringRef domain) {
  return llvm::StringSwitch<std::optional<int64_t>>(domain)
      .Case("", newestOpset)
      .Case("ai.onnx.ml", 5)
      .Cases({"ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft"}, 1)
      .Default(std::nullopt);
}

LogicalResult Node::error(const Twine &why) const {
  emitError(loc) << why;
  return failure();
}

/// Inputs that an older definition demanded may be optional in the newest, which the ops describe; so upgrades ask.
LogicalResult Node::needs(unsigned n) const {
  for (unsigned i = 0; i < n; ++i) {
    if (!operand(i)) {
      return error("has too few inputs: input " + Twine(i) + " is missing");
    }
  }
  return success();
}

int64_t Node::integer(StringRef name, int64_t otherwise) const {
  auto given = dyn_cast_or_null<IntegerAttr>(attributes.get(name));
  return given ? given.getInt() : otherwise;
}

double Node::number(StringRef name, double otherwise) const {
  auto given = dyn_cast_or_null<FloatAttr>(attributes.get(name));
  return given ? given.getValueAsDouble() : otherwise;
}

StringRef Node::text(StringRef name, StringRef otherwise) const {
  auto given = dyn_cast_or_null<StringAttr>(attributes.get(name));
  return given ? given.getValue() : otherwise;
}

static void setOperand(Node &node, unsigned index, Value v) {
  if (node.operands.size() <= index) {
    node.operands.resize(index + 1);
  }
  node.operands[index] = v;
}

/// Axes, pads and the like were attributes in old opsets, and are inputs in new ones.
void Node::attributeToOperand(StringRef name, unsigned index) {
  Attribute a = attributes.erase(builder.getStringAttr(name));
  if (auto ints = dyn_cast_or_null<DenseI64ArrayAttr>(a)) {
    setOperand(*this, index, makeIntegers(builder, loc, ints.asArrayRef()));
  } else if (auto one = dyn_cast_or_null<IntegerAttr>(a)) {
    setOperand(*this, index, makeIntegers(builder, loc, {one.getInt()}));
  }
}

/// The input has the elements of the first one: Clip of float16 has limits of float16.
void Node::floatAttributeToOperand(StringRef name, unsigned index) {
  bool isOfFloats = !operands.empty() && operands[0] && isa<FloatType>(elementOf(operands[0]));
  if (!isOfFloats) { // an attribute that stays is one too many
    return;
  }
  if (auto f = dyn_cast_or_null<FloatAttr>(attributes.erase(builder.getStringAttr(name)))) {
    setOperand(*this, index, makeNumber(builder, loc, f.getValueAsDouble(), elementOf(operands[0])));
  }
}

/// Symbols of result types are simplified by what is known where the op stands: if it is known that n = m, both are
/// written as one of the two.
LogicalResult updateTypes(Operation *op) {
  auto infer = dyn_cast<InferTypes>(op);
  if (!infer) {
    return success();
  }
  op->removeAttr(requiresName); // found anew
  SmallVector<Type> types;
  if (failed(infer.inferTypes(types))) {
    return failure();
  }
  support::Facts facts = factsOf(op);
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    result.setType(simplified(type, facts));
  }
  return success();
}

/// Rewrites name ops by text, since most of them make ops of families whose headers they do not include.
Operation *createOp(OpBuilder &b, Location loc, StringRef name, ValueRange operands,
                    ArrayRef<NamedAttribute> attributes, unsigned results) {
  OperationState state(loc, name);
  for (Value v : operands) {
    state.addOperands(v ? v : makeNone(b, loc));
  }
  state.addAttributes(attributes);
  state.addTypes(SmallVector<Type>(results, unrankedOf(b.getF32Type())));
  Operation *op = b.create(state);
  (void)updateTypes(op); // a failure has been reported; the caller's pass fails on the diagnostic
  return op;
}

bool haveSameElements(Operation *op, ArrayRef<unsigned> numbers) {
  SmallVector<Value> operands(op->getOperands());
  if (!numbers.empty()) {
    operands = llvm::map_to_vector(numbers, [&](unsigned i) { return op->getOperand(i); });
  }
  llvm::erase_if(operands, [](Value v) { return !present(v); });
  return llvm::all_equal(llvm::map_range(operands, elementOf));
}

LogicalResult oneOf(Operation *op, StringRef name, StringRef value, ArrayRef<StringRef> allowed) {
  if (llvm::is_contained(allowed, value)) {
    return success();
  }
  return op->emitOpError("attribute '") << name << "' is '" << value << "', expected " << llvm::join(allowed, " or ");
}

/// One operand of unknown rank makes the result's rank unknown: it may be the larger one.
LogicalResult inferElementwise(Operation *op, SmallVectorImpl<Type> &types) {
  auto elementwise = cast<Elementwise>(op);
  Type element = elementwise.resultElement();
  Sizes shape;
  Type first = getElementTypeOrSelf(op->getOperand(0).getType());
  for (Value v : op->getOperands()) {
    if (!present(v)) {
      continue;
    }
    if (!elementwise.mixesElements() && getElementTypeOrSelf(v.getType()) != first) {
      return op->emitOpError("operands have element types that differ: ")
             << first << " and " << getElementTypeOrSelf(v.getType());
    }
    auto type = ranked(v);
    if (!type) {
      types.assign(1, unrankedOf(element));
      return success();
    }
    auto wider = broadcast(op, shape, sizesOf(type));
    if (!wider) {
      return op->emitOpError("operands have shapes that do not broadcast: ") << textOf(shape) << " and " << type;
    }
    shape = *wider;
  }
  types.assign(1, sizedType(shape, element));
  return success();
}

} // namespace ingot::onnx
