#include "compiler/lower/bytes/ByteCurve.h"
#include <cmath>
#include <gtest/gtest.h>

using ingot::lower::CurveSegments;

namespace {

double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) { return x * std::erfc(-x * std::sqrt(0.5)) / 2; }

/// The largest distance of a byte from the number that it is the rounded one of, over all numbers of a range.
double farthest(const CurveSegments &segments, llvm::function_ref<double(double)> f, double least, double most) {
  double largest = 0;
  for (double x = -50; x < 50; x += 0.0007) {
    auto integer =
        static_cast<int64_t>(std::clamp(std::rint((x - segments.middle) / segments.unit), -32768.0, 32767.0));
    double byte = std::clamp(static_cast<double>(segments.at(integer)), least, most);
    largest = std::max(largest, std::abs(byte - std::clamp(f(x), least, most)));
  }
  return largest;
}

TEST(CurveSegments, AreWithinAnEighthOfAStep) {
  struct Case {
    double (*function)(double);
    double scale, zero;
    bool isSigned;
  };
  for (const Case &c : {Case{silu, 0.012, 23, false}, Case{silu, 0.03, 9, false}, Case{silu, 0.1, 3, false},
                        Case{silu, 0.03, -119, true}, Case{gelu, 0.015, 11, false}, Case{tanh, 1.0 / 100, 0, true},
                        Case{tanh, 1.0 / 40, 128, false}}) {
    auto f = [&](double x) { return c.function(x) / c.scale + c.zero; };
    double least = c.isSigned ? -128 : 0, most = c.isSigned ? 127 : 255;
    for (CurveSegments::Degree degree : {CurveSegments::Lines, CurveSegments::Parabolas}) {
      std::optional<CurveSegments> segments = CurveSegments::of(f, degree, least, most);
      ASSERT_TRUE(segments);
      EXPECT_LT(segments->error, 0.125) << c.scale << ' ' << degree;
      EXPECT_LE(farthest(*segments, f, least, most), 0.5 + 1.02 * segments->error) << c.scale << ' ' << degree;
    }
  }
}

// Many numbers are beyond the ends, where a byte must not be the next one, however near the middle between two it is.
TEST(CurveSegments, AreTheFunctionsBytesFarAway) {
  for (double top = 180.4; top < 181.6; top += 0.013) {
    auto f = [&](double x) { return top / (1 + std::exp(-x)) + 0.3; };
    for (CurveSegments::Degree degree : {CurveSegments::Lines, CurveSegments::Parabolas}) {
      std::optional<CurveSegments> segments = CurveSegments::of(f, degree, 0, 255);
      ASSERT_TRUE(segments);
      if (segments->error < 0.125) {
        EXPECT_EQ(segments->at(INT16_MAX), std::rint(top + 0.3)) << top << ' ' << degree;
        EXPECT_EQ(segments->at(INT16_MIN), 0) << top << ' ' << degree;
      } else { // as near as that
        EXPECT_LT(std::abs(top + 0.3 - std::floor(top + 0.3) - 0.5), 0.02) << top << ' ' << degree;
      }
    }
  }
}

TEST(CurveSegments, SayWhereTheyAreNot) {
  // Steps that are too small for the parts, a jump, and what is not the same far away.
  for (double (*f)(double) : {+[](double x) { return silu(x) / 0.002; }, +[](double x) { return x < 1 ? 3.0 : 200.0; },
                              +[](double x) { return 100 + 100 * std::sin(x); }}) {
    for (CurveSegments::Degree degree : {CurveSegments::Lines, CurveSegments::Parabolas}) {
      std::optional<CurveSegments> segments = CurveSegments::of(f, degree, 0, 255);
      EXPECT_TRUE(!segments || segments->error > 0.125);
    }
  }
}

} // namespace
