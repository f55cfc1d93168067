#include "compiler/pipeline/Policy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace ingot::pipeline {
namespace {

/// Makes the policy of the placement from the options: fallback, --require and the lines of the file of --placement.
class PolicyOptions {
public:
  PolicyOptions(const Options &options, ArrayRef<partition::Device> devices, partition::Policy &policy,
                std::string &diagnostics)
      : options(options), devices(devices), policy(policy), diagnostics(diagnostics) {}

  bool read() {
    policy.fallback = options.fallback;
    policy.byCost = options.byCost;
    for (const auto &[spec, operators] : options.demands) {
      std::string text = "--require " + spec + "=" + operators;
      SmallVector<StringRef> names;
      StringRef(operators).split(names, ',', -1, /*KeepEmpty=*/false);
      if (int device = deviceCalled(spec); device < 0) {
        error(Twine(options.modelPath) + ": error: " + text + ": " + unknown(spec));
      } else {
        policy.demands.push_back({device, text, {names.begin(), names.end()}});
      }
    }
    if (!options.placementFile.empty()) {
      readFile();
    }
    return ok;
  }

private:
  const Options &options;
  ArrayRef<partition::Device> devices;
  partition::Policy &policy;
  std::string &diagnostics;
  bool ok = true;

  void error(const Twine &text) {
    diagnostics += (text + "\n").str();
    ok = false;
  }

  /// Returns the number of the device by what the user wrote, or by what that was resolved to (native); -1: there is
  /// none.
  int deviceCalled(StringRef spec) const {
    for (auto [i, device] : enumerate(devices)) {
      if (spec == device.machine.spec || (i < options.targets.size() && spec == options.targets[i])) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  std::string unknown(StringRef spec) const {
    auto specs = map_range(devices, [](const partition::Device &device) { return device.machine.spec; });
    return ("'" + spec + "' is no target of this compilation; they are " + join(specs, ", ")).str();
  }

  void readFile() {
    const std::string &path = options.placementFile;
    ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!file) {
      error(Twine(path) + ": error: cannot be read: " + file.getError().message());
      return;
    }
    for (line_iterator line(**file, /*SkipBlanks=*/true, '#'); !line.is_at_eof(); ++line) {
      std::string at = path + ":" + std::to_string(line.line_number()) + ": error: ";
      StringRef text = line->trim();
      size_t space = text.find_last_of(" \t");
      if (text.empty()) {
        continue;
      }
      if (space == StringRef::npos) {
        error(at + "expected the name of a node and a target");
        continue;
      }
      StringRef spec = text.substr(space + 1);
      if (int device = deviceCalled(spec); device < 0) {
        error(at + unknown(spec));
      } else {
        policy.overrides.push_back(
            {text.take_front(space).trim().str(), device, path, static_cast<unsigned>(line.line_number())});
      }
    }
  }
};

} // namespace

bool readPolicy(const Options &options, ArrayRef<partition::Device> devices, partition::Policy &policy,
                std::string &diagnostics) {
  return PolicyOptions(options, devices, policy, diagnostics).read();
}

} // namespace ingot::pipeline
