// The device of targets/cuda on the emulator: kernels give what they should, kernels with mistakes are found, and what
// is launched again becomes a graph.
#include "CudaTest.h"
#include <dlfcn.h>
#include <fstream>
#include <numeric>
#include <sstream>

namespace ingot::cuda_test {

template <class F> static void find(void *library, const char *name, F &function) {
  function = reinterpret_cast<F>(dlsym(library, name));
}

Emulator::Emulator() {
  void *library = dlopen(EMULATOR, RTLD_NOW | RTLD_LOCAL);
  find(library, "ingot_emulator_set", set);
  find(library, "ingot_emulator_calls", calls);
  find(library, "ingot_emulator_commands", commands);
  find(library, "ingot_emulator_held_bytes", heldBytes);
  find(library, "ingot_emulator_graph_launches", graphLaunches);
  find(library, "ingot_emulator_launches", launches);
  find(library, "ingot_emulator_pinned_blocks", pinnedBlocks);
}

const Emulator &emulator() {
  static const Emulator one;
  return one;
}

const std::string &kernelsImage() {
  static const std::string bytes = [] {
    std::ifstream file(KERNELS, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return bytes;
}

Model::Model(const std::vector<const char *> &architectures)
    : kernels{{"scale", {0, 0, 0}, 0},          {"sums", {128, 1, 1}, 16},       {"product", {32, 1, 1}, 768},
              {"hasty", {32, 1, 1}, 512},       {"poke", {0, 0, 0}, 0},          {"divergent", {32, 1, 1}, 0},
              {"disturbed", {32, 1, 1}, 0},     {"share", {32, 1, 1}, 1024},     {"divide", {0, 0, 0}, 0},
              {"deep", {0, 0, 0}, 0},           {"neighbours", {32, 1, 1}, 128}, {"counted", {64, 1, 1}, 0},
              {"warpgroup", {160, 1, 1}, 33792}} {
  static const std::string ptx = ".version 7.0\n";
  for (const char *architecture : architectures) {
    bool isPtx = std::string(architecture) != "emulated";
    const std::string &bytes = isPtx ? ptx : kernelsImage();
    images.push_back({architecture, bytes.c_str(), int64_t(bytes.size()) + isPtx, nullptr});
  }
  info.target = "cuda";
  info.kernel_count = int32_t(kernels.size());
  info.kernels = kernels.data();
  info.image_count = int32_t(images.size());
  info.images = images.data();
}

int32_t Model::numberOf(const std::string &kernel) const {
  for (int32_t i = 0; i < info.kernel_count; ++i) {
    if (kernel == kernels[size_t(i)].name) {
      return i;
    }
  }
  ADD_FAILURE() << "no kernel " << kernel;
  return 0;
}

Gpu::Gpu(const Model &model, const ingot_cuda_settings &settings) : model(model) {
  ingot_cuda_settings own = settings;
  own.driver = own.driver ? own.driver : EMULATOR;
  char text[INGOT_CUDA_WHY_BYTES] = "";
  if (ingot_cuda_open(&own, &gpu, text, sizeof text)) {
    why = text;
    return;
  }
  device = ingot_cuda_device(gpu);
  if (device->load(device->context, &model.info, &code)) {
    why = message();
  }
}

Gpu::~Gpu() {
  if (code) {
    device->unload(device->context, code);
  }
  ingot_cuda_close(gpu);
}

float *Gpu::allocate(size_t elements) const {
  return static_cast<float *>(device->allocate(device->context, int64_t(elements * sizeof(float)), 64));
}

int Gpu::upload(void *to, const std::vector<float> &from) const {
  return device->upload(device->context, to, from.data(), int64_t(from.size() * sizeof(float)));
}

int Gpu::download(std::vector<float> &to, const void *from) const {
  return device->download(device->context, to.data(), from, int64_t(to.size() * sizeof(float)));
}

int Gpu::launch(const char *kernel, std::vector<uint64_t> words, int64_t items) const {
  words.push_back(uint64_t(items));
  int32_t number = model.numberOf(kernel);
  ingot_launch launch = {code,          number,       &model.kernels[size_t(number)],
                         {items, 1, 1}, words.data(), int64_t(words.size() * sizeof(uint64_t))};
  return device->launch(device->context, &launch);
}

std::string Gpu::message() const {
  const char *text = device->message(device->context);
  return text ? text : "";
}

namespace {

std::vector<float> counted(size_t count) {
  std::vector<float> all(count);
  std::iota(all.begin(), all.end(), 1.0F);
  return all;
}

class Cuda : public testing::Test {
protected:
  void SetUp() override { emulator().set(""); }
  void TearDown() override {
    EXPECT_EQ(emulator().heldBytes(), 0);
    EXPECT_EQ(emulator().pinnedBlocks(), 0);
  }

  Model model;
};

/// What the emulator reports while `what` runs.
template <class What> std::string reportOf(What what) {
  testing::internal::CaptureStderr();
  what();
  return testing::internal::GetCapturedStderr();
}

TEST_F(Cuda, RunsItemsOfThreads) {
  for (size_t count : {1, 128, 1000}) {
    Gpu gpu(model);
    ASSERT_EQ(gpu.why, "");
    float *x = gpu.allocate(count), *y = gpu.allocate(count);
    std::vector<float> from = counted(count), to(count, -1.0F);
    ASSERT_EQ(gpu.upload(x, from), 0);
    ASSERT_EQ(gpu.launch("scale", {wordOf(x), wordOf(y), 3}, int64_t(count)), 0);
    ASSERT_EQ(gpu.download(to, y), 0);
    EXPECT_EQ(to[0], -1.0F) << "before a wait nothing has arrived";
    ASSERT_EQ(gpu.wait(), 0);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(to[i], 3 * from[i]);
    }
    gpu.release(x);
    gpu.release(y);
  }
}

TEST_F(Cuda, CopiesMoreThanThePinnedMemoryHas) {
  Gpu gpu(model);
  size_t count = (size_t(70) << 20) / sizeof(float); // twice as much and more
  float *x = gpu.allocate(count);
  std::vector<float> from = counted(count), to(count);
  ASSERT_EQ(gpu.upload(x, from), 0);
  ASSERT_EQ(gpu.download(to, x), 0);
  ASSERT_EQ(gpu.wait(), 0);
  EXPECT_TRUE(from == to);
  gpu.release(x);
}

TEST_F(Cuda, SourcesOfUploadsMayChangeAtOnce) {
  Gpu gpu(model);
  float *x = gpu.allocate(8);
  std::vector<float> from = counted(8), to(8);
  ASSERT_EQ(gpu.upload(x, from), 0);
  from.assign(8, 0);
  ASSERT_EQ(gpu.download(to, x), 0);
  ASSERT_EQ(gpu.wait(), 0);
  EXPECT_EQ(to, counted(8));
  gpu.release(x);
}

TEST_F(Cuda, RunsBlocksThatShareMemoryInAnyOrder) {
  for (int seed = 1; seed < 20; ++seed) {
    emulator().set(("seed=" + std::to_string(seed)).c_str());
    Gpu gpu(model);
    float *x = gpu.allocate(5 * 128), *y = gpu.allocate(5);
    std::vector<float> from = counted(size_t(5) * 128), to(5);
    ASSERT_EQ(gpu.upload(x, from), 0);
    ASSERT_EQ(gpu.launch("sums", {wordOf(x), wordOf(y)}, 5), 0);
    ASSERT_EQ(gpu.download(to, y), 0);
    ASSERT_EQ(gpu.wait(), 0);
    for (size_t b = 0; b < 5; ++b) {
      EXPECT_EQ(to[b], std::accumulate(from.begin() + int64_t(128 * b), from.begin() + int64_t(128 * b) + 128, 0.0F));
    }
    gpu.release(x);
    gpu.release(y);
  }
}

uint16_t halfOf(int value) { // of 0 to 3
  static const uint16_t halves[] = {0, 0x3C00, 0x4000, 0x4200};
  return halves[value];
}

TEST_F(Cuda, MultipliesMatricesByWarps) {
  Gpu gpu(model);
  std::vector<uint16_t> a(256), b(128);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = halfOf(int(i * 7 % 4));
  }
  for (size_t i = 0; i < b.size(); ++i) {
    b[i] = halfOf(int(i * 5 / 3 % 4));
  }
  float *da = gpu.allocate(128), *db = gpu.allocate(64), *dy = gpu.allocate(128);
  std::vector<float> y(128);
  const ingot_device *d = gpu.device;
  ASSERT_EQ(d->upload(d->context, da, a.data(), 512), 0);
  ASSERT_EQ(d->upload(d->context, db, b.data(), 256), 0);
  ASSERT_EQ(gpu.launch("product", {wordOf(da), wordOf(db), wordOf(dy)}, 1), 0);
  ASSERT_EQ(gpu.download(y, dy), 0);
  ASSERT_EQ(gpu.wait(), 0);
  for (size_t row = 0; row < 16; ++row) {
    for (size_t column = 0; column < 8; ++column) {
      int sum = 0;
      for (size_t k = 0; k < 16; ++k) {
        sum += int((row * 16 + k) * 7 % 4) * int((k * 8 + column) * 5 / 3 % 4);
      }
      EXPECT_EQ(y[row * 8 + column], float(sum)) << row << " " << column;
    }
  }
  for (float *memory : {da, db, dy}) {
    gpu.release(memory);
  }
}

TEST_F(Cuda, CopiesOfAThreadArriveWhenItWaits) {
  Gpu gpu(model);
  float *x = gpu.allocate(128), *y = gpu.allocate(32);
  std::vector<float> to(32);
  ASSERT_EQ(gpu.upload(x, counted(128)), 0);
  ASSERT_EQ(gpu.launch("hasty", {wordOf(x), wordOf(y)}, 1), 0);
  ASSERT_EQ(gpu.download(to, y), 0);
  ASSERT_EQ(gpu.wait(), 0);
  EXPECT_EQ(to, std::vector<float>(32, -1.0F));
  gpu.release(x);
  gpu.release(y);
}

TEST_F(Cuda, BarriersCountThreads) {
  for (uint64_t number : {0, 40, 64}) {
    Gpu gpu(model);
    float *y = gpu.allocate(64);
    std::vector<float> to(64, -1.0F);
    ASSERT_EQ(gpu.launch("counted", {wordOf(y), number, 0}, 1), 0);
    ASSERT_EQ(gpu.download(to, y), 0);
    ASSERT_EQ(gpu.wait(), 0);
    EXPECT_EQ(to, std::vector<float>(64, float(number)));
    gpu.release(y);
  }
}

TEST_F(Cuda, FindsThreadsAtBarriersThatDiffer) {
  std::string report = reportOf([&] {
    Gpu gpu(model);
    float *y = gpu.allocate(64);
    EXPECT_EQ(gpu.launch("counted", {wordOf(y), 0, 5}, 1), 0);
    EXPECT_EQ(gpu.wait(), INGOT_ERROR_DEVICE);
  });
  EXPECT_NE(report.find("divergent threads: kernel counted"), std::string::npos) << report;
}

/// A kernel with a mistake: what the emulator reports of it, and that the run ends with an error.
struct Mistake {
  const char *name, *kernel;
  uint64_t word; // behind the address of 1000 elements
  const char *report;
};
class Mistakes : public Cuda, public testing::WithParamInterface<Mistake> {};

TEST_P(Mistakes, AreFound) {
  const Mistake &mistake = GetParam();
  int status = 0;
  std::string message, afterwards;
  std::string report = reportOf([&] {
    Gpu gpu(model);
    float *y = gpu.allocate(1000);
    status = gpu.launch(mistake.kernel, {wordOf(y), mistake.word}, 1);
    status = status ? status : gpu.wait();
    message = gpu.message();
    float *more = gpu.allocate(1);
    afterwards = more ? "memory" : gpu.message();
  });
  EXPECT_EQ(status, INGOT_ERROR_DEVICE);
  EXPECT_NE(report.find(mistake.report), std::string::npos) << report;
  EXPECT_NE(message.find("the process cannot use the GPU any more"), std::string::npos) << message;
  EXPECT_NE(afterwards.find("the GPU's context cannot be used"), std::string::npos) << afterwards;
  // One that is opened when all are closed has a context of its own.
  Gpu again(model);
  EXPECT_EQ(again.why, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    testing::Values(
        Mistake{"Behind", "poke", 1024, "writes 96 bytes behind the end of an allocation of 4000 bytes"},
        Mistake{"FarBehind", "poke", 9000, "bytes behind the end of an allocation of 4000 bytes"},
        Mistake{"JustBehind", "poke", 1000, "something was written 0 bytes behind the end of an allocation"},
        Mistake{"Before", "poke", uint64_t(-1), "writes 4 bytes before an allocation of 4000 bytes"},
        Mistake{"FarBefore", "poke", uint64_t(-5000), "bytes before an allocation of 4000 bytes"},
        Mistake{"Nowhere", "poke", uint64_t(1) << 40, "in none of the device's memory"},
        Mistake{"BehindShared", "share", 1024, "reads at byte 1024 of the block's memory, which has 1024"},
        Mistake{"Barrier", "divergent", 0, "divergent threads: kernel divergent, block (0, 0, 0), thread (0, 0, 0)"},
        Mistake{"Shuffle", "disturbed", 0, "waits in shfl.sync.bfly, and thread 7 of the block waits at barrier 0"},
        Mistake{"DivisionByZero", "divide", 1, "divides by zero"},
        Mistake{"Stack", "deep", 0, "writes below its stack"},
        Mistake{"Unwritten", "neighbours", 1, "which nothing has been written to"},
        Mistake{"Race", "neighbours", 2, "without a barrier between them"},
        Mistake{"Misaligned", "neighbours", 4, "at an address that is no multiple of them"}),
    [](const auto &mistake) { return mistake.param.name; });

TEST_F(Cuda, ReportsWhatWasFreed) {
  std::string report = reportOf([&] {
    Gpu gpu(model);
    float *y = gpu.allocate(1000);
    gpu.release(y);
    EXPECT_EQ(gpu.upload(y, counted(8)), INGOT_ERROR_DEVICE);
    gpu.release(y);
    EXPECT_EQ(gpu.launch("poke", {wordOf(y), 0}, 1), 0);
    EXPECT_EQ(gpu.wait(), INGOT_ERROR_DEVICE);
  });
  EXPECT_NE(report.find("a copy of 32 bytes at byte 0 of an allocation of 4000 bytes, which has been freed"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("memory is freed that is none"), std::string::npos) << report;
  EXPECT_NE(report.find("writes at byte 0 of an allocation of 4000 bytes, which has been freed"), std::string::npos)
      << report;
}

TEST_F(Cuda, TheHostMayNotTouchTheDevicesMemoryNorTheDeviceTheHosts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Gpu gpu(model);
  float *y = gpu.allocate(8), here[8] = {};
  EXPECT_DEATH(here[0] = *static_cast<volatile float *>(y), "");
  std::string report =
      reportOf([&] { EXPECT_EQ(gpu.launch("scale", {wordOf(y), wordOf(here), 1}, 8), INGOT_ERROR_DEVICE); });
  EXPECT_NE(report.find("with an address of the host as its argument 1"), std::string::npos) << report;
  gpu.release(y);
}

/// A run of three launches between copies, of which the last is given.
class Graphs : public Cuda {
protected:
  void run(const Gpu &gpu, int64_t factor, size_t launches = 3) {
    ASSERT_EQ(gpu.upload(x, counted(64)), 0);
    for (size_t i = 0; i < launches; ++i) {
      ASSERT_EQ(gpu.launch("scale", {wordOf(x), wordOf(x), i + 1 == launches ? uint64_t(factor) : 2}, 64), 0);
    }
    std::vector<float> to(64);
    ASSERT_EQ(gpu.download(to, x), 0);
    ASSERT_EQ(gpu.wait(), 0);
    for (size_t i = 0; i < to.size(); ++i) {
      ASSERT_EQ(to[i], float(i + 1) * float(1 << (launches - 1)) * float(factor));
    }
  }
  float *x = nullptr;
};

TEST_F(Graphs, PiecesAreLaunchedAsOneFromTheirSecondTimeOn) {
  Gpu gpu(model);
  x = gpu.allocate(64);
  int64_t before = emulator().graphLaunches();
  run(gpu, 3);
  EXPECT_EQ(emulator().graphLaunches() - before, 0);
  run(gpu, 3);
  EXPECT_EQ(emulator().graphLaunches() - before, 1);
  run(gpu, 3);
  EXPECT_EQ(emulator().graphLaunches() - before, 2);
  gpu.release(x);
}

TEST_F(Graphs, WhatGoesOnDifferentlyIsLaunchedOneByOne) {
  Gpu gpu(model);
  x = gpu.allocate(64);
  int64_t before = emulator().graphLaunches(), launches = emulator().launches();
  run(gpu, 3);
  run(gpu, 5);    // at its end
  run(gpu, 3, 2); // it ends earlier
  run(gpu, 2, 4); // it goes on
  EXPECT_EQ(emulator().graphLaunches() - before, 0);
  EXPECT_EQ(emulator().launches() - launches, 3 + 3 + 2 + 4);
  run(gpu, 5);
  run(gpu, 3, 2);
  run(gpu, 2, 4);
  EXPECT_EQ(emulator().graphLaunches() - before, 3);
  gpu.release(x);
}

TEST_F(Graphs, AddressesAreAPartOfThem) {
  Gpu gpu(model);
  int64_t before = emulator().graphLaunches();
  for (int i = 0; i < 3; ++i) {
    x = gpu.allocate(64);
    run(gpu, 3);
    gpu.release(x);
  }
  EXPECT_EQ(emulator().graphLaunches() - before, 0);
}

TEST_F(Graphs, OneLaunchIsNone) {
  Gpu gpu(model);
  x = gpu.allocate(64);
  int64_t before = emulator().graphLaunches();
  for (int i = 0; i < 3; ++i) {
    run(gpu, 3, 1);
  }
  EXPECT_EQ(emulator().graphLaunches() - before, 0);
  gpu.release(x);
}

TEST_F(Graphs, ThereAreNoneIfTheCallerSaysSo) {
  Gpu gpu(model, {0, INGOT_CUDA_NO_GRAPHS, nullptr, nullptr});
  x = gpu.allocate(64);
  int64_t before = emulator().graphLaunches();
  for (int i = 0; i < 3; ++i) {
    run(gpu, 3);
  }
  EXPECT_EQ(emulator().graphLaunches() - before, 0);
  gpu.release(x);
}

TEST_F(Graphs, OldPiecesMakeRoomForNewOnes) {
  Gpu gpu(model);
  x = gpu.allocate(64);
  int64_t before = emulator().graphLaunches();
  for (int round = 0; round < 2; ++round) {
    for (int64_t factor = 1; factor <= 70; ++factor) { // more than are remembered
      run(gpu, factor);
    }
  }
  EXPECT_EQ(emulator().graphLaunches() - before, 0);
  run(gpu, 70);
  EXPECT_EQ(emulator().graphLaunches() - before, 1);
  gpu.release(x);
}

} // namespace
} // namespace ingot::cuda_test

int main(int count, char **arguments) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    printf("skipped: the emulator of a GPU needs AVX2 and FMA\n");
    return 77;
  }
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
