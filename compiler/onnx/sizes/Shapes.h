// Computes with shapes for the ops' type inference. An axis is a number, an expression of the model's symbols or not
// known. Types say `?` for the last two; where there are expressions the encoding has all sizes:
// tensor<?x?x768xf32, #onnx.sizes<"batch", "sequence", 768>>.
//
// Wherever the IR says a size, it is an attribute, #onnx.size or #onnx.sizes, or a part of one. So whoever asks which
// symbols an op speaks of (walkSizes) need not know where sizes may stand. A symbol that an op defines is a
// #onnx.symbol instead.
#pragma once
#include "compiler/support/Size.h"
#include "compiler/support/Strided.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/Value.h"
#include <optional>

#include "compiler/onnx/Encoding.h.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/onnx/Attributes.h.inc"

namespace ingot::onnx {

/// Returns the ranked type of a value, or null where the rank is unknown or there is no value.
inline mlir::RankedTensorType ranked(mlir::Value v) {
  return llvm::dyn_cast_or_null<mlir::RankedTensorType>(v ? v.getType() : mlir::Type());
}
inline mlir::Type elementOf(mlir::Value v) { return llvm::cast<mlir::TensorType>(v.getType()).getElementType(); }
inline bool isStatic(mlir::Value v) {
  auto t = ranked(v);
  return t && t.hasStaticShape();
}

mlir::RankedTensorType tensorOf(llvm::ArrayRef<int64_t> shape, mlir::Type element);
mlir::UnrankedTensorType unrankedOf(mlir::Type element);

using support::Size;
using support::Sizes;
using support::Symbol;

/// Returns the axes of a type as sizes.
Sizes sizesOf(mlir::RankedTensorType type);
inline Size sizeOf(mlir::RankedTensorType type, int64_t axis) { return sizesOf(type)[axis]; }
mlir::RankedTensorType sizedType(llvm::ArrayRef<Size> sizes, mlir::Type element);
/// Calls `f` with the sizes that `op` itself (not the ops in it) speaks of: those of its attributes, except for a
/// function's facts and the attribute named `but`; those of its results' types; and those of the types of its regions'
/// arguments (with `used`: where these have uses).
void walkSizes(mlir::Operation *op, llvm::function_ref<void(const Size &)> f, llvm::StringRef but = "",
               bool used = false);
/// Writes f(size) for each size of the attributes of `op`, facts included. Types stay, since they are inferred.
void replaceSizes(mlir::Operation *op, llvm::function_ref<Size(const Size &)> f);
/// Whether every axis is a number or an expression.
bool isSized(mlir::Value v);
/// Returns sizes as a text like "[batch, 3, ?]".
std::string textOf(llvm::ArrayRef<Size> sizes);

/// Returns the op below the module that `op` is or is in, which is a function. Null: there is none.
mlir::Operation *functionOf(mlir::Operation *op);

/// Returns the facts that hold in every run that is let in: an attribute of the function that is, or is around, `op`.
/// Type inference answers in terms of them: updateTypes() and what notes requirements write sizes simplified by them.
support::Facts factsOf(mlir::Operation *op);
inline constexpr llvm::StringRef factsName = "onnx.facts";
/// Sets the facts of a function: sizes that are not negative in a run that is let in.
void setFacts(mlir::Operation *function, llvm::ArrayRef<Size> facts);
/// Returns the type with its sizes simplified by the facts.
mlir::Type simplified(mlir::Type type, const support::Facts &facts);

/// The name of an op's attribute with pairs of sizes that must be equal for it to be right.
inline constexpr llvm::StringRef requiresName = "onnx.requires";
/// Notes that the op is right only for symbols that make `a` and `b` equal, which a run checks. Failure, without a
/// message, when they cannot be equal.
llvm::LogicalResult require(mlir::Operation *op, const Size &a, const Size &b);

/// Requires that a list (a tensor of one dimension: axes, pads, a shape) has `n` elements. Failure, without a message,
/// when it has not.
llvm::LogicalResult requireLength(mlir::Operation *op, mlir::Value list, int64_t n);

/// A reason for which a run is refused: one size that is negative, or two that differ, and the node that says so. It is
/// kept on the function, since the ops that require it may be gone.
struct SizeCheck {
  Sizes sizes;
  std::string node;
  /// Returns "a" or "a=b".
  std::string text() const;
  bool isDataDependent() const;
  /// Whether the check is about an optional input that must be there.
  bool isPresence() const;
};
inline constexpr llvm::StringRef checksName = "onnx.checks";
/// The name of the attribute with what ops required that have been replaced since. When all that follows from it is
/// known, it moves to the checks.
inline constexpr llvm::StringRef inheritedName = "onnx.inherited";
std::vector<SizeCheck> checksOf(mlir::Operation *function, llvm::StringRef attribute = checksName);
void addCheck(mlir::Operation *function, const SizeCheck &check, llvm::StringRef attribute = checksName);

/// Returns the pairs of sizes that an op requires to be equal; for a function or the end of a branch, those that it has
/// inherited.
std::vector<SizeCheck> requirementsOf(mlir::Operation *op);

/// Whether sizes to which requirements give numbers have these numbers already, in the function around `op`.
bool isSolved(mlir::Operation *op);
void setSolved(mlir::Operation *function);

/// The name of the attribute of a function's result that says how many axes the model gives it.
inline constexpr llvm::StringRef declaredRankName = "onnx.rank";
/// Returns the declared rank of the result that `v` is; nothing where it is no result, or the model does not say.
std::optional<int64_t> declaredRank(mlir::Value v);

/// Returns the symbols of types in the order in which they first occur.
std::vector<std::string> symbolsOf(mlir::TypeRange types);

/// The name of the function's attribute that lists symbols which no input's axes have; they are arguments of a run.
inline constexpr llvm::StringRef symbolsName = "onnx.symbols";
/// Returns the model's symbols: those of the inputs' types, and then those of that attribute.
std::vector<std::string> symbolsOf(mlir::Operation *function, mlir::TypeRange inputs);

/// Broadcasts two shapes as numpy does, and requires of `op` that sizes are equal, or one of them 1, where that is
/// needed.
/// Nothing when they contradict.
std::optional<Sizes> broadcast(mlir::Operation *op, llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);

/// Returns the size of each of `count` equal parts of an axis; `op` requires that the axis can be cut so. Nothing where
/// it cannot.
std::optional<Size> equalPart(mlir::Operation *op, const Size &axis, const Size &count);

/// Returns the factor of an axis' stride where all places of an axis `to` are read, to which it is broadcast: 0 where
/// it has one element, else 1, and an expression where only the run knows.
Size strideFactor(const Size &axis, const Size &to);

/// Returns an axis of [-rank, rank) as one of [0, rank); nothing when it is outside.
std::optional<int64_t> normalAxis(int64_t axis, int64_t rank);

/// Returns the product of the dimensions, which must be static.
int64_t elements(llvm::ArrayRef<int64_t> shape);

/// Returns the bytes of one element in memory; types below a byte take one.
int64_t elementBytes(mlir::Type element);

} // namespace ingot::onnx
