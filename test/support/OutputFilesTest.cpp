// Files that are written whole or not at all.
#include "compiler/support/OutputFiles.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace ingot;
namespace fs = std::filesystem;

namespace {

class OutputFiles : public testing::Test {
protected:
  void SetUp() override {
    std::string form = testing::TempDir() + "ingot-output-XXXXXX";
    ASSERT_NE(mkdtemp(form.data()), nullptr);
    root = form;
  }
  void TearDown() override { fs::remove_all(root); }

  std::string path(const std::string &name) const { return root + "/" + name; }
  std::string contentOf(const std::string &name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static auto writes(const char *text) {
    return [text](llvm::raw_ostream &out) { out << text; };
  }
  size_t count() const { return size_t(std::distance(fs::directory_iterator(root), {})); }
  static std::string text(llvm::Error error) { return llvm::toString(support::located(std::move(error))); }

  std::string root;
};

} // namespace

TEST_F(OutputFiles, GetTheirNamesTogether) {
  std::ofstream(path("a")) << "earlier";
  {
    support::OutputFiles files;
    ASSERT_FALSE(bool(files.add(path("a"), writes("new"))));
    ASSERT_FALSE(bool(files.add(path("b"), writes("more"))));
    EXPECT_EQ(contentOf("a"), "earlier");
    EXPECT_FALSE(fs::exists(path("b")));
  }
  EXPECT_EQ(contentOf("a"), "earlier") << "without keep() nothing is changed";
  EXPECT_EQ(count(), 1u) << "and nothing is left";
  support::OutputFiles files;
  ASSERT_FALSE(bool(files.add(path("a"), writes("new"))));
  ASSERT_FALSE(bool(files.add(path("b"), writes("more"))));
  ASSERT_FALSE(bool(files.keep()));
  EXPECT_EQ(contentOf("a"), "new");
  EXPECT_EQ(contentOf("b"), "more");
  EXPECT_EQ(count(), 2u);
}

TEST_F(OutputFiles, KeepLinksAndPermissions) {
  std::ofstream(path("a")) << "earlier";
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("a", path("link"));
  ASSERT_FALSE(bool(support::writeFile(path("link"), writes("new"))));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contentOf("a"), "new");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFiles, NamesMayBeAsLongAsFilesCanHave) {
  std::string longest(255, 'n');
  ASSERT_FALSE(bool(support::writeFile(path(longest), writes("x"))));
  EXPECT_EQ(contentOf(longest), "x");
}

TEST_F(OutputFiles, Errors) {
  fs::create_directory(path("folder"));
  EXPECT_EQ(text(support::writeFile(path("folder"), writes("x"))),
            path("folder") + ": error: cannot be written: Is a directory");
  std::string absent = path("no/file") + ": error: cannot be written: No such file or directory";
  EXPECT_EQ(text(support::writeFile(path("no/file"), writes("x"))), absent);
  EXPECT_EQ(text(support::checkWritable(path("no/file"))), absent);
  EXPECT_EQ(text(support::checkWritable("")), ": error: cannot be written: No such file or directory");
  EXPECT_EQ(text(support::writeFile("/dev/full", writes("x"))),
            "/dev/full: error: cannot be written: No space left on device");
  EXPECT_FALSE(bool(support::writeFile("/dev/null", writes("x"))));
  EXPECT_FALSE(bool(support::checkWritable(path("new"))));
  EXPECT_EQ(count(), 1u);
}

TEST_F(OutputFiles, SameFile) {
  std::ofstream(path("a")) << "x";
  fs::create_directory(path("folder"));
  fs::create_symlink("../a", path("folder/link"));
  fs::create_hard_link(path("a"), path("hard"));
  for (const char *name : {"folder/link", "folder/../a", "hard", "./a"}) {
    EXPECT_TRUE(support::isSameFile(path("a"), path(name))) << name;
  }
  EXPECT_FALSE(support::isSameFile(path("a"), path("b")));
  EXPECT_TRUE(support::isSameFile(path("b"), path("folder/../b"))) << "though there is no such file yet";
}
