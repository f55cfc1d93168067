// Names of sizes: whatever a model calls them, they stay apart and are read back.
#include "compiler/support/SymbolNames.h"
#include "compiler/support/Size.h"
#include <cctype>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace ingot::support;

namespace {

TEST(SymbolNames, PlainNamesAreTheirTexts) {
  for (const char *name : {"n", "batch_size", "a.b/c:d", "größe", "x1"}) {
    EXPECT_EQ(symbolText(name), name);
  }
  EXPECT_EQ(symbolText("batch-size"), "'batch-size'");
  EXPECT_EQ(symbolText("2n"), "'2n'");
  EXPECT_EQ(symbolText(""), "''");
}

TEST(SymbolNames, AnyNameIsReadBack) {
  std::minstd_rand random(1);
  std::map<std::string, std::string> texts;
  for (int i = 0; i < 5000; ++i) {
    std::string name;
    for (size_t length = random() % 6; name.size() < length;) {
      const char odd[] = "ab1_.'\\-+* \"$@\n\t\x7f\x01\xc3\xb6(),/";
      name += odd[random() % (sizeof(odd) - 1)];
    }
    std::string text = symbolText(name);
    EXPECT_EQ(symbolName(text), name);
    auto [known, isNew] = texts.try_emplace(text, name);
    EXPECT_TRUE(isNew || known->second == name) << text;
    // In the text of a size it is one symbol beside operators.
    Size twice = Size(2) * Size::symbol(text);
    std::optional<Size> back = Size::parse(twice.text());
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(*back, twice) << text;
  }
}

TEST(SymbolNames, WordsAreIdentifiers) {
  EXPECT_EQ(asWord("größe"), "grc3b6c39fe");
  EXPECT_EQ(asWord("s0 + 1"), "s0_plus_1");
  EXPECT_EQ(asWord("2n"), "d2n");
  std::string every;
  for (int c = 0; c < 256; ++c) {
    every += char(c);
  }
  for (char c : asWord(every)) {
    EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  }
}

} // namespace
