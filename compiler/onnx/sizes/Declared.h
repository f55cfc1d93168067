// Keeps the shape that a model declares for an output, which is an attribute of the function's result until sizes are
// known, and words what contradicts it.
#pragma once
#include "compiler/onnx/sizes/Shapes.h"

namespace ingot::onnx {

/// The name of the attribute with the declared shape, a DenseI64ArrayAttr that is dynamic where the shape is open.
inline constexpr llvm::StringLiteral declaredShapeName = "onnx.declared";

/// Whether a tensor of the type never has the declared shape: its rank differs, or a size that is a number.
inline bool contradicts(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> declared) {
  return type.getRank() != static_cast<int64_t>(declared.size()) ||
         llvm::any_of(llvm::zip_equal(type.getShape(), declared), [](auto pair) {
           auto [size, wanted] = pair;
           return size != wanted && !mlir::ShapedType::isDynamic(size) && !mlir::ShapedType::isDynamic(wanted);
         });
}

/// Words the message about a declared shape that contradicts the computed one.
inline std::string contradictionText(llvm::StringRef output, mlir::RankedTensorType type,
                                     llvm::ArrayRef<int64_t> declared) {
  Sizes wanted = llvm::map_to_vector<4>(
      declared, [](int64_t n) { return mlir::ShapedType::isDynamic(n) ? Size::unknown() : Size(n); });
  return "gives output '" + output.str() + "' the shape " + textOf(sizesOf(type)) + ", but the model declares " +
         textOf(wanted);
}

} // namespace ingot::onnx
