// Found sizes (support::Size): those that only data tells. Each is a symbol of the function, with a bound among the
// function's facts. An op that finds one carries its symbol in `onnx.found`, and its last result is the number when the
// model runs; a Loop's is how often it turned. An If lists in `onnx.choices` what its symbols are in either branch.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"
#include <set>

namespace ingot::onnx {

inline constexpr llvm::StringRef foundName = "onnx.found";
/// The symbol that an op finds, or nothing (of an If: see choicesOf).
std::optional<Symbol> foundBy(mlir::Operation *op);
using SymbolSet = std::set<Symbol>;

/// The size that `op` finds, at most `bound`: a symbol that the op gets when it is first needed. Unknown where nothing
/// bounds it, or while the op is in no function.
Size foundSize(mlir::Operation *op, const Size &bound);

/// A size of an If's results: one thing in one branch, another in the other.
struct Choice {
  Symbol symbol;
  Size sizes[2]; ///< then, else; unknown for a branch that fails
};
llvm::SmallVector<Choice> choicesOf(mlir::Operation *branch);
void setChoices(mlir::Operation *branch, llvm::ArrayRef<Choice> choices);
/// The size that is the one or the other; see foundSize.
Size chosenSize(mlir::Operation *branch, const Size &thenSize, const Size &elseSize);

/// A size that changes while a Loop turns (`onnx.grows`). Of an axis of carried values: `inside` stands for it in the
/// body, is `start` in the first iteration, and `next` (in what the present iteration knows) in the one that follows;
/// `behind` is what it is when the loop has ended. Of an axis of a scan output's slices there is no `inside`: `next` is
/// what it is in an iteration, the same in all of them or the run fails, and `behind` what they share (0: no slice).
struct Growth {
  std::optional<Symbol> inside;
  Symbol behind;
  Size start, next; ///< next: unknown while an op of the body has yet to tell
};
llvm::SmallVector<Growth> growthsOf(mlir::Operation *loop);
inline constexpr llvm::StringRef choicesName = "onnx.choices", growsName = "onnx.grows";
void setGrowths(mlir::Operation *loop, llvm::ArrayRef<Growth> growths);
/// A growth with symbols of its own, not yet among those of the loop.
Growth newGrowth(mlir::Operation *loop, const Size &start, bool carried);

/// Says that a found size is at most `bound` (unknown: nothing bounds it), whatever has been said before.
void setBound(mlir::Operation *op, Symbol symbol, const Size &bound);

/// Sizes in data become found sizes only when nothing else tells them, in a second simplification
/// (graph/ReadSizes.h): the function says in `onnx.reads_sizes` whether that is on, and whether they need a bound.
enum class SizeReading { No, Bounded, Any };
SizeReading sizeReadingIn(mlir::Operation *op);
void setSizeReading(mlir::Operation *function, bool unbounded);
/// A size that `op` finds and that nothing bounds: its tensors need memory from ingot_exec.allocate. Unknown unless the
/// function reads any.
Size unboundedSize(mlir::Operation *op);

/// All symbols that are known behind `op` and not before.
SymbolSet foundAt(mlir::Operation *op);
/// All symbols that ops in the regions of `op` find, or that change there.
SymbolSet foundInside(mlir::Operation *op);
bool mentionsAny(const Size &size, const SymbolSet &symbols);
/// Whether an op, or one in its regions, speaks of one of the symbols.
bool speaksOf(mlir::Operation *op, const SymbolSet &symbols);

/// Writes `size` wherever the function around `op` speaks of `symbol`, but for types: they are inferred.
void replaceFound(mlir::Operation *op, Symbol symbol, const Size &size);

/// The largest size that a run takes from data where nothing bounds it.
constexpr int64_t mostUnbounded = int64_t(1) << 40;

/// Of the found sizes of the function around (or that is) `op`.
inline const support::Bounds &boundsOf(mlir::Operation *op) { return factsOf(op).bounds(); }

} // namespace ingot::onnx
