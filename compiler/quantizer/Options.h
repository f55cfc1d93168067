// Holds the options of `ingot quantize`.
#pragma once
#include "compiler/quantizer/Range.h"
#include "compiler/quantizer/Weights.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ingot::quantizer {

enum class Scheme {
  Int8,
  Int8Dynamic,
  Int8Weights,
  Int4,
  Int2,
  Mixed,
  Float8,
  Float8Weights,
  Float16Weights,
  Float16,
  BFloat16
};
inline constexpr support::Word<Scheme> schemeWords[] = {
    {Scheme::Int8, "int8", "weights and activations, ranges from data"},
    {Scheme::Int8Dynamic, "int8-dynamic", "ranges found by each run"},
    {Scheme::Int8Weights, "int8-weights", "weights alone, by block"},
    {Scheme::Int4, "int4", "likewise"},
    {Scheme::Int2, "int2", "likewise"},
    {Scheme::Mixed, "mixed", "for each layer int8, int8-weights, int4 or float, within budgets"},
    {Scheme::Float8, "fp8", "float8e4m3fn: weights and activations, ranges from data"},
    {Scheme::Float8Weights, "fp8-weights", "weights alone"},
    {Scheme::Float16Weights, "fp16-weights", "likewise"},
    {Scheme::Float16, "fp16"},
    {Scheme::BFloat16, "bf16"}};
inline llvm::ArrayRef<support::Word<Scheme>> wordsOf(Scheme) { return schemeWords; }

/// What may become of a layer by Scheme::Mixed.
enum class Form { Float, Int8, Int8Weights, Int4 };
inline constexpr support::Word<Form> formWords[] = {
    {Form::Float, "float"}, {Form::Int8, "int8"}, {Form::Int8Weights, "int8-weights"}, {Form::Int4, "int4"}};
inline llvm::ArrayRef<support::Word<Form>> wordsOf(Form) { return formWords; }

/// How much is tried where flags leave a choice.
enum class Effort { Quick, Default, Thorough };
inline constexpr support::Word<Effort> effortWords[] = {
    {Effort::Quick, "quick", "two samples decide"},
    {Effort::Default, "default", "eight samples decide"},
    {Effort::Thorough, "thorough", "all that are held out decide, and whole models are compared"}};
inline llvm::ArrayRef<support::Word<Effort>> wordsOf(Effort) { return effortWords; }

struct Options {
  std::string output; ///< the file to write
  Scheme scheme = Scheme::Int8;
  /// Whether floats become narrower ones, and not integers.
  bool isFloat() const { return scheme == Scheme::Float16 || scheme == Scheme::BFloat16; }
  /// The bits of weights that are blocks of integers beside activations that stay as they are; 0: they are not.
  int blockBits() const {
    return scheme == Scheme::Int8Weights ? 8 : scheme == Scheme::Int4 ? 4 : scheme == Scheme::Int2 ? 2 : 0;
  }
  bool isFloat8() const { return scheme == Scheme::Float8 || scheme == Scheme::Float8Weights; }
  /// Whether layers read bytes, whose ranges count.
  bool hasByteActivations() const { return hasRanges() || scheme == Scheme::Int8Dynamic; }
  /// Whether those ranges are found on data.
  bool hasRanges() const { return scheme == Scheme::Int8 || scheme == Scheme::Mixed || scheme == Scheme::Float8; }
  /// Whether outliers cost the other values of their range something: bytes are integers.
  bool hasIntegerActivations() const { return hasByteActivations() && scheme != Scheme::Float8; }
  /// The way in which ranges are chosen. Floats of 8 bits are as fine in a wide range as in a narrow one.
  Method rangeMethod() const { return scheme == Scheme::Float8 ? Method::MinMax : method; }
  Effort effort = Effort::Default;
  Method method = Method::Auto;
  double percentile = 99.99;      ///< how many of 100 values the range holds, on each side
  bool signedActivations = false; ///< int8, symmetric, in place of uint8
  WeightOptions weights;          ///< for int8 and int8-dynamic
  std::vector<std::string> keep;  ///< layers that stay in float
  double maxDrop = -1;            ///< 1 - cosine of the outputs that is allowed; negative: not asked for
  int64_t mostBytes = -1;         ///< bytes of the file that are allowed; negative: not asked for
  double mostSeconds = -1;        ///< seconds of a run that are allowed; negative: not asked for
  /// The exponent of the activations' part (SmoothQuant), the same for all layers; 0: none is smoothed. Nothing: each
  /// value gets its own.
  std::optional<double> smooth;
  int64_t block = 32;  ///< of blocks: values that share a scale
  bool gptq = false;   ///< of blocks: rounding by GPTQ in place of to the nearest
  bool keepIo = false; ///< of narrow floats: inputs and outputs stay float32
};

} // namespace ingot::quantizer
