// Quantizes one model: what has to be run for it is compiled and run here, what is written is decided in compiler/ptq.
#pragma once
#include "compiler/driver/QuantizeReport.h"
#include "compiler/driver/Runs.h"
#include "compiler/driver/Samples.h"
#include "compiler/driver/Similarity.h"
#include "compiler/ptq/Layers.h"
#include "compiler/ptq/Range.h"
#include "compiler/ptq/Static.h"

namespace ingot::driver {

class Quantizer {
public:
  /// `folder` is for files that are needed in between.
  Quantizer(const Invocation &invocation, ptq::Model model, SampleSet samples, std::string folder);

  /// Writes the quantized model, and measures it where there are samples.
  llvm::Expected<QuantizeFacts> run();

  using Values = llvm::StringMap<const HostTensor *>;

private:
  /// Notes for a layer that it stays in float, and takes it out of those to be quantized.
  void keep(llvm::StringRef layer, const std::string &why);
  llvm::Error chooseLayers();
  llvm::Error quantizeStatic();

  /// A file that has these values as outputs, too.
  llvm::Expected<std::string> fileWith(ptq::Model &observed, llvm::ArrayRef<std::string> values);
  /// Runs the model on all samples; `take` gets these values by their names.
  llvm::Error observe(llvm::ArrayRef<std::string> values, llvm::function_ref<llvm::Error(const Values &)> take);
  llvm::Expected<std::map<std::string, ptq::Range>> rangesOf(const ptq::Wanted &wanted);

  llvm::Error measure();
  llvm::Error measureTimes();

  const Invocation &invocation;
  const ptq::Options &options;
  ptq::Model model;     ///< as it was, with its weights made visible
  ptq::Model quantized; ///< made from it
  SampleSet samples;
  std::string folder;
  int files = 0;                  ///< written there
  std::vector<ptq::Layer> layers; ///< to be quantized
  QuantizeFacts facts;
};

} // namespace ingot::driver
