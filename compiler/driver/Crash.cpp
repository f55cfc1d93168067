// Prepares everything that the handler prints in advance: in a signal handler only system calls are safe. It runs on a
// stack of its own, so that it also works when the stack has overflowed.
#include "compiler/driver/Crash.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

namespace ingot::driver {
namespace {

std::string script, program;
std::vector<Reproduction::File> pieces; ///< files whose bytes go behind the script
char reproducerPath[4096];
char context[256];
std::atomic_flag crashed = ATOMIC_FLAG_INIT;

void put(int file, const char *text) { (void)!write(file, text, std::strlen(text)); }

const char *signalText(int signal) {
  switch (signal) {
  case SIGSEGV:
    return "segmentation fault";
  case SIGBUS:
    return "bus error";
  case SIGILL:
    return "illegal instruction";
  case SIGFPE:
    return "arithmetic exception";
  default:
    return "abort";
  }
}

void writeStack(int file) {
  void *frames[64];
  int count = backtrace(frames, 64);
  put(file, "# stack:\n: <<'END'\n");
  backtrace_symbols_fd(frames, count, file);
  put(file, "END\n");
}

/// Copies a file into the reproducer. Where the file has become shorter since its size was written down, zeros take the
/// place of what is missing, so that the next file begins at the offset that the reproducer names.
void putFile(int to, const Reproduction::File &piece) {
  static char buffer[64 << 10];
  int from = open(piece.path.c_str(), O_RDONLY | O_CLOEXEC);
  for (int64_t left = piece.bytes; left > 0;) {
    ssize_t got = from < 0 ? 0 : read(from, buffer, std::min<int64_t>(left, sizeof(buffer)));
    if (got <= 0) {
      got = std::min<int64_t>(left, sizeof(buffer));
      std::memset(buffer, 0, got);
    }
    (void)!write(to, buffer, got);
    left -= got;
  }
  close(from);
}

bool putReproducer(bool withStack) {
  int file = open(reproducerPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    return false;
  }
  (void)!write(file, script.data(), script.size());
  if (withStack) {
    writeStack(file);
  }
  for (const Reproduction::File &piece : pieces) {
    putFile(file, piece);
  }
  close(file);
  return true;
}

void onCrash(int signal) {
  if (crashed.test_and_set()) {
    // The same thread again (the stack cannot be walked), or another one: the first has said it all.
    _exit(2);
  }
  alarm(60); // whatever hangs below: SIGALRM ends it
  put(2, "\ningot: error: internal error: ");
  put(2, signalText(signal));
  put(2, context[0] ? " " : "");
  put(2, context);
  if (!putReproducer(/*withStack=*/true)) {
    put(2, "; no reproducer could be written\n");
    _exit(2);
  }
  put(2, "; this is a bug in ingot, please report it with the reproducer ");
  put(2, reproducerPath);
  put(2, "\n");
  _exit(2);
}

/// The most bytes of all files in a reproducer; a model that is larger stays where it is.
constexpr int64_t kMostBytes = int64_t(256) << 20;

} // namespace

std::string shellQuoted(const std::string &text) {
  std::string quoted = "'";
  for (char c : text) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

std::string reproducerScript(const std::string &program, const Reproduction &reproduction) {
  std::string text =
      "#!/bin/sh\n# Written by ingot " INGOT_VERSION
      " when it failed. sh THIS [INGOT [FLAG...]] does the same again, on any "
      "machine.\nscript=$0 ingot=${1:-" +
      shellQuoted(program) +
      "} folder=$(mktemp -d) && shift $(($# ? 1 : 0)) || exit 1\n"
      "case $ingot in */*) ingot=$(cd \"$(dirname \"$ingot\")\" && pwd)/$(basename \"$ingot\");; esac\n"
      "piece() { mkdir -p \"$folder/$(dirname \"$3\")\" && tail -c \"$1\" \"$script\" | head -c \"$2\" > "
      "\"$folder/$3\"; }\n";
  int64_t behind = 0;
  for (const Reproduction::File &file : reproduction.files) {
    behind += file.bytes;
  }
  for (const Reproduction::File &file : reproduction.files) {
    text += "piece " + std::to_string(behind) + " " + std::to_string(file.bytes) + " " + shellQuoted(file.name) + "\n";
    behind -= file.bytes;
  }
  return text + "cd \"$folder\" && \"$ingot\" " + reproduction.words +
         " \"$@\"\ncode=$?\nrm -rf \"$folder\"\nexit $code\n";
}

void setReproduction(const Reproduction &reproduction) {
  Reproduction held = reproduction;
  std::string left;
  int64_t bytes = 0;
  std::erase_if(held.files, [&](Reproduction::File &file) {
    llvm::SmallString<256> path(file.path);
    uint64_t size = 0;
    if (llvm::sys::fs::file_size(path, size)) {
      return true; // the command's own message is all there is to see
    }
    (void)llvm::sys::fs::make_absolute(path);
    file.path = std::string(path), file.bytes = int64_t(size);
    if (bytes + file.bytes <= kMostBytes) {
      bytes += file.bytes;
      return false;
    }
    left += "# NOT IN HERE, " + std::to_string(size) + " bytes, bring it along: " + file.name + "\nln -s " +
            shellQuoted(file.path) + " \"$folder\"/" + shellQuoted(file.name) + "\n";
    return true;
  });
  std::string text = reproducerScript(program, held);
  text.insert(text.find("cd \"$folder\" &&"), left);
  script = std::move(text), pieces = std::move(held.files);
}

std::string writeReproducer() {
  return putReproducer(/*withStack=*/false) ? std::string("please report it with the reproducer ") + reproducerPath
                                            : "no reproducer could be written";
}

void setCrashContext(const std::string &text) { std::snprintf(context, sizeof(context), "%s", text.c_str()); }

void installCrashHandler(int argc, const char *const *argv) {
  llvm::SmallString<256> path(argv[0]);
  if (llvm::StringRef(argv[0]).contains('/')) {
    (void)llvm::sys::fs::make_absolute(path);
  }
  program = std::string(path);
  Reproduction plain;
  for (int i = 1; i < argc; ++i) {
    plain.words += (i > 1 ? " " : "") + shellQuoted(argv[i]);
  }
  setReproduction(plain);
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  std::snprintf(reproducerPath, sizeof(reproducerPath), "%s/ingot-crash-%d.sh", folder.c_str(), int(getpid()));
  void *frames[1];
  backtrace(frames, 1); // this loads what it needs now, not in the handler

  static char stack[64 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM}) {
    sigaction(signal, &action, nullptr);
  }
}

} // namespace ingot::driver
