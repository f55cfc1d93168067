// Declares what the list of targets is made from.
#pragma once
#include "compiler/target/Target.h"

namespace ingot::target {

/// Makes the targets of this build.
std::vector<std::unique_ptr<Target>> makeTargets();

void addTarget(std::unique_ptr<Target> target);

} // namespace ingot::target
