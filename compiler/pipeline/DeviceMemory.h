// Tries again for devices whose memory is too small for what the partition gave them. How much a piece needs is known
// when its weights are packed and its buffers planned; the partition goes by an estimate, and where that was too low
// the phases from the partition on run once more, with as much less room as was missing.
#pragma once
#include "compiler/pipeline/Snapshot.h"

namespace ingot::pipeline {

/// The state before the partition, which is kept where some device has a limit to its memory.
class Retry {
public:
  /// Keeps what the phases from here on change.
  void save(const State &state);
  /// Returns, behind the memory phase, whether some device needs more than it has: then the state is the one that was
  /// saved, but for the policy. Failure, with a message, where it has been tried often enough.
  mlir::FailureOr<bool> isWanted(State &state);

private:
  Snapshot before;
  int tries = 0;
};

} // namespace ingot::pipeline
