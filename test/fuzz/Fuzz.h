// What the fuzz targets share: a file for code that reads files, a mutator that knows what a model is, and how a
// finding ends the program.
//
// A target is one source file with LLVMFuzzerTestOneInput. Built with INGOT_FUZZ it is linked with libFuzzer, else with
// Replay.cpp, which runs a corpus through the same functions.
#pragma once
#include "compiler/importer/Protobuf.h"
#include "llvm/ADT/Twine.h"
#include <random>
#include <string>

namespace ingot::fuzz {

namespace pb = importer::pb;
using Random = std::mt19937_64;

/// Says what is wrong and aborts.
[[noreturn]] void finding(const llvm::Twine &what);

/// A file of the machine's memory that code opens by its path.
class MemoryFile {
public:
  MemoryFile();
  void write(llvm::StringRef bytes);
  const std::string &path() const { return name; }

private:
  int file;
  std::string name;
};

/// Changes one to four things of a model: shapes, element types, attributes, operators, edges, constants, the opset.
void mutate(pb::ModelProto &model, Random &random);

/// Appends the nodes of `other`, whose inputs become values of the model.
void append(pb::ModelProto &model, pb::ModelProto other, Random &random);

/// Whether bytes are a model that is worth mutating as such.
bool parse(llvm::StringRef bytes, pb::ModelProto &model);

} // namespace ingot::fuzz

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second, size_t secondSize,
                                 uint8_t *out, size_t most, unsigned seed);
}
