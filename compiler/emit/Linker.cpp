#include "compiler/emit/Linker.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace llvm;

Error ingot::emit::link(ArrayRef<const char *> arguments, const Twine &what) {
  // The linker takes its number of threads for the whole process, which has other work for llvm::parallelFor.
  scope_exit restore([own = parallel::strategy] { parallel::strategy = own; });
  SmallVector<const char *> all = {"ld.lld", "--threads=1", "--build-id=none"};
  append_range(all, arguments);
  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(all, stream, stream, {{lld::Gnu, &lld::elf::link}});
  return result.retCode == 0 ? Error::success() : createStringError(what + " failed: " + StringRef(messages).trim());
}
