// Visits the facts of a model by name, which make NAME.json: the compiler writes it, and the driver reads it. Both call
// visitManifest, with a writer or a reader of JSON as the visitor, so that a field is named once:
//
//   v("abi", build.abi)              a member: written, and read back
//   v.list("inputs", model.inputs)   a list of records, whose fields are in plan/FactFields.h
//   v.derived("run", NAME + "_run")  follows from others: written for other programs, and not read
//
// A rule behind a field says when it is left out (unlessEmpty), or null where it is unknown (orNull). Fields stand in
// the order of this list; a new one is a line here.
#pragma once
#include "compiler/emit/BuildInfo.h"
#include "compiler/emit/Names.h"
#include "compiler/plan/FactFields.h"
#include "runtime_support/include/ingot.h"

namespace ingot::emit {

/// Visits the manifest's fields in their order. `visitImages(i)` visits the code of device i.
template <typename V, typename VisitImages>
void visitManifest(V &v, typename V::template Ref<plan::ModelInfo> model, typename V::template Ref<BuildInfo> build,
                   const ParameterNames &parameters, VisitImages visitImages) {
  auto nameOf = [](const std::vector<std::string> &names, size_t i) { return i < names.size() ? names[i] : ""; };
  auto namesOf = [](const auto &records, auto name) {
    std::vector<std::string> names;
    llvm::transform(records, std::back_inserter(names), [&](const auto &record) { return name(record.name); });
    return names;
  };
  auto plain = [](const std::string &name) { return name; };
  v("manifest_version", build.version);
  v("name", model.name);
  v("abi", build.abi);
  v("target", model.target);
  v("triple", model.triple);
  v.derived("accuracy", std::string(build.arithmeticVersion ? "reproducible" : ""), support::unlessEmpty);
  v("arithmetic_version", build.arithmeticVersion, support::unlessEmpty);
  v.list("levels", model.levels, support::unlessEmpty);
  v.list("devices", model.devices, support::unlessEmpty, [&](V &own, auto &device, size_t i) {
    visitFields(own, device);
    visitImages(i);
  });
  v("host_fallback", model.hostFallback, support::unlessEmpty);
  v.derived("run", model.name + "_run");
  v.derived("model", model.name + "_model");
  v("files", build.files);
  v.list("symbols", model.symbols, {},
         [&](V &own, auto &symbol, size_t i) { visitFields(own, symbol, nameOf(parameters.symbols, i)); });
  v.list("found", model.dataDependentSizes, support::unlessEmpty,
         [&](V &own, auto &size, size_t i) { visitFields(own, size, nameOf(parameters.dataDependentSizes, i)); });
  v.list("inputs", model.inputs, {},
         [&](V &own, auto &input, size_t i) { visitFields(own, input, nameOf(parameters.inputs, i), {}); });
  std::vector<std::string> inputs = namesOf(model.inputs, plain);
  v.list("outputs", model.outputs, {},
         [&](V &own, auto &output, size_t i) { visitFields(own, output, nameOf(parameters.outputs, i), inputs); });
  v("input_sequences", model.inputSequences, support::unlessEmpty);
  v("output_sequences", model.outputSequences, support::unlessEmpty);
  v("workspace_bytes", model.workspaceBytes, support::orNull);
  if (model.workspaceBytes < 0) {
    v.object("workspace", [&](V &own) {
      own.derived("function", model.name + "_workspace_bytes");
      own.derived("depends_on", namesOf(model.symbols, support::symbolName));
    });
  }
  v("workspace_align", model.workspaceAlign);
  v.list("memories", model.memories, support::unlessEmpty,
         [&](V &own, auto &memory, size_t i) { visitFields(own, memory, nameOf(parameters.memories, i)); });
  v("arena_bytes", model.arenaBytes, support::orNull);
  v("patches", build.patches, support::unlessEmpty);
  v("weight_bytes", model.weightBytes);
  v.object("weights", [&](V &own) {
    own.word("place", model.weightsPlace);
    if (model.weightsPlace != plan::WeightsPlace::Embed) {
      own.derived("file", model.name + ".weights");
      own.derived("align", INGOT_WEIGHTS_ALIGN);
      own.hash("hash", model.weightHash);
    }
    if (model.weightsPlace == plan::WeightsPlace::Stream) {
      own("bytes", model.streamedBytes);
      own("stream_bytes", model.streamBytes, support::orNull);
      own.list("reads", model.reads);
    }
  });
  v("code_bytes", build.codeBytes);
  v("constant_bytes", build.sizes.constants);
  v("data_bytes", build.sizes.data);
  v("zeroed_bytes", build.sizes.zeroed);
  v("flash_bytes", build.sizes.flash, support::orNull);
  v("ram_bytes", build.sizes.ram, support::orNull);
  v("stack_bytes", build.sizes.stack.bytes, support::orNull);
  v("cycles", build.sizes.cycles.cycles, support::orNull);
  v("flash_wait_states", build.sizes.cycles.flashWaitStates, support::unlessEmpty);
  v.list("functions", build.sizes.functions, support::unlessEmpty);
  v.list("stack_path", build.sizes.stack.path, support::unlessEmpty);
  v.list("function_cycles", build.sizes.cycles.functions, support::unlessEmpty);
  v("kernels", model.kernels);
  v("macs", model.macs);
  v.list("requirements", model.requirements);
  v.list("launches", model.launches);
  v.derived("allocates", !model.allocations.empty());
  v("makes_strings", model.makesStrings, support::unlessEmpty);
  std::vector<std::string> outputs = namesOf(model.outputs, plain);
  v.list("allocations", model.allocations, support::unlessEmpty,
         [&](V &own, auto &allocation, size_t) { visitFields(own, allocation, outputs); });
}

} // namespace ingot::emit
