// Runs `ingot compile`: everything happens in the pipeline, and this says what is told of it.
#include "compiler/driver/Driver.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/commands/CompileCache.h"
#include "compiler/driver/commands/Outputs.h"
#include "compiler/driver/commands/Report.h"
#include "compiler/report/Json.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <sys/resource.h>

namespace ingot::driver {
namespace {

int64_t peakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024; // these are kilobytes on Linux
}

/// These characters stand in what is said for parts that differ from one equal compilation to the next.
constexpr char secondsHere = 1, peakHere = 2, cachedHere = 3;

std::string jsonOf(const pipeline::Result &result) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::json::OStream json(out);
  auto raw = [&](llvm::StringRef key, char what) {
    json.attributeBegin(key);
    json.rawValue(llvm::StringRef(&what, 1));
    json.attributeEnd();
  };
  json.object([&] {
    raw("seconds", secondsHere);
    raw("peak_rss_bytes", peakHere);
    raw("cached", cachedHere);
    writePhases(json, result);
    json.attributeArray("artifacts", [&] {
      for (const emit::Artifact &artifact : result.artifacts) {
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
    writeArena(json, "flash_bytes", result.flashBytes);
    writeArena(json, "ram_bytes", result.ramBytes);
    writeArena(json, "stack_bytes", result.stackBytes);
    writeArena(json, "cycles", result.cycles);
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
    report::writeMemories(json, result);
    report::writeStream(json, result);
  });
  return text + "\n";
}

std::string textOf(const pipeline::Result &result) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const emit::Artifact &artifact : result.artifacts) {
    out << artifact.path << "  " << bytesText(artifact.bytes) << '\n';
  }
  out << "arena " << arenaText(result.arenaBytes) << ", weights " << bytesText(result.weightBytes) << ", code "
      << bytesText(result.codeBytes) << ", " << result.kernels << " kernels, " << secondsHere << cachedHere << '\n';
  if (result.cycles >= 0) {
    out << "a run takes about " << countText(result.cycles) << " cycles, by estimate\n";
  }
  printMemories(out, result);
  printStream(out, result);
  printLevels(out, result);
  if (!result.openSizes.empty()) {
    printSizes(out, result, /*most=*/8);
  }
  printAllocations(out, result, /*most=*/8);
  if (std::vector<pipeline::NodePlacement> moved = fallbacks(result); !moved.empty()) {
    out << moved.size() << " nodes do not run on the first target:\n";
    printPlacements(out, moved);
  }
  printTransfers(out, result, /*most=*/8);
  return text;
}

void say(llvm::StringRef messages, double seconds, bool cached, bool json) {
  for (char c : messages) {
    if (c == secondsHere) {
      llvm::outs() << (json ? llvm::format("%.17g", seconds) : llvm::format("%.2f s", seconds));
    } else if (c == peakHere) {
      llvm::outs() << peakMemory();
    } else if (c == cachedHere) {
      llvm::outs() << (json ? (cached ? "true" : "false") : (cached ? ", from the compile cache" : ""));
    } else {
      llvm::outs() << c;
    }
  }
}

} // namespace

llvm::Error compileCommand(const Invocation &invocation) {
  auto begin = std::chrono::steady_clock::now();
  pipeline::Options options = invocation.model;
  if (options.stopAfter.empty()) {
    if (llvm::Error error = checkFolder(options.outDir)) {
      return error;
    }
  }
  bool looksInside = !options.stopAfter.empty() || !options.dumpAfter.empty() || invocation.timing;
  std::optional<CompileCache> cache;
  if (!invocation.compileCache.empty() && !looksInside) {
    cache.emplace(invocation);
    if (std::optional<CompileCache::Messages> messages = cache->find()) {
      llvm::errs() << messages->diagnostics;
      std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      say(messages->out, taken.count(), /*cached=*/true, invocation.json);
      return llvm::Error::success();
    }
    options.reads = [&](const std::map<std::string, std::string> &external) { cache->reads(external); };
  }
  options.mostRam = invocation.budget.ram;
  if (invocation.budget.isGiven()) {
    options.refuses = [&](const pipeline::Result &result, const plan::ModelInfo &model, const emit::BuildSizes &sizes) {
      return exceeds(invocation.budget, options, result, model, sizes);
    };
  }
  CompileCache::Messages messages;
  llvm::Expected<pipeline::Result> result = compileModel(invocation, options, &messages.diagnostics);
  if (!result) {
    return result.takeError();
  }
  if (!invocation.model.stopAfter.empty()) {
    return llvm::Error::success(); // the IR is on stdout
  }
  messages.out = invocation.json ? jsonOf(*result) : textOf(*result);
  if (cache) {
    cache->keep(result->artifacts, messages);
  }
  say(messages.out, result->seconds, /*cached=*/false, invocation.json);
  return llvm::Error::success();
}

} // namespace ingot::driver
