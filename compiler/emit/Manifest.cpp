// The manifest: what a program or a build system may want to know of a compiled model without loading it.
#include "compiler/emit/Names.h"
#include "compiler/emit/Texts.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/SymbolNames.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using ingot::support::symbolName;

/// A number, the text of an expression of the symbols, or null where there is none.
static void writeSize(json::OStream &json, const ingot::support::Size &size) {
  if (size.isUnknown()) {
    return json.value(nullptr);
  }
  size.isNumber() ? json.value(size.number()) : json.value(json::fixUTF8(size.text()));
}

/// What a size may be made of: the symbols by the model's names. In the texts of sizes those are in quotes that are
/// not words: 'batch-size'*2.
static void writeSymbols(json::OStream &json, ArrayRef<ingot::plan::SymbolInfo> symbols, ArrayRef<std::string> names) {
  for (auto [symbol, name] : llvm::zip(symbols, names)) {
    json.object([&] {
      json.attribute("name", json::fixUTF8(symbolName(symbol.name)));
      json.attribute("parameter", name);
      json.attribute("least", symbol.least);
      json.attribute("most", symbol.most < 0 ? json::Value(nullptr) : json::Value(symbol.most));
      json.attribute("from", json::fixUTF8(symbol.from));
      json.attribute("bounded_by", json::fixUTF8(symbol.boundedBy));
      if (!symbol.sizes.empty()) {
        json.attribute("bodies", json::Array(symbol.sizes));
        json.attribute("others", symbol.others);
      }
    });
  }
}

static void writeTexts(json::OStream &json, StringRef key, ArrayRef<std::string> texts) {
  json.attributeArray(key, [&] {
    for (const std::string &text : texts) {
      json.value(json::fixUTF8(text));
    }
  });
}

/// What is not static and why: sizes that runs are checked for, and kernels whose sizes depend on the symbols.
static void writeWhyOpen(json::OStream &json, const ingot::plan::ModelInfo &model) {
  json.attributeArray("requirements", [&] {
    for (const ingot::plan::RequirementInfo &requirement : model.requirements) {
      json.object([&] {
        json.attribute("node", json::fixUTF8(requirement.node));
        json.attribute("text", json::fixUTF8(requirement.text));
      });
    }
  });
  json.attributeArray("launches", [&] {
    for (const ingot::plan::LaunchInfo &launch : model.launches) {
      json.object([&] {
        json.attribute("kernel", json::fixUTF8(launch.kernel));
        writeTexts(json, "nodes", launch.nodes);
        for (auto [key, size] :
             {std::pair("macs", &launch.macs), std::pair("bytes", &launch.bytes),
              std::pair("own_macs", &launch.ownMacs), std::pair("weight_bytes", &launch.weightBytes)}) {
          bool isSaid = size == &launch.ownMacs && same(launch.macs, launch.ownMacs);
          if (!isSaid && !size->is(0) && !size->isUnknown()) {
            json.attributeBegin(key);
            writeSize(json, *size);
            json.attributeEnd();
          }
        }
        if (!launch.symbols.empty()) {
          writeTexts(json, "depends_on", launch.symbols);
        }
        if (!launch.choice.empty()) {
          json.attribute("chosen", json::fixUTF8(launch.choice));
        }
      });
    }
  });
}

/// Sizes that the run finds, by what the outputs' dims call them.
static void writeFound(json::OStream &json, ArrayRef<ingot::plan::FoundInfo> all, ArrayRef<std::string> names) {
  for (auto [found, name] : llvm::zip(all, names)) {
    json.object([&, &found = found, &name = name] {
      json.attribute("name", json::fixUTF8(symbolName(found.name)));
      json.attribute("parameter", name);
      json.attributeBegin("bounded_by");
      writeSize(json, found.most);
      json.attributeEnd();
    });
  }
}

/// Bytes, or the function that knows them.
static void writeWorkspace(json::OStream &json, const ingot::plan::ModelInfo &model) {
  if (model.workspaceBytes >= 0) {
    json.attribute("workspace_bytes", model.workspaceBytes);
    return;
  }
  json.attribute("workspace_bytes", nullptr);
  json.attributeObject("workspace", [&] {
    json.attribute("function", model.name + "_workspace_bytes");
    json.attributeArray("depends_on", [&] {
      for (const ingot::plan::SymbolInfo &symbol : model.symbols) {
        json.value(json::fixUTF8(symbolName(symbol.name)));
      }
    });
  });
}

