// Builds kernels without a root: elementwise ops as one loop over the result, with any broadcasting, in both layouts.
// Dimensions that all operands walk alike are merged first, so that equal shapes become one flat loop with one tail.
// Where only the run knows whether an operand's axis repeats, there are loops for equal sizes and loops for any sizes.
// A result that the caches do not hold is stored past them, which saves the read of each line that a plain store begins
// with.
#include "compiler/lower/core/Portion.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/interfaces/Curve.h"
#include "compiler/onnx/ops/Binary.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Elementwise : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return {}; }
  LayoutRule layoutRule(Operation *, const target::MachineModel &) const override { return LayoutRule::Follow; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    KernelShape shape;
    shape.items = Portion::items(kernel, machine);
    shape.inPlace = llvm::to_vector(llvm::seq<int64_t>(kernel->getNumOperands()));
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &shape) const override {
    Value equal = build.group.isEqual(build.group.resultType());
    auto loops = [&](bool takenEqual) {
      Space space = build.group.space(build.group.resultType(), takenEqual);
      space.collapse();
      Portion portion(build, shape.items, space.sizes);
      auto stored = [&](bool pastCaches) {
        Point at;
        at.pastCaches = pastCaches;
        walk(build, portion, space, at, 0);
      };
      Value isLarge = exceedsCaches(build, space);
      if (!isLarge) {
        return stored(false);
      }
      build.w.ifElse(
          isLarge,
          [&] {
            stored(true);
            build.w.finishStores();
          },
          [&] { stored(false); });
    };
    if (!equal) {
      loops(false);
    } else {
      build.w.ifElse(equal, [&] { loops(true); }, [&] { loops(false); });
    }
    return success();
  }

  std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    auto type = cast<RankedTensorType>(kernel.getResult(0).getType());
    if (!isImageOfRows(type)) {
      return std::nullopt;
    }
    RowShape shape;
    int64_t vectors = plan::blocksOf(type) * type.getDimSize(2) * type.getDimSize(3),
            operations = kernel.getBody().front().getOperations().size() + kernel->getNumOperands();
    // An operation on a vector, or its load, takes half a cycle: a core does two of them in a cycle.
    shape.cycles = shape.alone = 0.5 * static_cast<double>(vectors * operations);
    shape.build = buildRows;
    return shape;
  }

