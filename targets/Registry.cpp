// Makes the targets of this build, from the folder listing that CMake wrote into Targets.inc. There is a function for
// each target and no static constructors: nothing happens before main, and the order is the listing's.
#include "compiler/target/Registry.h"

#define TARGET(NAME)                                                                                                   \
  namespace ingot::targets::NAME {                                                                                     \
  std::unique_ptr<ingot::target::Target> create();                                                                     \
  }
#include "Targets.inc"
#undef TARGET

std::vector<std::unique_ptr<ingot::target::Target>> ingot::target::makeTargets() {
  std::vector<std::unique_ptr<Target>> made;
#define TARGET(NAME) made.push_back(ingot::targets::NAME::create());
#include "Targets.inc"
#undef TARGET
  return made;
}
