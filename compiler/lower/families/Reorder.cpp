// Writes a tensor in another layout: from row-major to channel blocks and back, and between blocks with other halos. A
// square of one block's channels times as many pixels is transposed in registers; the last square of a row overlaps the
// one before it. Only the interior is written, and lanes beyond the last channel become zero.
#include "compiler/lower/Family.h"
#include "compiler/lower/core/CopyElements.h"
#include "compiler/lower/core/Vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Both sides of a reorder, walked as rows of neighbouring pixels.
struct Rows {
  support::Size batch;
  int64_t channels, lanes, blocks;
  support::Sizes sizes;                    ///< sizes of the axes outside a row
  support::Size pixels = 1;                ///< pixels of a row
  plan::Strides plain, blocked;            ///< both sides, where the pixels of a row are 1 and `lanes` elements apart
  support::Sizes plainSteps, blockedSteps; ///< strides of the axes outside a row

  /// Returns the number of rows of one channel block.
  support::Size rows() const { return support::product(sizes); }
  /// Returns where a row begins on the side with these steps.
  Ix offset(Ix row, ArrayRef<support::Size> steps) const {
    Ix sum = 0;
    for (size_t i = sizes.size(); i-- > 0;) {
      sum = sum + remainder(row, sizes[i]) * steps[i];
      row = floorDiv(row, sizes[i]);
    }
    return sum;
  }
};

/// Returns the rows of a tensor in two forms. `plain` may be blocked as well, in which case it has the same lanes.
Rows rowsOf(RankedTensorType plain, RankedTensorType blocked) {
  Rows r;
  r.plain = plan::stridesOf(plain), r.blocked = plan::stridesOf(blocked);
  support::Sizes sizes = onnx::sizesOf(plain);
  r.batch = sizes[0], r.channels = plain.getDimSize(1), r.lanes = r.blocked.lanes,
  r.blocks = r.blocked.sizes[1].number();
  size_t inner = plain.getRank();
  while (inner > 2) {
    // One more axis joins the row as long as both sides have it right outside of the axes that are in the row.
    --inner;
    bool joins = r.plain.strides[inner] == r.pixels * r.plain.lanes && r.blocked.strides[inner] == r.pixels * r.lanes;
    if (!joins) {
      ++inner;
      break;
    }
    r.pixels = r.pixels * sizes[inner];
  }
  for (size_t i = 2; i < inner; ++i) {
    r.sizes.push_back(sizes[i]), r.plainSteps.push_back(r.plain.strides[i]),
        r.blockedSteps.push_back(r.blocked.strides[i]);
  }
  return r;
}

class Reorder : public KernelFamily {
  static RankedTensorType from(plan::KernelOp kernel) {
    return cast<RankedTensorType>(kernel.root()->getOperand(0).getType());
  }
  static RankedTensorType to(plan::KernelOp kernel) { return cast<RankedTensorType>(kernel.getResult(0).getType()); }
  static Rows rowsOf(plan::KernelOp kernel) {
    bool toPlain = !plan::blockedOf(to(kernel));
    return toPlain ? lower::rowsOf(to(kernel), from(kernel)) : lower::rowsOf(from(kernel), to(kernel));
  }

public:
  SmallVector<TypeID> roots() const override { return rootsOf<plan::ReorderOp>(); }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    KernelShape shape;
    Rows r = rowsOf(kernel);
    shape.items = r.batch * r.blocks * r.rows();
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    assert(!build.group.hasEpilogue() && "reorders come from layout, which puts nothing behind them");
    Writer &w = build.w;
    Rows r = rowsOf(build.group.kernel);
    Buffer x = build.group.buffer(build.group.root->getOperand(0)), y = build.group.result();
    bool blockedFrom = static_cast<bool>(plan::blockedOf(from(build.group.kernel))),
         blockedTo = static_cast<bool>(plan::blockedOf(to(build.group.kernel)));
    w.loop(build.begin, build.end, 1, [&](Ix item) {
      Ix rows = r.rows(), row = remainder(item, rows), rest = floorDiv(item, rows);
      Ix block = remainder(rest, r.blocks), n = floorDiv(rest, r.blocks);
      Ix blocked =
          r.blocked.offset + n * r.blocked.strides[0] + block * r.blocked.strides[1] + r.offset(row, r.blockedSteps);
      Ix plain = r.plain.offset + n * r.plain.strides[0] +
                 block * (r.plain.strides[1] * support::Size(r.plain.lanes > 1 ? 1 : r.lanes)) +
                 r.offset(row, r.plainSteps);
      if (blockedFrom && blockedTo) {
        copyElements(w, x, plain, y, blocked, r.pixels * support::Size(r.lanes));
        return;
      }
      if (!areVectors(r.lanes)) {
        w.loop(0, r.pixels, 1, [&](Ix p) {
          w.loop(0, r.channels, 1, [&](Ix c) {
            Ix there = blocked + p * r.lanes + c, here = plain + c * r.plain.strides[1] + p;
            w.store(w.load(x, blockedTo ? here : there), y, blockedTo ? there : here);
          });
        });
        return;
      }
      eachCount(w, r, block, [&](int64_t channels) {
        if (blockedTo) {
          eachSquare(w, r, [&](Ix at, Ix pixels) {
            toBlocks(w, r, x, plain + at, y, blocked + at * r.lanes, channels, pixels);
          });
        } else {
          eachSquare(w, r, [&](Ix at, Ix pixels) {
            toPlanes(w, r, x, blocked + at * r.lanes, y, plain + at, channels, pixels);
          });
        }
      });
    });
    return success();
  }

