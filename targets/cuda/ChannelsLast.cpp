// A block has 64 pixels of 32 channels. It reads them by neighbouring pixels, and writes them by vectors of channels;
// between them they are in shared memory.
#include "targets/cuda/ChannelsLast.h"
#include "compiler/lower/core/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/cuda/TensorProduct.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;
using lower::Ixs;

constexpr int64_t threads = 128, pixelsOfBlock = 64, channelsOfBlock = 32;

/// Elements of shared memory from a pixel to the next one: a word more than it has, so that neighbouring pixels are in
/// different banks.
static int64_t pitchOf(int64_t bytes) { return channelsOfBlock + std::max<int64_t>(1, 4 / bytes); }

support::Size ChannelsLast::plane() const {
  support::Size all = 1;
  for (const Axis &axis : axes) {
    all = all * axis.padded;
  }
  return all;
}

lower::KernelShape::Ahead ChannelsLast::launch() const {
  auto blocksOfChannels = static_cast<int64_t>(llvm::divideCeil(channels, channelsOfBlock));
  return {"image", batch * ceilDiv(plane(), pixelsOfBlock) * support::Size(blocksOfChannels),
          lower::Grid{{threads, 1, 1}, pixelsOfBlock * pitchOf(bytes()) * bytes()},
          batch * plane() * support::Size(channels), element};
}

Ix ChannelsLast::placeOf(Ix image, ArrayRef<Ix> pixel) const {
  Ix place = image;
  for (auto [axis, x] : llvm::zip_equal(axes, pixel)) {
    place = place * Ix(axis.padded) + x;
  }
  return place * channels;
}

Value ChannelsLast::load(lower::Writer &w, lower::Buffer from, Ix image, Ix channel, Ix pixel) const {
  Ixs at(axes.size(), 0);
  for (size_t d = axes.size(); d-- > 0;) {
    at[d] = remainder(pixel, axes[d].padded) - Ix(axes[d].before), pixel = floorDiv(pixel, axes[d].padded);
  }
  Value isThere = w.constant(1, w.b.getI1Type());
  Ix place = image * channels + channel;
  for (auto [axis, x] : llvm::zip_equal(axes, at)) {
    Value isInside = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::sge, x, 0),
                                           w.compare(arith::CmpIPredicate::slt, x, axis.in));
    isThere = arith::AndIOp::create(w.b, w.loc, isThere, isInside);
    place = place * Ix(axis.in) + min(max(x, 0), Ix(axis.in) - 1);
  }
  if (llvm::any_of(axes, [](const auto &axis) { return !axis.in.atLeast(1); })) {
    auto padding = [&] { return SmallVector<Value>{w.constant(around, lower::valueType(from.element))}; };
    return w.chooseValues(isThere, [&] { return SmallVector<Value>{w.load(from, place)}; }, padding)[0];
  }
  Value v = w.load(from, place);
  return arith::SelectOp::create(w.b, w.loc, isThere, v, w.constant(around, v.getType()));
}

void ChannelsLast::write(lower::Build &build, lower::Buffer image) const {
  lower::Writer &w = build.w;
  Ix thread = lower::threadNumber(w), pixels = plane();
  Ix blocksOfChannels = static_cast<int64_t>(llvm::divideCeil(channels, channelsOfBlock));
  Ix rest = floorDiv(build.begin, blocksOfChannels), blocks = ceilDiv(plane(), pixelsOfBlock);
  Ix firstChannel = remainder(build.begin, blocksOfChannels) * channelsOfBlock;
  Ix number = floorDiv(rest, blocks), firstPixel = remainder(rest, blocks) * pixelsOfBlock;
  int64_t pitch = pitchOf(bytes()), lanes = 16 / bytes();
  lower::Buffer shared = w.scratch(lower::sharedMemory(w), 0, image.element, pixelsOfBlock * pitch);
  Ix ownPixel = remainder(thread, pixelsOfBlock), ownChannel = floorDiv(thread, pixelsOfBlock);
  SmallVector<Value> loaded;
  for (int64_t i = 0; i < channelsOfBlock; i += threads / pixelsOfBlock) {
    loaded.push_back(load(w, image, number, min(firstChannel + ownChannel + i, channels - 1),
                          min(firstPixel + ownPixel, pixels - 1)));
  }
  for (auto [i, v] : llvm::enumerate(loaded)) {
    w.store(v, shared, ownPixel * pitch + ownChannel + static_cast<int64_t>(i) * (threads / pixelsOfBlock));
  }
  lower::barrier(w);
  int64_t vectors = channelsOfBlock / lanes; // of a pixel
  Ix inPixel = remainder(thread, vectors) * lanes;
  for (int64_t i = 0; i < pixelsOfBlock; i += threads / vectors) {
    Ix pixel = floorDiv(thread, vectors) + i, channel = firstChannel + inPixel, place = firstPixel + pixel;
    Value isThere = arith::AndIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::slt, channel, channels),
                                          w.compare(arith::CmpIPredicate::slt, place, pixels));
    w.ifThen(isThere, [&] {
      SmallVector<Value> all;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        all.push_back(w.load(shared, pixel * pitch + inPixel + lane));
      }
      auto type = VectorType::get({lanes}, image.element);
      Value v = vector::FromElementsOp::create(w.b, w.loc, type, all);
      w.store(v, TensorProduct::raw(w, build.ahead.back()), (number * pixels + place) * channels + channel);
      alignVectors(*w.b.getInsertionBlock()->getParent());
    });
  }
}

} // namespace ingot::targets::cuda
