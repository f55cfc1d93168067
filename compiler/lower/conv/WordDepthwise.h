// Convolves each channel of row-major bytes by itself where there are no vectors. The plane of a channel is copied with
// the padding around it, so that no tap has to be compared with the image's edges, and the channel's weights stay in
// registers.
//
// Where the machine multiplies pairs of int16 (bytes/WordProducts.h), a word holds four neighbours of a row: its bytes
// 0 and 2 are one pair, and 1 and 3 are another one. A word makes two neighbouring outputs of a kernel of up to three
// columns, each by a dot product and a product:
//
//   output      of the pairs (p0, p2) and (p1, p3), by the weights a, b, c of a row
//   first       (p0, p2) . (a, c) + p1 b
//   second      (p1, p3) . (a, c) + p2 b
//
// Where it has vectors for products of bytes (Platform::dotBytes), four neighbouring outputs are a vector of int32, to
// which the products of their pixels by a weight are added, tap by tap.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

/// Whether a depthwise Int8Conv is computed so.
bool hasWordDepthwise(plan::KernelOp kernel, const target::MachineModel &machine);
KernelShape wordDepthwiseShape(plan::KernelOp kernel, const target::MachineModel &machine);

} // namespace ingot::lower
