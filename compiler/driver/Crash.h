// Handles failures of the compiler itself: exit code 2, and a message that names a reproducer, one shell script that
// holds the command and all files that it reads.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::driver {

/// A command of ingot, and what it needs to be run in any folder of any machine.
struct Reproduction {
  struct File {
    std::string name; ///< its name in that folder
    std::string path;
    int64_t bytes = 0;
  };
  std::string words; ///< the words behind the program's name, quoted for a shell
  std::vector<File> files;
};

/// Makes a fatal signal from here on write a reproducer (with the stack in it), print its path and exit with 2.
void installCrashHandler(int argc, const char *const *argv);

/// Sets how a failure from here on is seen again; before the first call it is the plain command line.
void setReproduction(const Reproduction &reproduction);

/// Writes the reproducer for a failure that is no crash, and returns what a message says of it.
std::string writeReproducer();

/// Sets what the program is doing, for the message of a crash; "": there is nothing to say.
void setCrashContext(const std::string &text);

/// Returns the script, behind which the files' bytes follow.
std::string reproducerScript(const std::string &program, const Reproduction &reproduction);

/// Returns a text as a word for a shell.
std::string shellQuoted(const std::string &text);

} // namespace ingot::driver
