// Products by warpgroups on the emulator: factors in all layouts that descriptors know, and kernels with the usual
// mistakes, which it finds whatever order threads come in (WarpgroupKernels.c).
#include "CudaTest.h"
#include <regex>

namespace ingot::cuda_test {
namespace {

constexpr size_t side = 64;

/// Launches the kernel for a model that has it; returns the status of the run, and what it computes.
class Warpgroup : public testing::Test {
protected:
  void SetUp() override { emulator().set(""); }

  int run(uint64_t layout, uint64_t mistakes, std::vector<float> &y) {
    Gpu gpu(model);
    float *memory = gpu.allocate(y.size());
    int status = gpu.launch("warpgroup", {wordOf(memory), layout, mistakes}, 1);
    status = status ? status : gpu.download(y, memory);
    status = status ? status : gpu.wait();
    gpu.release(memory);
    return status;
  }

  Model model;
};

int expected(size_t row, size_t column) {
  int sum = 0;
  for (size_t step = 0; step < 5; ++step) {
    for (size_t k = 0; k < 16; ++k) {
      sum += (int((row * 5 + k * 2 + step) % 7) - 3) * (int((column * 3 + k * 2 + step + 1) % 7) - 3);
    }
  }
  return sum;
}

TEST_F(Warpgroup, MultipliesFactorsOfAllLayouts) {
  for (uint64_t layout = 0; layout < 8; ++layout) {
    std::vector<float> y(side * side);
    ASSERT_EQ(run(layout, 0, y), 0) << layout;
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(y[i], float(expected(i / side, i % side))) << layout << ": " << i / side << " " << i % side;
    }
  }
}

/// What the emulator reports of a mistake: it depends on the order of threads which one of several.
struct Mistake {
  const char *name;
  uint64_t bit;
  const char *reports;
};
class WarpgroupMistakes : public Warpgroup, public testing::WithParamInterface<Mistake> {};

TEST_P(WarpgroupMistakes, AreFound) {
  for (int seed = 1; seed <= 6; ++seed) {
    emulator().set(("seed=" + std::to_string(seed)).c_str());
    std::vector<float> y(side * side);
    testing::internal::CaptureStderr();
    int status = run(/*layout=*/1, GetParam().bit, y);
    std::string report = testing::internal::GetCapturedStderr();
    EXPECT_EQ(status, INGOT_ERROR_DEVICE) << seed;
    EXPECT_TRUE(std::regex_search(report, std::regex(GetParam().reports))) << seed << ": " << report;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WarpgroupMistakes,
    testing::Values(
        Mistake{"NoProxyFence", 1, "tensor cores read .* has written without a fence \\(fence.proxy.async\\)"},
        Mistake{"NoWaitForFull", 2, "tensor cores read .*(nothing has been written to|without a barrier between them)"},
        Mistake{"NoWaitForEmpty", 4,
                "which tensor cores read for warp|was written while wgmma read it|writes without a barrier|"
                "waits for a phase of the barrier at byte"},
        Mistake{"EmptyTooEarly", 8, "which tensor cores read for warp|was written while wgmma read it"},
        Mistake{"NoFence", 16, "takes registers without a fence \\(wgmma.fence\\)"},
        Mistake{"NoWaitForSums", 32, "ends while wgmma is under way"},
        Mistake{"NoBarrierOfBlock", 64, "(makes without a barrier of the block|where none has been made)"},
        Mistake{"OneArrivalTooMany", 128, "divergent threads: .*waits for a phase of the barrier at byte"},
        Mistake{"OneWarpLess", 256, "of a warpgroup have different numbers of wgmma"}),
    [](const auto &mistake) { return mistake.param.name; });

} // namespace
} // namespace ingot::cuda_test
