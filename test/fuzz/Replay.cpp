// The main of a fuzz target without libFuzzer: PROGRAM [-mutations=N] [-seed=N] FILES AND FOLDERS... runs every file,
// and N mutants of each, through the target: a process for each file, so that one finding does not hide others. The
// input of a finding is kept as a file.
#include "test/fuzz/Fuzz.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot::fuzz;

static llvm::cl::list<std::string> paths(llvm::cl::Positional, llvm::cl::desc("FILES AND FOLDERS"));
static llvm::cl::opt<unsigned> mutations("mutations", llvm::cl::desc("mutants of each file"));
static llvm::cl::opt<unsigned> seed("seed", llvm::cl::desc("of the mutations"), llvm::cl::init(1));
static llvm::cl::opt<unsigned> seconds("timeout", llvm::cl::desc("seconds of one execution"), llvm::cl::init(60));
static llvm::cl::opt<std::string> keep("keep", llvm::cl::desc("folder for the inputs of findings"),
                                       llvm::cl::init("."));

/// Absent where the target has no mutator of its own.
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

constexpr size_t kMost = 1 << 20;
static std::string running;  ///< the input that is executed
static std::string keptPath; ///< where it is kept if it is a finding
static Random bytes;

/// What libFuzzer gives targets that mutate by themselves: here, plain changes of bytes.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
  for (uint64_t i = 0; size && i < 1 + bytes() % 4; ++i) {
    data[bytes() % size] = uint8_t(bytes());
  }
  return size;
}

/// Keeps the input. Only system calls: this is a signal handler.
static void keepInput(int signal) {
  int file = open(keptPath.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  (void)!write(file, running.data(), running.size());
  ::signal(signal, SIG_DFL);
  raise(signal);
}

static void execute() {
  alarm(seconds);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(running.data()), running.size());
}

static void runFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    finding(path + " cannot be read");
  }
  std::string original = (*buffer)->getBuffer().str();
  running = original;
  execute();
  auto mutate =
      LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator : [](uint8_t *data, size_t size, size_t most, unsigned) {
        return LLVMFuzzerMutate(data, size, most);
      };
  bytes.seed(seed);
  for (unsigned k = 0; k < mutations && original.size() < kMost; ++k) {
    running.assign(original).resize(kMost);
    uint8_t *data = reinterpret_cast<uint8_t *>(running.data());
    running.resize(mutate(data, original.size(), kMost, seed * 1000003U + k));
    execute();
  }
}

/// Whether a process of its own came through the file and its mutants.
static bool passes(const std::string &path) {
  llvm::outs().flush();
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    runFile(path);
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) {
    finding("no process could be started");
  }
  if (status != 0) {
    llvm::outs() << path << ": " << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an error")
                 << "; the input is " << keptPath << "\n";
  }
  return status == 0;
}

static std::vector<std::string> listFiles() {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    if (!llvm::sys::fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::error_code error;
    for (llvm::sys::fs::directory_iterator at(path, error), end; at != end && !error; at.increment(error)) {
      files.push_back(at->path());
    }
  }
  llvm::sort(files);
  return files;
}

int main(int argc, char **argv) {
  llvm::cl::ParseCommandLineOptions(argc, argv);
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    ::signal(signal, keepInput);
  }
  std::vector<std::string> files = listFiles();
  size_t found = 0;
  for (const std::string &file : files) {
    keptPath = keep + "/finding-" + llvm::sys::path::filename(file).str();
    found += !passes(file);
  }
  llvm::outs() << files.size() * (1 + mutations) << " executions, " << found << " findings\n";
  return found > 0;
}
