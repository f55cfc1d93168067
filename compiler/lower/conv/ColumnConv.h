// Computes convolutions of row-major bytes where there are no vectors, from columns: a pixel of the result reads so
// many bytes of the image as an output channel has weights, and these are copied to one column (of int16 where the
// machine multiplies pairs of them: bytes/WordProducts.h). All output channels of the group multiply it then, two of
// them with the columns of two pixels at a time, so that four sums share two factors of each side:
//
//   for two pixels of all of a plane:
//     copy their columns; where taps read padding, its value is written before
//     for two output channels: four sums over the columns, epilogue, store
//
// Where the number of pixels or channels is odd, the last pair includes one that the pair before has computed, and
// computes it again.
//
// Where the machine multiplies vectors (Platform::dotBytes), a tile is four pixels of one output channel, whose sums
// are finished as a vector. A column has the channels of a tap behind each other then, of which vectors gather eight;
// of fewer channels it has the taps of a channel, and a column that reads no padding is gathered by known offsets.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Returns why an Int8Conv has no columns on the machine; empty: it has.
std::string whyNoColumns(plan::KernelOp kernel, const target::MachineModel &machine);
/// Returns the cycles of an image: about a cycle for each instruction.
double columnCycles(plan::KernelOp kernel, const target::MachineModel &machine);
KernelShape columnConvShape(plan::KernelOp kernel, const target::MachineModel &machine);

} // namespace ingot::lower
