// Takes bytes apart by a shift for each place in a byte, and puts them together by an or of such places: ordinary ops,
// for which there are kernels. Only inputs and outputs that a file may hold go this way, so that nothing depends on
// their speed.
#include "compiler/graph/PackInterface.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/InterfaceAttributes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/rewriting/Formula.h"

using namespace mlir;
using ingot::onnx::Formula;

namespace ingot::graph {
namespace {

constexpr int64_t uint8Number = 2;

/// Writes the ops that turn bytes into elements of less than a byte, and back, for tensors of one type.
class PackedCodec {
public:
  PackedCodec(func::FuncOp function, RankedTensorType type)
      : f(b, function.getLoc()), type(type), row(onnx::rowOf(type.getElementType())), count(type.getNumElements()),
        bytes(llvm::divideCeil(count, row.pack())) {}

  OpBuilder b{static_cast<MLIRContext *>(nullptr)};

  RankedTensorType bytesType() { return onnx::tensorOf({bytes}, byteType()); }

  Value unpacked(Value packed) {
    Value codes = f.op("BitShift", {f.reshape(packed, {bytes, 1}), places()}, direction("RIGHT"));
    codes = f.reshape(codes, {bytes * row.pack()});
    if (bytes * row.pack() != count) {
      codes = f.op("Slice", {codes, ints({0}), ints({count}), Value(), Value()});
    }
    codes = f.reshape(codes, type.getShape());
    return row.isFloat() ? bitCast(toCode(codes), row.number) : f.cast(codes, type.getElementType(), row.number);
  }

  Value packed(Value x) {
    Value codes = row.isFloat() ? bitCast(x, codeNumber()) : x;
    codes = f.op("BitwiseAnd", {f.cast(codes, byteType(), uint8Number), constant({}, {(1 << row.bits) - 1})});
    codes = f.reshape(codes, {count});
    if (int64_t rest = bytes * row.pack() - count) {
      codes = f.op("Concat", {codes, constant({rest}, SmallVector<int64_t>(rest, 0))}, f.integer("axis", 0));
    }
    codes = f.op("BitShift", {f.reshape(codes, {bytes, row.pack()}), places()}, direction("LEFT"));
    Value all;
    for (int64_t i = 0; i < row.pack(); ++i) {
      Value place = f.op("Slice", {codes, ints({i}), ints({i + 1}), ints({1}), Value()});
      all = all ? f.op("BitwiseOr", {all, place}) : place;
    }
    return f.reshape(all, {bytes});
  }

private:
  Formula f;
  RankedTensorType type;
  const support::ElementType &row;
  int64_t count, bytes;

  Type byteType() { return IntegerType::get(type.getContext(), 8, IntegerType::Unsigned); }
  /// Returns the number of the integer type that has the bits of a float below a byte.
  static int64_t codeNumber() { return 21; }
  Value toCode(Value codes) { return f.cast(codes, onnx::elementOfNumber(codeNumber(), b.getContext()), codeNumber()); }
  Value bitCast(Value x, int64_t to) { return f.op("BitCast", {x}, f.integer("to", to)); }
  Value ints(ArrayRef<int64_t> values) { return onnx::makeIntegers(b, f.loc, values); }
  Value constant(ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
    return onnx::makeConstant(b, f.loc, onnx::constantFromIntegers(onnx::tensorOf(shape, byteType()), values));
  }
  /// Returns the bits by which each place in a byte is shifted.
  Value places() {
    SmallVector<int64_t> shifts;
    for (int64_t i = 0; i < row.pack(); ++i) {
      shifts.push_back(i * row.bits);
    }
    return constant({1, row.pack()}, shifts);
  }
  NamedAttribute direction(StringRef to) { return b.getNamedAttr("direction", b.getStringAttr(to)); }
};

bool isPacked(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && onnx::rowOf(tensor.getElementType()).isPacked();
}

LogicalResult refuse(func::FuncOp function, StringRef what, Attribute name, Type type) {
  return emitError(function.getLoc()) << what << " '" << (name ? cast<StringAttr>(name).getValue() : "")
                                      << "' has elements of less than a byte, and sizes that are open: fix them with "
                                         "--dim or --shape; its type is "
                                      << onnx::rowOf(cast<RankedTensorType>(type).getElementType()).name;
}

} // namespace

LogicalResult packInterface(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    if (!isPacked(argument.getType())) {
      continue;
    }
    unsigned i = argument.getArgNumber();
    auto type = cast<RankedTensorType>(argument.getType());
    if (!type.hasStaticShape()) {
      return refuse(function, "input", function.getArgAttr(i, onnx::interfaceName), type);
    }
    PackedCodec codec(function, type);
    codec.b = OpBuilder::atBlockBegin(&block);
    argument.setType(codec.bytesType());
    Value elements = codec.unpacked(argument);
    argument.replaceUsesWithIf(elements, [&](OpOperand &use) {
      return use.getOwner()->getBlock() != &block || elements.getDefiningOp()->isBeforeInBlock(use.getOwner());
    });
    function.setArgAttr(i, packedName, TypeAttr::get(type));
  }
  Operation *end = block.getTerminator();
  for (OpOperand &result : end->getOpOperands()) {
    if (!isPacked(result.get().getType())) {
      continue;
    }
    unsigned i = result.getOperandNumber();
    auto type = cast<RankedTensorType>(result.get().getType());
    if (!type.hasStaticShape()) {
      return refuse(function, "output", function.getResultAttr(i, onnx::interfaceName), type);
    }
    PackedCodec codec(function, type);
    codec.b = OpBuilder(end);
    result.set(codec.packed(result.get()));
    function.setResultAttr(i, packedName, TypeAttr::get(type));
  }
  function.setType(FunctionType::get(function.getContext(), block.getArgumentTypes(), end->getOperandTypes()));
  return success();
}

} // namespace ingot::graph
