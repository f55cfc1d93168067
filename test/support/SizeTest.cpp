// Sizes: normal form, arithmetic, what can be proved, text and back.
#include "compiler/support/SizeRange.h"
#include "compiler/support/SymbolNames.h"
#include <gtest/gtest.h>

using ingot::support::Facts;
using ingot::support::Size;
using ingot::support::Symbol;
using ingot::support::SymbolKind;

namespace {

const Size b = Size::symbol("batch"), s = Size::symbol("seq"), p = Size::symbol("past");

TEST(Size, NumbersAreNumbers) {
  EXPECT_TRUE(Size(7).is(7));
  EXPECT_TRUE((Size(7) - Size(7)).is(0));
  EXPECT_EQ(Size(0).text(), "0");
  EXPECT_EQ((Size(3) * Size(5)).number(), 15);
  EXPECT_TRUE(floorDiv(Size(-7), Size(2)).is(-4));
}

TEST(Size, EqualSizesAreEqualTexts) {
  EXPECT_EQ((b * s).text(), (s * b).text());
  EXPECT_EQ((b * (s + p)).text(), (p * b + b * s).text());
  EXPECT_EQ(Size(2) * s - s - s, Size(0));
  EXPECT_FALSE(b == s);
  EXPECT_FALSE(Size::unknown() == Size::unknown());
}

TEST(Size, TheSmallestNumberHasNoOpposite) {
  EXPECT_TRUE(floorDiv(Size(INT64_MIN), Size(-1)).isUnknown());
  EXPECT_FALSE(divideExactly(Size(INT64_MIN) * b, Size(-1)));
  EXPECT_EQ(divideExactly(b - Size(3), Size(-1)), Size(3) - b);
}

TEST(Size, DivisionIsExactWhereItCanBe) {
  EXPECT_EQ(floorDiv(b * s * Size(768), b * s), Size(768));
  EXPECT_EQ(floorDiv(b * (s + p) * Size(768), (s + p) * Size(64)), b * Size(12));
  EXPECT_EQ(floorDiv(Size(4) * s + Size(3), Size(2)), Size(2) * s + Size(1));
  EXPECT_EQ(floorDiv(Size(2) * s, Size(4)).text(), "div(seq,2)");
  EXPECT_EQ(ceilDiv(s, Size(320)).text(), "div(319+seq,320)");
  EXPECT_TRUE(floorDiv(s, Size(0)).isUnknown());
  EXPECT_FALSE(divideExactly(s + Size(1), s));
}

TEST(Size, BoundsDecideMinAndMax) {
  EXPECT_EQ(max(s, Size(0)), s);
  EXPECT_EQ(min(s, s + p), s);
  EXPECT_EQ(max(floorDiv(s + Size(1), Size(2)), Size(0)), floorDiv(s + Size(1), Size(2)));
  EXPECT_EQ(min(s, Size(512)), min(Size(512), s));
  EXPECT_EQ(max(s - Size(2), Size(0)).text(), "max(-2+seq,0)");
  EXPECT_TRUE((s + Size(1)).atLeast(1));
  EXPECT_FALSE((s - p).atLeast(0));
  EXPECT_EQ(min(Size(1), min(Size(1), b)), min(Size(1), b));
  EXPECT_EQ(min(min(max(p, b), p + s), p + s), min(max(p, b), p + s));
  EXPECT_EQ(max(min(p, s), s), s);
  EXPECT_EQ(min(max(p, s), s), s);
  EXPECT_EQ(min(s, max(b, max(p, s))), s);
  EXPECT_EQ(max(min(p, s), max(s, b)), max(s, b));
  EXPECT_TRUE(min(Size(1), b).repeats());
  EXPECT_FALSE(b.repeats());
}

TEST(Size, FactsAreBounds) {
  Size clamped = min(s + Size(1), Size(8));
  EXPECT_FALSE(clamped == s + Size(1));
  ingot::support::Sizes facts = implied(clamped, s + Size(1));
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0], Size(7) - s);
  Facts known(facts);
  EXPECT_EQ(min(s, Size(8)).simplified(known), s);
  EXPECT_EQ(clamped.simplified(known), s + Size(1));
  EXPECT_EQ((clamped * b).simplified(known), (s + Size(1)) * b);
  EXPECT_EQ(floorDiv(clamped, Size(2)).simplified(known), floorDiv(s + Size(1), Size(2)));
  EXPECT_TRUE((Size(7) - s).atLeast(0, known));
  EXPECT_FALSE((Size(6) - s).atLeast(0, known));
  EXPECT_FALSE((Size(7) - s).atLeast(0));
  EXPECT_EQ(implied(min(Size(512), min(Size(99), s)), s).size(), 1U);
  EXPECT_TRUE(implied(s, p).empty());
  // Of max(s, min(p, b)) = s it is the minimum that is at most s, and not each of its arguments.
  EXPECT_EQ(implied(max(s, min(p, b)), s).size(), 1U);
}

