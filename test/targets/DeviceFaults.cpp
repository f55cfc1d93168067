// device-faults MANIFEST [SYMBOL=SIZE...]: runs a model on loopback devices, and once for each call of theirs that can
// fail: where it prepares a run, in the run, and in the queue behind it. Each time there is an error value that names
// the device, nothing is in the outputs, the device holds what it held before, and the next run gives what the first
// one gave. Prints how many
// places there were; exit code 1 and a sentence where one of this is not so.
#include "compiler/driver/execution/LocalExecution.h"
#include "test/targets/loopback/device/Device.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace ingot::driver;
using ingot::targets::loopback::Device;

namespace {

int fail(const llvm::Twine &why) {
  llvm::errs() << "device-faults: " << why << "\n";
  return 1;
}

bool same(const std::vector<HostTensor> &a, const std::vector<HostTensor> &b) {
  return llvm::all_of(llvm::zip_equal(a, b), [](const auto &pair) {
    return std::get<0>(pair).dims == std::get<1>(pair).dims && std::get<0>(pair).bytes == std::get<1>(pair).bytes;
  });
}

bool succeeds(llvm::Error error) {
  bool good = !error;
  llvm::consumeError(std::move(error));
  return good;
}

/// Makes each call of `device` fail that `attempt` makes, one at a time. The number of them, or nothing after a
/// message.
std::optional<int64_t> failEach(Device &device, llvm::function_ref<llvm::Error()> attempt,
                                llvm::function_ref<bool()> keptOutputs, llvm::function_ref<bool()> isRightAgain) {
  device.failAt(0);
  if (llvm::Error error = attempt()) {
    fail("without a fault: " + llvm::toString(std::move(error)));
    return std::nullopt;
  }
  int64_t places = device.callCount();
  for (int64_t place = 1; place <= places; ++place) {
    device.failAt(place);
    llvm::Error error = attempt();
    device.failAt(0);
    std::string text = llvm::toString(std::move(error));
    if (!llvm::StringRef(text).contains("made to fail")) {
      fail("call " + llvm::Twine(place) + " failed, but the error is '" + text + "'");
      return std::nullopt;
    }
    if (!keptOutputs()) {
      fail("call " + llvm::Twine(place) + " failed, and something was written into the outputs");
      return std::nullopt;
    }
    if (!isRightAgain()) {
      fail("call " + llvm::Twine(place) + " failed, and the next run is wrong");
      return std::nullopt;
    }
  }
  return places;
}

} // namespace

int main(int count, char **arguments) {
  if (count < 2) {
    return fail("usage: device-faults MANIFEST [SYMBOL=SIZE...]");
  }
  GivenSizes sizes;
  for (int i = 2; i < count; ++i) {
    auto [name, size] = llvm::StringRef(arguments[i]).split('=');
    (void)llvm::to_integer(size, sizes.dims[name.str()]);
  }
  llvm::Expected<std::unique_ptr<LoadedModel>> model = LoadedModel::load(arguments[1]);
  if (!model) {
    return fail(llvm::toString(model.takeError()));
  }
  RunThreads threads(1);
  LocalExecution execution(**model, threads.exec());
  auto prepare = [&] {
    execution.closeDevices(); // so that all of it is done again
    return execution.setRandomInputs(sizes);
  };
  auto run = [&] { return execution.runChecked(); };
  llvm::Error error = prepare();
  error = error ? std::move(error) : run();
  if (error) {
    return fail(llvm::toString(std::move(error)));
  }
  std::vector<HostTensor> right = execution.outputs();
  int64_t places = 0;
  for (Device *device : Device::open()) {
    int64_t held = device->heldBytes();
    auto isRightAgain = [&] {
      return succeeds(run()) && device->heldBytes() == held && same(execution.outputs(), right);
    };
    auto isRightWhenPrepared = [&] { return succeeds(prepare()) && isRightAgain(); };
    std::optional<int64_t> inPreparing = failEach(*device, prepare, [] { return true; }, isRightWhenPrepared);
    std::optional<int64_t> inRunning =
        inPreparing ? failEach(*device, run, [&] { return execution.keptOutputs(); }, isRightAgain) : std::nullopt;
    if (!inRunning) {
      return 1;
    }
    places += *inPreparing + *inRunning;
  }
  std::vector<Device *> devices = Device::open();
  llvm::outs() << places << " places on " << devices.size() << " devices\n";
  return 0;
}
