// The first layers of a network for images have the largest maps. A patch is some rows of the result of one of the
// layers behind them, the cut. The layers up to the cut compute one patch after the other, from the rows of the input
// that it needs, so that what lies between them is a few rows high (MCUNet: arXiv 2110.15352):
//
//   y = Conv(Conv(x))    ->    y = Concat(Conv(Conv(Slice(x, rows 0 to 35))), Conv(Conv(Slice(x, rows 28 to 63))), ...)
//
// Rows near the edge of a patch are computed by two patches. The arithmetic of an element is the same as before.
//
// The best cut is the one for which the least memory is in use at one time. That is estimated from the buffers that
// kernels will pass to each other: the operands of convolutions, pools and other ops that are not elementwise, in the
// integer types that they are stored in. Scratch memory of kernels is not known here: who has to know the memory plans
// several choices (pipeline/PatchSearch).
#include "compiler/graph/RowPatches.h"
#include "compiler/onnx/elements/Window.h"
#include "compiler/onnx/ops/Conv.h"
#include "compiler/onnx/ops/Move.h"
#include "compiler/onnx/ops/Pool.h"
#include "compiler/onnx/ops/Quantize.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;

namespace ingot::graph {
namespace {

constexpr int64_t rowAxis = 2; ///< of images [batch, channels, rows, columns]

/// Rows [begin, end) of an image.
struct Rows {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
  bool operator==(const Rows &other) const { return begin == other.begin && end == other.end; }
};

bool isImage(Value v) {
  auto type = onnx::ranked(v);
  return type && type.hasStaticShape() && type.getRank() == 4;
}

/// Returns whether a value is a constant, or floats of integers that are one, as weights of quantized models are.
bool isFixed(Value v) {
  auto floats = v.getDefiningOp<onnx::DequantizeOp>();
  return floats ? llvm::all_of(floats->getOperands(), isFixed) : !onnx::present(v) || onnx::constantOf(v);
}

int64_t rowsOf(Value v) { return onnx::ranked(v).getDimSize(rowAxis); }

bool isWindowed(Operation *op) { return isa<onnx::ConvOp, onnx::MaxPoolOp, onnx::AveragePoolOp>(op); }

/// Returns the window of a convolution or a pool; nothing: it is not known, or its last places may lie outside.
std::optional<onnx::Window> windowOf(Operation *op) {
  auto kernel = onnx::kernelOf(op, isa<onnx::ConvOp>(op) ? op->getOperand(1) : Value());
  auto ceil = op->getAttrOfType<IntegerAttr>("ceil_mode");
  if (!kernel || (ceil && ceil.getInt())) {
    return std::nullopt;
  }
  support::Sizes sizes = onnx::sizesOf(onnx::ranked(op->getOperand(0)));
  FailureOr<onnx::Window> window = onnx::windowOf(op, ArrayRef(sizes).drop_front(rowAxis), *kernel);
  bool isKnown = succeeded(window) && llvm::none_of(window->kernel, ShapedType::isDynamic);
  return isKnown ? std::optional(std::move(*window)) : std::nullopt;
}

/// Returns the rows that a window reads for rows of its result, with those of padding, which are before and behind the
/// image.
Rows readBy(const onnx::Window &window, Rows rows) {
  int64_t before = window.before[0].number(), stride = window.strides[0];
  return {rows.begin * stride - before, (rows.end - 1) * stride - before + window.reach(0)};
}

Rows inside(Rows rows, Value image) { return {std::max<int64_t>(rows.begin, 0), std::min(rows.end, rowsOf(image))}; }

/// Returns whether rows of the op's result depend on rows of its first operand, or of all operands that are images,
/// and on nothing else but constants that are the same for all rows.
bool isRowLocal(Operation *op) {
  if (op->getNumResults() == 0 || !isImage(op->getResult(0)) || op->getNumRegions() > 0) {
    return false;
  }
  if (isWindowed(op)) {
    auto others = op->getOperands().drop_front();
    bool isAlone = llvm::all_of(op->getResults().drop_front(), [](Value v) { return v.use_empty(); });
    return isAlone && isImage(op->getOperand(0)) && windowOf(op) && llvm::all_of(others, isFixed);
  }
  return isa<onnx::Elementwise>(op) && llvm::all_of(op->getOperands(), [&](Value v) {
           auto type = onnx::ranked(v);
           bool isOfEachRow = type && (type.getRank() < 2 || type.getDimSize(type.getRank() - 2) == 1);
           bool isWhole = !isFixed(v) && isImage(v) && rowsOf(v) == rowsOf(op->getResult(0));
           return !onnx::present(v) || isWhole || (isFixed(v) && isOfEachRow);
         });
}

/// Returns the operands of a row-local op of which it reads rows.
SmallVector<Value> imagesOf(Operation *op) {
  SmallVector<Value> images;
  for (Value v : isWindowed(op) ? op->getOperands().take_front(1) : op->getOperands()) {
    if (!isFixed(v) && isImage(v) && rowsOf(v) == rowsOf(isWindowed(op) ? v : op->getResult(0))) {
      images.push_back(v);
    }
  }
  return images;
}

/// Returns the value that kernels keep in the place of `v`: integers that the next kernel makes floats of.
Value keptFor(Value v) {
  while (auto op = v.getDefiningOp<onnx::DequantizeOp>()) {
    v = op.getX();
  }
  return v;
}

int64_t bytesOf(Value v) {
  auto type = onnx::ranked(v);
  return type && type.hasStaticShape() ? type.getNumElements() * onnx::elementBytes(type.getElementType()) : 0;
}

/// The layers up to a cut, in the order of the block.
struct Region {
  Value cut;
  llvm::SetVector<Operation *> ops;
};

/// Returns the layers up to a cut; nothing: what they compute is read elsewhere, too, or they read no window.
std::optional<Region> regionOf(Value cut) {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> open = {cut};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == cut.getParentBlock() && isRowLocal(op) && found.insert(op)) {
      llvm::append_range(open, imagesOf(op));
    }
  }
  Region region{cut, {}};
  for (Operation &op : *cut.getParentBlock()) {
    if (found.contains(&op)) {
      region.ops.insert(&op);
    }
  }
  bool isClosed = llvm::all_of(region.ops, [&](Operation *op) {
    return op == cut.getDefiningOp() ||
           llvm::all_of(op->getUsers(), [&](Operation *user) { return region.ops.contains(user); });
  });
  return isClosed && llvm::any_of(region.ops, isWindowed) ? std::optional(std::move(region)) : std::nullopt;
}

