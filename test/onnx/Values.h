// For tests of ops on constants: a module to build in, constants from lists, and one op evaluated.
#pragma once
#include "compiler/onnx/Family.h"
#include "compiler/onnx/constants/Evaluate.h"
#include "compiler/onnx/constants/EvaluateElementwise.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

namespace ingot::onnx {

class OpsOnConstants : public testing::Test {
protected:
  mlir::MLIRContext context;
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder b{&context};

  void SetUp() override {
    context.loadDialect<OnnxDialect>();
    module = mlir::ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
  }

  mlir::Value floats(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values) {
    return makeConstant(b, loc, constantFromFloats(tensorOf(shape, b.getF32Type()), values));
  }
  mlir::Value integers(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values, mlir::Type element = {}) {
    return makeConstant(b, loc, constantFromIntegers(tensorOf(shape, element ? element : b.getI64Type()), values));
  }
  mlir::NamedAttribute number(llvm::StringRef name, int64_t v) { return b.getNamedAttr(name, b.getI64IntegerAttr(v)); }
  mlir::NamedAttribute numbers(llvm::StringRef name, llvm::ArrayRef<int64_t> v) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(v));
  }
  mlir::NamedAttribute text(llvm::StringRef name, llvm::StringRef v) {
    return b.getNamedAttr(name, b.getStringAttr(v));
  }

  /// The first result of an op on constants; null when it is refused.
  mlir::ElementsAttr evaluate(llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                              llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    std::string full = ("onnx." + name).str();
    llvm::SmallVector<mlir::Value> all(operands);
    int64_t declared = mlir::RegisteredOperationName::lookup(full, &context)->getInterface<Importable>()->inputCount();
    all.resize(std::max<int64_t>(declared, all.size())); // trailing ones may be left out
    mlir::Operation *op = createOp(b, loc, full, all, attributes);
    if (!llvm::isa<mlir::RankedTensorType>(op->getResult(0).getType())) {
      return {}; // refused
    }
    llvm::SmallVector<mlir::ElementsAttr> constants, results;
    for (mlir::Value v : op->getOperands()) {
      constants.push_back(constantOf(v));
    }
    if (llvm::isa<Elementwise>(op)) {
      return evaluateElementwise(op, constants);
    }
    auto evaluable = llvm::dyn_cast<Evaluable>(op);
    return evaluable && mlir::succeeded(evaluable.evaluate(constants, results)) ? results[0] : mlir::ElementsAttr();
  }
  static std::vector<int64_t> shapeOf(mlir::ElementsAttr a) {
    auto shape = llvm::cast<mlir::ShapedType>(a.getType()).getShape();
    return {shape.begin(), shape.end()};
  }
  static std::vector<double> floatValues(mlir::ElementsAttr a) {
    auto v = floatsOf(a);
    return v ? std::vector<double>(v->begin(), v->end()) : std::vector<double>();
  }
  static std::vector<int64_t> integerValues(mlir::ElementsAttr a) {
    auto v = integersOf(a);
    return v ? std::vector<int64_t>(v->begin(), v->end()) : std::vector<int64_t>();
  }
};

using Shape = std::vector<int64_t>;
using Floats = std::vector<double>;

} // namespace ingot::onnx
