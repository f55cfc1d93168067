#include "compiler/lower/conv/Chain.h"
#include "compiler/lower/Algorithm.h"
#include "compiler/lower/conv/Convolution.h"
#include "compiler/lower/core/CacheLines.h"
#include "compiler/lower/product/WeightRate.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {

SmallVector<plan::KernelOp> linksOf(plan::KernelOp kernel) {
  return llvm::to_vector(kernel.getBody().getOps<plan::KernelOp>());
}

static RankedTensorType resultOf(plan::KernelOp kernel) {
  return cast<RankedTensorType>(kernel.getResult(0).getType());
}

// These estimate.

/// The share of a cache that one thing may take.
static constexpr double cacheShare = 0.5;

/// Returns the cycles for bytes that are written and read in the second cache.
static double kept(int64_t bytes, const target::MachineModel &machine) {
  return 2 * static_cast<double>(bytes) / machine.l2Rate;
}

/// Returns the cycles for bytes that one kernel writes and another one reads. Beyond the second cache they move three
/// times: a line is read before it is written, and then read again.
static double passed(int64_t bytes, const target::MachineModel &machine) {
  auto count = static_cast<double>(bytes);
  if (count <= cacheShare * static_cast<double>(machine.l2Bytes)) {
    return kept(bytes, machine);
  }
  bool inThird = count <= cacheShare * static_cast<double>(machine.l3Bytes);
  return 3 * count / (inThird ? machine.l3Rate : machine.memoryRate);
}

static void estimate(Chain &chain, const target::MachineModel &machine) {
  double before = 0, beforeInRing = 0;
  for (const Chain::Link &link : chain.links) {
    bool isLast = &link == &chain.links.back();
    double behind = isLast ? 0 : passed(link.resultBytes, machine) / 2,
           inRing = isLast ? 0 : kept(link.resultBytes, machine) / 2;
    chain.separateCycles += overlappedCycles(link.shape.alone, before + behind);
    chain.cycles += overlappedCycles(link.shape.cycles, beforeInRing + inRing);
    before = behind, beforeInRing = inRing;
  }
}

// These place rings.

/// Places rings for strips of `stripRows` rows.
static void placeRings(Chain &chain, int64_t stripRows, int64_t line) {
  chain.stripRows = stripRows, chain.ringBytes = 0;
  int64_t made = stripRows;
  for (size_t i = chain.links.size() - 1; i-- > 0;) {
    Chain::Link &link = chain.links[i];
    const RowShape &reader = chain.links[i + 1].shape;
    made = (made - 1) * reader.step + reader.reach;
    RankedTensorType type = resultOf(link.kernel);
    int64_t bytes = onnx::elementBytes(type.getElementType()), row = plan::stridesOf(type).strides[2].number();
    link.ring = {made, oddLines(made * row * bytes, line) / bytes};
    link.ringAt = chain.ringBytes;
    chain.ringBytes += plan::blocksOf(type) * link.ring.plane * bytes;
  }
}

/// Returns the bytes of an image's results that one link makes for the next one, and that would take memory if the
/// links were kernels apart. A link without a root only changes elements: apart, it would write its result over its
/// operand.
static int64_t bytesBetween(const Chain &chain) {
  int64_t bytes = 0;
  for (Chain::Link link : ArrayRef(chain.links).drop_back()) {
    bytes += link.kernel.root() ? link.resultBytes : 0;
  }
  return bytes;
}

/// The fewest work items. Where there are more, they are a multiple of this, so that two or four threads have equal
/// parts.
static constexpr int64_t leastItems = 4;

/// Chooses the longest strips whose rings take no more than a part of the second cache, and of the memory that the
/// results would take; where there are none, short ones, in which tiles of two rows fit.
static bool chooseStrips(Chain &chain, const target::MachineModel &machine) {
  constexpr int64_t leastRows = 2, mostRows = 8, shareOfCache = 4;
  int64_t height = chain.links.back().height, weights = 0;
  for (const Chain::Link &link : chain.links) {
    weights += link.shape.weightBytes;
  }
  int64_t most = std::min(machine.l2Bytes / shareOfCache, bytesBetween(chain) / (2 * leastItems));
  for (int64_t rows = mostRows; rows >= leastRows; rows /= 2) {
    placeRings(chain, std::min(rows, height), machine.lineBytes);
    if (chain.ringBytes <= most) {
      break;
    }
  }
  return chain.ringBytes + weights <= machine.l2Bytes * 3 / 4;
}

/// Returns the machine that chooses: levels of one library have the same chains, so that they share weights.
static const target::MachineModel &chooserOf(const target::MachineModel &machine) {
  return machine.packing ? *machine.packing : machine;
}

