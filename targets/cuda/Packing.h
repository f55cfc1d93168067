// Packs the images of a library. PTX is text that repeats itself, within a kernel, among kernels that are alike, and
// above all among architectures, whose kernels differ in few places. ingot_cuda_unpack (device/unpack.c) reads what is
// written here.
//
// A packed image is
//
//   4 bytes   1B 'P' '1', and 'E' where the image is an ELF file, 'T' where it is PTX
//   4 bytes   how many bytes it has when it is unpacked
//   4 bytes   0, or 1 + the number of its base, an image before it among those of the device
//   4 bytes   how many of the unpacked bytes, the first ones, are the words below and not the image
//   steps     until there are so many bytes
//
// Words of 8 bytes precede the image. They say which memory its kernels use, so that a device knows which launches need
// not wait for each other. For each kernel in its turn there are:
//
//   how many of its arguments are addresses, which come first; for each of these 2 * the bytes that begin there, and 1
//   more where the kernel writes them
//
// Numbers begin with their low byte. A step appends literals to the bytes that have been unpacked, and then a copy of
// some of them. The bytes of the base count as unpacked; they precede the image's own:
//
//   1 byte    high half: how many literals; low half: how many bytes are copied, less 4
//   ...       where the high half is 15, bytes that are added to it, up to the first that is not 255
//   ...       the literals
//   ...       unless the image ends with them: the distance to what is copied, 7 bits in each byte, the low ones first,
//             whose top bit says that another byte follows; 0 is the distance of the step before
//   ...       where the low half is 15, bytes that are added to it, as above
//
// That is LZ4's block but for its distances, which reach as far as there are bytes: kernels of tensor cores are longer
// than 64 KB. A distance that repeats is common, since lines of PTX often differ in the number of a register alone.
#pragma once
#include "compiler/target/Image.h"
#include "llvm/ADT/ArrayRef.h"

namespace ingot::targets::cuda {

/// Replaces each image by its packed form, with the words above in front of it. The base of an image is the one before
/// it of its kind, PTX or machine code.
void pack(llvm::MutableArrayRef<target::Image> images, llvm::ArrayRef<uint64_t> uses);

} // namespace ingot::targets::cuda
