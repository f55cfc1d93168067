// Algorithms that no schedule could tell apart are found out.
#include "compiler/lower/Algorithm.h"
#include <gtest/gtest.h>

using namespace ingot::lower;

namespace {

class Fake : public Algorithm {
public:
  explicit Fake(std::string name, std::string key = "") : Algorithm(std::move(name), /*rank=*/0, std::move(key)) {}
  llvm::SmallVector<mlir::TypeID> roots() const override { return {}; }
  Offer offer(ingot::plan::KernelOp, const ingot::target::MachineModel &) const override { return "it is none"; }
};

Candidate candidateOf(const Algorithm &algorithm, ingot::target::Schedule schedule = {}) {
  Candidate candidate{algorithm.name, 1, std::move(schedule)};
  candidate.algorithm = &algorithm;
  return candidate;
}

TEST(AlgorithmTest, TwoWithoutKey) {
  Fake direct("direct"), pixels("pixels"), winograd("winograd", "winograd");
  Candidate tiled = candidateOf(direct, {{"vectors", 2}});
  EXPECT_EQ(whyAmbiguous({tiled, candidateOf(winograd, {{"winograd", 4}})}), "");
  EXPECT_EQ(whyAmbiguous({tiled, candidateOf(direct, {{"vectors", 1}})}), "");
  EXPECT_EQ(whyAmbiguous({candidateOf(direct), candidateOf(pixels)}), "") << "no schedule means either";
  EXPECT_EQ(whyAmbiguous({tiled, candidateOf(pixels)}), "algorithms 'direct' and 'pixels' compute the same kernel, and "
                                                        "no schedule can say which: one of them needs a key");
}

} // namespace
