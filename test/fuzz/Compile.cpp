// A model through the whole pipeline up to emit: done, or refused with a reason. Nothing is written.
#include "compiler/pipeline/Pipeline.h"
#include "test/fuzz/Fuzz.h"
#include "llvm/Support/xxhash.h"

using namespace ingot;
using namespace ingot::fuzz;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static MemoryFile file;
  pb::ModelProto model;
  if (!parse({reinterpret_cast<const char *>(data), size}, model)) {
    return -1; // for the importer's target
  }
  file.write({reinterpret_cast<const char *>(data), size});
  uint64_t choice = llvm::xxh3_64bits({data, size}); // the same input always takes the same way
  pipeline::Options options;
  options.modelPath = file.path();
  options.name = "m";
  constexpr const char *levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  options.targets = {levels[choice % 3]};
  options.accuracy = choice / 3 % 4 ? pipeline::Accuracy::Default : pipeline::Accuracy::Strict;
  options.allocate = choice / 12 % 4 != 0;
  pipeline::Result result;
  std::string diagnostics;
  pipeline::Status status = pipeline::compile(options, result, diagnostics);
  if (status == pipeline::Status::Bug) {
    finding(diagnostics);
  }
  if (status == pipeline::Status::UserError && !llvm::StringRef(diagnostics).contains("error: ")) {
    finding("the model was refused without a reason: " + diagnostics);
  }
  return 0;
}
