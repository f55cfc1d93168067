// Runs `ingot targets`: prints the levels of every target, and what `native` means here.
#include "compiler/driver/Driver.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/execution/LoadedModel.h"
#include "compiler/target/Target.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {
namespace {

void printText(const target::MachineModel *host) {
  llvm::outs() << "this host: " << target::hostCpu();
  if (host) {
    const target::MachineModel &machine = *host;
    llvm::outs() << ", " << machine.lanes * 32 << "-bit vectors, " << machine.registers << " vector registers, caches "
                 << (machine.l1Bytes >> 10) << " KiB, " << (machine.l2Bytes >> 10) << " KiB, "
                 << (machine.l3Bytes >> 10) << " KiB";
  }
  llvm::outs() << '\n';
  for (const std::unique_ptr<target::Target> &target : target::allTargets()) {
    llvm::outs() << target->name() << '\n';
    for (const target::Level &level : target->levels()) {
      std::string lacking = hostLacks(level.spec);
      llvm::outs() << "  " << llvm::left_justify(level.spec, 20) << level.sentence
                   << (lacking.empty() ? "" : " (not this host: it lacks " + lacking + ")") << '\n';
    }
  }
}

void printJson(const target::MachineModel *host) {
  llvm::json::OStream json(llvm::outs());
  json.object([&] {
    json.attributeObject("host", [&] {
      json.attribute("cpu", target::hostCpu());
      if (host) {
        const target::MachineModel &machine = *host;
        json.attribute("lanes", machine.lanes);
        json.attribute("registers", machine.registers);
        json.attribute("l1_bytes", machine.l1Bytes);
        json.attribute("l2_bytes", machine.l2Bytes);
        json.attribute("l3_bytes", machine.l3Bytes);
        json.attribute("features", machine.features);
      }
    });
    json.attributeArray("targets", [&] {
      for (const std::unique_ptr<target::Target> &target : target::allTargets()) {
        json.object([&] {
          json.attribute("name", target->name());
          json.attributeArray("levels", [&] {
            for (const target::Level &level : target->levels()) {
              json.object([&] {
                json.attribute("spec", level.spec);
                json.attribute("sentence", level.sentence);
                json.attribute("host_lacks", hostLacks(level.spec));
              });
            }
          });
        });
      }
    });
  });
  llvm::outs() << '\n';
}

} // namespace

llvm::Error targetsCommand(const Invocation &invocation) {
  std::optional<target::MachineModel> host = target::hostMachine();
  const target::MachineModel *known = host ? &*host : nullptr;
  invocation.json ? printJson(known) : printText(known);
  return llvm::Error::success();
}

} // namespace ingot::driver
