// Finds sizes that only data tells (data-dependent sizes of support::Size). Each is a symbol of the function, with a
// bound among the function's facts. An op that finds one carries its symbol in `onnx.data_dependent_size`, and its last
// result is the number when the model runs; for a Loop this is its number of iterations. An If lists in `onnx.choices`
// what its symbols are in either branch.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"
#include <set>

namespace ingot::onnx {

inline constexpr llvm::StringRef dataDependentSizeName = "onnx.data_dependent_size";
/// Returns the symbol that an op finds, or nothing; an If has choicesOf() instead.
std::optional<Symbol> dataDependentSizeOf(mlir::Operation *op);
using SymbolSet = std::set<Symbol>;

/// Returns the size that `op` finds, which is `bound` at most: a symbol that the op gets when it is first needed.
/// Unknown where nothing bounds it, or while the op is in no function.
Size dataDependentSize(mlir::Operation *op, const Size &bound);

/// A size of an If's results, which the two branches give differently.
struct BranchSizes {
  Symbol symbol;
  Size sizes[2]; ///< in `then` and in `else`; unknown for a branch that fails
};
llvm::SmallVector<BranchSizes> choicesOf(mlir::Operation *branch);
void setChoices(mlir::Operation *branch, llvm::ArrayRef<BranchSizes> choices);
/// Returns a symbol for the size that is the one or the other; it is bounded as by dataDependentSize().
Size chosenSize(mlir::Operation *branch, const Size &thenSize, const Size &elseSize);

/// A size that changes while a Loop runs (`onnx.grows`). For an axis of carried values `inside` stands for it in the
/// body; it is `start` in the first iteration and `next`, in terms of the present iteration, in the one that follows;
/// `after` is its size when the loop has ended. An axis of a scan output's slices has no `inside`: `next` is its size
/// in an iteration, which must be the same in all of them or the run fails, and `after` is the size that they share (0
/// where there is no slice).
struct Growth {
  std::optional<Symbol> inside;
  Symbol after;
  Size start, next; ///< `next` is unknown while an op of the body has yet to tell
};
llvm::SmallVector<Growth> growthsOf(mlir::Operation *loop);
inline constexpr llvm::StringRef choicesName = "onnx.choices", growsName = "onnx.grows";
void setGrowths(mlir::Operation *loop, llvm::ArrayRef<Growth> growths);
/// Returns a growth with symbols of its own, which is not yet among those of the loop.
Growth newGrowth(mlir::Operation *loop, const Size &start, bool carried);

/// Says that a data-dependent size is `bound` at most (unknown: nothing bounds it), whatever has been said before.
void setBound(mlir::Operation *op, Symbol symbol, const Size &bound);

/// Sizes in data become data-dependent sizes only when nothing else tells them, in a second simplification
/// (graph/ReadSizes.h): the function says in `onnx.reads_sizes` whether that is on, and whether they need a bound.
enum class SizeReading { No, Bounded, Any };
SizeReading sizeReadingIn(mlir::Operation *op);
void setSizeReading(mlir::Operation *function, bool unbounded);
/// Returns a size that `op` finds and that nothing bounds, so that its tensors need memory from ingot_exec.allocate.
/// Unknown failIf the function reads such sizes.
Size unboundedSize(mlir::Operation *op);

/// Returns all symbols that are known after `op` and not before.
SymbolSet symbolsDefinedBy(mlir::Operation *op);
/// Returns all symbols that ops in the regions of `op` find, or that change there.
SymbolSet symbolsDefinedInside(mlir::Operation *op);
bool mentionsAny(const Size &size, const SymbolSet &symbols);
/// Whether an op, or one in its regions, speaks of one of the symbols.
bool mentionsAny(mlir::Operation *op, const SymbolSet &symbols);

/// Writes `size` wherever the function around `op` speaks of `symbol`, but for types: they are inferred.
void replaceSymbol(mlir::Operation *op, Symbol symbol, const Size &size);

/// The largest size that a run takes from data where nothing bounds it.
constexpr int64_t mostUnbounded = int64_t(1) << 40;

/// Returns the bounds of the data-dependent sizes of the function that is, or is around, `op`.
inline const support::Bounds &boundsOf(mlir::Operation *op) { return factsOf(op).bounds(); }

} // namespace ingot::onnx
