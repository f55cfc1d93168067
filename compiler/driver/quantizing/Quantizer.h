// Quantizes one model: it compiles and runs what has to be run for that, and compiler/quantizer decides what is
// written.
#pragma once
#include "compiler/driver/execution/ModelRuns.h"
#include "compiler/driver/execution/SampleSet.h"
#include "compiler/driver/execution/Similarity.h"
#include "compiler/driver/quantizing/QuantizeReport.h"
#include "compiler/driver/quantizing/ValuePart.h"
#include "compiler/quantizer/Adjust.h"
#include "compiler/quantizer/Blocks.h"
#include "compiler/quantizer/Channels.h"
#include "compiler/quantizer/Layers.h"
#include "compiler/quantizer/Mix.h"
#include "compiler/quantizer/Overflow.h"
#include "compiler/quantizer/Range.h"
#include "compiler/quantizer/Static.h"
#include "compiler/quantizer/Switched.h"
#include "compiler/support/OutputFiles.h"

namespace ingot::driver {

class Quantizer {
public:
  /// `folder` is for files that are needed in between.
  Quantizer(const Invocation &invocation, quantizer::Model model, SampleSet samples, std::string folder);

  /// Makes the quantized model, and measures it where there are samples. Its file is added to `files` behind that: what
  /// is read meanwhile is the user's own and what is in `folder`.
  llvm::Expected<QuantizeFacts> run(support::OutputFiles &files);

  using Values = llvm::StringMap<const HostTensor *>;
  static Values byName(const std::vector<HostTensor> &tensors);
  /// Gets the observed values of a sample by their names, and the sample's number.
  using Take = llvm::function_ref<llvm::Error(const Values &, size_t sample)>;

private:
  /// Makes `quantized`, by the scheme.
  llvm::Error write();
  /// Prints a warning, which the report has, too.
  void warn(const std::string &text);
  /// Returns an error for the first sample that cannot be used, and warns of inputs that are the same in all.
  llvm::Error checkSamples();
  int64_t bytesOf(const quantizer::Layer &layer) const;
  /// Notes for a layer that it stays in float, and takes it out of those to be quantized.
  void keep(llvm::StringRef layer, const std::string &why);
  /// Keeps a layer and gives a warning, since the user did not want it.
  void keepWithWarning(const quantizer::Layer &layer, const std::string &why);
  /// Keeps layers that are in bodies of control flow, whose values are not observed.
  void keepBodies();
  /// Keeps layers whose weights have no form of integers.
  void keepStrangeWeights();
  std::string problemOfWeights(const quantizer::Index &index, const quantizer::Layer &layer) const;
  /// Returns an error if no layer is left.
  llvm::Error checkLeft() const;
  /// Returns the layers and the tables that are quantized.
  std::vector<quantizer::Layer> all() const;
  llvm::Error chooseLayers();
  LayerFacts &factsOf(const quantizer::Layer &layer);

  /// These write `quantized`.
  llvm::Error quantizeStatic();
  llvm::Error quantizeMixed();
  llvm::Error quantizeDynamic();
  llvm::Error quantizeBlocks();
  llvm::Error convertToNarrowFloats();

  /// Lists the nodes that have a weight beyond the largest float16.
  std::vector<quantizer::KeptNode> weightsBeyondFloat16();
  /// Returns the nodes in which float16 loses values, on all samples, by what `quantized` computes.
  llvm::Expected<std::vector<quantizer::KeptNode>> lostInFloat16();

  /// Smooths the model, by --smooth or as its layers gain by it.
  llvm::Error adjust();
  /// Smooths values as --smooth wants, the same for all products.
  llvm::Error smoothAlike(double strength);
  /// Chooses for each value whether it is smoothed, and how much, by what that costs its layers on held-out samples.
  llvm::Error chooseSmoothing();
  llvm::Expected<std::map<std::string, quantizer::Channels>> channelsOf();
  /// Scales rows of weights that become blocks by what they are multiplied with: where the data, or without them a
  /// normalization, say that a channel is loud, its weights are rounded finer.
  llvm::Error scaleForBlocks();
  quantizer::BlockForm blockFormOf(const quantizer::Layer &layer) const {
    return quantizer::fitted({options.blockBits(), options.block}, layer);
  }
  quantizer::BlockWeights nearestBlocks(const quantizer::Layer &layer);

