#include "compiler/driver/execution/Manifest.h"
#include "compiler/emit/ManifestFields.h"
#include "compiler/support/Sequences.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace ingot::driver {

bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

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
    kinds.outputs.resize(outputs.size(), ValueKind::Tensor);
  }
  // Where some outputs are sequences, files and tensors are not numbered alike.
  size_t tensor = 0;
  for (size_t file = 0; file < kinds.outputs.size(); ++file) {
    bool isTensor = kinds.outputs[file] == ValueKind::Tensor;
    if (isTensor && tensor < outputs.size() && !outputs[tensor].mapKeys.empty()) {
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
  std::optional<int64_t> version = object->getInteger("manifest_version");
  if (version != emit::manifestVersion) {
    return llvm::createStringError(path + ": error: has " +
                                   (version ? "version " + std::to_string(*version) : "no version") +
                                   " of the manifest, and this ingot reads version " +
                                   std::to_string(emit::manifestVersion) + "; compile the model again");
  }
  Manifest manifest;
  support::JsonFieldReader reader(*object);
  emit::visitManifest(reader, manifest, manifest, {}, [](size_t) {});
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
