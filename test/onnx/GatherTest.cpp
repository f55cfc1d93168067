// Ops that go through indices, on constants.
#include "Values.h"

namespace ingot::onnx {
namespace {

class GatherOps : public OpsOnConstants {};

TEST_F(GatherOps, GatherAlongAnAxis) {
  auto x = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  auto y = evaluate("Gather", {x, integers({2}, {-1, 0})}, {number("axis", 1)});
  EXPECT_EQ(shapeOf(y), (Shape{2, 2}));
  EXPECT_EQ(floatValues(y), (Floats{2, 0, 5, 3}));
  EXPECT_EQ(shapeOf(evaluate("Gather", {x, integers({}, {1})})), (Shape{3}));
}

TEST_F(GatherOps, ElementsAndTuples) {
  auto x = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(floatValues(evaluate("GatherElements", {x, integers({2, 2}, {0, 0, 1, 0})}, {number("axis", 1)})),
            (Floats{1, 1, 4, 3}));
  EXPECT_EQ(floatValues(evaluate("GatherND", {x, integers({2, 2}, {0, 0, 1, 1})})), (Floats{1, 4}));
  EXPECT_EQ(floatValues(evaluate("GatherND", {x, integers({2, 1}, {1, 0})}, {number("batch_dims", 1)})),
            (Floats{2, 3}));
}

TEST_F(GatherOps, Scatters) {
  auto x = floats({4}, {1, 2, 3, 4});
  EXPECT_EQ(floatValues(evaluate("ScatterND", {x, integers({2, 1}, {3, 0}), floats({2}, {9, 8})})),
            (Floats{8, 2, 3, 9}));
  EXPECT_EQ(floatValues(evaluate("ScatterElements", {x, integers({1}, {-2}), floats({1}, {7})})), (Floats{1, 2, 7, 4}));
}

} // namespace
} // namespace ingot::onnx