  /// Rounds the weights of products in the model's own graph by what they read, and tables there; other weights stay
  /// empty.
  llvm::Error compensate(std::vector<quantizer::BlockWeights> &weights);
  struct Reading;
  struct Rounding;
  llvm::Expected<Rounding> rounding(std::vector<quantizer::BlockWeights> &weights);
  llvm::Error roundWave(Rounding &rounding, llvm::ArrayRef<size_t> wave, std::vector<quantizer::BlockWeights> &weights);
  /// What a layer reads: so many channels, which are rows of a transposed operand.
  struct Operand {
    int64_t channels;
    bool isTransposed;
  };
  /// Fills in readings of such values.
  llvm::Error read(Rounding &rounding, std::map<std::string, Reading> &readings,
                   const std::map<std::string, Operand> &operands);
  /// Rounds by GPTQ, or to the nearest where samples that are held out lose less by that.
  quantizer::BlockWeights rounded(const quantizer::Layer &layer, Reading &reading);

  /// A text: inputs of a model, one of which has tokens.
  struct Text {
    DataSet data;
    size_t input = 0; ///< the number of that one
    int64_t vocabulary = 0;
  };
  /// Lets a language model write `texts`. Other models write none.
  llvm::Error writeTexts();
  /// Returns a text whose tokens are not written yet; nothing: the inputs are not those of a language model.
  llvm::Expected<std::optional<Text>> emptyText();
  /// Whether the model says, for each place, which token is next, by those up to there.
  llvm::Expected<bool> canWrite(Text text, ModelRuns &runs);
  /// Returns the number of tokens of the table that an input gathers; 0: it gathers none.
  int64_t vocabularyOf(const std::string &input);

