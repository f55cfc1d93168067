// What `ingot verify` prints of runs on boards: what they take, and whether they give the bits of this host.
#pragma once
#include "compiler/driver/ModelSource.h"
#include "compiler/driver/commands/CommandLine.h"
#include "compiler/driver/execution/DataSet.h"
#include "compiler/driver/execution/ModelElsewhere.h"

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace ingot::driver {

struct BoardRow {
  std::string folder; ///< of the data
  BoardRun run;
  bool isCompared = false; ///< with what the model gives on this host
  bool sameBits = false;   ///< all outputs are this host's, bit by bit
  /// The largest difference from this host's floats; none where anything but finite floats differs.
  std::optional<double> maxError;
  std::string why; ///< how the first output that is not within the tolerance differs; empty: all are
};

/// Runs the model of an invocation on this host, too, and compares what boards give with that. A model that is compiled
/// for the board already is compared with nothing, as its ONNX model is not here.
class BesideHost {
public:
  explicit BesideHost(const Invocation &invocation);

  llvm::Expected<BoardRow> compare(const BoardRun &run, const DataSet &data, llvm::ArrayRef<HostTensor> outputs);

private:
  const Invocation here;
  ModelSource source; ///< it compiles at the first comparison
};

void printBoards(llvm::ArrayRef<BoardRow> rows);
/// Adds the attribute "boards" where there are some.
void printBoards(llvm::ArrayRef<BoardRow> rows, llvm::json::OStream &json);

} // namespace ingot::driver