using Needs = llvm::MapVector<Value, Rows>;

/// Returns the rows of each value of a region that a patch needs; nothing: one of them would be made of padding alone.
std::optional<Needs> needsOf(const Region &region, Rows patch) {
  Needs needs;
  needs[region.cut] = patch;
  for (Operation *op : llvm::reverse(region.ops)) {
    Rows made = needs[op->getResult(0)];
    for (Value image : imagesOf(op)) {
      Rows read = isWindowed(op) ? inside(readBy(*windowOf(op), made), image) : made;
      if (read.count() <= 0) {
        return std::nullopt;
      }
      auto [known, isNew] = needs.insert({image, read});
      if (!isNew) {
        known->second = {std::min(known->second.begin, read.begin), std::max(known->second.end, read.end)};
      }
    }
  }
  return needs;
}

Rows patchOf(Value cut, int64_t i, int64_t patches) {
  int64_t rows = rowsOf(cut);
  return {rows * i / patches, rows * (i + 1) / patches};
}

/// Estimates the bytes that live at one time while ops run in their order.
class Lives {
public:
  explicit Lives(ArrayRef<Operation *> ops) {
    for (auto [i, op] : llvm::enumerate(ops)) {
      numbers[op] = static_cast<int64_t>(i);
    }
    for (Operation *op : ops) {
      auto isData = [](Value v) { return !isFixed(v); };
      if (!isa<onnx::Elementwise>(op) || llvm::count_if(op->getOperands(), isData) > 1) {
        for (Value v : llvm::make_filter_range(op->getOperands(), isData)) {
          Value kept = keptFor(v);
          auto &life = lives.insert({kept, {begin(kept), 0}}).first->second;
          life.last = std::max(life.last, numbers[op]);
        }
      }
    }
  }

