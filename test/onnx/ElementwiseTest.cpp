// What emit() says, computed for constants.
#include "Values.h"
#include <cmath>

namespace ingot::onnx {
namespace {

class ElementwiseOps : public OpsOnConstants {};

TEST_F(ElementwiseOps, BroadcastsBothWays) {
  auto sum = evaluate("Add", {floats({2, 1}, {1, 2}), floats({3}, {10, 20, 30})});
  EXPECT_EQ(shapeOf(sum), (Shape{2, 3}));
  EXPECT_EQ(floatValues(sum), (Floats{11, 21, 31, 12, 22, 32}));
}

TEST_F(ElementwiseOps, RoundsAsSinglePrecision) {
  EXPECT_EQ(floatValues(evaluate("Div", {floats({1}, {1}), floats({1}, {3})})), (Floats{1.0F / 3.0F}));
}

TEST_F(ElementwiseOps, IntegersTruncateWrapAndDoNotTrap) {
  EXPECT_EQ(integerValues(evaluate("Div", {integers({4}, {7, -7, 5, 9}), integers({4}, {2, 2, -1, 0})}))[1], -3);
  auto i8 = b.getI8Type();
  EXPECT_EQ(integerValues(evaluate("Add", {integers({2}, {127, 1}, i8), integers({}, {1}, i8)})), (Shape{-128, 2}));
  EXPECT_EQ(integerValues(evaluate("Mod", {integers({3}, {-7, 7, 4}), integers({3}, {3, -3, 2})})), (Shape{2, -2, 0}));
  EXPECT_EQ(integerValues(evaluate("Mod", {integers({2}, {-7, 7}), integers({}, {3})}, {number("fmod", 1)})),
            (Shape{-1, 1}));
}

TEST_F(ElementwiseOps, UnsignedIntegersCompareAsSuch) {
  auto u8 = b.getIntegerType(8, false);
  EXPECT_EQ(integerValues(evaluate("Less", {integers({2}, {200, 1}, u8), integers({}, {100}, u8)})), (Shape{0, 1}));
  EXPECT_EQ(integerValues(evaluate("Max", {integers({2}, {200, 1}, u8), integers({}, {100}, u8)})), (Shape{200, 100}));
}

TEST_F(ElementwiseOps, NaNStays) {
  double nan = std::nan("");
  EXPECT_TRUE(std::isnan(floatValues(evaluate("Relu", {floats({1}, {nan})}))[0]));
  EXPECT_TRUE(std::isnan(floatValues(evaluate("Max", {floats({1}, {1}), floats({1}, {nan})}))[0]));
  EXPECT_TRUE(std::isnan(floatValues(evaluate("Clip", {floats({1}, {nan}), floats({}, {0}), floats({}, {6})}))[0]));
  EXPECT_EQ(integerValues(evaluate("IsNaN", {floats({2}, {nan, 1})})), (Shape{1, 0}));
}

TEST_F(ElementwiseOps, ClipMayLeaveABoundOut) {
  EXPECT_EQ(floatValues(evaluate("Clip", {floats({3}, {-1, 2, 9}), {}, floats({}, {6})})), (Floats{-1, 2, 6}));
}

TEST_F(ElementwiseOps, CastsBetweenKinds) {
  EXPECT_EQ(integerValues(evaluate("Cast", {floats({3}, {-1.7, 2.9, 0.5})}, {number("to", 7)})), (Shape{-1, 2, 0}));
  EXPECT_EQ(integerValues(evaluate("Cast", {floats({2}, {0.5, 0})}, {number("to", 9)})), (Shape{1, 0}));
  EXPECT_EQ(floatValues(evaluate("Cast", {integers({2}, {200, 3}, b.getIntegerType(8, false))}, {number("to", 1)})),
            (Floats{200, 3}));
}

TEST_F(ElementwiseOps, FunctionsAgreeWithTheLibrary) {
  EXPECT_NEAR(floatValues(evaluate("Gelu", {floats({1}, {0.7})}))[0], 0.35 * (1 + std::erf(0.7 / std::sqrt(2))), 1e-6);
  EXPECT_NEAR(floatValues(evaluate("Mish", {floats({1}, {-1.5})}))[0], -1.5 * std::tanh(std::log1p(std::exp(-1.5))),
              1e-6);
  EXPECT_NEAR(floatValues(evaluate("Pow", {floats({1}, {1.5}), floats({}, {3})}))[0], 3.375, 1e-6);
  EXPECT_EQ(integerValues(evaluate("Pow", {integers({1}, {3}), integers({}, {4})}))[0], 81);
  EXPECT_EQ(floatValues(evaluate("Round", {floats({3}, {0.5, 1.5, -2.5})})), (Floats{0, 2, -2}));
}

TEST_F(ElementwiseOps, AMillionElements) {
  std::vector<double> x(1000000);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i % 1000);
  }
  auto y = evaluate("Sqrt", {floats({1000, 1000}, x)});
  EXPECT_EQ(floatValues(y)[999], static_cast<float>(std::sqrt(999.0)));
}

TEST_F(ElementwiseOps, RefusesMixedElements) {
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  EXPECT_FALSE(evaluate("Add", {floats({1}, {1}), integers({1}, {1})}));
}

} // namespace
} // namespace ingot::onnx
