// The onnx dialect: interfaces, a node that is being resolved, and helpers that every op and pass uses.
#pragma once
#include "compiler/onnx/elements/Lookup.h"
#include "compiler/onnx/elements/Movement.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <functional>
#include <optional>

namespace ingot::onnx {

/// The newest opset of the standard whose definitions the ops have been compared with.
inline constexpr int64_t newestOpset = 28;

/// The newest version of a domain's operators with which the ops have been compared; nothing for a domain of which no
/// op is known. "" is the standard's.
std::optional<int64_t> newestVersion(llvm::StringRef domain);

/// Attributes of a function that say how each of the model's inputs or outputs stands among its arguments or results,
/// as a support::SequenceForm or the length of a sequence. A function without them has tensors only.
inline constexpr llvm::StringLiteral inputSequencesName = "onnx.input_sequences",
                                     outputSequencesName = "onnx.output_sequences";

/// The attribute of a result that is the values of maps, a row each. It has their keys, an array of strings or
/// integers.
inline constexpr llvm::StringLiteral mapKeysName = "onnx.map_keys";

/// A node on its way from what a file says to an op. upgrade() edits it in place.
struct Node {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  std::string op;                          ///< upgrade() may rename
  int64_t opset;                           ///< version of the op's domain that the model imports
  llvm::SmallVector<mlir::Value> operands; ///< null: left out
  mlir::NamedAttrList attributes;
  unsigned outputs = 1; ///< how many outputs the node names
  /// Applied to the first result after the op has been made; for older definitions that need ops behind the new one.
  std::function<mlir::Value(mlir::OpBuilder &, mlir::Value)> after;
  /// Of an op that isAlias(): what the node gives, one value for each output that the operator has; null where it
  /// cannot. Another op may fill it, too, and then none of its name is made.
  llvm::SmallVector<mlir::Value> results = {};
  std::string domain = {}; ///< of the op; upgrade() may change it: an operator of com.microsoft that the standard has

  mlir::LogicalResult error(const llvm::Twine &why) const; ///< located; always failure
  mlir::Value operand(unsigned i) const { return i < operands.size() ? operands[i] : mlir::Value(); }
  /// Success where the first `n` operands are there.
  mlir::LogicalResult needs(unsigned n) const;
  /// Attributes of an alias, whose kinds have been checked; the second is what holds where a node leaves one out.
  int64_t integer(llvm::StringRef name, int64_t otherwise) const;
  double number(llvm::StringRef name, double otherwise) const;
  llvm::StringRef text(llvm::StringRef name, llvm::StringRef otherwise) const;
  /// Moves attribute `name` (ints or int), if there, to operand `index` as a one-dimensional int64 constant.
  void attributeToOperand(llvm::StringRef name, unsigned index);
  /// Moves a float attribute, if there, to operand `index` as a rank 0 constant of operand 0's element type.
  void floatAttributeToOperand(llvm::StringRef name, unsigned index);
};

/// Infers the type of an elementwise op by broadcast shapes and resultElement().
mlir::LogicalResult inferElementwise(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Type> &types);
/// Infers the type of a product as numpy's matmul has it, whose operands may have their last two axes swapped
/// (ops/MatMul.cpp).
mlir::LogicalResult inferProduct(mlir::Operation *op, mlir::Value x, mlir::Value y, bool transX, bool transY,
                                 mlir::Type element, llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace ingot::onnx

#include "compiler/onnx/Dialect.h.inc"
#include "compiler/onnx/Interfaces.h.inc"

namespace ingot::onnx {

/// Whether an optional operand is there.
inline bool present(mlir::Value v) { return v && !llvm::isa<mlir::NoneType>(v.getType()); }

/// Makes the op, infers its result types, and returns it. Null operands become onnx.None. `attributes` use the
/// standard's names; int64 attributes are I64Attr, ints DenseI64ArrayAttr, float F32Attr, floats DenseF32ArrayAttr,
/// string StrAttr, tensor ElementsAttr. Where inference fails (message given) the results stay unranked.
mlir::Operation *createOp(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes = {}, unsigned results = 1);

/// createOp for an op class with one result of interest; returns the first result.
///   Value y = make<AddOp>(b, loc, {a, c});
template <typename Op>
mlir::Value make(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> operands,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {}, unsigned results = 1) {
  return createOp(b, loc, Op::getOperationName(), mlir::ValueRange(operands), attributes, results)->getResult(0);
}

/// inferTypes() and set the results' types. Failure carries a message.
mlir::LogicalResult updateTypes(mlir::Operation *op);

} // namespace ingot::onnx