std::optional<Chain::Link> linkOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  if (kernel.getNumResults() != 1) {
    return std::nullopt;
  }
  const KernelFamily &family = familyOf(kernel, machine);
  std::optional<RowShape> shape = family.rowShape(kernel, machine);
  if (!shape) {
    return std::nullopt;
  }
  if (machine.packing) {
    std::optional<RowShape> expected = family.rowShape(kernel, *machine.packing);
    shape->cycles = expected->cycles, shape->alone = expected->alone;
  }
  support::Sizes sizes = onnx::sizesOf(resultOf(kernel));
  Chain::Link link{kernel, std::move(*shape), sizes[2].number()};
  link.resultBytes =
      support::product(ArrayRef(sizes).drop_front()).number() * onnx::elementBytes(resultOf(kernel).getElementType());
  return link.resultBytes ? std::optional(std::move(link)) : std::nullopt;
}

std::optional<Chain> chainOf(ArrayRef<Chain::Link> links, const target::MachineModel &machine) {
  Chain chain;
  chain.heavyItems = chooserOf(machine).tuning.heavyItems;
  for (const Chain::Link &link : links) {
    if (!chain.links.empty()) {
      Chain::Link &data = chain.links.back();
      const RowShape &reads = link.shape;
      if (reads.reach < reads.step) { // the link leaves out rows, which nobody need make
        return std::nullopt;
      }
      data.padsBefore = reads.start < 0;
      data.padsBehind = (link.height - 1) * reads.step + reads.start + reads.reach > data.height;
    }
    chain.links.push_back(link);
  }
  chain.batch = onnx::sizesOf(resultOf(links.back().kernel))[0];
  if (!chooseStrips(chain, chooserOf(machine))) {
    return std::nullopt;
  }
  estimate(chain, chooserOf(machine));
  return chain;
}

support::Size Chain::items() const {
  int64_t most = bytesBetween(*this) / 2 / ringBytes / leastItems * leastItems;
  return min(units(), std::clamp<int64_t>(most, leastItems, std::max(leastItems, heavyItems)));
}

bool Chain::isSmaller() const {
  int64_t items = typical(this->items(), heavyItems);
  return items * ringBytes < bytesBetween(*this);
}

// These write the kernel.

/// Returns the number of the chain's operand behind an operand of a link; -1: it is another link's result.
static int outsideOf(const Chain::Link &link, unsigned operand) { return operandNumber(link.kernel.getIns()[operand]); }

static void buildChain(Build &build, const Chain &chain);

/// Returns the choice as a text: "chain of 3 kernels by rows: 4.2 M cycles; apart 5.1 M: expand [direct vectors=2: 2.1
/// M cycles; ...], dw [...]".
static std::string choiceOf(const Chain &chain, const target::MachineModel &machine) {
  std::string text = llvm::formatv("chain of {0} kernels by rows: {1} cycles; apart {2}", chain.links.size(),
                                   countText(chain.cycles), countText(chain.separateCycles));
  for (Chain::Link link : chain.links) {
    if (Operation *root = link.kernel.root()) {
      std::string node = onnx::nodeOf(root->getLoc());
      text += (text.back() == ']' ? ", " : ": ") + node + (node.empty() ? "[" : " [") +
              familyOf(link.kernel, machine).shape(link.kernel, machine).choice + "]";
    }
  }
  return text;
}

KernelShape chainShape(const Chain &chain, const target::MachineModel &machine) {
  KernelShape shape;
  shape.build = [chain](Build &build) { buildChain(build, chain); };
  shape.choice = choiceOf(chain, machine);
  shape.items = chain.items();
  shape.scratchBytes = shape.items * chain.ringBytes;
  for (const Chain::Link &link : chain.links) {
    for (const auto &[operand, recipe] : link.shape.packed) {
      shape.packed[outsideOf(link, operand)] = recipe;
    }
  }
  return shape;
}

namespace {
class ChainLoops {
public:
  ChainLoops(Build &build, const Chain &chain) : build(build), w(build.w), chain(chain) {}

  void run() {
    for (const Chain::Link &link : ArrayRef(chain.links).drop_back()) {
      rings.push_back(ringOf(link));
      fillSides(link, rings.back());
    }
    rings.push_back(build.group.result());
    Ix units = chain.units(), items = chain.items(), strips = chain.strips();
    auto firstUnit = [&](Ix item) {
      return same(units, items) ? item : floorDiv(item * units, max(items, 1)); // without images there are no rows
    };
    Ix first = firstUnit(build.begin);
    w.loop(first, firstUnit(build.end), 1, [&](Ix unit) {
      Ix strip = remainder(unit, strips), from = strip * chain.stripRows;
      Value isFirst = arith::OrIOp::create(w.b, w.loc, w.compare(arith::CmpIPredicate::eq, unit, first),
                                           w.compare(arith::CmpIPredicate::eq, strip, 0));
      makeStrip(floorDiv(unit, strips), from, min(from + chain.stripRows, chain.links.back().height), isFirst);
    });
  }

private:
  Build &build;
  Writer &w;
  const Chain &chain;
  std::vector<Buffer> rings; ///< one for each link's result; the last one's is in memory

