// What `ingot verify` prints of runs on boards: what they take, and whether they give the bits of this host.
#pragma once
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
  bool sameBits = false; ///< all outputs are this host's, bit by bit
  double maxError = 0;   ///< beside this host's
};

/// Runs the model on this host, too, and compares.
llvm::Expected<BoardRow> besideHost(const Invocation &invocation, const BoardRun &run, const DataSet &data,
                                    llvm::ArrayRef<HostTensor> outputs);

void printBoards(llvm::ArrayRef<BoardRow> rows);
/// Adds the attribute "boards" where there are some.
void printBoards(llvm::ArrayRef<BoardRow> rows, llvm::json::OStream &json);

} // namespace ingot::driver
