// `ingot` for tests that compile thousands of small models: what a process of LLVM needs to begin (20 to 50 ms, half of
// what compiling such a model takes) is paid once. Each line on stdin is a request, its fields separated by tabs: the
// files that get stdout and stderr, after how many seconds the command is ended, and the words of the command line. It
// runs in a child, so that no compilation sees what another one left and a crash ends that one alone. The answer is a
// line: "exit CODE" or "signal NUMBER".
#include "compiler/driver/Driver.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr rlim_t AddressSpace = rlim_t(8) << 30;

std::vector<std::string> wordsOf(const std::string &line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, '\t');) {
    words.push_back(word);
  }
  return words;
}

int runIngot(const std::vector<std::string> &words) {
  std::vector<const char *> argv;
  for (const std::string &word : words) {
    argv.push_back(word.c_str());
  }
  int code = ingot::driver::run(int(argv.size()), argv.data());
  llvm::outs().flush();
  return code;
}

/// What stands before the command line in a request.
enum Field : unsigned char { Out, Err, Seconds, Command };

[[noreturn]] void runChild(std::vector<std::string> words) {
  int out = open(words[Out].c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  int err = open(words[Err].c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  int in = open("/dev/null", O_RDONLY);
  if (out < 0 || err < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) {
    _exit(125);
  }
  rlimit core = {0, 0}, memory = {AddressSpace, AddressSpace};
  setrlimit(RLIMIT_CORE, &core);
  if (!getenv("ASAN_OPTIONS")) { // a sanitizer reserves terabytes of addresses
    setrlimit(RLIMIT_AS, &memory);
  }
  alarm(unsigned(std::stoul(words[Seconds])));
  words.erase(words.begin(), words.begin() + Command);
  words.insert(words.begin(), "ingot");
  _exit(runIngot(words)); // without the destructors of all of LLVM
}

} // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> words = wordsOf(line);
    if (words.size() <= Command) {
      continue;
    }
    pid_t child = fork();
    if (child == 0) {
      runChild(std::move(words));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
      return 1;
    }
    if (WIFSIGNALED(status)) {
      std::cout << "signal " << WTERMSIG(status) << std::endl;
    } else {
      std::cout << "exit " << WEXITSTATUS(status) << std::endl;
    }
  }
}