  std::map<std::string, quantizer::Encoding> encodingsOf(llvm::ArrayRef<quantizer::Layer> of,
                                                         const std::map<std::string, quantizer::FloatRange> &ranges);
  void writeStatic(const std::map<std::string, quantizer::FloatRange> &ranges);
  void writeDynamic();
  /// Returns the layers that do not have the form by run.
  std::vector<quantizer::Layer> notByRun() const;
  /// Gives LSTMs the form whose state is bytes, too, which needs fewer products, unless held-out samples say that
  /// it costs too much. `write` writes the model again, with `byRun`.
  llvm::Error chooseRunForms(llvm::function_ref<void()> write);
  /// Keeps the fewest of the most sensitive layers in float with which the outputs are as near as --max-drop wants.
  llvm::Error limitDrop(const std::map<std::string, quantizer::FloatRange> &ranges);
  /// Returns for each layer 1 - the least cosine of the outputs when it alone is rounded.
  llvm::Expected<std::vector<double>>
  dropsAlone(llvm::ArrayRef<quantizer::Layer> which,
             llvm::function_ref<quantizer::Rounded(const quantizer::Index &, const quantizer::Layer &)> round);
  struct Mixture;
  llvm::Error addCosts(Mixture &mixture);
  /// Adds to each form of each layer its part of the bytes that nodes, names and encodings have where all layers have
  /// the form.
  void addNodes(Mixture &mixture);
  llvm::Error addTimes(Mixture &mixture);
  void writeMixed(const Mixture &mixture, llvm::ArrayRef<quantizer::Form> chosen);
  /// Measures `quantized`.
  llvm::Expected<quantizer::FormCosts> costsOf(const Mixture &mixture);
  llvm::Error noMixture(const Mixture &mixture) const;
  /// Notes for the report what became of the layers.
  void noteForms(const Mixture &mixture, llvm::ArrayRef<quantizer::Form> forms);
  /// Writes a file that has these values as outputs, too, behind its own, and returns its name. `added` gets the number
  /// of those that are none of its own, and `size` the bytes of the file.
  llvm::Expected<std::string> fileWith(quantizer::Model &observed, llvm::ArrayRef<std::string> values,
                                       size_t *added = nullptr, double *size = nullptr);
  /// A compiled model some of whose values can be seen.
  struct Observation {
    std::shared_ptr<ModelRuns> runs;
    bool isQuantized;
    size_t added;         ///< the number of outputs that the model does not have by itself, the last ones
    bool isUsers = false; ///< whether it is the user's model, and not what was made of it
  };
  /// A quantized model, whose outputs and results of layers have been compared with the float model's on some samples.
  struct Compared {
    Observation runs;
    std::vector<std::string> names;     ///< the results of layers that it shows
    std::vector<HostTensor> given = {}; ///< what it gets behind its own inputs, where others are compiled with it
    std::vector<OutputFacts> outputs = {};
    std::vector<Similarity> values = {}; ///< of these results
    std::vector<size_t> samples = {};
    double drop() const; ///< 1 - the least cosine of the outputs that are floats
  };
  /// Returns `quantized`, not compared yet.
  llvm::Expected<Compared> comparable();
  /// Returns these in place of `quantized`. They are compiled as one where they differ in scales and the like alone.
  llvm::Expected<std::vector<Compared>> comparable(llvm::MutableArrayRef<quantizer::Model> models);
  /// Compares quantized models on further samples. The float model runs once for all of them.
  llvm::Error compare(llvm::MutableArrayRef<Compared> models, llvm::ArrayRef<size_t> which);
  llvm::Expected<Observation> observation(quantizer::Model &observed, llvm::ArrayRef<std::string> values);
  llvm::Error observe(Observation &observation, llvm::ArrayRef<size_t> which, Take take);
  /// Returns what an observed model gives; of a float model, what `model` gives, whose values smoothing has divided.
  llvm::Expected<std::vector<HostTensor>> valuesOf(Observation &observation, DataSet data, size_t sample);
  /// Divides values of the user's model as smoothing has it, and adds those that it has made of them.
  void divideSmoothed(std::vector<HostTensor> &values) const;
  /// Keeps a part of each value that `seen` gives for a sample, before smoothing divides it.
  void keepParts(llvm::ArrayRef<HostTensor> values, size_t sample);
  /// Returns these parts, divided, of a sample that `seen` need not have run on.
  llvm::Expected<std::vector<HostTensor>> partsOf(size_t sample);
  /// Calls `take` with them, for samples.
  llvm::Error observeParts(llvm::ArrayRef<size_t> which, Take take);
  /// Runs `model` or `quantized` on all samples.
  llvm::Error observe(quantizer::Model &observed, llvm::ArrayRef<std::string> values, Take take);
  /// Returns runs in which all can be seen that the layers of `model` read and make. One model is compiled for all of
  /// them: the user's, where it has the values.
  llvm::Expected<Observation *> ofModel();
  llvm::Expected<Observation> observationOfModel(llvm::ArrayRef<std::string> values);
  /// Smooths values of `model` and finds its layers again.
  void smooth(const std::map<std::string, std::vector<float>> &factors);
  /// Returns the names of the results of layers and tables.
  std::vector<std::string> results() const;
  /// Returns 1 - the least cosine of the outputs of a quantized model, on these samples.
  llvm::Expected<double> dropOf(Observation &changed, llvm::ArrayRef<size_t> which);
  std::vector<size_t> allSamples() const;
  /// The samples from which candidates are made, and those by which the best is chosen. They are the same where there
  /// is only one.
  struct Parts {
    std::vector<size_t> fitted, held;
  };
  Parts parts() const;
  /// Returns how many samples are held out at most.
  size_t mostHeld() const;
  /// Returns those that are held out, and others up to twice the most of them. A few samples may not have what a narrow
  /// range cuts off; that it cuts off something of those from which it was made counts, too.
  std::vector<size_t> judging() const;
  /// Returns the layers of a model that has been changed, without those that are kept.
  std::vector<quantizer::Layer> again(quantizer::Model &changed) const;

