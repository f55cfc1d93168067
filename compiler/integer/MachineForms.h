// Chooses the forms that products, convolutions and recurrences take for a machine. This is the one place where
// features of machines decide about operators: everything else in this room asks FormsOf.
#pragma once
#include "compiler/target/MachineModel.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <limits>

namespace ingot::integer {

/// The products of floats by weights of few bits that are faster as products of bytes (SplitFloats.h).
struct SplitProducts {
  int64_t bits = 0; ///< the most bits of weights; 0: no products are
  /// Whether products of any number of rows are, and not only of one row or of nobody knows how many, where an element
  /// becomes several digits. Where it becomes one, all of them are.
  bool ofRows = false;
  /// With fewer columns an element is not used often enough to be made a byte.
  static constexpr int64_t leastColumns = 32;
};

/// The least R, in bytes as float32, for which a recurrence is faster with R as integers of 8 bits (Recurrent.h).
struct StateProducts {
  static constexpr int64_t never = std::numeric_limits<int64_t>::max();
  int64_t ofOneRow = never; ///< bytes of R for a batch of one
  int64_t ofRows = never;   ///< bytes of R for other batches
};

/// The forms of a machine. The default is for ops that no kernel of the compiler computes.
struct MachineForms {
  SplitProducts splitProducts;
  StateProducts states;
  bool twoDigits = false;        ///< a float becomes two digits, and not three
  bool foldsTaps = false;        ///< taps of an image of one channel become channels (FoldTaps.h)
  bool int16Sums = false;        ///< sums of pairs of products are taken in int16 where they fit (Int16Sums.h)
  bool int16Factors = false;     ///< factors become int16 where they are made (Int16Factors.h)
  bool bf16Products = false;     ///< products of float32 become ones of bfloat16 (Bfloat16.h)
  bool bf16Convolutions = false; ///< so do convolutions
};

/// Returns the forms that pay on each of some machines. `isFast`: the arithmetic may be that of --accuracy fast.
MachineForms formsFor(llvm::ArrayRef<const target::MachineModel *> machines, bool isFast);

/// The forms for an op, by the machines that compute it.
using FormsOf = llvm::function_ref<const MachineForms &(mlir::Operation *op)>;

} // namespace ingot::integer
