// Lets a language model write texts to calibrate with: what its layers read there is about what they read in others,
// and nobody has to have data. A model can where one input has tokens, by which a table is gathered, and an output says
// for each place how likely each token is to be the next one. A run draws a token for every place at once, so that at
// first the tokens in front of a place are random. Each further run makes one more place consistent with all tokens in
// front of it.
#include "compiler/driver/Progress.h"
#include "compiler/driver/quantizing/Quantizer.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <random>

namespace ingot::driver {
namespace {

constexpr int64_t kPlaces = 64;            // of a text, where the model takes any number
constexpr int64_t kTokens = 8192;          // of all texts together, about
constexpr int64_t kMostTexts = 128;        // and no more texts than these
constexpr int kTurns = 8;                  // how often all places are drawn
constexpr int64_t kLeastVocabulary = 16;   // a smaller table is none of tokens
constexpr float kMostOfDifference = 1e-3F; // of the largest value: what no token behind a place may change there

/// What to pass for an input that has no tokens, by its name; nothing: that is not known.
enum class Filling { Ones, Zeros, Places };
struct Rule {
  llvm::StringLiteral part;
  Filling filling;
};
const Rule kRules[] = {{"mask", Filling::Ones},
                       {"position", Filling::Places},
                       {"token_type", Filling::Zeros},
                       {"segment", Filling::Zeros}};

std::optional<Filling> fillingOf(llvm::StringRef name) {
  const auto *rule = llvm::find_if(kRules, [&](const Rule &rule) { return name.contains_insensitive(rule.part); });
  return rule == std::end(kRules) ? std::nullopt : std::optional(rule->filling);
}

int64_t elementsOf(const HostTensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims) {
    count *= dim;
  }
  return count;
}

void put(HostTensor &tensor, int64_t at, int64_t value) {
  bool isWide = tensor.type == importer::kInt64;
  auto narrow = int32_t(value);
  std::memcpy(tensor.bytes.data() + at * (isWide ? 8 : 4), isWide ? (const void *)&value : &narrow, isWide ? 8 : 4);
}

void fill(HostTensor &tensor, Filling filling) {
  for (int64_t i = 0; i < elementsOf(tensor); ++i) {
    put(tensor, i, filling == Filling::Places ? i % tensor.dims.back() : filling == Filling::Ones ? 1 : 0);
  }
}

/// Returns a number between 0 and 1, which is neither. The standard's distributions differ between libraries.
double uniform(std::mt19937_64 &random) { return (double(random() >> 11) + 0.5) / double(uint64_t(1) << 53); }

/// Draws by the logarithms of probabilities, up to a sum.
int64_t draw(llvm::ArrayRef<float> logits, std::mt19937_64 &random) {
  double largest = -HUGE_VAL, sum = 0;
  for (float logit : logits) {
    largest = std::max(largest, double(logit));
  }
  for (float logit : logits) {
    sum += std::exp(double(logit) - largest);
  }
  double left = uniform(random) * sum;
  for (auto [token, logit] : llvm::enumerate(logits)) {
    left -= std::exp(double(logit) - largest);
    if (left < 0) {
      return int64_t(token);
    }
  }
  return int64_t(logits.size()) - 1;
}

/// Returns the output that says what the token at the next place is; null: none does.
const HostTensor *nextTokens(const std::vector<HostTensor> &outputs, const HostTensor &tokens, int64_t vocabulary) {
  auto found = llvm::find_if(outputs, [&](const HostTensor &output) {
    llvm::ArrayRef<int64_t> dims = output.dims;
    return output.type == importer::kFloat && dims.size() == tokens.dims.size() + 1 &&
           dims.drop_back() == llvm::ArrayRef(tokens.dims) && dims.back() >= kLeastVocabulary &&
           dims.back() <= vocabulary;
  });
  return found == outputs.end() ? nullptr : &*found;
}

/// Returns whether the outputs for two texts that differ in their last tokens alone differ at the last places alone: no
/// place then looks at later tokens.
bool isCausal(const HostTensor &a, const HostTensor &b) {
  Floats own(a), other(b);
  int64_t each = a.dims.back(), places = a.dims[a.dims.size() - 2];
  float largest = 0, before = 0, last = 0;
  for (int64_t i = 0; i < elementsOf(a); ++i) {
    float value = llvm::ArrayRef<float>(own)[size_t(i)];
    float &difference = i / each % places == places - 1 ? last : before;
    difference = std::max(difference, std::fabs(value - llvm::ArrayRef<float>(other)[size_t(i)]));
    largest = std::max(largest, std::fabs(value));
  }
  return before <= kMostOfDifference * largest && last > before;
}

} // namespace

int64_t Quantizer::vocabularyOf(const std::string &input) {
  quantizer::Index index(model, *model.proto.mutable_graph());
  for (const quantizer::Index::Use &use : index.uses(input)) {
    const quantizer::pb::NodeProto &node = model.proto.graph().node(use.node);
    const auto *table = node.op_type() == "Gather" && use.operand == 1 ? index.weight(node.input(0)) : nullptr;
    if (table && table->dims_size() == 2 && table->dims(0) >= kLeastVocabulary) {
      return table->dims(0);
    }
  }
  return 0;
}

