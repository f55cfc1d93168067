// Writes attention without a matrix of scores, by online softmax over blocks of keys (Milakov and Gimelshein 2018), as
// in FlashAttention (Dao et al. 2022). Queries that look at the same keys (of all heads that share them) are rows.
//
//   for a block of rows:
//     Q' of the block into scratch, lanes along rows
//     for a block of keys:
//       scores[key][row]: register tiles of keys times vectors of rows, K broadcast from where it lies; the region
//       for each vector of rows: its maximum, what the sums so far are worth now, exponentials in place of the scores
//       sums[row][column] of V: register tiles of rows times vectors of columns, V read where it lies
//     sums / sum of the exponentials
//
// With rows along the lanes neither K nor V is packed, no lane is ever combined with another, and statistics are
// vectors. What the region reads that differs from row to row is transposed into scratch, block by block; the heads of
// a block of rows follow each other, so that a mask is transposed once for all of them where there is one block of
// keys.
//
// Where factors of float32 are split (Tiles.h), blocks of many rows have both products in matrix registers: keys and
// values of a block are split into scratch for all of its rows, and the weights are transposed (AttentionInTiles.cpp).
//
// A few rows that fill no vector (decoding: one; the class token of a ViT) go through the keys one by one. Their scores
// are dot products with lanes along the width, or along the keys where K is stored so. This is bound by reading K and
// V.
//
// -inf is what the maximum starts from; as long as it is one, 0 is taken off instead, so that no NaN arises before the
// end: a row without a key has a sum of 0, and 0 / 0 gives what softmax gives. A NaN may get lost in the maximum but
// not in the sum.
#include "compiler/lower/attention/Attention.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/onnx/ops/Attention.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class AttentionFamily : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::AttendOp>(); }
  /// What is added to the scores and how many keys there are.
  bool readsThrough(Operation *, unsigned operand) const override { return operand > 2; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    AttentionCut cut = planAttention(kernel, machine).cut;
    KernelShape shape;
    shape.ofTiles = cut.tiles.has_value();
    shape.choice = onlyChoice(shape.ofTiles ? "matrix" : "vectors", {{"rows", cut.rowsBlock}, {"keys", cut.keysBlock}});
    shape.items = cut.items;
    shape.scratchBytes = shape.items * support::Size(cut.bytes);
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    AttentionPlan plan = planAttention(build.group.kernel, build.w.machine);
    Attention(build, plan).run();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createAttentionFamily() { return std::make_unique<AttentionFamily>(); }

} // namespace ingot::lower