  Buffer ringOf(const Chain::Link &link) {
    RankedTensorType type = resultOf(link.kernel);
    Buffer ring = w.scratch(build.scratch, build.begin * chain.ringBytes + link.ringAt, type.getElementType(),
                            plan::blocksOf(type) * link.ring.plane);
    ring.ring = link.ring;
    return ring;
  }

  /// Fills elements [from, to) of a row, its halo counted, in all channel blocks with what stands for them.
  void fill(const Chain::Link &link, const Buffer &ring, Ix row, Ix from, Ix to) {
    RankedTensorType type = resultOf(link.kernel);
    plan::Strides s = plan::stridesOf(type);
    Value value = w.constant(plan::blockedOf(type).getFill(), w.vectorOf(ring.element, s.lanes));
    w.loop(0, plan::blocksOf(type), 1, [&](Ix block) {
      Ix at = block * link.ring.plane + row * s.strides[2];
      w.loop(from, to, s.lanes, [&](Ix i) { w.store(value, ring, at + i); });
    });
  }

  /// Fills the columns of padding, which no row writes.
  void fillSides(const Chain::Link &link, const Buffer &ring) {
    plan::BlockedAttr layout = plan::blockedOf(resultOf(link.kernel));
    if (layout.getHalo().empty()) {
      return;
    }
    int64_t lanes = layout.getLanes(), row = plan::stridesOf(resultOf(link.kernel)).strides[2].number();
    w.loop(0, link.ring.rows, 1, [&](Ix r) {
      fill(link, ring, r, 0, layout.getHalo()[2] * lanes);
      fill(link, ring, r, row - layout.getHalo()[3] * lanes, row);
    });
  }

  /// Returns the ends of what each link has made when the last one has made the rows before `end`.
  Ixs endsFor(Ix end) const {
    Ixs ends(chain.links.size(), end);
    for (size_t i = chain.links.size() - 1; i-- > 0;) {
      const RowShape &reader = chain.links[i + 1].shape;
      ends[i] = (ends[i + 1] - 1) * reader.step + (reader.start + reader.reach);
    }
    return ends;
  }

  /// Returns the first rows that links make in a run of strips whose first row is `begin`.
  Ixs startsFor(Ix begin) const {
    Ixs starts(chain.links.size(), begin);
    for (size_t i = chain.links.size() - 1; i-- > 0;) {
      const RowShape &reader = chain.links[i + 1].shape;
      starts[i] = starts[i + 1] * reader.step + reader.start;
    }
    return starts;
  }

  void makeStrip(Ix image, Ix from, Ix to, Value isFirst) {
    Ixs ends = endsFor(to);
    Ixs starts = w.choose(isFirst, [&] { return startsFor(from); }, [&] { return endsFor(from); });
    starts.back() = from;
    for (auto [i, link] : llvm::enumerate(chain.links)) {
      makeRows(i, image, starts[i], ends[i]);
    }
  }

  /// Makes rows [from, to) of a link's result, also those before and behind the image, which the next link reads as
  /// padding.
  void makeRows(size_t i, Ix image, Ix from, Ix to) {
    const Chain::Link &link = chain.links[i];
    Ix firstRow = max(from, 0), lastRow = min(to, link.height); // the other rows are only padding
    int64_t length = plan::stridesOf(resultOf(link.kernel)).strides[2].number();
    auto pad = [&](Ix begin, Ix end) {
      w.loop(begin, end, 1,
             [&](Ix r) { fill(link, rings[i], remainder(r + link.ring.rows, link.ring.rows), 0, length); });
    };
    if (link.padsBefore) {
      pad(from, min(to, 0));
    }
    SmallVector<Buffer> operands;
    for (Value v : link.kernel.getIns()) {
      operands.push_back(operandNumber(v) >= 0 ? build.group.buffer(v) : rings[i - 1]);
    }
    Group group(w, link.kernel, operands, rings[i]);
    Build member{w, group, 0, 1, {}, {}, {}};
    link.shape.build(member, {image, firstRow, lastRow});
    if (link.padsBehind) {
      pad(max(from, link.height), to);
    }
  }
};
} // namespace

static void buildChain(Build &build, const Chain &chain) { ChainLoops(build, chain).run(); }

} // namespace ingot::lower