TEST(Size, BoundsOfFoundSizesAreFacts) {
  Size found = Symbol::dataDependent(3);
  Facts known({Size(8) * b - found, Size(16) * b - found});
  EXPECT_EQ(known.bounds().at(Symbol::dataDependent(3)), Size(8) * b) << "the first one of a symbol";
  EXPECT_EQ(min(found, Size(8) * b).simplified(known), found);
  EXPECT_EQ(min(found, Size(8)).simplified(known), min(found, Size(8)));
  EXPECT_EQ((found + Size(2)).bounded(known.bounds()), Size(8) * b + Size(2));
  EXPECT_TRUE(Size(Symbol::dataDependent(4)).bounded(known.bounds()).isUnknown());
  EXPECT_EQ(Facts().with({Size(8) * b - found}).sizes().size(), 1U);
}

TEST(Size, BoundsInACircleAreNone) {
  Size x = Symbol::dataDependent(1), y = Symbol::dataDependent(2), z = Symbol::dataDependent(3);
  Facts known({y - x, z + Size(1) - y, x - z, Size(9) - z});
  EXPECT_EQ(x.bounded(known.bounds()), Size(10)) << "z is not bounded by x, but by what comes next";
}

TEST(Size, BoundsOfProductsAreFacts) {
  Size x = Symbol::dataDependent(1), y = Symbol::dataDependent(2), z = Symbol::dataDependent(3);
  ingot::support::Sizes facts = implied(Size(6) * s, x * y);
  ASSERT_EQ(facts.size(), 1U);
  Facts known({b - x, b - y, b - z, facts.front()});
  EXPECT_EQ((Size(4) * x * y).bounded(known.bounds()), Size(24) * s);
  EXPECT_EQ((x * y * z).bounded(known.bounds()), Size(6) * s * b);
  EXPECT_EQ((x * z).bounded(known.bounds()), b * b);
  EXPECT_EQ((x * x * y * y).bounded(known.bounds()), Size(6) * s * b * b) << "each bound once";
  EXPECT_TRUE(implied(Size(6) * z, x * y).empty());
}

TEST(Size, SymbolsHaveKinds) {
  EXPECT_EQ(Symbol::dataDependent(3).text(), "$3");
  EXPECT_EQ(Symbol::read("$3"), Symbol::dataDependent(3));
  EXPECT_EQ(Symbol::read("batch").kind(), SymbolKind::Chosen);
  EXPECT_EQ(Symbol::read("#present2"), Symbol::presence(2));
  EXPECT_EQ(Symbol::read("#2"), Symbol::iteration(2));
  EXPECT_EQ(Symbol::dataDependent(3).outer().kind(), SymbolKind::Outer);
  EXPECT_EQ(Symbol::dataDependent(3).outer().inner(), Symbol::dataDependent(3));
  EXPECT_TRUE((b + Symbol::dataDependent(3)).isDataDependent());
  EXPECT_FALSE(Size(Symbol::dataDependent(3).outer()).isDataDependent());
  EXPECT_EQ(b.asSymbol(), Symbol::chosen("batch"));
  EXPECT_FALSE((b + Size(1)).asSymbol());
}

