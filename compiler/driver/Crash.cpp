// Everything that the handler prints is prepared in advance: in a signal handler only system calls are safe. It runs on
// a stack of its own, so that it also works when the stack has overflowed.
#include "compiler/driver/Crash.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

namespace ingot::driver {
namespace {

std::string script;
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

void onCrash(int signal) {
  if (crashed.test_and_set()) {
    // The same thread again (the stack cannot be walked), or another one: the first has said it all.
    _exit(2);
  }
  alarm(5); // whatever hangs below: SIGALRM ends it
  put(2, "\ningot: error: internal error: ");
  put(2, signalText(signal));
  put(2, context[0] ? " " : "");
  put(2, context);
  int file = open(reproducerPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    put(2, "; no reproducer could be written\n");
    _exit(2);
  }
  (void)!write(file, script.data(), script.size());
  put(2, "; this is a bug in ingot, please report it with the reproducer ");
  put(2, reproducerPath);
  put(2, "\n");
  writeStack(file);
  _exit(2);
}

std::string shellQuoted(const char *text) {
  std::string quoted = "'";
  for (; *text; ++text) {
    quoted += *text == '\'' ? "'\\''" : std::string(1, *text);
  }
  return quoted + "'";
}

} // namespace

std::string reproducerScript(int argc, const char *const *argv) {
  llvm::SmallString<256> folder;
  (void)llvm::sys::fs::current_path(folder);
  std::string text =
      "#!/bin/sh\n# Written by ingot " INGOT_VERSION " when it crashed.\ncd " + shellQuoted(folder.c_str()) + " &&";
  for (int i = 0; i < argc; ++i) {
    text += " " + shellQuoted(argv[i]);
  }
  return text + "\nexit # with the code of ingot\n";
}

void setCrashContext(const std::string &text) { std::snprintf(context, sizeof(context), "%s", text.c_str()); }

void installCrashHandler(int argc, const char *const *argv) {
  script = reproducerScript(argc, argv);
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  std::snprintf(reproducerPath, sizeof(reproducerPath), "%s/ingot-crash-%d.sh", folder.c_str(), int(getpid()));
  void *frames[1];
  backtrace(frames, 1); // loads what it needs now, not in the handler

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
