// Runs `ingot quantize`: reads a model, writes it quantized as another ONNX file, and a report.
#include "compiler/driver/TemporaryFolder.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/commands/Outputs.h"
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/quantizer/Opset.h"
#include "compiler/quantizer/Prepare.h"
#include "compiler/report/Page.h"
#include "compiler/support/Problems.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ingot::driver {
namespace {

llvm::Error atModel(const Invocation &invocation, llvm::Error error) {
  return llvm::createStringError(invocation.model.modelPath + ": error: " + llvm::toString(std::move(error)));
}

/// Returns the nodes that compute, as bytes.
std::string computed(quantizer::Model &model) {
  std::string bytes = std::to_string(model.opset());
  for (const quantizer::pb::GraphProto *graph : model.graphs()) {
    for (const quantizer::pb::NodeProto &node : graph->node()) {
      bytes += node.op_type() == "Constant" ? "" : node.SerializeAsString();
    }
  }
  return bytes;
}

/// Returns the model with its weights visible, in an opset that has what is going to be written. The code that edits it
/// relies on nodes that have the operands and results that their operators want.
llvm::Expected<quantizer::Model> readModel(const Invocation &invocation) {
  pipeline::Options check = invocation.model;
  check.importsOnly = true;
  if (llvm::Expected<pipeline::Result> result = compileModel(invocation, check); !result) {
    return result.takeError();
  }
  llvm::Expected<quantizer::Model> model = quantizer::Model::load(invocation.model.modelPath);
  if (!model) {
    return llvm::make_error<ExitError>(1, llvm::toString(model.takeError()));
  }
  if (const auto *node = quantizer::quantizedNode(*model)) {
    return llvm::createStringError(invocation.model.modelPath + ": error: " + quantizer::shown(*node) +
                                   ": the model is quantized already");
  }
  // Scales along an axis need opset 13, float8 needs 19, blocks need 21, convolutions of bfloat16 22, and integers of 2
  // bits 25.
  using quantizer::Scheme;
  const quantizer::Options &options = invocation.quantization;
  int64_t opset = options.scheme == Scheme::Int2                           ? 25
                  : options.blockBits() || options.scheme == Scheme::Mixed ? 21
                  : options.scheme == Scheme::BFloat16                     ? 22
                  : options.isFloat8()                                     ? 19
                                                                           : 13;
  std::string before = computed(*model);
  if (llvm::Error error = quantizer::raiseOpset(*model, opset)) {
    return atModel(invocation, std::move(error));
  }
  quantizer::prepare(*model, /*forProducts=*/!options.isFloat());
  model->isAsRead = computed(*model) == before;
  return model;
}

/// Lets the heap keep what is given back. All values of a model are allocated for each run, and pages that go to the
/// system and come back as zeros took an eighth of the time.
void keepMemory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 32 << 20); // the most that there may be; without it the heap would have less
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

/// Returns what needs data; empty: nothing does.
std::string whyData(const Invocation &invocation) {
  const quantizer::Options &options = invocation.quantization;
  if (options.hasRanges()) {
    return "ranges are those of values that a model has on data (--scheme int8-dynamic needs none)";
  }
  if (options.gptq) {
    return "--gptq rounds weights by what their layers read on data";
  }
  if (options.smooth.value_or(0) > 0) {
    return "--smooth moves outliers by what layers read on data";
  }
  return invocation.profile ? "--bench measures runs on data" : "";
}

/// Lists the files that the command writes; the model's external data is one of them.
std::vector<Output> outputsOf(const Invocation &invocation) {
  const std::string &path = invocation.quantization.output;
  std::vector<Output> outputs{{"-o", path}, {"-o", path + ".data"}};
  if (!invocation.reportPath.empty()) {
    outputs.push_back({"--report", invocation.reportPath});
  }
  return outputs;
}

llvm::Expected<SampleSet> readSamples(const Invocation &invocation) {
  std::vector<std::string> folders = invocation.data;
  if (folders.empty()) {
    folders = dataBeside(invocation.model.modelPath);
  }
  if (std::string why = whyData(invocation); folders.empty() && !why.empty()) {
    return llvm::createStringError("no --data is given, and there is no test_data_set_* beside the model: " + why);
  }
  llvm::Expected<ModelFacts> facts = readModelFacts(invocation.model.modelPath);
  if (!facts) {
    return facts.takeError();
  }
  ValueKinds kinds = kindsOf(*facts);
  return SampleSet::open(folders, std::move(*facts), std::move(kinds), invocation.preprocessing);
}

} // namespace

llvm::Error quantizeCommand(const Invocation &invocation) {
  keepMemory();
  const quantizer::Options &options = invocation.quantization;
  if (llvm::Error error = checkTargets(invocation.model.targets)) {
    return error;
  }
  llvm::Expected<std::vector<std::string>> read = filesRead(invocation);
  if (!read) {
    return read.takeError();
  }
  if (llvm::Error error = checkOutputs(outputsOf(invocation), *read)) {
    return error;
  }
  llvm::Expected<quantizer::Model> model = readModel(invocation);
  if (!model) {
    return model.takeError();
  }
  llvm::Expected<SampleSet> samples = readSamples(invocation);
  if (!samples) {
    return samples.takeError();
  }
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) {
    return folder.takeError();
  }
  Quantizer quantizer(invocation, std::move(*model), std::move(*samples), folder->path());
  support::OutputFiles files;
  llvm::Expected<QuantizeFacts> facts = quantizer.run(files);
  if (!facts) {
    return facts.takeError();
  }
  if (!invocation.reportPath.empty()) {
    std::string json = quantizeJson(options, *facts);
    std::string text = isPage(invocation.reportPath) ? report::quantizedPageText(json) : std::move(json);
    if (llvm::Error error = files.add(invocation.reportPath, [&](llvm::raw_ostream &out) { out << text; })) {
      return support::located(std::move(error));
    }
  }
  if (llvm::Error error = files.keep()) {
    return support::located(std::move(error));
  }
  llvm::outs() << (invocation.json ? quantizeJson(options, *facts) : quantizeText(options, *facts));
  return llvm::Error::success();
}

} // namespace ingot::driver
