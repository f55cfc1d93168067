#include "compiler/emit/Linker.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(wasm)

using namespace llvm;

Error ingot::emit::link(Format format, ArrayRef<const char *> arguments, const Twine &what) {
  // The linker takes its number of threads for the whole process, which has other work for llvm::parallelFor.
  scope_exit restore([own = parallel::strategy] { parallel::strategy = own; });
  bool isWasm = format == Format::Wasm;
  SmallVector<const char *> all = {isWasm ? "wasm-ld" : "ld.lld", "--threads=1", "--build-id=none"};
  append_range(all, arguments);
  std::string messages;
  raw_string_ostream stream(messages);
  lld::DriverDef driver =
      isWasm ? lld::DriverDef{lld::Wasm, &lld::wasm::link} : lld::DriverDef{lld::Gnu, &lld::elf::link};
  lld::Result result = lld::lldMain(all, stream, stream, {driver});
  return result.retCode == 0 ? Error::success() : createStringError(what + " failed: " + StringRef(messages).trim());
}

/// A file of the linker's, gone in the end.
static Expected<std::unique_ptr<FileRemover>> makeFile(StringRef bytes, SmallString<128> &path) {
  int fd = -1;
  if (std::error_code code = sys::fs::createTemporaryFile("kernels", "o", fd, path)) {
    return errorCodeToError(code);
  }
  raw_fd_ostream(fd, /*shouldClose=*/true) << bytes;
  return std::make_unique<FileRemover>(path);
}

Expected<std::string> ingot::emit::linkShared(StringRef object, const Twine &what) {
  SmallString<128> from, to;
  Expected<std::unique_ptr<FileRemover>> first = makeFile(object, from);
  Expected<std::unique_ptr<FileRemover>> second = makeFile("", to);
  if (!first || !second) {
    return joinErrors(first.takeError(), second.takeError());
  }
  const char *arguments[] = {"-shared", "-o", to.c_str(), from.c_str()};
  if (Error error = link(Format::Elf, arguments, what)) {
    return error;
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> image = MemoryBuffer::getFile(to);
  return image ? Expected<std::string>((*image)->getBuffer().str()) : errorCodeToError(image.getError());
}
