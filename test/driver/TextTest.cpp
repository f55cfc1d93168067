// Figures, the progress bar, manifests, the reproducer script.
#include "compiler/driver/Text.h"
#include "compiler/driver/Crash.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/execution/Manifest.h"
#include <gtest/gtest.h>

using namespace ingot::driver;

TEST(Text, Bytes) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(999), "999 B");
  EXPECT_EQ(bytesText(1000), "1.0 kB");
  EXPECT_EQ(bytesText(4937728), "4.9 MB");
  EXPECT_EQ(bytesText(999999), "1.0 MB");
  EXPECT_EQ(bytesText(int64_t(3) << 50), "3377.7 TB");
}

TEST(Text, Counts) {
  EXPECT_EQ(countText(0), "0");
  EXPECT_EQ(countText(999), "999");
  EXPECT_EQ(countText(1235496), "1,235,496");
  EXPECT_EQ(countText(-123456), "-123,456");
}

TEST(Text, Numbers) {
  EXPECT_EQ(numberText(0), "0");
  EXPECT_EQ(numberText(-2.5), "-2.5");
  EXPECT_EQ(numberText(1e-17), "1e-17");
}

TEST(Text, Progress) {
  EXPECT_EQ(progressText(5, 10, "lower"), "[##########..........] 5/10 lower");
  EXPECT_EQ(progressText(0, 0, "x"), "[....................] 0/0 x");
}

TEST(Text, ReproducerScript) {
  Reproduction reproduction;
  reproduction.words = "compile " + shellQuoted("it's.onnx");
  reproduction.files = {{"it's.onnx", "/a/it's.onnx", 7}, {"data0/input_0.pb", "/b/input_0.pb", 5}};
  std::string script = reproducerScript("/bin/ingot", reproduction);
  for (const char *part : {"ingot=${1:-'/bin/ingot'}", "piece 12 7 'it'\\''s.onnx'\npiece 5 5 'data0/input_0.pb'\n",
                           "\"$ingot\" compile 'it'\\''s.onnx' \"$@\"\n", "exit $code\n"}) {
    EXPECT_NE(script.find(part), std::string::npos) << script;
  }
}

static std::string manifestError(llvm::StringRef text) {
  llvm::Expected<Manifest> manifest = parseManifest(text, "m.json");
  return manifest ? "" : llvm::toString(manifest.takeError());
}

TEST(Manifest, Fields) {
  llvm::Expected<Manifest> manifest = parseManifest(
      R"({"manifest_version":1,"name":"net","target":"x86-64-v3","abi":1,"arena_bytes":1,"weight_bytes":2,"code_bytes":3,"macs":4,"inputs":[]})",
      "m.json");
  ASSERT_TRUE(bool(manifest));
  EXPECT_EQ(manifest->name, "net");
  EXPECT_EQ(manifest->target, "x86-64-v3");
  EXPECT_EQ(manifest->arenaBytes, 1);
  EXPECT_EQ(manifest->weightBytes, 2);
  EXPECT_EQ(manifest->codeBytes, 3);
  EXPECT_EQ(manifest->macs, 4);
}

TEST(Manifest, Errors) {
  EXPECT_EQ(manifestError("{").rfind("m.json: error: is no manifest: ", 0), 0u);
  EXPECT_EQ(manifestError("[]"), "m.json: error: is no manifest: it has no field 'name' with a C identifier");
  EXPECT_EQ(manifestError(R"({"name":"../evil"})"),
            "m.json: error: is no manifest: it has no field 'name' with a C identifier");
  EXPECT_EQ(manifestError(R"({"manifest_version":2,"name":"net"})"),
            "m.json: error: has version 2 of the manifest, and this ingot reads version 1; compile the model again");
  EXPECT_EQ(manifestError(R"({"name":"net"})"),
            "m.json: error: has no version of the manifest, and this ingot reads version 1; compile the model again");
  llvm::Expected<Manifest> absent = readManifest("/nonexistent/m.json");
  ASSERT_FALSE(bool(absent));
  EXPECT_EQ(llvm::toString(absent.takeError()),
            "/nonexistent/m.json: error: cannot be read: No such file or directory");
}
