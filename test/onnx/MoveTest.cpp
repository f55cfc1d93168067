// Movements of constants: the boxes of each op, end to end.
#include "Values.h"

namespace ingot::onnx {
namespace {

class MoveOps : public OpsOnConstants {
protected:
  mlir::Value count(llvm::ArrayRef<int64_t> shape) {
    return floats(shape,
                  llvm::map_to_vector(llvm::seq<int64_t>(0, elements(shape)), [](int64_t i) { return double(i); }));
  }
  mlir::Value list(llvm::ArrayRef<int64_t> v) { return integers({static_cast<int64_t>(v.size())}, v); }
};

TEST_F(MoveOps, Transpose) {
  EXPECT_EQ(floatValues(evaluate("Transpose", {count({2, 3})})), (Floats{0, 3, 1, 4, 2, 5}));
  auto y = evaluate("Transpose", {count({2, 3, 2})}, {numbers("perm", {1, 0, 2})});
  EXPECT_EQ(shapeOf(y), (Shape{3, 2, 2}));
  EXPECT_EQ(floatValues(y), (Floats{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
}

TEST_F(MoveOps, SliceStepsBothWays) {
  auto x = count({7});
  EXPECT_EQ(floatValues(evaluate("Slice", {x, list({1}), list({INT64_MAX}), list({0}), list({2})})), (Floats{1, 3, 5}));
  EXPECT_EQ(floatValues(evaluate("Slice", {x, list({-1}), list({INT64_MIN}), list({-1}), list({-3})})),
            (Floats{6, 3, 0}));
  EXPECT_EQ(floatValues(evaluate("Slice", {x, list({-3}), list({-1})})), (Floats{4, 5}));
  EXPECT_EQ(shapeOf(evaluate("Slice", {x, list({5}), list({2})})), (Shape{0}));
}

TEST_F(MoveOps, ConcatExpandTile) {
  auto y = evaluate("Concat", {count({2, 1}), count({2, 2})}, {number("axis", -1)});
  EXPECT_EQ(floatValues(y), (Floats{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(floatValues(evaluate("Expand", {count({2, 1}), list({2, 1, 2})})), (Floats{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(floatValues(evaluate("Tile", {count({2, 2}), list({2, 1})})), (Floats{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(floatValues(evaluate("Tile", {count({2}), list({3})})), (Floats{0, 1, 0, 1, 0, 1}));
}

TEST_F(MoveOps, PadInEveryMode) {
  auto x = count({3});
  EXPECT_EQ(floatValues(evaluate("Pad", {x, list({1, 2}), floats({}, {9})})), (Floats{9, 0, 1, 2, 9, 9}));
  EXPECT_EQ(floatValues(evaluate("Pad", {x, list({-1, 1})})), (Floats{1, 2, 0}));
  EXPECT_EQ(floatValues(evaluate("Pad", {x, list({2, 2})}, {text("mode", "reflect")})), (Floats{2, 1, 0, 1, 2, 1, 0}));
  EXPECT_EQ(floatValues(evaluate("Pad", {x, list({5, 0})}, {text("mode", "reflect")})),
            (Floats{1, 0, 1, 2, 1, 0, 1, 2}));
  EXPECT_EQ(floatValues(evaluate("Pad", {x, list({2, 1})}, {text("mode", "edge")})), (Floats{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(floatValues(evaluate("Pad", {x, list({2, 4})}, {text("mode", "wrap")})),
            (Floats{1, 2, 0, 1, 2, 0, 1, 2, 0}));
  auto y = evaluate("Pad", {count({2, 2}), list({1, 0}), {}, list({-1})}, {text("mode", "edge")});
  EXPECT_EQ(floatValues(y), (Floats{0, 0, 1, 2, 2, 3}));
}

} // namespace
} // namespace ingot::onnx
