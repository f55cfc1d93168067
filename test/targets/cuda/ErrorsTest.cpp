// What a program is told when a GPU cannot be opened or used, and what is left behind then: nothing.
#include "CudaTest.h"

namespace ingot::cuda_test {
namespace {

/// A result of a call of the driver, by its number, and a part of the text for the user.
struct Failure {
  const char *name;
  int64_t call;
  int code;
  const char *text;
};

std::string settingsFor(int64_t call, int code) {
  return "fail=" + std::to_string(call) + ",code=" + std::to_string(code);
}

void expectText(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "' lacks '" << part << "'";
}

class Errors : public testing::Test {
protected:
  void SetUp() override { emulator().set(""); }
  void TearDown() override { emulator().set(""); }
};

TEST_F(Errors, NoDriver) {
  Gpu gpu(Model(), {0, 0, nullptr, "/nowhere/libcuda.so.1"});
  expectText(gpu.why, "there is no CUDA driver (/nowhere/libcuda.so.1: cannot open shared object file");
  expectText(gpu.why, "install NVIDIA's driver, or compile the model for the host");
}

TEST_F(Errors, DriverByTheEnvironment) {
  setenv("INGOT_LIBCUDA", "/nowhere/else.so", 1);
  char why[INGOT_CUDA_WHY_BYTES];
  ingot_cuda *gpu = nullptr;
  EXPECT_EQ(ingot_cuda_open(nullptr, &gpu, why, sizeof why), INGOT_ERROR_DEVICE);
  EXPECT_EQ(gpu, nullptr);
  expectText(why, "/nowhere/else.so");
  EXPECT_EQ(ingot_cuda_open(nullptr, nullptr, why, sizeof why), INGOT_ERROR_NULL);
  setenv("INGOT_LIBCUDA", EMULATOR, 1);
  ASSERT_EQ(ingot_cuda_open(nullptr, &gpu, nullptr, 0), 0);
  char architecture[16];
  ingot_cuda_architecture(gpu, architecture);
  EXPECT_STREQ(architecture, "emulated");
  ingot_cuda_close(gpu);
  unsetenv("INGOT_LIBCUDA");
}

TEST_F(Errors, NoDriverButSomethingElse) {
  Gpu gpu(Model(), {0, 0, nullptr, "libm.so.6"});
  expectText(gpu.why, "the CUDA driver is too old: it has no cuInit; install one for CUDA 11.4 or newer");
}

TEST_F(Errors, OldDriver) {
  emulator().set("driver=10020");
  Gpu gpu{Model()};
  expectText(gpu.why, "the CUDA driver is too old: it is for CUDA 10.2; install one for CUDA 11.4 or newer");
}

TEST_F(Errors, NoDevice) {
  emulator().set("devices=0");
  Gpu gpu{Model()};
  expectText(gpu.why, "there is no GPU");
  expectText(gpu.why, "look at nvidia-smi and $CUDA_VISIBLE_DEVICES");
}

TEST_F(Errors, NoSuchDevice) {
  Gpu gpu(Model(), {3, 0, nullptr, nullptr});
  expectText(gpu.why, "there is no GPU 3: the driver has 1, counted from 0");
}

TEST_F(Errors, NoCodeForTheArchitecture) {
  Model model({"sm_80", "sm_90a"});
  Gpu gpu(model);
  expectText(gpu.why, "the model has no code for this GPU, which is emulated: its code is for sm_80, sm_90a and newer "
                      "GPUs; compile it with --target cuda:emulated");
  Model other({"sm_90a"});
  expectText(Gpu(other).why, "its code is for sm_90a alone; compile it with --target cuda:emulated");
}

/// Of all that is here the emulator loads nothing but the machine code, so that an error tells of another choice.
TEST_F(Errors, CodeThatIsChosen) {
  Model model({"sm_75", "sm_80", "sm_80", "sm_90"});
  model.images[1].bytes = kernelsImage().c_str();
  model.images[1].size = int64_t(kernelsImage().size());
  for (const char *ownGeneration : {"gpu=1,capability=80", "gpu=1,capability=86"}) {
    emulator().set(ownGeneration);
    EXPECT_EQ(Gpu(model).why, "");
  }
  const char *taken = "the driver does not take the model's code for ";
  for (auto [gpu, image] : {std::pair("75", "sm_75"), {"90", "sm_90"}, {"120", "sm_90"}}) {
    emulator().set(("gpu=1,capability=" + std::string(gpu)).c_str());
    expectText(Gpu(model).why, std::string(taken) + image + ", because of it is no ELF file");
  }
  model.info.image_count = 3; // PTX of sm_80 before its machine code, which is for another generation
  emulator().set("gpu=1,capability=90");
  expectText(Gpu(model).why, std::string(taken) + "sm_80, because of it is no ELF file");
}

TEST_F(Errors, CodeThatIsNone) {
  Model model({"emulated"});
  model.images[0].bytes = "PTX of nobody";
  Gpu gpu(model);
  expectText(gpu.why, "the driver does not take the model's code for emulated, because of it is no ELF file");
  expectText(gpu.why, "compile the model for the architecture of this GPU");
}

TEST_F(Errors, KernelThatIsMissing) {
  Model model;
  model.kernels[3].name = "nothing";
  Gpu gpu(model);
  expectText(gpu.why, "the model's code has no kernel nothing");
}

TEST_F(Errors, KernelThatSharesTooMuch) {
  Model model;
  model.kernels[3].shared_bytes = 100 << 10;
  EXPECT_EQ(Gpu(model).why, "");
  model.kernels[3].shared_bytes = 200 << 10;
  expectText(Gpu(model).why, "kernel hasty wants 204800 bytes of a block's memory");
}

TEST_F(Errors, TooLittleMemory) {
  emulator().set("memory=10000");
  Model model;
  Gpu gpu(model);
  float *some = gpu.allocate(1000);
  ASSERT_NE(some, nullptr);
  EXPECT_EQ(gpu.allocate(2000), nullptr);
  expectText(gpu.message(), "the GPU has no 8000 bytes left: 6000 of its 10000 are unused; free memory of it, or run "
                            "smaller sizes");
  const ingot_device *device = gpu.device;
  EXPECT_EQ(device->allocate(device->context, 64, 4096), nullptr);
  expectText(gpu.message(), "the driver aligns memory to 256 bytes, and not to 4096");
  gpu.release(some);
}

TEST_F(Errors, LaunchesThatNoGpuTakes) {
  Model model;
  Gpu gpu(model);
  EXPECT_EQ(gpu.launch("sums", {0, 0}, int64_t(1) << 31), INGOT_ERROR_DEVICE);
  expectText(gpu.message(), "kernel sums would have 2147483648 x 1 x 1 blocks, and a launch takes 2147483647");
  EXPECT_EQ(gpu.launch("sums", std::vector<uint64_t>(600), 1), INGOT_ERROR_DEVICE);
  expectText(gpu.message(), "kernel sums has 4808 bytes of arguments, and a launch takes 4096");
}

/// The first call of the driver is cuInit, the second is about its version.
class Texts : public Errors, public testing::WithParamInterface<Failure> {};

TEST_P(Texts, SayWhatToDo) {
  const Failure &failure = GetParam();
  emulator().set(settingsFor(failure.call, failure.code).c_str());
  Gpu gpu{Model()};
  expectText(gpu.why, failure.text);
  expectText(gpu.why, ", " + std::to_string(failure.code) + ")");
}

INSTANTIATE_TEST_SUITE_P(
    All, Texts,
    testing::Values(Failure{"Stub", 1, 34, "this libcuda.so is the toolkit's stub"},
                    Failure{"NoDevice", 1, 100, "the driver sees no GPU"},
                    Failure{"Mismatch", 1, 803, "the driver's library and its kernel module are of different versions"},
                    Failure{"NotReady", 1, 802, "is nvidia-fabricmanager running"},
                    Failure{"Version", 2, 999, "the CUDA driver does not start"},
                    Failure{"Count", 3, 999, "the GPUs cannot be counted"},
                    Failure{"Taken", 7, 46, "another process has the GPU for itself"},
                    Failure{"Memory", 7, 2, "free memory of the GPU, or run smaller sizes"},
                    Failure{"Context", 8, 201, "the GPU's context cannot be used"},
                    Failure{"Stream", 9, 999, "no stream of the GPU can be made"},
                    Failure{"NewPtx", 13, 222, "the driver is too old for the model's code; install a newer one"},
                    Failure{"NoCompiler", 13, 221, "libnvidia-ptxjitcompiler.so.1"},
                    Failure{"BadPtx", 13, 218, "compile the model for the architecture of this GPU"}),
    [](const auto &failure) { return failure.param.name; });

/// All that a program does: 0, or a failure with its text.
int attempt(const Model &model, std::string &text, std::vector<float> &outputs) {
  Gpu gpu(model);
  text = gpu.why;
  if (!text.empty()) {
    return INGOT_ERROR_DEVICE;
  }
  float *x = gpu.allocate(64), *y = x ? gpu.allocate(64) : nullptr;
  int status = y ? 0 : INGOT_ERROR_DEVICE;
  for (int run = 0; run < 3 && !status; ++run) { // the second makes a graph
    std::vector<float> inputs(64, float(run + 1)), made(64);
    status = gpu.upload(x, inputs);
    status = status ? status : gpu.launch("scale", {wordOf(x), wordOf(y), 2}, 64);
    status = status ? status : gpu.launch("scale", {wordOf(y), wordOf(y), 5}, 64);
    status = status ? status : gpu.download(made, y);
    text = gpu.message();
    int waited = gpu.wait();
    text = status ? text : gpu.message();
    status = status ? status : waited;
    outputs = status ? outputs : made;
  }
  text = status && !y ? gpu.message() : text;
  for (float *memory : {x, y}) {
    if (memory) {
      gpu.release(memory);
    }
  }
  return status;
}

/// Each call of the driver fails once, and each command of a stream. What does not end the context leaves nothing
/// behind, and the next attempt is right.
void failEach(const char *what, int64_t (*count)(), bool isInCleaning) {
  Model model;
  std::string text;
  std::vector<float> outputs;
  emulator().set("");
  ASSERT_EQ(attempt(model, text, outputs), 0) << text;
  int64_t places = count(), failed = 0;
  ASSERT_GT(places, 8);
  for (int64_t place = 1; place <= places; ++place) {
    emulator().set((std::string(what) + "=" + std::to_string(place) + ",code=999").c_str());
    outputs.clear();
    int status = attempt(model, text, outputs);
    failed += status != 0;
    EXPECT_TRUE(status == 0 || text.find("999)") != std::string::npos) << place << ": " << text;
    EXPECT_TRUE(status != 0 || outputs == std::vector<float>(64, 30.0F)) << place;
    emulator().set("");
    ASSERT_EQ(attempt(model, text, outputs), 0) << place << ": " << text;
    EXPECT_EQ(outputs, std::vector<float>(64, 30.0F)) << place;
    EXPECT_EQ(emulator().heldBytes(), 0) << place;
  }
  // What fails while all is given back is nobody's error.
  EXPECT_GE(failed, isInCleaning ? places / 2 : places);
}

TEST_F(Errors, EachCallThatFailsIsAnErrorAndTheNextAttemptIsRight) { failEach("fail", emulator().calls, true); }

TEST_F(Errors, EachCommandThatFailsIsAnErrorAndTheNextAttemptIsRight) {
  failEach("command", emulator().commands, false);
}

/// Errors by which the GPU is lost, of a kernel or of the machine.
class Losses : public Errors, public testing::WithParamInterface<Failure> {};

TEST_P(Losses, AreToldOfUntilTheGpuIsOpenedAgain) {
  const Failure &failure = GetParam();
  Model model;
  std::string text;
  std::vector<float> outputs;
  emulator().set(("command=" + std::to_string(failure.call) + ",code=" + std::to_string(failure.code)).c_str());
  EXPECT_EQ(attempt(model, text, outputs), INGOT_ERROR_DEVICE);
  expectText(text, failure.text);
  emulator().set("");
  EXPECT_EQ(attempt(model, text, outputs), 0) << text;
}

INSTANTIATE_TEST_SUITE_P(
    All, Losses,
    testing::Values(Failure{"Address", 2, 700, "a kernel faulted, or a pointer of the GPU was wrong"},
                    Failure{"Launch", 2, 719, "the process cannot use the GPU any more"},
                    Failure{"Timeout", 2, 702, "use a GPU that shows no display"},
                    Failure{"Ecc", 1, 214, "the GPU is broken or was lost; look at dmesg"},
                    Failure{"Resources", 2, 701, "a kernel needs more registers or shared memory than the GPU has"}),
    [](const auto &failure) { return failure.param.name; });

} // namespace
} // namespace ingot::cuda_test
