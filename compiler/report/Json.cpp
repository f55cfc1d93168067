#include "compiler/report/Json.h"
#include "compiler/plan/FactFields.h"

namespace ingot::report {

using llvm::json::fixUTF8;

void writePlacement(llvm::json::OStream &json, const pipeline::NodePlacement &placement) {
  json.object([&] {
    json.attribute("node", fixUTF8(placement.node));
    json.attribute("op", fixUTF8(placement.op));
    json.attribute("kernel", placement.kernel);
    json.attribute("target", fixUTF8(placement.target));
    json.attribute("why_not", fixUTF8(placement.whyNot));
    if (placement.seconds >= 0) {
      json.attribute("seconds", placement.seconds);
    }
    if (placement.piece >= 0) {
      json.attribute("piece", placement.piece);
    }
  });
}

void writeTransfers(llvm::json::OStream &json, const pipeline::Result &result) {
  json.attributeArray("transfers", [&] {
    for (const pipeline::Transfer &transfer : result.transfers) {
      json.object([&] {
        json.attribute("value", fixUTF8(transfer.value));
        json.attribute("from", transfer.from.empty() ? "host" : fixUTF8(transfer.from));
        json.attribute("to", transfer.to.empty() ? "host" : fixUTF8(transfer.to));
        json.attribute("bytes", transfer.bytes < 0 ? llvm::json::Value(fixUTF8(transfer.bytesText))
                                                   : llvm::json::Value(transfer.bytes));
        json.attributeArray("readers", [&] {
          for (const std::string &reader : transfer.readers) {
            json.value(fixUTF8(reader));
          }
        });
        json.attribute("copy", transfer.copy);
        if (transfer.saved > 0) {
          json.attribute("saved_seconds", transfer.saved);
        }
      });
    }
  });
}

/// Visits facts as --json and the page have them.
static support::JsonFieldWriter summary(llvm::json::OStream &json) { return {json, &support::FieldRule::summary}; }

void writeDevices(llvm::json::OStream &json, const pipeline::Result &result) {
  summary(json).list("devices", result.devices);
}

void writeMemories(llvm::json::OStream &json, const pipeline::Result &result) {
  summary(json).list(
      "memories", result.memories, support::unlessEmpty,
      [](auto &own, const plan::MemoryInfo &memory, size_t) { visitFields(own, memory, /*parameter=*/""); });
}

void writeStream(llvm::json::OStream &json, const pipeline::Result &result) {
  if (!result.reads.empty()) {
    summary(json).object("streamed", [&](auto &own) {
      own("bytes", result.streamedBytes);
      own("stream_bytes", result.streamBytes, support::orNull);
      own.list("reads", result.reads);
    });
  }
}

void writeLevels(llvm::json::OStream &json, const pipeline::Result &result) {
  summary(json).list("levels", result.levels);
}

void writeSizes(llvm::json::OStream &json, const pipeline::Result &result) {
  support::JsonFieldWriter writer = summary(json);
  writer.list("open_sizes", result.openSizes, {},
              [](auto &own, const plan::SymbolInfo &size, size_t) { visitFields(own, size, /*parameter=*/""); });
  writer.list("requirements", result.requirements);
}

void writeAllocations(llvm::json::OStream &json, const pipeline::Result &result) {
  support::JsonFieldWriter writer = summary(json);
  writer.derived("allocates", !result.allocations.empty());
  writer.list("allocations", result.allocations, {}, [&](auto &own, const plan::AllocationInfo &allocation, size_t) {
    visitFields(own, allocation, result.outputs);
  });
}

} // namespace ingot::report