static void writeTensors(json::OStream &json, ArrayRef<ingot::plan::TensorInfo> tensors, ArrayRef<std::string> names,
                         ArrayRef<ingot::plan::TensorInfo> inputs) {
  for (auto [tensor, name] : llvm::zip(tensors, names)) {
    json.object([&] {
      json.attribute("name", json::fixUTF8(tensor.name));
      json.attribute("parameter", name);
      json.attribute("type", ingot::support::elementType(tensor.type).name);
      json.attributeArray("dims", [&] {
        for (const ingot::support::Size &dim : tensor.dims) {
          writeSize(json, dim);
        }
      });
      json.attributeBegin("bytes");
      writeSize(json, tensor.bytes);
      json.attributeEnd();
      if (tensor.isAllocated) {
        json.attribute("allocated", true);
      }
      if (!tensor.mapKeys.empty()) {
        json.attribute("map_key_type", tensor.hasStringKeys ? "string" : "int64");
        json.attributeArray("map_keys", [&] {
          for (const std::string &key : tensor.mapKeys) {
            json.value(json::fixUTF8(key));
          }
        });
      }
      if (tensor.isOptional) {
        json.attribute("optional", true);
      }
      if (tensor.device) {
        json.attribute("device", tensor.device);
      }
      if (tensor.inPlaceOf >= 0) {
        json.attribute("in_place_of", json::fixUTF8(inputs[tensor.inPlaceOf].name));
      }
    });
  }
}

/// Where the weights are, and how to tell the right ones.
static void writeWeights(json::OStream &json, const ingot::plan::ModelInfo &model) {
  using ingot::plan::WeightsPlace;
  WeightsPlace place = model.weightsPlace;
  json.attributeObject("weights", [&] {
    json.attribute("place", place == WeightsPlace::Embed ? "embed" : place == WeightsPlace::File ? "file" : "extern");
    if (place != WeightsPlace::Embed) {
      json.attribute("file", model.name + ".weights");
      json.attribute("align", INGOT_WEIGHTS_ALIGN);
      json.attribute("hash", utohexstr(model.weightHash, /*LowerCase=*/true, 16));
    }
  });
}

/// The machines of which a run chooses one, and how much of the weights each body has for itself.
static void writeLevels(json::OStream &json, ArrayRef<ingot::plan::LevelInfo> levels) {
  json.attributeArray("levels", [&] {
    for (const ingot::plan::LevelInfo &level : levels) {
      json.object([&] {
        json.attribute("target", level.spec);
        json.attribute("level", level.number);
        json.attribute("weight_bytes", level.weightBytes);
        json.attribute("own_weight_bytes", level.ownWeightBytes);
      });
    }
  });
}

/// The code of a device: its images, and what kernels need where the target knows it.
static void writeImages(json::OStream &json, const ingot::emit::DeviceCode &code) {
  json.attributeArray("images", [&] {
    for (const ingot::target::Image &image : code.images) {
      json.object([&] {
        json.attribute("target", image.target);
        json.attribute("bytes", int64_t(image.bytes.size()));
        json.attributeArray("kernels", [&] {
          for (auto [i, kernel] : llvm::enumerate(code.kernels)) {
            json.object([&, &kernel = kernel, i = i] {
              json.attribute("name", kernel);
              auto needs = i < image.needs.size() ? image.needs[i] : ingot::target::KernelNeeds();
              for (auto [name, need] : {std::pair("registers", needs.registers),
                                        {"scratch_bytes", needs.scratchBytes},
                                        {"shared_bytes", needs.sharedBytes}}) {
                if (need >= 0) {
                  json.attribute(name, need);
                }
              }
            });
          }
        });
      });
    }
  });
}

