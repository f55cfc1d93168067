// What happens when the compiler itself fails: exit code 2, and a message that names a reproducer, one shell script
// that holds the command and all files that it reads.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::driver {

/// A command of ingot, and what it needs to be run in any folder of any machine.
struct Reproduction {
  struct File {
    std::string name; ///< in that folder
    std::string path;
    int64_t bytes = 0;
  };
  std::string words; ///< behind the program's name, quoted for a shell
  std::vector<File> files;
};

/// From here on a fatal signal writes a reproducer (with the stack in it), prints its path and exits with 2.
void installCrashHandler(int argc, const char *const *argv);

/// What a failure from here on is seen again by; before the first call that is the plain command line.
void setReproduction(const Reproduction &reproduction);

/// Writes the reproducer for a failure that is no crash. What a message says of it.
std::string writeReproducer();

/// What the program is doing, for the message of a crash; "" : nothing to say.
void setCrashContext(const std::string &text);

/// The script, behind which the files' bytes follow.
std::string reproducerScript(const std::string &program, const Reproduction &reproduction);

/// A word for a shell.
std::string shellQuoted(const std::string &text);

} // namespace ingot::driver