  /// Ranges of values, and the method by which each was found.
  struct Chosen {
    std::map<std::string, quantizer::FloatRange> ranges;
    std::map<std::string, quantizer::Method> methods;
  };
  /// What is known of the wanted values over all samples.
  struct Ranges {
    std::map<std::string, quantizer::Statistics> statistics;
    std::map<std::string, quantizer::Method> best; ///< for --method auto
    const quantizer::Options &options;
    Chosen by(quantizer::Method method) const;
  };
  /// Observes the wanted values; `problems` gets the reason of each value that can have no range.
  llvm::Expected<Ranges> rangesOf(const quantizer::Wanted &wanted, std::map<std::string, std::string> &problems);
  /// Chooses ranges, and makes `quantized` of all layers by them.
  llvm::Expected<Chosen> chooseRanges();
  /// Notes the ranges of what layers read for the report.
  void noteRanges(llvm::ArrayRef<quantizer::Layer> of, const Chosen &chosen);
  /// Chooses a method for each value by what that costs its layers on held-out samples.
  llvm::Error chooseMethods(const std::map<std::string, quantizer::Statistics> &fitted,
                            const std::map<std::string, quantizer::Channels> &channels, Ranges &ranges);
  /// Makes `quantized` by the method with which the outputs of the whole model are nearest on held-out samples: that of
  /// --method, or Auto, which is a choice for each value, or another one that is better for all together. Returns what
  /// was chosen.
  llvm::Expected<Chosen> compareWhole(const Ranges &ranges);

  llvm::Error measure();
  llvm::Error measureTimes();
  /// Measures the times of a model in `folder`, whatever --bench says.
  llvm::Expected<ModelRuns::Times> timesOf(quantizer::Model &which, const DataSet &data);
  /// Checks, where there is no data, whether the importer takes the quantized model.
  llvm::Error checkQuantized();
  void warnOfLosses();
  /// Warns where the times that were measured are longer than those of the float model.
  void warnOfTimes();
  /// Notes for the page what the layers with the largest errors read, and their weights.
  llvm::Error noteDistributions();
  /// Returns the outputs of the user's model for a sample, which are computed once as long as they are not too large to
  /// be kept.
  llvm::Expected<std::vector<HostTensor>> expectedOutputs(size_t sample);
  /// Keeps them for that.
  void keepExpected(size_t sample, llvm::ArrayRef<HostTensor> outputs);
  /// Returns a run of a file in `folder`, in whose messages the model is called by its own name.
  /// With `timed`, the model is compiled as the user's command line says, since its times are measured. Otherwise its
  /// sizes may be those of the samples.
  ModelRuns runsOf(const quantizer::Model &which, const std::string &file, bool timed = false) const;
  /// Returns inputs as the quantized model wants them.
  DataSet forQuantized(DataSet data) const;
  /// Returns the narrow type of --scheme fp16 and bf16.
  int32_t narrowType() const;

  const Invocation &invocation;
  const quantizer::Options &options;
  Invocation forSamples;      ///< the invocation for runs on samples, whose sizes are fixed where all have the same
  quantizer::Model model;     ///< the model as it was, with its weights made visible
  quantizer::Model quantized; ///< the model that is made from it
  SampleSet samples;
  std::vector<DataSet> texts;                         ///< what the model has written
  std::optional<Observation> ofUser;                  ///< runs of the user's model, where `seen` has none
  std::optional<Observation> seen;                    ///< runs of the model before it was smoothed
  std::map<std::string, quantizer::Divided> divided;  ///< the values that smoothing has changed since then
  std::map<size_t, std::vector<HostTensor>> expected; ///< the user's outputs by samples, as far as they are kept
  size_t expectedBytes = 0;
  std::map<size_t, std::vector<ValuePart>> kept; ///< parts of what `seen` gives, by samples
  std::optional<Compared> seenOfQuantized;       ///< runs of `quantized`, where a comparison has compiled it
  std::string folder;
  int files = 0;                        ///< how many files were written there
  std::vector<quantizer::Layer> layers; ///< the layers to be quantized
  std::vector<quantizer::Layer> byRun;  ///< those of them whose state is bytes
  std::vector<quantizer::Layer> tables; ///< tables that become bytes beside them
  QuantizeFacts facts;
};

} // namespace ingot::driver