private:
  /// Returns whether blocks are vectors of some machine, which are transposed in registers. Other blocks have all
  /// channels of a pixel.
  static bool areVectors(int64_t lanes) { return llvm::isPowerOf2_64(static_cast<uint64_t>(lanes)) && lanes <= 16; }

  /// Writes a body for whole blocks, and one for the last block where that has fewer channels.
  static void eachCount(Writer &w, const Rows &r, Ix block, llvm::function_ref<void(int64_t)> body) {
    int64_t whole = r.channels / r.lanes, rest = r.channels % r.lanes;
    if (!rest || !whole) {
      return body(rest ? rest : r.lanes);
    }
    auto compare = [&](arith::CmpIPredicate p) { return w.compare(p, block, whole); };
    w.ifThen(compare(arith::CmpIPredicate::ult), [&] { body(r.lanes); });
    w.ifThen(compare(arith::CmpIPredicate::uge), [&] { body(rest); });
  }

  /// Writes a body for each square of a row's pixels. Rows of fewer pixels than lanes have one narrower square.
  static void eachSquare(Writer &w, const Rows &r, llvm::function_ref<void(Ix, Ix)> body) {
    Ix pixels = r.pixels, rest = remainder(pixels, r.lanes), whole = pixels - rest;
    w.loop(0, whole, r.lanes, [&](Ix at) { body(at, r.lanes); });
    if (rest.is(0)) {
      return;
    }
    auto overlapping = [&] { body(pixels - r.lanes, r.lanes); };
    if (pixels.known()) {
      return whole.is(0) ? body(0, pixels) : overlapping();
    }
    Value some = w.compare(arith::CmpIPredicate::ne, rest, 0), before = w.compare(arith::CmpIPredicate::ne, whole, 0);
    w.ifThen(arith::AndIOp::create(w.b, w.loc, some, before), overlapping);
    w.ifThen(w.compare(arith::CmpIPredicate::eq, whole, 0), [&] { body(0, rest); });
  }

  /// Transposes a square into a block.
  static void toBlocks(Writer &w, const Rows &r, Buffer x, Ix from, Buffer y, Ix to, int64_t channels, Ix pixels) {
    Ix plane = r.plain.strides[1];
    Value zero = w.constant(0, w.vectorOf(x.element, r.lanes));
    if (!pixels.known() || (pixels.number() < r.lanes && !w.machine.maskedAccess)) {
      Value mask = channels < r.lanes ? w.maskFor(channels, r.lanes) : Value();
      w.loop(0, pixels, 1,
             [&](Ix p) { w.store(w.loadStrided(x, from + p, plane, r.lanes, mask), y, to + p * r.lanes); });
      return;
    }
    Value mask = pixels.is(r.lanes) ? Value() : w.maskFor(pixels, r.lanes);
    SmallVector<Value> rows(r.lanes, zero);
    for (int64_t c = 0; c < channels; ++c) {
      rows[c] = w.load(x, from + c * plane, r.lanes, mask);
    }
    rows = transpose(w, rows);
    for (int64_t p = 0; p < pixels.number(); ++p) {
      w.store(rows[p], y, to + p * r.lanes);
    }
  }

  /// Transposes a square of a block into planes of channels.
  static void toPlanes(Writer &w, const Rows &r, Buffer x, Ix from, Buffer y, Ix to, int64_t channels, Ix pixels) {
    Ix plane = r.plain.strides[1];
    if (!pixels.known() || (pixels.number() < r.lanes && !w.machine.maskedAccess)) {
      w.loop(0, pixels, 1, [&](Ix p) {
        w.loop(0, channels, 1, [&](Ix c) { w.store(w.load(x, from + p * r.lanes + c), y, to + c * plane + p); });
      });
      return;
    }
    SmallVector<Value> rows(r.lanes, w.constant(0, w.vectorOf(x.element, r.lanes)));
    for (int64_t p = 0; p < pixels.number(); ++p) {
      rows[p] = w.load(x, from + p * r.lanes, r.lanes);
    }
    rows = transpose(w, rows);
    Value mask = pixels.is(r.lanes) ? Value() : w.maskFor(pixels, r.lanes);
    for (int64_t c = 0; c < channels; ++c) {
      w.store(rows[c], y, to + c * plane, mask);
    }
  }
};

} // namespace

std::unique_ptr<KernelFamily> createReorderFamily() { return std::make_unique<Reorder>(); }

} // namespace ingot::lower
