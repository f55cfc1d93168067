#include "compiler/target/LlvmCpus.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <cstdlib>

using namespace llvm;

namespace ingot::target {

LlvmCpus::LlvmCpus(StringRef triple, StringRef any) : triple(triple), any(subtarget(any, "")) {}
LlvmCpus::~LlvmCpus() = default;

std::unique_ptr<MCSubtargetInfo> LlvmCpus::subtarget(StringRef cpu, StringRef features) const {
  std::string error;
  Triple parsed(triple);
  const llvm::Target *target = TargetRegistry::lookupTarget(parsed, error);
  return std::unique_ptr<MCSubtargetInfo>(target ? target->createMCSubtargetInfo(parsed, cpu, features) : nullptr);
}

bool LlvmCpus::knows(StringRef cpu) const {
  return any && llvm::any_of(any->getAllProcessorDescriptions(),
                             [&](const SubtargetSubTypeKV &row) { return StringRef(row.Key) == cpu; });
}

bool LlvmCpus::has(StringRef cpu, StringRef features, StringRef needs) const {
  std::unique_ptr<MCSubtargetInfo> info = subtarget(cpu, features);
  return info && info->checkFeatures(needs);
}

void LlvmCpus::takeInstructions(MachineModel &machine, ArrayRef<InstructionRow> rows) const {
  for (const InstructionRow &row : rows) {
    if ((!row.lanes || row.lanes == machine.lanes) && (!*row.needs || has(machine.cpu, machine.features, row.needs))) {
      machine.intrinsics[static_cast<size_t>(row.instruction)] = row.intrinsic;
    }
  }
}

bool LlvmCpus::reorders(StringRef cpu) const {
  std::unique_ptr<MCSubtargetInfo> info = subtarget(cpu, "");
  return info && info->getSchedModel().isOutOfOrder();
}

std::string LlvmCpus::lacking(const MachineModel &machine, const StringMap<bool> &host,
                              function_ref<bool(StringRef)> counts) const {
  std::unique_ptr<MCSubtargetInfo> info = subtarget(machine.cpu, machine.features);
  SmallVector<StringRef> names;
  for (const SubtargetFeatureKV &feature : info->getEnabledProcessorFeatures()) {
    auto has = host.find(feature.Key);
    if (has != host.end() && !has->getValue() && counts(feature.Key)) {
      names.push_back(feature.Key);
    }
  }
  return llvm::join(names, ", ");
}

Expected<HostCpu> LlvmCpus::host() const {
  HostCpu host = {sys::getHostCPUName().str(), sys::getHostCPUFeatures()};
  const char *lesser = std::getenv("INGOT_HOST");
  if (!lesser || !*lesser) {
    return host;
  }
  if (!knows(lesser)) {
    return createStringError("environment variable INGOT_HOST: '" + Twine(lesser) + "' is not the name of a CPU that " +
                             Triple(triple).getArchName() + " has");
  }
  host.name = lesser;
  for (auto &feature : host.features) {
    feature.second = feature.second && has(lesser, "", "+" + feature.first().str());
  }
  return host;
}

std::string HostCpu::featureList() const {
  std::vector<std::string> list;
  for (const auto &feature : features) {
    list.push_back((feature.second ? "+" : "-") + feature.first().str());
  }
  llvm::sort(list);
  return llvm::join(list, ",");
}

} // namespace ingot::target
