// A pipeline for the driver's tests. Options::name says how a compilation ends:
//   double   a model y = 2 * x of float32, with the shape of x from Options::shapes or 2x3
//   open     a model y = 2 * x of float32 [rows, 3], rows at least 1, at most 4
//   spill    the same, but it writes one element too many
//   fails    the same, but its run ends with an error status
//   wrong    user error with a message     bug   Status::Bug with a message     crash   a segmentation fault
//   memory   std::bad_alloc          overflow   the stack runs over
#pragma once
#include "compiler/pipeline/Pipeline.h"

namespace ingot::test {

/// What the last compilation was told, and how many there were.
extern pipeline::Options lastOptions;
extern int compilations;

} // namespace ingot::test
