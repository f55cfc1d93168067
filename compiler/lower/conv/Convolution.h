// What convolutions are to loops: axes on which an input coordinate grows with the output position and with the tap. A
// transposed convolution is a few such convolutions, one for each residue of the output coordinates modulo the strides,
// each with the taps that reach it.
#pragma once
#include "compiler/lower/Family.h"
#include <array>

namespace ingot::lower {

/// One spatial axis: output coordinate = outStart + outStep * i, input coordinate = inStart + inStep * i + tapStep *
/// tap.
struct ConvAxis {
  int dim = -1; ///< iteration dimension of input and result; -1: the axis is not there
  support::Size out = 1;
  int64_t outStart = 0, outStep = 1;
  int64_t inStart = 0, inStep = 1;
  int64_t taps = 1, tapStep = 1;
  bool readsBehind = false; ///< whether outputs may read zeros behind the input's last coordinate
  int64_t image = 0;        ///< the input's coordinates where taps that read padding are left out; 0: they are not
  /// The taps [first, second) of an output that read the image, or all of them.
  std::pair<Ix, Ix> tapsOf(const Ix &i) const;
  support::Size inEnd() const { ///< behind the last coordinate read
    return (out - 1) * inStep + (inStart + (taps - 1) * tapStep + 1);
  }
};

struct SubConv {
  std::array<ConvAxis, 3> axes;    ///< outer to inner; pixels of one tile run along the last
  llvm::SmallVector<int64_t> taps; ///< of each tap, in the order of the axes' loops: where it is in the kernel, flat
  support::Size rows() const { return axes[0].out * axes[1].out; }
};

struct ConvGeometry {
  support::Size batch;
  int64_t inChannels, outChannels, groups;
  int64_t kernel;         ///< taps of the whole kernel
  bool transposed;        ///< weights are [in][out of a group][kernel], not [out][in of a group][kernel]
  int64_t weightBytes;    ///< of one weight in memory
  support::Sizes spatial; ///< of the input
  llvm::SmallVector<SubConv, 1> subConvs;
  target::Schedule requested = {}; ///< what a table or the user asks of its kernel
  bool isInt16 = false; ///< whether the image of an Int8Conv is int16 in memory and not bytes (integer/Int16Factors.h)
  /// Of bytes: how many dot products of four have a sum that fits int16 (integer/Int16Sums.h).
  int64_t int16Dots = 0;

  int64_t inGroup() const { return inChannels / groups; }
  int64_t outGroup() const { return outChannels / groups; }
  /// Returns where the weight from input channel `in` (of all) to output channel `out` is among the constant's
  /// row-major elements.
  int64_t weightAt(int64_t out, int64_t in, int64_t tap) const {
    int64_t row = transposed ? in * outGroup() + out % outGroup() : out * inGroup() + in % inGroup();
    return row * kernel + tap;
  }
};

/// What a size that the run determines is taken for where a schedule weighs one thing against another.
inline int64_t typical(const support::Size &size, int64_t open) { return size.isNumber() ? size.number() : open; }

/// Returns the geometry of a Conv or ConvTranspose whose padding is known. `maySwapAxes`: the inner axis may be
/// the last but one, where the last is short.
ConvGeometry geometryOf(mlir::Operation *op, bool maySwapAxes);

/// The geometry of a typical image, by which one whose size the run determines is estimated.
ConvGeometry typicalOf(ConvGeometry g, const support::Facts &facts);

/// Whether a kernel reads its image in channel blocks, and whether it writes its result so.
bool isFromBlocks(plan::KernelOp kernel);
bool isToBlocks(plan::KernelOp kernel);

/// Pixels of an image that a schedule may take as one list of static tiles.
constexpr int64_t flatPixels = 64;

/// The zeros that a Conv or ConvTranspose reads before and after each spatial axis of the input; nothing where only a
/// run determines how many.
std::optional<llvm::SmallVector<int64_t>> haloOf(mlir::Operation *op);
/// The axes of a dilated Conv on which each output leaves out the taps that read padding; they need no halo. Empty
/// where most taps read the image, or where the image is so small that its pixels are one list.
llvm::SmallVector<bool> skipsPadding(mlir::Operation *op);
/// Whether its weights can be packed while compiling, and the zeros around the image are so many on every run.
bool isPackable(mlir::Operation *op);
/// Why a Conv is none of float32 with constant weights, known sizes and one group, on a machine whose vectors fill
/// channel blocks, of which lanes may be something else than output channels. Empty: it is one.
std::string whyOtherLanes(mlir::Operation *op, const target::MachineModel &machine);
/// Whether it is a packable Conv of each channel by itself: as many outputs as inputs, one weight plane each.
bool isDepthwise(mlir::Operation *op);

/// The number that lies around the image of a convolution, whatever it is of.
int64_t paddingOf(mlir::Operation *op);

/// Whether a Conv may make some rows of an image at a time: from channel blocks to channel blocks, with two spatial
/// axes of known sizes.
bool hasRows(plan::KernelOp kernel);
/// The rows of the image that rows of the result read, of a geometry whose axes are not swapped.
RowShape rowShapeOf(const ConvGeometry &g);

/// What the families of convolutions have in common.
class ConvFamily : public KernelFamily {
public:
  std::string unsupported(mlir::Operation *root, const target::MachineModel &machine) const override;
  LayoutRule layoutRule(mlir::Operation *root, const target::MachineModel &machine) const override;
  llvm::SmallVector<int64_t> halo(mlir::Operation *root) const override;
  int64_t fill(mlir::Operation *root) const override;
};

/// A copy of a constant vector, padded with zeros to `count` elements of so many bytes.
plan::WeightTable::Recipe paddedRecipe(int64_t count, int64_t elementBytes);

/// Calls `move` with what packers read and write, as arrays of elements of 2 or 4 bytes, which they only move.
template <typename Move>
void asWords(int64_t bytes, llvm::ArrayRef<char> from, llvm::MutableArrayRef<char> to, Move move) {
  if (bytes == 2) {
    move(reinterpret_cast<const uint16_t *>(from.data()), reinterpret_cast<uint16_t *>(to.data()));
  } else {
    move(reinterpret_cast<const uint32_t *>(from.data()), reinterpret_cast<uint32_t *>(to.data()));
  }
}

} // namespace ingot::lower