  /// Returns the most bytes, where `bytes` says what a value takes.
  int64_t peak(function_ref<int64_t(Value)> bytes) const {
    int64_t most = 0;
    for (int64_t step = 0; step < static_cast<int64_t>(numbers.size()); ++step) {
      int64_t sum = 0;
      for (const auto &[value, life] : lives) {
        sum += life.first <= step && step <= life.last ? bytes(value) : 0;
      }
      most = std::max(most, sum);
    }
    return most;
  }

private:
  struct Life {
    int64_t first, last;
  };
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::MapVector<Value, Life> lives;

  /// Returns the step that begins to write a value: elementwise ops are part of the kernel of what they read.
  int64_t begin(Value v) const {
    Operation *op = v.getDefiningOp();
    auto number = numbers.find(op);
    if (!op || number == numbers.end()) {
      return 0;
    }
    int64_t first = -1;
    if (isa<onnx::Elementwise>(op)) {
      for (Value operand : op->getOperands()) {
        bool isInside = operand.getDefiningOp() && numbers.contains(operand.getDefiningOp());
        first = std::max(first, isInside && !isFixed(operand) ? begin(operand) : -1);
      }
    }
    return first < 0 ? number->second : first;
  }
};

/// The estimated memory and work of a cut.
struct Cost {
  int64_t bytes, rows; ///< at one time; rows that all patches compute of all values together
  bool operator<(const Cost &other) const { return std::pair(bytes, rows) < std::pair(other.bytes, other.rows); }
};

/// Returns the ops of a block that are no constants, without those of a region.
SmallVector<Operation *> othersThan(const Region *region, Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block) {
    if (op.getNumResults() && !onnx::constantOf(op.getResult(0)) && !(region && region->ops.contains(&op))) {
      ops.push_back(&op);
    }
  }
  return ops;
}

/// Returns what a value takes beside the caller's memory.
int64_t ownBytes(Value v) { return isa<BlockArgument>(v) ? 0 : bytesOf(v); }

std::optional<Cost> costOf(const Region &region, int64_t patches) {
  Lives inside(region.ops.getArrayRef());
  Lives behind(othersThan(&region, *Value(region.cut).getParentBlock()));
  // Patches are copied into one map when all are there.
  Cost cost{std::max(behind.peak(ownBytes), 2 * bytesOf(region.cut)), 0};
  int64_t made = 0;
  for (int64_t i = 0; i < patches; ++i) {
    std::optional<Needs> needs = needsOf(region, patchOf(region.cut, i, patches));
    if (!needs) {
      return std::nullopt;
    }
    auto bytes = [&](Value v) {
      auto rows = needs->find(v);
      return rows == needs->end() || v == region.cut ? 0 : bytesOf(v) / rowsOf(v) * rows->second.count();
    };
    made += bytesOf(region.cut) / rowsOf(region.cut) * (*needs)[region.cut].count();
    cost.bytes = std::max(cost.bytes, inside.peak(bytes) + made);
    for (auto &[value, rows] : *needs) {
      cost.rows += rows.count();
    }
  }
  return cost;
}

/// Writes the ops of one patch.
class Patch {
public:
  Patch(OpBuilder &b, const Region &region, Needs needs) : b(b), region(region), needs(std::move(needs)) {}

  Value make() {
    for (Operation *op : region.ops) {
      made[op->getResult(0)] = isWindowed(op) ? windowed(op) : elementwise(op);
    }
    return made[region.cut];
  }

private:
  OpBuilder &b;
  const Region &region;
  Needs needs;
  llvm::DenseMap<Value, Value> made;

