// Shapes: what Reshape and its kin infer and how they evaluate.
#include "Values.h"

namespace ingot::onnx {
namespace {

class ShapeOps : public OpsOnConstants {};

TEST_F(ShapeOps, ReshapeCopiesAndInfers) {
  auto y = evaluate("Reshape", {floats({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), integers({2}, {0, -1})});
  EXPECT_EQ(shapeOf(y), (Shape{2, 6}));
  EXPECT_EQ(floatValues(y)[11], 11);
}

TEST_F(ShapeOps, ReshapeKeepsZeros) {
  auto y = evaluate("Reshape", {floats({0, 3}, {}), integers({2}, {3, 0})}, {number("allowzero", 1)});
  EXPECT_EQ(shapeOf(y), (Shape{3, 0}));
}

TEST_F(ShapeOps, AxesComeAndGo) {
  auto x = floats({1, 3, 1}, {0, 1, 2});
  EXPECT_EQ(shapeOf(evaluate("Squeeze", {x, {}})), (Shape{3}));
  EXPECT_EQ(shapeOf(evaluate("Squeeze", {x, integers({1}, {-1})})), (Shape{1, 3}));
  EXPECT_EQ(shapeOf(evaluate("Unsqueeze", {x, integers({2}, {0, -1})})), (Shape{1, 1, 3, 1, 1}));
  EXPECT_EQ(shapeOf(evaluate("Flatten", {x}, {number("axis", -1)})), (Shape{3, 1}));
}

TEST_F(ShapeOps, MadeFromNumbers) {
  EXPECT_EQ(integerValues(evaluate("Range", {integers({}, {10}), integers({}, {3}), integers({}, {-3})})),
            (Shape{10, 7, 4}));
  auto zeros = evaluate("ConstantOfShape", {integers({2}, {2, 2})});
  EXPECT_EQ(floatValues(zeros), (Floats{0, 0, 0, 0}));
  auto eye = evaluate("EyeLike", {floats({2, 3}, {0, 0, 0, 0, 0, 0})}, {number("k", 1)});
  EXPECT_EQ(floatValues(eye), (Floats{0, 1, 0, 0, 0, 1}));
}

} // namespace
} // namespace ingot::onnx
