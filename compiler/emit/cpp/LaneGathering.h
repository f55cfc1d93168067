// Gathers successive vector operations that work lane by lane, and writes one loop over their lanes:
//
//   %s = arith.addf %a, %b : vector<8xf32>         for %i = 0 to 8
//   %p = arith.mulf %s, %c : vector<8xf32>    =>     s = a[%i] + b[%i]
//   vector.store %p, %m[%k]                          m[%k + %i] = s * c[%i]
//
// A vector that is used only within its loop needs no array. Invariant: when an operation cannot join the loop (another
// number of lanes, or memory accesses that might overlap), the loop is written before it, so that order is kept.
// The class also knows where the lanes of a vector are: in an array, in another vector, or in a scalar for all of them.
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

  /// Makes an array for the lanes of a vector, in the block where the builder stands.
  mlir::Value newArray(mlir::VectorType type);
  void setElement(mlir::Value value, mlir::Value array, mlir::Value lane);

  /// Returns one lane of a vector that no gathered operation computes.
  mlir::Value lane(mlir::Value vector, mlir::Value number);
  mlir::Value lane(mlir::Value vector, int64_t number) { return lane(vector, index(number)); }

  /// Gathers an operation; writes the loop of those before it first where it cannot join them.
  void gather(mlir::Operation *op);
  /// Requests that the loop copies the lanes of `vector` to `array`. All requested copies happen as if at once, so that
  /// arrays may be exchanged.
  void copy(mlir::Value vector, mlir::Value array, mlir::Operation *user);
  /// Writes the loop of what was gathered, in front of `before`.
  void flush(mlir::Operation *before, llvm::StringRef kind = "INGOT_LANES");

  size_t gatheredCount() const { return gathered.size(); }
  bool writesMemory() const {
    return llvm::any_of(accesses, [](const LaneAccess &each) { return each.writes; });
  }

  mlir::func::FuncOp function;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, mlir::Value> splats, arrays;
  llvm::DenseMap<mlir::Value, std::pair<mlir::Value, int64_t>>
      parts;                                 ///< vectors that are lanes of another one: that one, the first lane
  llvm::SmallVector<mlir::Operation *> dead; ///< operations whose results have no use any more; to be erased

private:
  /// A copy of a vector's lanes to an array. `user` is the operation that reads the vector only by way of the array.
  struct Copy {
    mlir::Value vector, array;
    mlir::Operation *user;
  };

  /// Takes those operations out of the gathered ones whose results only `store` uses, directly or through others of
  /// them, and that do not access memory: they can be computed in the loop of the store instead.
  llvm::SmallVector<mlir::Operation *> takeExclusiveOperands(mlir::Operation *store);
  /// Whether `user`, which is not gathered, reads a gathered vector, so that this needs an array.
  bool isNeededBy(mlir::Operation *user, mlir::Value vector) const;
  /// Whether no gathered operation from number `next` on reads `array`, so that its lanes may be overwritten there.
  bool isNotReadFrom(mlir::Value array, size_t next, llvm::ArrayRef<Copy> all) const;

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
  llvm::SmallVector<LaneAccess> accesses;
  llvm::SmallVector<Copy> copies;
  int64_t lanes = 0; ///< lanes of the gathered operations; 0: there are none
};

} // namespace ingot::emit::cpp