llvm::Expected<std::optional<Quantizer::Text>> Quantizer::emptyText() {
  Text text;
  std::optional<DataSet> like;
  if (samples.size() > 0) {
    llvm::Expected<DataSet> first = samples.read(0);
    if (!first) {
      return first.takeError();
    }
    like = std::move(*first);
  }
  for (auto [number, input] : llvm::enumerate(samples.model().inputs)) {
    bool isInteger = input.type == importer::kInt64 || input.type == importer::kInt32;
    if (!isInteger || !input.shape || input.shape->empty()) {
      return std::nullopt;
    }
    HostTensor tensor;
    tensor.name = input.name, tensor.type = input.type;
    for (auto [axis, dim] : llvm::enumerate(*input.shape)) {
      tensor.dims.push_back(dim.size >= 0 ? dim.size : axis == 0 && input.shape->size() > 1 ? 1 : kPlaces);
    }
    tensor.dims = like ? like->inputs[number].dims : tensor.dims;
    tensor.bytes.resize(size_t(elementsOf(tensor)) * (input.type == importer::kInt64 ? 8 : 4));
    std::optional<Filling> filling = fillingOf(input.name);
    if (int64_t vocabulary = filling ? 0 : vocabularyOf(input.name); vocabulary > 0 && text.vocabulary == 0) {
      text.vocabulary = vocabulary, text.input = number;
    } else if (filling) {
      fill(tensor, *filling);
    } else {
      return std::nullopt;
    }
    text.data.inputs.push_back(std::move(tensor)), text.data.sequences.push_back(Recorded::kTensor);
  }
  const HostTensor &tokens = text.data.inputs[text.input];
  bool hasNext = text.vocabulary > 0 && elementsOf(tokens) > 0 && tokens.dims.back() > 1;
  return hasNext ? std::optional(std::move(text)) : std::nullopt;
}

llvm::Expected<bool> Quantizer::canWrite(Text text, ModelRuns &runs) {
  HostTensor &tokens = text.data.inputs[text.input];
  int64_t places = tokens.dims.back();
  for (int64_t i = 0; i < elementsOf(tokens); ++i) {
    put(tokens, i, i * 7 % text.vocabulary);
  }
  llvm::Expected<std::vector<HostTensor>> outputs = runs.outputs(text.data);
  if (!outputs) {
    return outputs.takeError();
  }
  const HostTensor *next = nextTokens(*outputs, tokens, text.vocabulary);
  if (!next) {
    return false;
  }
  for (int64_t i = places - 1; i < elementsOf(tokens); i += places) {
    put(tokens, i, (i * 7 + 1) % text.vocabulary);
  }
  llvm::Expected<std::vector<HostTensor>> others = runs.outputs(text.data);
  if (!others) {
    return others.takeError();
  }
  return isCausal(*next, *nextTokens(*others, tokens, text.vocabulary));
}

llvm::Error Quantizer::writeTexts() {
  llvm::Expected<std::optional<Text>> empty = emptyText();
  if (!empty || !*empty) {
    return empty.takeError();
  }
  ModelRuns runs(forSamples, invocation.model.modelPath);
  llvm::Expected<bool> can = canWrite(**empty, runs);
  if (!can) {
    warn(invocation.model.modelPath +
         ": warning: the model writes no texts to round its weights by: " + llvm::toString(can.takeError()));
    return llvm::Error::success();
  }
  int64_t each = elementsOf((*empty)->data.inputs[(*empty)->input]);
  int64_t places = (*empty)->data.inputs[(*empty)->input].dims.back();
  int64_t count = *can ? std::clamp<int64_t>(kTokens / each, 1, kMostTexts) : 0;
  std::mt19937_64 random(1);
  ProgressBar bar(count > 0, /*inLogs=*/true);
  for (int64_t number = 0; number < count; ++number) {
    DataSet text = (*empty)->data;
    HostTensor &tokens = text.inputs[(*empty)->input];
    for (int64_t i = 0; i < each; ++i) {
      put(tokens, i, int64_t(uniform(random) * double((*empty)->vocabulary)));
    }
    for (int turn = 0; turn < kTurns; ++turn) {
      llvm::Expected<std::vector<HostTensor>> outputs = runs.outputs(text);
      if (!outputs) {
        return outputs.takeError();
      }
      const HostTensor &next = *nextTokens(*outputs, tokens, (*empty)->vocabulary);
      Floats logits(next);
      auto letters = size_t(next.dims.back());
      for (int64_t i = 0; i < each; ++i) {
        if (i % places < places - 1) { // the first token stays as it is
          put(tokens, i + 1, draw(llvm::ArrayRef<float>(logits).slice(size_t(i) * letters, letters), random));
        }
      }
    }
    texts.push_back(std::move(text));
    bar.show(int(number + 1), int(count), "texts written by the model");
  }
  facts.texts = count;
  return llvm::Error::success();
}

} // namespace ingot::driver
