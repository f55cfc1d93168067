// Writes parts of a compilation's result as JSON, for --json and for the page, so that both say the same in the same
// words.
#pragma once
#include "compiler/pipeline/Pipeline.h"
#include "llvm/Support/JSON.h"

namespace ingot::report {

/// Writes what is not static and why: "open_sizes" and "requirements". A size that may be as large as one likes has a
/// null "most".
void writeSizes(llvm::json::OStream &json, const pipeline::Result &result);

/// Writes the memory that runs ask for, and why: "allocates" and "allocations".
void writeAllocations(llvm::json::OStream &json, const pipeline::Result &result);

/// Writes who runs a node, as an object; where there are several memories also "seconds", estimated, and a device's
/// "piece".
void writePlacement(llvm::json::OStream &json, const pipeline::NodePlacement &placement);

/// Writes what is copied between memories, and for whom: "transfers". Values with the same number as "copy" go in one;
/// "saved_seconds" is what that gains, by estimate.
void writeTransfers(llvm::json::OStream &json, const pipeline::Result &result);

/// Writes the machines of which a run takes one, and their weights: "levels".
void writeLevels(llvm::json::OStream &json, const pipeline::Result &result);

/// Writes the host's memories, where there are several, with what runs need of each: "memories".
void writeMemories(llvm::json::OStream &json, const pipeline::Result &result);

/// Writes how weights are streamed, where they are: "streamed".
void writeStream(llvm::json::OStream &json, const pipeline::Result &result);

/// Writes what runs need of the memories of targets: "devices", with a null "workspace_bytes" where that depends on
/// sizes.
void writeDevices(llvm::json::OStream &json, const pipeline::Result &result);

} // namespace ingot::report
