#include "targets/cuda/SplitDepth.h"
#include "compiler/lower/core/Threads.h"
#include "compiler/lower/core/Vectors.h"
#include "targets/cuda/Architectures.h"
#include "targets/cuda/Places.h"
#include "targets/cuda/Wide.h"

using namespace mlir;

namespace ingot::targets::cuda {

using lower::Ix;

/// The neighbours that each thread of a block that adds up has where memory is so.
static constexpr int64_t neighbours = 4;

SplitDepth SplitDepth::of(const support::Size &tiles, const support::Size &depth, int64_t step,
                          const target::MachineModel &machine, bool mayBeWhole) {
  // Guesses: a block has work for that many steps at least, and as many have to be saved for the second launch. Behind
  // so many tiles for each multiprocessor, what the last ones leave idle is little.
  constexpr int64_t leastSteps = 8, leastSaved = 32, mostInTurn = 4;
  if (!tiles.isNumber() || tiles.is(0) || !depth.isNumber()) {
    return {};
  }
  int64_t multiprocessors = architectureOf(machine).multiprocessors, inTurn = tiles.number() / multiprocessors;
  int64_t whole = mayBeWhole && inTurn <= mostInTurn ? inTurn * multiprocessors : 0, shared = tiles.number() - whole;
  auto steps = static_cast<int64_t>(llvm::divideCeil(depth.number(), step));
  int64_t most = shared ? std::min(multiprocessors / shared, steps / leastSteps) : 0;
  if (most < 2) {
    return {};
  }
  auto each = static_cast<int64_t>(llvm::divideCeil(steps, most));
  if (steps - each < leastSaved) {
    return {};
  }
  return {static_cast<int64_t>(llvm::divideCeil(steps, each)), each * step, whole};
}

Ix SplitDepth::lengthOf(Ix part, Ix depth) const {
  return depth.known() && depth.number() == parts * length ? Ix(length) : min(length, depth - begin(part));
}

void SplitDepth::share(lower::KernelShape &shape, int64_t elements, Type element) const {
  shape.ahead.push_back({"parts", shape.items * support::Size(parts), *shape.grid, parts * elements, element});
  shape.items = blocksFor(elements, threads);
  shape.grid = lower::Grid{{threads, 1, 1}, 0};
}

void SplitDepth::shareLast(lower::KernelShape &shape, int64_t tiles, int64_t elements, Type element) const {
  int64_t blocks = (tiles - whole) * parts;
  shape.ahead.push_back({"parts", blocks, *shape.grid, blocks * elements, element});
}

Value SplitDepth::sumOf(lower::Build &build, Ix place, Ix each) const {
  Value sum = build.w.load(build.ahead.back(), place);
  for (int64_t part = 1; part < parts; ++part) {
    sum = combine(build.w, lower::Combine::Add, sum, build.w.load(build.ahead.back(), place + part * each));
  }
  return sum;
}

void SplitDepth::store(lower::Build &build, const lower::Space &space, Ix part, const lower::Point &at, Value sum) {
  Ix place = part;
  for (auto [size, x] : llvm::zip_equal(space.sizes, at.at)) {
    place = place * size + x;
  }
  build.w.store(sum, build.ahead.back(), place);
}

support::Size SplitDepth::blocksFor(const support::Size &elements, int64_t threads) {
  return ceilDiv(elements, threads * neighbours);
}

void SplitDepth::addUp(lower::Build &build, int64_t threads) const {
  lower::Writer &w = build.w;
  lower::Space space = build.group.space(build.group.resultType());
  space.collapse();
  Ix all = elementsOf(space), first = build.begin * (threads * neighbours), thread = lower::threadNumber(w);
  auto sumAt = [&](Ix place, int64_t lanes) {
    Value sum = w.load(build.ahead.back(), place, lanes);
    for (int64_t part = 1; part < parts; ++part) {
      sum = combine(w, lower::Combine::Add, sum, w.load(build.ahead.back(), place + part * all, lanes));
    }
    build.group.finish(sum, space, {placeOf(space, place), lanes, {}});
  };
  Wide wide(w, neighbours);
  wide.require(all);
  wide.requireBegin(build.ahead.back());
  wide.require(space, accessesOf(space));
  auto vectors = [&] {
    Ix place = first + thread * neighbours;
    w.ifThen(w.compare(arith::CmpIPredicate::slt, place, all), [&] { sumAt(place, neighbours); });
  };
  auto elements = [&] {
    w.loop(0, neighbours, 1, [&](Ix i) {
      Ix place = first + i * threads + thread;
      w.ifThen(w.compare(arith::CmpIPredicate::slt, place, all), [&] { sumAt(place, 1); });
    });
  };
  writeWhereWide(w, wide.condition(), vectors, elements);
}

} // namespace ingot::targets::cuda
