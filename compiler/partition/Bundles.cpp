#include "compiler/partition/Bundles.h"

namespace ingot::partition {

double stagingSeconds(double bytes, const target::MachineModel &host) {
  target::Work work;
  work.bytes = 2 * bytes; // the bytes are read and written
  return target::secondsFor(work, target::ratesOf(host));
}

std::vector<Bundle> bundlesOf(llvm::ArrayRef<Crossing> values, const target::MachineModel::Link &link) {
  std::vector<Bundle> bundles;
  Crossing open; // sums of bytes and seconds over the values of the bundle that is being filled
  Bundle bundle;
  auto close = [&] {
    // One copy takes the place of several, each of which has the latency; what is saved has to exceed the staging.
    bundle.saved = link.latency * static_cast<double>(bundle.members.size() - 1) - open.staging;
    if (bundle.members.size() > 1 && bundle.saved > 0) {
      bundles.push_back(bundle);
    }
    bundle.members.clear();
  };
  for (auto [number, value] : llvm::enumerate(values)) {
    if (value.staging >= link.latency || value.bytes > link.latency * link.bytes) {
      continue; // this value gains nothing in any company
    }
    bool fits = value.ready < open.wanted && open.bytes + value.bytes <= link.latency * link.bytes;
    if (!bundle.members.empty() && fits) {
      open.bytes += value.bytes, open.staging += value.staging;
      open.wanted = std::min(open.wanted, value.wanted);
    } else {
      close();
      open = value;
    }
    bundle.members.push_back(number);
  }
  close();
  return bundles;
}

} // namespace ingot::partition
