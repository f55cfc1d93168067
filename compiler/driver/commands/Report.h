// Prints parts of a compilation's result that several subcommands have.
#pragma once
#include "compiler/pipeline/Pipeline.h"
#include "llvm/Support/JSON.h"

namespace ingot::driver {

void writePhases(llvm::json::OStream &json, const pipeline::Result &result);

/// Prints what is not static and why, and `most` lines of the requirements.
void printSizes(llvm::raw_ostream &out, const pipeline::Result &result, size_t most);

/// Writes how much of the weights each of several machines reads, and how much of that no other does. Nothing for one
/// machine.
void writeLevels(llvm::json::OStream &json, const pipeline::Result &result);
void printLevels(llvm::raw_ostream &out, const pipeline::Result &result);

/// Prints how much of each of several memories is taken, and how many buffers lie there; nothing where there is one.
void printMemories(llvm::raw_ostream &out, const pipeline::Result &result);
/// Prints how a run reads weights that are streamed, if there are some.
void printStream(llvm::raw_ostream &out, const pipeline::Result &result);

/// Prints the memory that runs ask for and why, in `most` lines; nothing where they ask for none.
void printAllocations(llvm::raw_ostream &out, const pipeline::Result &result, size_t most);

/// Writes the bytes of an arena; null where they depend on the open sizes (-1).
void writeArena(llvm::json::OStream &json, llvm::StringRef key, int64_t bytes);

/// Returns the nodes that some earlier target of the user's order has refused.
std::vector<pipeline::NodePlacement> fallbacks(const pipeline::Result &result);

/// Prints a line for nodes in a row that run in one place for one reason.
void printPlacements(llvm::raw_ostream &out, llvm::ArrayRef<pipeline::NodePlacement> placements);

/// Prints the nodes of targets with memories of their own, a line for each piece. Nothing where there are none.
void printPieces(llvm::raw_ostream &out, const pipeline::Result &result);
/// Prints what is copied between memories and for whom, in `most` lines. Nothing where nothing is.
void printTransfers(llvm::raw_ostream &out, const pipeline::Result &result, size_t most);

} // namespace ingot::driver