private:
  /// Writes some rows of a blocked image, as a link of a chain.
  static void buildRows(Build &build, const Rows &rows) {
    Writer &w = build.w;
    Space space = build.group.space(build.group.resultType());
    w.loop(0, space.sizes[1], 1, [&](Ix block) {
      w.loop(rows.from, rows.to, 1, [&](Ix row) {
        w.loop(0, space.sizes[3], 1,
               [&](Ix column) { build.group.finish({}, space, {{rows.image, block, row, column}, space.block, {}}); });
      });
    });
  }

  /// Whether a kernel does so little with each element that memory is what takes its time. Where arithmetic does,
  /// stores past the caches made it slower (Exp of 32 MiB on Zen 4: 1.2 times).
  static bool isBoundByMemory(plan::KernelOp kernel) {
    constexpr size_t mostOperations = 4; // with the yield
    Block &body = kernel.getBody().front();
    return body.getOperations().size() <= mostOperations && llvm::none_of(body, isLong);
  }
  static bool isLong(Operation &op) { return op.hasTrait<onnx::LongFormula>() || isa<onnx::PowOp, onnx::ModOp>(op); }

  /// Whether code is made for a processor with vectors, and not for a device beside one.
  static bool isCpuWithVectors(const target::MachineModel &machine) {
    return machine.machineCode && machine.lanes > 1 && !machine.itemsAreThreads && !machine.hasOwnMemory;
  }

  /// Returns (i1) whether the result is to be stored past the caches; null where it never is. An operand in the
  /// result's place has brought its lines to the caches already.
  static Value exceedsCaches(Build &build, const Space &space) {
    // Results of 16 MiB took 0.8 times as long in C on Zen 4 (L3 of 32 MiB), of 32 MiB and more 0.7.
    constexpr int64_t leastBytes = 16 << 20, leastRow = 256, leastVector = 16;
    Writer &w = build.w;
    const target::MachineModel &machine = w.machine;
    plan::KernelOp kernel = build.group.kernel;
    if (!isCpuWithVectors(machine) || space.block > 1 || space.results.size() != 1 || kernel->getNumResults() != 1 ||
        space.sizes.empty() || !isBoundByMemory(kernel)) {
      return {};
    }
    Ix row = space.sizes.back();
    int64_t bytes = elementBytes(space.results[0].buffer);
    bool hasRows = space.sizes.size() == 1 || (row.known() && row.number() >= leastRow);
    if (!hasRows || bytes * machine.lanes < leastVector || build.group.vectorsPerStore(machine.lanes) != 1) {
      return {};
    }
    support::Size elements = support::product(onnx::sizesOf(space.type));
    if (elements.isNumber() && elements.number() * bytes < leastBytes) {
      return {};
    }
    Value all = w.compare(arith::CmpIPredicate::sge, elements, leastBytes / bytes);
    auto require = [&](Value also) { all = arith::AndIOp::create(w.b, w.loc, all, also); };
    require(w.compare(arith::CmpIPredicate::eq, remainder(w.ix(w.address(space.results[0].buffer)), bytes), 0));
    for (auto &[value, access] : space.accesses) {
      if (value.getType() == space.type) {
        require(w.elsewhere(access.buffer, space.results[0].buffer));
      }
    }
    return all;
  }

  /// Whether two vectors are computed side by side. A processor holds but a few dozen operations that wait for their
  /// operands, and a formula of that many, each of which waits for the one before it, leaves it idle.
  static bool isLongFormulaOfFloats(const Build &build) {
    plan::KernelOp kernel = build.group.kernel;
    auto isFloat = [](Value v) { return onnx::elementOf(v).isF32(); };
    return isCpuWithVectors(build.w.machine) && llvm::all_of(kernel->getOperands(), isFloat) &&
           llvm::all_of(kernel->getResults(), isFloat) && llvm::any_of(kernel.getBody().front(), isLong);
  }

  static int64_t elementBytes(const Buffer &buffer) {
    return cast<MemRefType>(buffer.memref.getType()).getElementTypeBitWidth() / 8;
  }

  /// Writes loops over dimension `d` and those below. The innermost one of a row-major space is walked in vectors.
  static void walk(Build &build, const Portion &portion, const Space &space, Point &at, size_t d) {
    if (d == space.sizes.size()) {
      at.lanes = space.block;
      build.group.finish({}, space, at);
      return;
    }
    if (d + 1 == space.sizes.size()) {
      return at.pastCaches ? innermostPastCaches(build, portion, space, at, d)
                           : innermost(build, portion, space, at, d);
    }
    portion.loop(d, space.sizes[d], 1, [&](Ix i) {
      at.at.push_back(i);
      walk(build, portion, space, at, d + 1);
      at.at.pop_back();
    });
  }

  /// Writes the loop over the innermost dimension in vectors from the first place on where a cache line of the result
  /// begins. What lies before it and what is left behind the vectors are single elements, of one loop.
  static void innermostPastCaches(Build &build, const Portion &portion, const Space &space, const Point &at, size_t d) {
    Writer &w = build.w;
    auto finish = [&](Ix i, int64_t lanes) {
      Point point = at;
      point.at.push_back(i), point.lanes = lanes, point.pastCaches = lanes > 1;
      build.group.finish({}, space, point);
    };
    SmallVector<Ix> start(at.at);
    start.push_back(0);
    const Access &result = space.results.front();
    Ix extent = space.sizes[d], bytes = elementBytes(result.buffer), perLine = floorDiv(w.machine.lineBytes, bytes);
    Ix address = floorDiv(w.ix(w.address(result.buffer)), bytes) + result.at(start);
    Ix head = min(extent, remainder(perLine - remainder(address, perLine), perLine));
    int64_t lanes = w.machine.lanes;
    Ix whole = floorDiv(extent - head, lanes) * lanes;
    portion.loop(d, whole, lanes, [&](Ix i) { finish(head + i, lanes); });
    portion.rest(d, [&] {
      w.loop(0, extent - whole, 1, [&](Ix i) {
        Value isBefore = w.compare(arith::CmpIPredicate::slt, i, head);
        finish(i + w.ix(arith::SelectOp::create(w.b, w.loc, isBefore, w.value(0), w.value(whole))), 1);
      });
    });
  }

  /// Writes the loop over the innermost dimension. Several neighbouring vectors are made at once where the group asks
  /// for it, as it does for bytes.
  static void innermost(Build &build, const Portion &portion, const Space &space, const Point &at, size_t d) {
    bool inBlocks = space.block > 1;
    int64_t lanes = inBlocks ? space.block : build.w.machine.lanes, step = inBlocks ? 1 : lanes;
    auto some = [&](Ix first, int64_t count, int64_t many, Value mask) {
      SmallVector<Point> points(many, at);
      for (auto [k, point] : llvm::enumerate(points)) {
        point.at.push_back(first + Ix(static_cast<int64_t>(k) * step)), point.lanes = count, point.mask = mask;
      }
      build.group.finishSome(SmallVector<Value>(many), space, points);
    };
    Ix extent = space.sizes[d];
    int64_t perStore = build.group.vectorsPerStore(lanes);
    if (perStore == 1 && !inBlocks && isLongFormulaOfFloats(build)) {
      // LLVM makes two vectors of one that is too wide, operation by operation.
      int64_t wide = 2 * lanes;
      Ix whole = extent - remainder(extent, wide);
      portion.loop(d, whole, wide, [&](Ix i) { some(i, wide, 1, {}); });
      return portion.rest(d, [&] {
        build.w.lanes(extent - whole, [&](Ix i, int64_t count, Value mask) { some(whole + i, count, 1, mask); });
      });
    }
    if (perStore == 1) {
      return inBlocks ? portion.loop(d, extent, 1, [&](Ix i) { some(i, lanes, 1, {}); })
                      : portion.lanes(d, extent, [&](Ix i, int64_t count, Value mask) { some(i, count, 1, mask); });
    }
    Ix whole = extent - remainder(extent, perStore * step);
    portion.loop(d, whole, perStore * step, [&](Ix i) { some(i, lanes, perStore, {}); });
    portion.rest(d, [&] {
      if (inBlocks) {
        build.w.loop(whole, extent, 1, [&](Ix i) { some(i, lanes, 1, {}); });
      } else {
        build.w.lanes(extent - whole, [&](Ix i, int64_t count, Value mask) { some(whole + i, count, 1, mask); });
      }
    });
  }
};

} // namespace

std::unique_ptr<KernelFamily> createElementwiseFamily() { return std::make_unique<Elementwise>(); }

} // namespace ingot::lower
