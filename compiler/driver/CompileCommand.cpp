// `ingot compile`: everything happens in the pipeline; here is what is said of it.
#include "compiler/driver/Driver.h"
#include "compiler/driver/Report.h"
#include "compiler/driver/Text.h"
#include "compiler/report/Json.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/resource.h>

namespace ingot::driver {
namespace {

int64_t peakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024; // kilobytes on Linux
}

void printJson(const pipeline::Result &result) {
  llvm::json::OStream json(llvm::outs());
  json.object([&] {
    json.attribute("seconds", result.seconds);
    json.attribute("peak_rss_bytes", peakMemory());
    writePhases(json, result);
    json.attributeArray("artifacts", [&] {
      for (const pipeline::Artifact &artifact : result.artifacts) {
        json.object([&] {
          json.attribute("path", artifact.path);
          json.attribute("bytes", artifact.bytes);
        });
      }
    });
    writeArena(json, "arena_bytes", result.arenaBytes);
    json.attribute("weight_bytes", result.weightBytes);
    writeLevels(json, result);
    json.attribute("code_bytes", result.codeBytes);
    json.attribute("kernels", result.kernels);
    report::writeSizes(json, result);
    report::writeAllocations(json, result);
    json.attributeArray("fallbacks", [&] {
      for (const pipeline::NodePlacement &placement : fallbacks(result)) {
        report::writePlacement(json, placement);
      }
    });
    report::writeTransfers(json, result);
    report::writeDevices(json, result);
  });
  llvm::outs() << '\n';
}

void printText(const pipeline::Result &result) {
  for (const pipeline::Artifact &artifact : result.artifacts) {
    llvm::outs() << artifact.path << "  " << bytesText(artifact.bytes) << '\n';
  }
  llvm::outs() << "arena " << arenaText(result.arenaBytes) << ", weights " << bytesText(result.weightBytes) << ", code "
               << bytesText(result.codeBytes) << ", " << result.kernels << " kernels, "
               << llvm::format("%.2f s\n", result.seconds);
  printLevels(result);
  if (!result.openSizes.empty()) {
    printSizes(result, /*most=*/8);
  }
  printAllocations(result, /*most=*/8);
  if (std::vector<pipeline::NodePlacement> moved = fallbacks(result); !moved.empty()) {
    llvm::outs() << moved.size() << " nodes do not run on the first target:\n";
    printPlacements(moved);
  }
  printTransfers(result, /*most=*/8);
}

} // namespace

llvm::Error compileCommand(const Invocation &invocation) {
  llvm::Expected<pipeline::Result> result = compileModel(invocation, invocation.model);
  if (!result) {
    return result.takeError();
  }
  if (!invocation.model.stopAfter.empty()) {
    return llvm::Error::success(); // the IR is on stdout
  }
  invocation.json ? printJson(*result) : printText(*result);
  return llvm::Error::success();
}

} // namespace ingot::driver
