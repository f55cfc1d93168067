// Gathers operations that work lane by lane, until it writes one loop over the lanes of them. It also knows where the
// lanes of a vector are: in an array, in another vector, or in a scalar where they are equal.
#pragma once
#include "compiler/emit/cpp/LaneAccess.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace ingot::emit::cpp {

class LaneGathering {
protected:
  explicit LaneGathering(mlir::func::FuncOp function) : function(function), b(function.getContext()) {}

  mlir::Location loc() { return function.getLoc(); }
  mlir::Value index(int64_t number);

  /// Makes an array for a vector, which lives in the block where the builder stands.
  mlir::Value newArray(mlir::VectorType type);
  void setElement(mlir::Value value, mlir::Value array, mlir::Value lane);

  /// Returns one lane of a vector that is not of the loop being gathered.
  mlir::Value lane(mlir::Value vector, mlir::Value number);
  mlir::Value lane(mlir::Value vector, int64_t number) { return lane(vector, index(number)); }

  /// Gathers an operation. Where it cannot be in one loop with those before it, their loop is written first.
  void gather(mlir::Operation *op);
  /// Gives `array` the lanes of `vector`, all at once with other copies.
  void copy(mlir::Value vector, mlir::Value array, mlir::Operation *user);
  /// Writes the loop of what was gathered, in front of `before`.
  void flush(mlir::Operation *before, llvm::StringRef kind = "INGOT_LANES");

  size_t gatheredCount() const { return gathered.size(); }
  bool writesMemory() const {
    return llvm::any_of(accesses, [](const Access &each) { return each.writes; });
  }

  mlir::func::FuncOp function;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, mlir::Value> splats, arrays;
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, int64_t>>
      parts;                                 ///< vectors that are lanes of another one, from a number on
  llvm::SmallVector<mlir::Operation *> done; ///< operations that nobody needs any more

private:
  /// An array that gets the lanes of a vector, for an operation that only has it from there.
  struct Copy {
    mlir::Value vector, array;
    mlir::Operation *user;
  };

  /// Takes out what only `store` needs, and not from memory: it may as well be computed in the store's own loop.
  llvm::SmallVector<mlir::Operation *> takeOwn(mlir::Operation *store);
  /// Whether an operation that is not gathered asks for the array of a vector that is.
  bool isNeededBy(mlir::Operation *user, mlir::Value vector) const;
  /// Whether the loop reads an array only before the operation at `next`, so that it may change lanes of it there.
  bool isReadBefore(mlir::Value array, size_t next, llvm::ArrayRef<Copy> all) const;

  // These write the body of the loop.
  void write(mlir::Operation *op);
  mlir::Value laneHere(mlir::Value vector);
  mlir::Value position(mlir::Value first);
  mlir::Value shifted(mlir::Value first, mlir::Value distance);
  mlir::Value choose(mlir::Value condition, mlir::Value otherwise, llvm::function_ref<mlir::Value()> value);
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value element(mlir::Value array, mlir::Value lane);

  llvm::DenseMap<mlir::Value, mlir::Value> ofLane; ///< the lane of a vector in the loop that is being written
  mlir::Value number;                              ///< the number of that lane
  llvm::SmallVector<mlir::Operation *> gathered;
  llvm::SmallVector<Access> accesses;
  llvm::SmallVector<Copy> copies;
  int64_t lanes = 0; ///< lanes of the gathered operations; 0: there are none
};

} // namespace ingot::emit::cpp