  /// Returns rows of a value of the patch, or of one that the patches only read.
  Value rowsAt(Value image, Rows rows) {
    auto own = made.find(image);
    Value from = own == made.end() ? image : own->second;
    Rows have = own == made.end() ? Rows{0, rowsOf(image)} : needs[image];
    if (have == rows) {
      return from;
    }
    auto list = [&](int64_t n) { return onnx::makeIntegers(b, image.getLoc(), {n}); };
    return onnx::make<onnx::SliceOp>(
        b, image.getLoc(), {from, list(rows.begin - have.begin), list(rows.end - have.begin), list(rowAxis), Value()});
  }

  Value windowed(Operation *op) {
    onnx::Window window = *windowOf(op);
    Value image = op->getOperand(0);
    Rows all = readBy(window, needs[op->getResult(0)]), read = inside(all, image);
    SmallVector<int64_t> pads = {read.begin - all.begin, window.before[1].number(), all.end - read.end,
                                 window.after[1].number()};
    NamedAttrList attributes(op->getAttrs());
    attributes.set("pads", b.getDenseI64ArrayAttr(pads));
    attributes.erase("auto_pad");
    SmallVector<Value> operands(op->getOperands());
    operands[0] = rowsAt(image, read);
    return onnx::createOp(b, op->getLoc(), op->getName().getStringRef(), operands, attributes.getAttrs(),
                          op->getNumResults())
        ->getResult(0);
  }

  Value elementwise(Operation *op) {
    SmallVector<Value> operands(op->getOperands()), images = imagesOf(op);
    for (Value &operand : operands) {
      operand = llvm::is_contained(images, operand) ? rowsAt(operand, needs[op->getResult(0)]) : operand;
    }
    return onnx::createOp(b, op->getLoc(), op->getName().getStringRef(), operands, op->getAttrs())->getResult(0);
  }
};

/// Returns the values that kernels pass to each other, which can be cuts.
llvm::SetVector<Value> cutsIn(Block &block, int64_t patches) {
  llvm::SetVector<Value> cuts;
  for (Operation &op : block) {
    for (Value v : isa<onnx::Elementwise>(op) ? OperandRange(nullptr, 0) : op.getOperands()) {
      Value kept = onnx::present(v) && isa<RankedTensorType>(v.getType()) ? keptFor(v) : Value();
      if (kept && kept.getDefiningOp() && isImage(kept) && rowsOf(kept) >= patches &&
          isRowLocal(kept.getDefiningOp())) {
        cuts.insert(kept);
      }
    }
  }
  return cuts;
}

} // namespace

bool runInPatches(func::FuncOp function, int64_t patches, size_t choice) {
  Block &block = function.getBody().front();
  Cost whole{Lives(othersThan(nullptr, block)).peak(ownBytes), 0};
  std::multimap<Cost, Region> found; // best first
  for (Value cut : cutsIn(block, patches)) {
    std::optional<Region> region = regionOf(cut);
    std::optional<Cost> cost = region ? costOf(*region, patches) : std::nullopt;
    if (cost && *cost < whole) {
      found.emplace(*cost, std::move(*region));
    }
  }
  if (choice >= found.size()) {
    return false;
  }
  const Region &best = std::next(found.begin(), static_cast<int64_t>(choice))->second;
  OpBuilder b(best.cut.getDefiningOp());
  SmallVector<Value> parts;
  for (int64_t i = 0; i < patches; ++i) {
    parts.push_back(Patch(b, best, *needsOf(best, patchOf(best.cut, i, patches))).make());
  }
  onnx::Formula f(b, best.cut.getLoc());
  Value(best.cut).replaceAllUsesWith(f.op("Concat", parts, {f.integer("axis", rowAxis)}));
  return true;
}

} // namespace ingot::graph
