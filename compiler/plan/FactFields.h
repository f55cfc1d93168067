// The names of facts, for all that writes or reads them: the manifest, --json, the page of `ingot report`, and the
// driver, which reads manifests. What only an exit knows, as the name of a parameter, it gives as text.
#pragma once
#include "compiler/plan/WeightsPlace.h"
#include "compiler/support/JsonFields.h"

namespace ingot::plan {

template <typename V> void visitFields(V &v, typename V::template Ref<RequirementInfo> requirement) {
  v("node", requirement.node);
  v("text", requirement.text);
}

template <typename V> void visitFields(V &v, typename V::template Ref<LevelInfo> level) {
  v("target", level.spec);
  v("level", level.number, support::inManifest);
  v("weight_bytes", level.weightBytes);
  v("own_weight_bytes", level.ownWeightBytes);
}

template <typename V> void visitFields(V &v, typename V::template Ref<ReadInfo> read) {
  v("kernel", read.kernel);
  v("at", read.at);
  v("bytes", read.bytes);
}

template <typename V> void visitFields(V &v, typename V::template Ref<DeviceInfo> device) {
  v("target", device.spec);
  v("workspace_bytes", device.workspaceBytes, support::orNull);
  v("weight_bytes", device.weightBytes);
  v("weights_at", device.weightsAt, support::inManifest);
}

template <typename V>
void visitFields(V &v, typename V::template Ref<MemoryInfo> memory, const std::string &parameter) {
  v("name", memory.name);
  v.derived("parameter", parameter, support::inManifest);
  v("most_bytes", memory.mostBytes);
  v("word_cycles", memory.wordCycles);
  v("workspace_at", memory.workspaceAt, support::inManifest);
  v("workspace_bytes", memory.workspaceBytes);
  v("traffic_bytes", memory.trafficBytes);
}

template <typename V>
void visitFields(V &v, typename V::template Ref<AllocationInfo> allocation, llvm::ArrayRef<std::string> outputs) {
  v("node", allocation.node);
  v("bytes", allocation.bytes);
  v("why", allocation.why);
  v.choice("output", allocation.output, outputs, {support::Presence::UnlessEmpty});
  v("grows", allocation.grows, support::inManifestUnlessEmpty);
}

/// In the texts of sizes names are in quotes that are not words: 'batch-size'*2.
template <typename V>
void visitFields(V &v, typename V::template Ref<SymbolInfo> symbol, const std::string &parameter) {
  v.symbol("name", symbol.name);
  v.derived("parameter", parameter, support::inManifest);
  v("least", symbol.least);
  v("most", symbol.most, support::orNull);
  v("from", symbol.from);
  v("bounded_by", symbol.boundedBy);
  v("bodies", symbol.sizes, {support::Presence::UnlessEmpty});
  if (!symbol.sizes.empty()) {
    v("others", symbol.others, support::inManifest);
  }
}

template <typename V>
void visitFields(V &v, typename V::template Ref<DataDependentSizeInfo> size, const std::string &parameter) {
  v.symbol("name", size.name);
  v.derived("parameter", parameter);
  v("bounded_by", size.most);
}

template <typename V> void visitFields(V &v, typename V::template Ref<LaunchInfo> launch) {
  v("kernel", launch.kernel);
  v("nodes", launch.nodes);
  v("macs", launch.macs, support::unlessEmpty);
  v("bytes", launch.bytes, support::unlessEmpty);
  v.unlike("own_macs", launch.ownMacs, launch.macs);
  v("weight_bytes", launch.weightBytes, support::unlessEmpty);
  v("depends_on", launch.symbols, support::unlessEmpty);
  v("chosen", launch.choice, support::unlessEmpty);
}

template <typename V>
void visitFields(V &v, typename V::template Ref<TensorInfo> tensor, const std::string &parameter,
                 llvm::ArrayRef<std::string> inputs) {
  static constexpr support::Word<bool> keyTypes[] = {{false, "int64"}, {true, "string"}};
  v("name", tensor.name);
  v.derived("parameter", parameter);
  v.elementType("type", tensor.type);
  v("dims", tensor.dims);
  v("bytes", tensor.bytes);
  v("allocated", tensor.isAllocated, support::unlessEmpty);
  if (V::reads || !tensor.mapKeys.empty()) {
    v.template word<bool>("map_key_type", tensor.hasStringKeys, {}, keyTypes);
  }
  v("map_keys", tensor.mapKeys, support::unlessEmpty);
  v("optional", tensor.isOptional, support::unlessEmpty);
  v("device", tensor.device, support::unlessEmpty);
  v.choice("in_place_of", tensor.inPlaceOf, inputs, support::unlessEmpty);
}

} // namespace ingot::plan