TEST(Size, MultiplesOfQuotientsAreNearWhatIsDivided) {
  Size missing = Size(6) * s - Size(7) * floorDiv(Size(6) * s, Size(7)); // seq to the next multiple of 7
  EXPECT_TRUE(missing.atLeast(0));
  EXPECT_TRUE((Size(6) - missing).atLeast(0));
  EXPECT_FALSE((Size(5) - missing).atLeast(0));
  EXPECT_TRUE((Size(10) * ceilDiv(s, Size(10)) - s).atLeast(0));
  EXPECT_FALSE((Size(10) * floorDiv(s, Size(10)) - s).atLeast(0));
}

TEST(Size, TextIsReadBack) {
  for (const Size &x : {Size(0), Size(-3), b * s, Size(2) * b - s, floorDiv(s - Size(3), Size(2)) * b + Size(1),
                        min(floorDiv(s, Size(3)), max(p - Size(1), Size(0)))}) {
    auto back = Size::parse(x.text());
    ASSERT_TRUE(back) << x.text();
    EXPECT_EQ(*back, x);
  }
  for (const std::string &bad : {std::string(), std::string("2*"), std::string("div(a)"), std::string("a b("),
                                 std::string("min(a,b"), std::string("+"), std::string(1000, '(')}) {
    EXPECT_FALSE(Size::parse(bad)) << bad;
  }
}

TEST(Size, SymbolsMayHaveAnyName) {
  for (const char *name : {"batch", "größe", "p2o.Dim.0", "batch-size", "a b", "2n", "min(a,b)", "$1", "#0", "@2", "'",
                           "it's", "\\27", "a\nb", "5", "", "*"}) {
    std::string text = ingot::support::symbolText(name);
    EXPECT_EQ(ingot::support::symbolName(text), name);
    Size size = Size::symbol(text);
    EXPECT_EQ(size.asSymbol()->kind(), SymbolKind::Chosen) << name;
    Size formula = min(Size(2) * size - b, s) + Size(1);
    auto back = Size::parse(formula.text());
    ASSERT_TRUE(back) << formula.text();
    EXPECT_EQ(*back, formula);
  }
  EXPECT_EQ((Size(2) * Size::symbol(ingot::support::symbolText("a-b"))).text(), "2*'a-b'");
  EXPECT_FALSE(Size::parse("2*'a-b"));
}

TEST(Size, EvaluatesLikeItReads) {
  auto given = [](llvm::StringRef name) -> std::optional<int64_t> {
    return name == "batch" ? std::optional<int64_t>(3) : name == "seq" ? std::optional<int64_t>(17) : std::nullopt;
  };
  EXPECT_EQ((b * s + Size(1)).evaluate(given), 52);
  EXPECT_EQ((floorDiv(s - Size(20), Size(2)) * b).evaluate(given), -6);
  EXPECT_EQ(min(s, Size(5) * b).evaluate(given), 15);
  EXPECT_FALSE(p.evaluate(given));
  EXPECT_FALSE((b * Size(INT64_MAX)).evaluate(given));
  EXPECT_FALSE(floorDiv(s, b - Size(3)).evaluate(given));
}

TEST(Size, OverflowIsUnknown) { EXPECT_TRUE((Size(INT64_MAX) + Size(1)).isUnknown()); }

std::string rangeText(const Size &size) {
  auto bounds = [](llvm::StringRef name) -> ingot::support::Range {
    return name == "batch"  ? ingot::support::Range{1, 8}
           : name == "past" ? ingot::support::Range{-3, 5}
                            : ingot::support::Range{0, std::nullopt};
  };
  auto [least, most] = rangeOf(size, bounds);
  return (least ? std::to_string(*least) : "") + ".." + (most ? std::to_string(*most) : "");
}

