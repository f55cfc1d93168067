// Reads what the user says about where nodes run, before there is a model.
#pragma once
#include "compiler/partition/PlaceNodes.h"
#include "compiler/pipeline/Pipeline.h"

namespace ingot::pipeline {

/// Reads the policy of the partition for --no-fallback, --partition, --require and --placement. Everything that is
/// wrong is said at once, located, in `diagnostics`; false: there was something. A line of the file is the name of a
/// node, or a glob, and behind the last space a target of the command line; empty lines and those that begin with # say
/// nothing.
bool readPolicy(const Options &options, llvm::ArrayRef<partition::Device> devices, partition::Policy &policy,
                std::string &diagnostics);

} // namespace ingot::pipeline
