// Builds operators on strings as calls of the support library (runtime_support/core/strings.c). There is one call for
// each stretch of the result along which operands lie one behind the other, or are one and the same string.
#include "compiler/onnx/ops/Text.h"
#include "compiler/lower/Family.h"
#include "compiler/onnx/text/Texts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime_support/core/text.h"

using namespace mlir;

namespace ingot::lower {
namespace {

/// Builds the calls of one kernel. Arguments are in an array of words (runtime_support/core/text.h).
class Calls {
public:
  explicit Calls(Build &build)
      : build(build), w(build.w), group(build.group), op(cast<onnx::TextOp>(group.root)),
        words(w.local(w.b.getI64Type(), INGOT_TEXT_WORDS)) {}

  void write() {
    put(INGOT_TEXT_NUMBER, static_cast<int64_t>(op.getNumber()));
    if (onnx::present(op.getTable())) {
      put(INGOT_TEXT_TABLE, address(group.buffer(op.getTable()), 0));
    }
    if (build.scratch) {
      put(INGOT_TEXT_SCRATCH, address(build.scratch, 0));
    }
    if (op.getTail()) { // one call does everything
      support::Sizes sizes = onnx::sizesOf(Group::typeOf(op.getXs().front()));
      if (op.getRows()) {
        put(INGOT_TEXT_ROW, sizes.pop_back_val());
      }
      put(INGOT_TEXT_TAIL, op.getTail()->getValues().front());
      for (unsigned i = 0; i < op.getXs().size(); ++i) {
        operand(i, 0, 1);
      }
      return call(0, support::product(sizes));
    }
    Space space = group.space(group.resultType());
    space.collapse();
    SmallVector<Ix> at;
    walk(space, at);
  }

private:
  Build &build;
  Writer &w;
  Group &group;
  onnx::TextOp op;
  Buffer words;

  /// Sets an argument.
  void put(int word, Ix number) { w.store(w.integer(number, w.b.getI64Type()), words, word); }

  /// Returns the address of an element of a buffer.
  Ix address(Buffer buffer, Ix element) {
    int64_t bytes = cast<MemRefType>(buffer.memref.getType()).getElementTypeBitWidth() / 8;
    return w.ix(w.address(buffer)) + element * bytes;
  }

  /// Sets where an operand begins, and the elements between those of neighbouring results.
  void operand(unsigned number, Ix from, Ix step) {
    put(INGOT_TEXT_X + static_cast<int>(number), address(group.buffer(op.getXs()[number]), from));
    put(INGOT_TEXT_X_STEP + static_cast<int>(number), step);
  }

  /// Writes loops over all dimensions but the innermost, for which there is a call.
  void walk(const Space &space, SmallVector<Ix> &at) {
    if (at.size() + 1 < space.sizes.size()) {
      return w.loop(0, space.sizes[at.size()], 1, [&](Ix i) {
        at.push_back(i);
        walk(space, at);
        at.pop_back();
      });
    }
    bool isScalar = space.sizes.empty();
    if (!isScalar) {
      at.push_back(0);
    }
    for (auto [i, x] : llvm::enumerate(op.getXs())) {
      const Access &access = space.accesses.find(x)->second;
      operand(static_cast<unsigned>(i), access.at(at), isScalar ? Ix(0) : access.strides.back());
    }
    call(space.results.front().at(at), isScalar ? Ix(1) : space.sizes.back());
    if (!isScalar) {
      at.pop_back();
    }
  }

  /// Makes a call for `count` results. A status other than 0 becomes the kernel's.
  void call(Ix from, Ix count) {
    put(INGOT_TEXT_TO, address(group.result(), from));
    put(INGOT_TEXT_COUNT, count);
    Value arguments[] = {build.exec, words.memref};
    Value status = w.callLibrary(("ingot_text_" + op.getDoes()).str(), arguments, w.b.getI32Type());
    Value zero = w.constant(0, w.b.getI32Type()), bad = w.compare(arith::CmpIPredicate::ne, status, zero);
    w.ifThen(bad, [&] { w.store(status, build.status, 0); });
  }
};

class Text : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::TextOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &) const override {
    KernelShape shape;
    auto op = cast<onnx::TextOp>(kernel.root());
    if (op.getDoes() == "rank") {
      support::Size count = support::product(onnx::sizesOf(Group::typeOf(op)));
      shape.scratchBytes = support::Size(INGOT_TEXT_RANK_BYTES) * max(support::Size(1), count);
    }
    shape.checked = true;
    shape.takesExec = true;
    return shape;
  }
  LogicalResult build(Build &build, const KernelShape &) const override {
    Calls(build).write();
    return success();
  }
};

} // namespace

std::unique_ptr<KernelFamily> createTextFamily() { return std::make_unique<Text>(); }

} // namespace ingot::lower
