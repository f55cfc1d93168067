// Maps. One that is an input is two tensors, its keys and its values, in any order of the keys. The maps that ZipMap
// makes have all the same keys, which the model knows: they are no values but the columns of a tensor, a row for each
// map, and the keys are noted with it. Nothing but an output may be such maps.
#include "compiler/importer/Importer.h"

using namespace mlir;

namespace ingot::importer {

std::string nameOfKeys(llvm::StringRef map) { return (map + "[keys]").str(); }
std::string nameOfValues(llvm::StringRef map) { return (map + "[values]").str(); }

bool Importer::mayTake(const Node &node, const std::string &input) {
  bool takesMaps = node.domain == "ai.onnx.ml" && (node.op == "DictVectorizer" || node.op == "CastMap");
  bool good = takesMaps && maps.contains(input);
  if (!good) {
    problems->add(node.where(), "input " + quoted(input) + " is a map, or several, which is unsupported here");
  }
  return good;
}

bool Importer::takeRows(const Node &node, const onnx::Node &target) {
  if (node.domain != "ai.onnx.ml" || node.op != "ZipMap") {
    return false;
  }
  Attribute keys = target.attributes.get("classlabels_strings");
  keys = keys ? keys : target.attributes.get("classlabels_int64s");
  if (node.outputs.size() == 1) {
    rowsOfMaps[node.outputs.front()] = {target.results.front(), keys};
  }
  return true;
}

} // namespace ingot::importer
