#include "compiler/report/Json.h"

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

void writeDevices(llvm::json::OStream &json, const pipeline::Result &result) {
  json.attributeArray("devices", [&] {
    for (const pipeline::DeviceMemory &device : result.devices) {
      json.object([&] {
        json.attribute("target", fixUTF8(device.target));
        json.attribute("workspace_bytes", device.workspaceBytes < 0 ? llvm::json::Value(nullptr)
                                                                    : llvm::json::Value(device.workspaceBytes));
        json.attribute("weight_bytes", device.weightBytes);
      });
    }
  });
}

void writeSizes(llvm::json::OStream &json, const pipeline::Result &result) {
  json.attributeArray("open_sizes", [&] {
    for (const pipeline::OpenSize &size : result.openSizes) {
      json.object([&] {
        json.attribute("name", fixUTF8(size.name));
        json.attribute("least", size.least);
        json.attribute("most", size.most < 0 ? llvm::json::Value(nullptr) : llvm::json::Value(size.most));
        json.attribute("from", fixUTF8(size.from));
        json.attribute("bounded_by", fixUTF8(size.boundedBy));
        json.attribute("bodies", llvm::json::Array(size.bodies));
      });
    }
  });
  json.attributeArray("requirements", [&] {
    for (const pipeline::Requirement &requirement : result.requirements) {
      json.object([&] {
        json.attribute("node", fixUTF8(requirement.node));
        json.attribute("text", fixUTF8(requirement.text));
      });
    }
  });
}

void writeAllocations(llvm::json::OStream &json, const pipeline::Result &result) {
  json.attribute("allocates", !result.allocations.empty());
  json.attributeArray("allocations", [&] {
    for (const pipeline::Allocation &allocation : result.allocations) {
      json.object([&] {
        json.attribute("node", fixUTF8(allocation.node));
        json.attribute("bytes", fixUTF8(allocation.bytes));
        json.attribute("why", fixUTF8(allocation.why));
        json.attribute("output", fixUTF8(allocation.output));
      });
    }
  });
}

} // namespace ingot::report