TEST(SizeRange, Polynomials) {
  EXPECT_EQ(rangeText(Size(7)), "7..7");
  EXPECT_EQ(rangeText(Size(3) * b * b + Size(1)), "4..193");
  EXPECT_EQ(rangeText(Size(100) - Size(2) * b), "84..98");
  EXPECT_EQ(rangeText(b * p), "-24..40");
  EXPECT_EQ(rangeText(p * p), "-15..25");
  EXPECT_EQ(rangeText(b * s), "0..");
  EXPECT_EQ(rangeText(Size(8) - s), "..8");
  EXPECT_EQ(rangeText(p * s), "..");
  EXPECT_EQ(rangeText(b * Size(int64_t(1) << 61)), "2305843009213693952..");
  EXPECT_EQ(rangeText(Size::unknown()), "..");
}

TEST(SizeRange, Calls) {
  EXPECT_EQ(rangeText(floorDiv(b * Size(5) + Size(2), Size(4))), "1..10");
  EXPECT_EQ(rangeText(floorDiv(Size(100), b)), "12..100");
  EXPECT_EQ(rangeText(floorDiv(Size(100), p)), "20..100") << "less than 1 is refused";
  EXPECT_EQ(rangeText(floorDiv(p - Size(4), Size(3))), "-3..0");
  EXPECT_EQ(rangeText(floorDiv(p - Size(8), b)), "-11..-1");
  EXPECT_EQ(rangeText(floorDiv(Size(100), s)), "0..100");
  EXPECT_EQ(rangeText(floorDiv(p - Size(8), s + Size(1))), "-11..-1");
  EXPECT_EQ(rangeText(floorDiv(s, b)), "0..");
  EXPECT_EQ(rangeText(min(s, b)), "0..8");
  EXPECT_EQ(rangeText(min(s, p)), "-3..5");
  EXPECT_EQ(rangeText(max(s, p)), "0..");
  EXPECT_EQ(rangeText(max(b, p)), "1..8");
}

std::string safeRangeText(const Size &size) {
  auto bounds = [](llvm::StringRef name) {
    return name == "batch" ? ingot::support::Range{1, 8} : ingot::support::Range{0, int64_t(1) << 40};
  };
  auto range = safeRangeOf(size, bounds);
  return range ? std::to_string(*range->least) + ".." + std::to_string(*range->most) : "";
}

TEST(SizeRange, SafeToCompute) {
  EXPECT_EQ(safeRangeText(Size(3) * b + Size(1)), "4..25");
  EXPECT_EQ(safeRangeText(Size(8) - s), "-1099511627768..8");
  EXPECT_EQ(safeRangeText(s * s), "") << "2^80";
  EXPECT_EQ(safeRangeText(s * Size(1 << 22)), "") << "2^62";
  EXPECT_EQ(safeRangeText(min(Size(8), s * s)), "") << "on the way to it";
  EXPECT_EQ(safeRangeText(floorDiv(s, b)), "0..1099511627776");
  EXPECT_EQ(safeRangeText(floorDiv(b, s)), "") << "by 0";
  EXPECT_EQ(safeRangeText(Size::unknown()), "");
}

TEST(SizeRange, HoldsEveryValue) {
  const Size sizes[] = {b * p - Size(3) * b, floorDiv(p * p + b, b), max(min(b, p), Size(2)) * b - p,
                        floorDiv(p - b, Size(3)) * p, floorDiv(b * b * p, p + Size(4))};
  for (const Size &size : sizes) {
    auto bounds = [](llvm::StringRef name) {
      return name == "batch" ? ingot::support::Range{1, 8} : ingot::support::Range{-3, 5};
    };
    auto [least, most] = rangeOf(size, bounds);
    ASSERT_TRUE(least && most) << size.text();
    for (int64_t x = 1; x <= 8; ++x) {
      for (int64_t y = -3; y <= 5; ++y) {
        int64_t value = *size.evaluate([&](llvm::StringRef name) { return std::optional(name == "batch" ? x : y); });
        EXPECT_LE(*least, value) << size.text() << " at " << x << ", " << y;
        EXPECT_GE(*most, value) << size.text() << " at " << x << ", " << y;
      }
    }
  }
}

} // namespace