/// Devices with a memory of their own, and what runs need of it.
static void writeDevices(json::OStream &json, ArrayRef<ingot::plan::DeviceInfo> devices,
                         ArrayRef<ingot::emit::DeviceCode> codes) {
  json.attributeArray("devices", [&] {
    for (const auto &[device, code] : llvm::zip(devices, codes)) {
      json.object([&, &device = device, &code = code] {
        json.attribute("target", device.spec);
        json.attribute("workspace_bytes",
                       device.workspaceBytes < 0 ? json::Value(nullptr) : json::Value(device.workspaceBytes));
        json.attribute("weight_bytes", device.weightBytes);
        json.attribute("weights_at", device.weightsAt);
        if (!code.staysInObject()) {
          writeImages(json, code);
        }
      });
    }
  });
}

/// Memory that a run asks for, and for which node.
static void writeAllocation(json::OStream &json, const ingot::plan::ModelInfo &model,
                            const ingot::plan::AllocationInfo &allocation) {
  json.object([&] {
    json.attribute("node", json::fixUTF8(allocation.node));
    json.attribute("bytes", json::fixUTF8(allocation.bytes));
    json.attribute("why", json::fixUTF8(allocation.why));
    if (allocation.output >= 0) {
      json.attribute("output", json::fixUTF8(model.outputs[size_t(allocation.output)].name));
    }
    if (allocation.grows) {
      json.attribute("grows", true);
    }
  });
}

std::string ingot::emit::manifestText(const plan::ModelInfo &model, ArrayRef<DeviceCode> devices, int64_t codeBytes,
                                      ArrayRef<std::string> files) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream json(stream, 2);
  ParameterNames names = parameterNames(model);
  json.object([&] {
    json.attribute("name", model.name);
    json.attribute("abi", INGOT_ABI);
    json.attribute("target", model.target);
    json.attribute("triple", model.triple);
    if (!model.levels.empty()) {
      writeLevels(json, model.levels);
    }
    if (!model.devices.empty()) {
      writeDevices(json, model.devices, devices);
    }
    json.attribute("run", model.name + "_run");
    json.attribute("model", model.name + "_model");
    json.attributeArray("files", [&] {
      for (const std::string &file : files) {
        json.value(file);
      }
    });
    json.attributeArray("symbols", [&] { writeSymbols(json, model.symbols, names.symbols); });
    if (!model.found.empty()) {
      json.attributeArray("found", [&] { writeFound(json, model.found, names.found); });
    }
    json.attributeArray("inputs", [&] { writeTensors(json, model.inputs, names.inputs, model.inputs); });
    json.attributeArray("outputs", [&] { writeTensors(json, model.outputs, names.outputs, model.inputs); });
    if (!model.inputSequences.empty()) {
      json.attribute("input_sequences", json::Array(model.inputSequences));
    }
    if (!model.outputSequences.empty()) {
      json.attribute("output_sequences", json::Array(model.outputSequences));
    }
    writeWorkspace(json, model);
    json.attribute("workspace_align", model.workspaceAlign);
    json.attribute("arena_bytes", model.arenaBytes < 0 ? json::Value(nullptr) : json::Value(model.arenaBytes));
    json.attribute("weight_bytes", model.weightBytes);
    writeWeights(json, model);
    json.attribute("code_bytes", codeBytes);
    json.attribute("kernels", model.kernels);
    json.attributeBegin("macs");
    writeSize(json, model.macs);
    json.attributeEnd();
    writeWhyOpen(json, model);
    json.attribute("allocates", !model.allocations.empty());
    if (model.makesStrings) {
      json.attribute("makes_strings", true);
    }
    if (!model.allocations.empty()) {
      json.attributeArray("allocations", [&] {
        for (const plan::AllocationInfo &allocation : model.allocations) {
          writeAllocation(json, model, allocation);
        }
      });
    }
  });
  stream << "\n";
  return text;
}

/// Make's quoting: blanks and # by a backslash, $ doubled.
static std::string quoteForMake(StringRef path) {
  std::string quoted;
  for (char c : path) {
    if (c == ' ' || c == '#' || c == '\t') {
      quoted += '\\';
    } else if (c == '$') {
      quoted += '$';
    }
    quoted += c;
  }
  return quoted;
}

std::string ingot::emit::depfileText(ArrayRef<std::string> targets, ArrayRef<std::string> dependencies) {
  std::string text;
  for (const std::string &target : targets) {
    text += (text.empty() ? "" : " ") + quoteForMake(target);
  }
  text += ":";
  for (const std::string &dependency : dependencies) {
    text += " \\\n  " + quoteForMake(dependency);
  }
  return text + "\n";
}
