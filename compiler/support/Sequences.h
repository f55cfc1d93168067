// How an input or output of a model that is a sequence or a map stands among the tensors of a compiled one: by so many
// tensors, each a value of its own, or, where only a run can tell how many there are, packed into two.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <string>

namespace ingot::support {

/// In lists of how many tensors stand for each input or output (0 or more: a sequence of that length).
enum SequenceCode : int64_t {
  isTensor = -1, ///< no sequence
  /// Two tensors: the elements of all, one behind the other, and int64 [count, rank]: the shape of each, with -1 in the
  /// place of axes that one of a lower rank lacks, behind those that it has.
  isPacked = -2,
  /// A boolean in front of these two: whether the sequence is there at all.
  isOptionalPacked = -3,
  isMap = -4, ///< two tensors of one length: the keys and the values
};

/// In the place of an input's length: an optional sequence that runs do not get.
inline constexpr int64_t absentLength = -1;

/// A longer sequence is refused where each of its tensors is a value of its own.
inline constexpr int64_t kMostTensors = 10'000;

/// The name of a sequence's tensor among the function's arguments and results: "x[0]".
inline std::string nameInSequence(llvm::StringRef sequence, size_t number) {
  return (sequence + "[" + llvm::Twine(number) + "]").str();
}

/// How many tensors stand for it.
inline int64_t tensorsOf(int64_t code) {
  return code >= 0 ? code : code == isTensor ? 1 : code == isOptionalPacked ? 3 : 2;
}

} // namespace ingot::support
