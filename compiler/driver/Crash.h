// What happens when the compiler itself crashes: exit code 2, and a message that names a reproducer.
#pragma once
#include <string>

namespace ingot::driver {

/// From here on a fatal signal writes a reproducer (a shell script with this command line, and the stack in comments),
/// prints its path and exits with 2.
void installCrashHandler(int argc, const char *const *argv);

/// What the program is doing, for that message; "" : nothing to say.
void setCrashContext(const std::string &text);

/// The script's command: a `cd` and the arguments, quoted for a shell.
std::string reproducerScript(int argc, const char *const *argv);

} // namespace ingot::driver
