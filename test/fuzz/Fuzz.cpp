#include "test/fuzz/Fuzz.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <google/protobuf/stubs/logging.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ingot::fuzz {

void finding(const llvm::Twine &what) {
  llvm::errs() << "finding: " << what << "\n";
  llvm::errs().flush();
  std::abort();
}

MemoryFile::MemoryFile()
    : file(memfd_create("model", MFD_CLOEXEC)),
      name("/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file)) {
  if (file < 0) {
    finding("no file in memory could be made");
  }
}

void MemoryFile::write(llvm::StringRef bytes) {
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes.data(), bytes.size(), 0) != ssize_t(bytes.size())) {
    finding("the file in memory could not be written");
  }
}

bool parse(llvm::StringRef bytes, pb::ModelProto &model) {
  google::protobuf::LogSilencer silence;
  return model.ParseFromArray(bytes.data(), int(bytes.size())) && model.graph().node_size() > 0;
}

} // namespace ingot::fuzz
