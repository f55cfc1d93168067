// Devices with a memory of their own: what prepares them for a model, and what runs call. The device here works off its
// commands at once, and counts what it holds.
#include "FakeModel.h"
#include "ingot.hpp"
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace {

struct FakeDevice {
  int64_t room = 1 << 20;
  int held = 0, failing = 0; // the call that fails, from 1 on
  std::string done;
  ingot_device device = {this, allocate, release, upload, download, load, unload, launch, wait, message};

  static FakeDevice &of(void *context) { return *static_cast<FakeDevice *>(context); }
  int fails() { return failing > 0 && --failing == 0 ? INGOT_ERROR_DEVICE : 0; }

  static void *allocate(void *context, int64_t bytes, int64_t align) {
    FakeDevice &d = of(context);
    if (bytes > d.room || d.fails()) {
      return nullptr;
    }
    ++d.held;
    return std::aligned_alloc(size_t(align), size_t((bytes + align - 1) / align * align));
  }
  static void release(void *context, void *memory) {
    --of(context).held;
    std::free(memory);
  }
  static int copy(void *context, void *to, const void *from, int64_t bytes, char what) {
    FakeDevice &d = of(context);
    d.done += what;
    if (int status = d.fails()) {
      return status;
    }
    std::memcpy(to, from, size_t(bytes));
    return 0;
  }
  static int upload(void *context, void *to, const void *from, int64_t bytes) {
    return copy(context, to, from, bytes, 'u');
  }
  static int download(void *context, void *to, const void *from, int64_t bytes) {
    return copy(context, to, from, bytes, 'd');
  }
  static int load(void *context, const ingot_device_info *info, void **code) {
    FakeDevice &d = of(context);
    if (int status = d.fails()) {
      return status;
    }
    ++d.held;
    *code = const_cast<ingot_image *>(info->images);
    return 0;
  }
  static void unload(void *context, void *code) { --of(context).held; }
  static int launch(void *context, const ingot_launch *launch) {
    FakeDevice &d = of(context);
    d.done += 'l';
    std::string own(static_cast<const char *>(launch->args), size_t(launch->bytes));
    static_cast<const ingot_image *>(launch->code)->bodies[launch->number](own.data(), 0, launch->blocks[0]);
    return d.fails();
  }
  static int wait(void *context) {
    FakeDevice &d = of(context);
    d.done += 'w';
    return d.fails();
  }
  static const char *message(void *) { return nullptr; }
};

constexpr char weightBytes[64] = "constants";
/// A kernel that is wrong where it does not run on five items with the argument 7.
void checked(const void *args, int64_t begin, int64_t end) {
  uint64_t words[4];
  std::memcpy(words, args, sizeof words);
  auto *status = reinterpret_cast<int32_t *>(words[1]);
  if (begin != 0 || end != 5 || words[0] != 7) {
    *status = *status ? *status : int32_t(INGOT_ERROR_INDEX | words[2]);
  }
}
constexpr void (*bodies[])(const void *, int64_t, int64_t) = {checked};
constexpr ingot_kernel kernels[] = {{"checked", {0, 0, 0}, 0}};
constexpr ingot_image images[] = {{"", nullptr, 0, bodies}};
constexpr ingot_device_info infos[] = {
    {"other", 0, 0, nullptr, 0, 0, 0, 0, nullptr, nullptr},
    {"fake:All", 256, 64, weightBytes, 128, INGOT_DEVICE_CHECKS, 1, 1, kernels, images}};

class DeviceTest : public testing::Test {
protected:
  void SetUp() override {
    model = ingot::test::fakeModel;
    model.device_count = 2, model.devices = infos;
    exec.devices = uses;
  }
  void TearDown() override { EXPECT_EQ(one.held + two.held, 0); }

  std::string textOf(int status) {
    char text[200];
    ingot_error_text(&model, status, text, sizeof text);
    return text;
  }
  ingot_model model;
  FakeDevice one, two;
  ingot_device_use uses[2] = {};
  ingot_exec exec = {};
};

TEST_F(DeviceTest, IsPreparedWithItsWeights) {
  int64_t bytes = 0;
  ASSERT_EQ(ingot_device_bytes(&model, nullptr, 1, &bytes), 0);
  EXPECT_EQ(bytes, 256);
  ASSERT_EQ(ingot_device_open(&model, 1, bytes, nullptr, &two.device, &uses[1]), 0);
  EXPECT_EQ(two.held, 4);
  EXPECT_STREQ(static_cast<const char *>(uses[1].weights), "constants");
  EXPECT_EQ(*static_cast<int32_t *>(uses[1].status), 0);
  EXPECT_EQ(uses[1].code, images);
  EXPECT_NE(uses[1].workspace, nullptr);
  ingot_device_close(&uses[1]);
  EXPECT_EQ(uses[1].device, nullptr);
  ingot_device_close(&uses[1]); // all zeros
  ASSERT_EQ(ingot_device_open(&model, 0, 0, nullptr, &one.device, &uses[0]), 0);
  EXPECT_EQ(one.held, 0);
}

TEST_F(DeviceTest, ReadsWeightsThatAreApart) {
  ingot_device_info apart = infos[1];
  apart.weights = nullptr;
  model.devices = &apart, model.device_count = 1;
  char section[192] = {};
  std::strcpy(section + 128, "apart");
  int status = ingot_device_open(&model, 0, 0, nullptr, &two.device, uses);
  EXPECT_EQ(textOf(status), "model 'fake': the weights: a pointer is null");
  ingot::DeviceUse use(&model, 0, two.device, {}, section);
  ASSERT_TRUE(use.status().ok());
  EXPECT_STREQ(static_cast<const char *>(use.use().weights), "apart");
}

TEST_F(DeviceTest, HoldsNothingWhenItFails) {
  for (int call = 1; call <= 7; ++call) { // the kernels, three allocations, two uploads, the wait
    two.failing = call;
    int status = ingot_device_open(&model, 1, 256, nullptr, &two.device, &uses[1]);
    EXPECT_EQ(textOf(status), "model 'fake': device 'fake:All': the device failed, or has not as much memory as the "
                              "model needs");
    EXPECT_EQ(two.held, 0);
    EXPECT_EQ(uses[1].device, nullptr);
  }
  two.room = 100;
  EXPECT_EQ(ingot_device_open(&model, 1, 256, nullptr, &two.device, &uses[1]), INGOT_STATUS(INGOT_ERROR_DEVICE, 1));
}

TEST_F(DeviceTest, WrongCalls) {
  int64_t bytes;
  EXPECT_EQ(ingot_device_bytes(&model, nullptr, 2, &bytes), INGOT_ERROR_COUNT);
  EXPECT_EQ(ingot_device_bytes(&model, nullptr, -1, &bytes), INGOT_ERROR_COUNT);
  EXPECT_EQ(ingot_device_bytes(nullptr, nullptr, 0, &bytes), INGOT_ERROR_NULL);
  EXPECT_EQ(ingot_device_open(&model, 2, 0, nullptr, &one.device, uses), INGOT_ERROR_COUNT);
  EXPECT_EQ(ingot_device_open(&model, 0, 0, nullptr, nullptr, uses), INGOT_ERROR_NULL);
  model.abi = INGOT_ABI + 1;
  EXPECT_EQ(ingot_device_bytes(&model, nullptr, 0, &bytes), INGOT_ERROR_ABI);
  EXPECT_EQ(ingot_device_open(&model, 0, 0, nullptr, &one.device, uses), INGOT_ERROR_ABI);
}

TEST_F(DeviceTest, OfOpenSizes) {
  constexpr ingot_device_info open[] = {{"fake", -1, 0, nullptr, 0, 0, 0, 0, nullptr, nullptr}};
  model = ingot::test::openModel;
  model.device_count = 1, model.devices = open;
  model.plan = [](const int64_t *sizes, int64_t *dims, int64_t *bytes) {
    int status = ingot::test::planOpen(sizes, dims, bytes);
    bytes[1] = 100 * sizes[1];
    return status;
  };
  int64_t sizes[] = {2, 3}, bytes = 0, host = 0;
  EXPECT_EQ(ingot_device_bytes(&model, sizes, 0, &bytes), 0);
  EXPECT_EQ(bytes, 300);
  EXPECT_EQ(ingot_plan(&model, sizes, nullptr, &host), 0);
  EXPECT_EQ(host, 192);
  sizes[1] = 7;
  EXPECT_EQ(ingot_device_bytes(&model, sizes, 0, &bytes), INGOT_STATUS(INGOT_ERROR_SIZE, 0));
  EXPECT_EQ(ingot_device_bytes(&model, nullptr, 0, &bytes), INGOT_ERROR_NULL);
}

TEST_F(DeviceTest, RunsBeginWithAllDevices) {
  EXPECT_EQ(ingot_devices_begin(nullptr, 1), INGOT_ERROR_NULL);
  EXPECT_EQ(ingot_devices_given(nullptr, 1), 0);
  EXPECT_EQ(ingot_devices_begin(&exec, 2), INGOT_ERROR_NULL);
  uses[0].device = &one.device;
  EXPECT_EQ(ingot_devices_given(&exec, 1), 1);
  EXPECT_EQ(ingot_devices_given(&exec, 2), 0); // all of them or none
  uses[0].device = &one.device, uses[1].device = &two.device;
  EXPECT_EQ(ingot_devices_begin(&exec, 2), 0);
  EXPECT_EQ(ingot_devices_given(&exec, 2), 1);
  exec.devices = nullptr;
  EXPECT_EQ(ingot_devices_given(&exec, 2), 0);
  EXPECT_EQ(ingot_devices_begin(&exec, 2), INGOT_ERROR_NULL);
  EXPECT_EQ(textOf(INGOT_STATUS(INGOT_ERROR_NULL, model.input_count + model.output_count + 3)),
            "model 'fake': ingot_exec.devices: a pointer is null");
}

TEST_F(DeviceTest, CommandsAndTheirFailures) {
  uses[0].device = &one.device, uses[1].device = &two.device;
  char from[4] = "abc", to[4] = "";
  EXPECT_EQ(ingot_device_upload(&exec, 1, to, from, 4), 0);
  EXPECT_STREQ(to, "abc");
  EXPECT_EQ(ingot_device_upload(&exec, 1, to, from, 0), 0); // nothing to do
  two.failing = 1;
  EXPECT_EQ(ingot_device_download(&exec, 1, to, from, 4), INGOT_STATUS(INGOT_ERROR_DEVICE, 1));
}

TEST_F(DeviceTest, KernelsNoteWhatIsWrongWhereTheNextWaitFindsIt) {
  ASSERT_EQ(ingot_device_open(&model, 1, 0, nullptr, &two.device, &uses[1]), 0);
  two.done.clear();
  uint64_t args[] = {7, reinterpret_cast<uintptr_t>(ingot_device_status(&exec, 1)), 1 << 8, 0};
  EXPECT_EQ(ingot_device_launch(&exec, 1, 0, args, sizeof args, 0, 1, 1), 0); // no items
  EXPECT_EQ(ingot_device_launch(&exec, 1, 0, args, sizeof args, 5, 1, 1), 0);
  EXPECT_EQ(ingot_device_wait(&exec, 1), 0);
  EXPECT_EQ(two.done, "ldw");
  EXPECT_EQ(ingot_device_launch(&exec, 1, 0, args, sizeof args, 6, 1, 1), 0);
  args[2] = 2 << 8; // another node, which is not the first
  EXPECT_EQ(ingot_device_launch(&exec, 1, 0, args, sizeof args, 6, 1, 1), 0);
  EXPECT_EQ(textOf(ingot_device_wait(&exec, 1)),
            "model 'fake': node '/embed/Gather': an index or bound computed while running lies outside its tensor");
  EXPECT_EQ(ingot_device_wait(&exec, 1), 0); // told once
  EXPECT_EQ(ingot_device_launch(&exec, 1, 0, args, sizeof args, 6, 1, 1), 0);
  two.failing = 1;
  EXPECT_EQ(ingot_device_wait(&exec, 1), INGOT_STATUS(INGOT_ERROR_DEVICE, 1));
  EXPECT_EQ(ingot_device_wait(&exec, 1), INGOT_STATUS(INGOT_ERROR_INDEX, 1)); // it is still there
  ingot_device_close(&uses[1]);
}

TEST_F(DeviceTest, FailedRunsWaitForAllDevices) {
  uses[0].device = &one.device, uses[1].device = &two.device;
  EXPECT_EQ(ingot_devices_end(&exec, 2, 0), 0);
  EXPECT_EQ(one.done + two.done, "");
  EXPECT_EQ(ingot_devices_end(&exec, 2, 5), 5);
  one.failing = two.failing = 1;
  EXPECT_EQ(ingot_devices_end(&exec, 2, 5), 5); // the first failure is told
  EXPECT_EQ(one.done + two.done, "wwww");
}

} // namespace
