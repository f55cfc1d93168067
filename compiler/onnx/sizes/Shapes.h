// Shape arithmetic shared by the ops' type inference. An axis is a number, an expression of the model's symbols or not
// known. Types say `?` for the last two; where there are expressions the encoding has all sizes:
// tensor<?x?x768xf32, #onnx.sizes<"batch", "sequence", 768>>.
//
// Wherever the IR says a size, it is an attribute, #onnx.size or #onnx.sizes, or a part of one. So whoever asks what an
// op speaks of (walkSizes) need not know where it may stand. A symbol that an op defines is a #onnx.symbol instead.
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

/// The ranked type, or null when the rank is unknown (or the value is none).
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

/// The axes of a type as sizes.
Sizes sizesOf(mlir::RankedTensorType type);
inline Size sizeOf(mlir::RankedTensorType type, int64_t axis) { return sizesOf(type)[axis]; }
mlir::RankedTensorType sizedType(llvm::ArrayRef<Size> sizes, mlir::Type element);
/// Calls f with the sizes that `op` itself (not the ops in it) speaks of: those of its attributes, but for a function's
/// facts and the attribute named `but`, of its results' types and of the types of its regions' arguments (with `used`:
/// where these have uses).
void walkSizes(mlir::Operation *op, llvm::function_ref<void(const Size &)> f, llvm::StringRef but = "",
               bool used = false);
/// Writes f(size) for each size of the attributes of `op`, facts included; types stay: they are inferred.
void replaceSizes(mlir::Operation *op, llvm::function_ref<Size(const Size &)> f);
/// Whether every axis is a number or an expression.
bool isSized(mlir::Value v);
/// "[batch, 3, ?]"
std::string textOf(llvm::ArrayRef<Size> sizes);

/// The op below the module that `op` is in, or is: a function. Null: there is none.
mlir::Operation *functionOf(mlir::Operation *op);

/// What runs that are let in keep to: the attribute of the function around (or that is) `op`. Type inference answers in
/// terms of them: sizes are written simplified by updateTypes() and by what notes requirements.
support::Facts factsOf(mlir::Operation *op);
inline constexpr llvm::StringRef factsName = "onnx.facts";
/// Sizes that are not negative in a run that is let in.
void setFacts(mlir::Operation *function, llvm::ArrayRef<Size> facts);
/// The type with its sizes in terms of the facts.
mlir::Type simplified(mlir::Type type, const support::Facts &facts);

/// The attribute of an op with pairs of sizes that must be equal for it to be right.
inline constexpr llvm::StringRef requiresName = "onnx.requires";
/// Notes that the op is right only for symbols that make `a` and `b` equal: checked when the model runs. Failure when
/// they cannot be equal, without a message.
llvm::LogicalResult require(mlir::Operation *op, const Size &a, const Size &b);

/// Requires that a list (a tensor of one dimension: axes, pads, a shape) has `n` elements. Failure when it has not,
/// without a message.
llvm::LogicalResult requireLength(mlir::Operation *op, mlir::Value list, int64_t n);

/// What a run is refused for: one size that is negative, or two that differ, and the node that says so. Kept on the
/// function, where the ops that require it may be gone.
struct SizeCheck {
  Sizes sizes;
  std::string node;
  /// "a", "a=b"
  std::string text() const;
  bool isFound() const;
  /// Whether it is about an optional input that must be there.
  bool isPresence() const;
};
inline constexpr llvm::StringRef checksName = "onnx.checks";
/// What ops required that have been replaced since, until all is known that follows from it; then it is among the
/// checks.
inline constexpr llvm::StringRef inheritedName = "onnx.inherited";
std::vector<SizeCheck> checksOf(mlir::Operation *function, llvm::StringRef attribute = checksName);
void addCheck(mlir::Operation *function, const SizeCheck &check, llvm::StringRef attribute = checksName);

/// The pairs of sizes that an op requires to be equal; of a function or a branch's end, those that it has inherited.
std::vector<SizeCheck> requirementsOf(mlir::Operation *op);

/// Whether the sizes to which requirements give numbers have them, in the function around `op`.
bool isSolved(mlir::Operation *op);
void setSolved(mlir::Operation *function);

/// How many axes the model says that a result of its has: an attribute of a function's result.
inline constexpr llvm::StringRef declaredRankName = "onnx.rank";
/// That of the result that `v` is; nothing where it is none, or the model does not say.
std::optional<int64_t> declaredRank(mlir::Value v);

/// The symbols in the order in which they first occur in the types.
std::vector<std::string> symbolsOf(mlir::TypeRange types);

/// The function's attribute that lists symbols which no input's axes have: arguments of a run on their own.
inline constexpr llvm::StringRef symbolsName = "onnx.symbols";
/// The model's symbols: those of the inputs' types, then these.
std::vector<std::string> symbolsOf(mlir::Operation *function, mlir::TypeRange inputs);

/// Numpy broadcasting of two shapes. Sizes that must be equal to broadcast, or one of them 1, are required of `op`.
/// Nothing when they contradict.
std::optional<Sizes> broadcast(mlir::Operation *op, llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b);

/// How long each of `count` equal parts of an axis is: `op` requires that it can be cut so. Nothing where it cannot.
std::optional<Size> equalPart(mlir::Operation *op, const Size &axis, const Size &count);

/// What an axis' stride is multiplied by where all places of an axis `to` are read, to which it is broadcast: 0 where
/// it has one element, else 1. Where only the run knows, an expression.
Size strideFactor(const Size &axis, const Size &to);

/// A possibly negative axis in [-rank, rank) brought to [0, rank); nothing when outside.
std::optional<int64_t> normalAxis(int64_t axis, int64_t rank);

/// Product of the dimensions; static shapes only.
int64_t elements(llvm::ArrayRef<int64_t> shape);

/// Bytes of one element in memory: types below a byte take one.
int64_t elementBytes(mlir::Type element);

} // namespace ingot::onnx
