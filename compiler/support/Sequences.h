// How an input or output of a model that is a sequence stands among the tensors of a compiled one: by so many tensors,
// each a value of its own, or, where only a run can tell how many there are, packed into two.
#pragma once
#include <cstdint>

namespace ingot::support {

/// In lists of how many tensors stand for each input or output (0 or more: a sequence of that length).
enum SequenceForm : int64_t {
  isTensor = -1, ///< no sequence
  /// Two tensors: the elements of all, one behind the other, and int64 [count, rank]: the shape of each, with -1 in the
  /// place of axes that one of a lower rank lacks, behind those that it has.
  isPacked = -2,
  /// A boolean in front of these two: whether the sequence is there at all.
  isOptionalPacked = -3,
};

/// In the place of an input's length: an optional sequence that runs do not get.
inline constexpr int64_t absentLength = -1;

/// How many tensors stand for it.
inline int64_t tensorsOf(int64_t form) { return form >= 0 ? form : form == isTensor ? 1 : form == isPacked ? 2 : 3; }

} // namespace ingot::support
