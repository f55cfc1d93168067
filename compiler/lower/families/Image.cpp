// Decodes images by a library (runtime_support/images), which the kernel calls.
#include "compiler/onnx/ops/Image.h"
#include "compiler/lower/Family.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime_support/include/ingot.h"

using namespace mlir;

namespace ingot::lower {
namespace {

class Image : public KernelFamily {
public:
  SmallVector<TypeID> roots() const override { return rootsOf<onnx::ImageSizeOp, onnx::DecodeImageOp>(); }
  std::string unsupported(Operation *root, const target::MachineModel &machine) const override {
    return whyUnsized(root);
  }
  bool fusesEpilogue(Operation *) const override { return false; }

  KernelShape shape(plan::KernelOp, const target::MachineModel &) const override {
    KernelShape shape;
    shape.checked = true;
    shape.error = INGOT_ERROR_IMAGE;
    return shape;
  }

  LogicalResult build(Build &build, const KernelShape &) const override {
    Writer &w = build.w;
    Operation *root = build.group.root;
    Value encoded = root->getOperand(0);
    support::Size bytes = onnx::sizesOf(Group::typeOf(encoded)).front();
    Type i64 = w.b.getI64Type();
    SmallVector<Value> arguments = {asBytes(w, build.group.buffer(encoded)), w.integer(bytes, i64)};
    Value status;
    if (auto decode = dyn_cast<onnx::DecodeImageOp>(root)) {
      support::Sizes sizes = onnx::sizesOf(Group::typeOf(decode.getPixels()));
      arguments.append({w.constant(decode.getOrder(), w.b.getI32Type()), w.integer(sizes[0], i64),
                        w.integer(sizes[1], i64), asBytes(w, build.group.result(0))});
      status = w.callLibrary("ingot_image_decode", arguments, w.b.getI32Type());
    } else {
      arguments.push_back(build.group.result(0).memref);
      status = w.callLibrary("ingot_image_size", arguments, w.b.getI32Type());
    }
    build.failIf(w.compare(arith::CmpIPredicate::ne, status, w.constant(0, w.b.getI32Type())), INGOT_ERROR_IMAGE);
    return success();
  }

private:
  /// Returns a buffer as one of bytes, so that the library's function has one type whatever the tensors are.
  static Value asBytes(Writer &w, Buffer buffer) { return w.scratch(buffer, 0, w.b.getI8Type(), 1).memref; }
};

} // namespace

std::unique_ptr<KernelFamily> createImageFamily() { return std::make_unique<Image>(); }

} // namespace ingot::lower
