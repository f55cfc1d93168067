// Has the bound of an element type's magnitude, from which an activation's range on integers is known.
#include "compiler/onnx/interfaces/Curve.h"
#include <cmath>
#include <limits>

#include "compiler/onnx/interfaces/Curve.cpp.inc"

namespace ingot::onnx {

double largestOf(mlir::Type element) {
  auto integer = llvm::dyn_cast<mlir::IntegerType>(element);
  return integer && integer.getWidth() <= 32 ? std::ldexp(1.0, static_cast<int>(integer.getWidth()))
                                             : std::numeric_limits<double>::infinity();
}

} // namespace ingot::onnx
