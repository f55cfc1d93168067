#include "compiler/driver/execution/Manifest.h"
#include "compiler/support/Sequences.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

namespace ingot::driver {

bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

namespace {

/// A number, or the text of an expression; 0 where it is absent or neither.
support::Size sizeIn(const llvm::json::Object &object, llvm::StringRef key) {
  if (std::optional<llvm::StringRef> text = object.getString(key)) {
    return support::Size::parse(*text).value_or(support::Size(0));
  }
  return object.getInteger(key).value_or(0);
}

std::vector<int64_t> numbersIn(const llvm::json::Object &object, llvm::StringRef key) {
  std::vector<int64_t> numbers;
  if (const llvm::json::Array *array = object.getArray(key)) {
    for (const llvm::json::Value &number : *array) {
      numbers.push_back(number.getAsInteger().value_or(-1));
    }
  }
  return numbers;
}

Manifest::Launch parseLaunch(const llvm::json::Value &value) {
  Manifest::Launch launch;
  if (const llvm::json::Object *object = value.getAsObject()) {
    launch.kernel = object->getString("kernel").value_or("").str();
    if (const llvm::json::Array *nodes = object->getArray("nodes")) {
      for (const llvm::json::Value &node : *nodes) {
        launch.nodes.push_back(node.getAsString().value_or("").str());
      }
    }
    launch.macs = sizeIn(*object, "macs"), launch.bytes = sizeIn(*object, "bytes");
    launch.ownMacs = object->get("own_macs") ? sizeIn(*object, "own_macs") : launch.macs;
    launch.weightBytes = sizeIn(*object, "weight_bytes");
    launch.choice = object->getString("chosen").value_or("").str();
  }
  return launch;
}

Manifest::Keys parseKeys(const llvm::json::Value &value) {
  Manifest::Keys keys;
  const llvm::json::Object *object = value.getAsObject();
  const llvm::json::Array *list = object ? object->getArray("map_keys") : nullptr;
  if (list) {
    keys.areStrings = object->getString("map_key_type") == "string";
    for (const llvm::json::Value &key : *list) {
      keys.keys.push_back(key.getAsString().value_or("").str());
    }
  }
  return keys;
}

} // namespace

ValueKinds Manifest::kinds() const {
  auto kind = [](int64_t form) {
    return form == support::isTensor ? ValueKind::Tensor
           : form == support::isMap  ? ValueKind::Map
                                     : ValueKind::Sequence;
  };
  ValueKinds kinds;
  llvm::transform(inputSequences, std::back_inserter(kinds.inputs), kind);
  llvm::transform(outputSequences, std::back_inserter(kinds.outputs), kind);
  if (outputSequences.empty()) {
    kinds.outputs.resize(outputKeys.size(), ValueKind::Tensor);
  }
  // Where some outputs are sequences, files and tensors are not numbered alike.
  size_t tensor = 0;
  for (size_t file = 0; file < kinds.outputs.size(); ++file) {
    bool isTensor = kinds.outputs[file] == ValueKind::Tensor;
    if (isTensor && tensor < outputKeys.size() && !outputKeys[tensor].keys.empty()) {
      kinds.outputs[file] = ValueKind::Maps;
    }
    tensor += isTensor ? 1 : size_t(support::tensorsOf(outputSequences[file]));
  }
  return kinds;
}

llvm::Expected<Manifest> parseManifest(llvm::StringRef text, const std::string &path) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value) {
    return llvm::createStringError(path + ": error: is no manifest: " + llvm::toString(value.takeError()));
  }
  const llvm::json::Object *object = value->getAsObject();
  std::optional<llvm::StringRef> name = object ? object->getString("name") : std::nullopt;
  if (!name || !isIdentifier(*name)) {
    return llvm::createStringError(path + ": error: is no manifest: it has no field 'name' with a C identifier");
  }
  Manifest manifest;
  manifest.name = name->str();
  manifest.target = object->getString("target").value_or("").str();
  manifest.hasLevels = object->getArray("levels") != nullptr;
  manifest.triple = object->getString("triple").value_or("").str();
  manifest.abi = object->getInteger("abi").value_or(0);
  manifest.arenaBytes = object->getInteger("arena_bytes").value_or(object->getNull("arena_bytes") ? -1 : 0);
  manifest.weightBytes = object->getInteger("weight_bytes").value_or(0);
  manifest.codeBytes = object->getInteger("code_bytes").value_or(0);
  manifest.macs = sizeIn(*object, "macs");
  manifest.inputSequences = numbersIn(*object, "input_sequences");
  manifest.outputSequences = numbersIn(*object, "output_sequences");
  if (const llvm::json::Array *outputs = object->getArray("outputs")) {
    llvm::transform(*outputs, std::back_inserter(manifest.outputKeys), parseKeys);
  }
  if (const llvm::json::Array *devices = object->getArray("devices")) {
    for (const llvm::json::Value &device : *devices) {
      const llvm::json::Object *known = device.getAsObject();
      manifest.devices.push_back(known ? known->getString("target").value_or("").str() : "");
    }
  }
  if (const llvm::json::Array *launches = object->getArray("launches")) {
    for (const llvm::json::Value &value : *launches) {
      manifest.launches.push_back(parseLaunch(value));
    }
  }
  return manifest;
}

llvm::Expected<Manifest> readManifest(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    return llvm::createStringError(path + ": error: cannot be read: " + buffer.getError().message());
  }
  return parseManifest((*buffer)->getBuffer(), path);
}

} // namespace ingot::driver
