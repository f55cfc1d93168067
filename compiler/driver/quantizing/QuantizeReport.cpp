#include "compiler/driver/quantizing/QuantizeReport.h"
#include "compiler/driver/ModelFacts.h"
#include "compiler/driver/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

namespace ingot::driver {

std::optional<double> QuantizeFacts::leastCosine() const {
  std::optional<double> least;
  for (const OutputFacts &output : outputs) {
    if (output.isFloat && !output.similarity.isEmpty()) {
      least = std::min(least.value_or(1), output.similarity.cosine());
    }
  }
  return least;
}

/// Columns that only some tables have.
struct Columns {
  bool times, alone, ranges, smoothing, forms;
  explicit Columns(llvm::ArrayRef<LayerFacts> layers)
      : times(llvm::any_of(layers, [](const LayerFacts &layer) { return layer.secondsBefore >= 0; })),
        alone(llvm::any_of(layers, [](const LayerFacts &layer) { return layer.alone >= 0; })),
        ranges(llvm::any_of(layers, [](const LayerFacts &layer) { return layer.method.has_value(); })),
        smoothing(llvm::any_of(layers, [](const LayerFacts &layer) { return layer.smoothing >= 0; })),
        forms(llvm::any_of(layers, [&](const LayerFacts &layer) { return layer.form != layers.front().form; })) {}
};

static void printLayer(llvm::raw_ostream &out, const Columns &columns, const LayerFacts &layer) {
  if (layer.hasRange) {
    out << llvm::format("%10.4g %10.4g ", layer.low, layer.high);
  } else {
    out << "         -          - ";
  }
  if (!layer.similarity || layer.similarity->isEmpty()) {
    out << "       -      - ";
  } else if (layer.similarity->isEqual()) {
    out << "   equal      - ";
  } else {
    out << llvm::format("%8.6f %6.1f ", layer.similarity->cosine(), layer.similarity->sqnr());
  }
  if (layer.alone >= 0) {
    out << llvm::format("%9.2g ", layer.alone);
  }
  if (columns.ranges) {
    out << llvm::left_justify(layer.method ? support::wordOf(*layer.method) : "-", 11);
  }
  if (columns.smoothing) {
    out << (layer.smoothing >= 0 ? llvm::formatv("{0,6:f2} ", layer.smoothing).str() : "     - ");
  }
  out << llvm::right_justify(bytesText(layer.bytesBefore), 9) << ' '
      << llvm::right_justify(bytesText(layer.bytesAfter), 9) << "  ";
  if (layer.secondsBefore >= 0) {
    out << llvm::format("%9.1f %9.1f %5.1f%%  ", layer.secondsBefore * 1e6, layer.secondsAfter * 1e6,
                        layer.share * 100);
  } else if (columns.times) {
    out << "        -         -      -  ";
  }
  if (columns.forms) {
    out << llvm::left_justify(layer.form.empty() ? "float" : layer.form, 14);
  }
  out << plainName(layer.name) << " (" << layer.op << ")" << (layer.kept.empty() ? "" : ": in float, " + layer.kept)
      << '\n';
}

/// JSON has no infinity, and where nothing was compared there are no numbers.
static void writeSimilarity(llvm::json::OStream &json, const Similarity &similarity) {
  auto number = [&](double value) {
    return std::isfinite(value) && !similarity.isEmpty() ? llvm::json::Value(value) : llvm::json::Value(nullptr);
  };
  json.attribute("cosine", number(similarity.cosine()));
  json.attribute("sqnr_db", number(similarity.sqnr()));
  if (similarity.lost > 0) {
    json.attribute("lost", similarity.lost);
  }
}

static void printOutput(llvm::raw_ostream &out, const quantizer::Options &options, const OutputFacts &output) {
  if (!output.isFloat) {
    out << (output.differing ? std::to_string(output.differing) + " of " + std::to_string(output.elements) + " differ"
                             : "equal");
  } else {
    out << output.similarity.text();
  }
  out << "  " << plainName(output.name);
  bool isNarrow = options.scheme == quantizer::Scheme::Float16 && !options.keepIo && output.isFloat;
  out << (isNarrow && output.similarity.lost ? ": not finite in float16; --keep-io keeps it in float32\n" : "\n");
}

std::string quantizeText(const quantizer::Options &options, const QuantizeFacts &facts) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Columns columns(facts.layers);
  if (!facts.layers.empty()) {
    out << "       low       high   cosine     dB " << (columns.alone ? "    alone " : "")
        << (columns.ranges ? "range by   " : "") << (columns.smoothing ? "smooth " : "") << "   before     after  "
        << (columns.times ? "us before     after  share  " : "") << (columns.forms ? "scheme        " : "")
        << "layer\n";
  }
  for (const LayerFacts &layer : facts.layers) {
    printLayer(out, columns, layer);
  }
  size_t kept = llvm::count_if(facts.layers, [](const LayerFacts &layer) { return !layer.kept.empty(); });
  out << facts.path << "  " << support::wordOf(options.scheme) << ", " << bytesText(facts.bytesBefore) << " -> "
      << bytesText(facts.bytesAfter) << "; ";
  if (facts.layers.empty()) {
    out << facts.nodes.converted << " of " << facts.nodes.converted + facts.nodes.kept << " nodes converted\n";
  } else {
    out << facts.layers.size() - kept << " of " << facts.layers.size() << " layers quantized\n";
  }
  if (facts.heldOut > 0) {
    out << llvm::formatv("ranges and smoothing chosen on {0} of {1} samples in {2:f1} s (--effort {3})\n",
                         facts.heldOut, facts.samples, facts.secondsChosen, support::wordOf(options.effort));
  }
  if (facts.texts > 0) {
    out << "weights rounded by what layers read in " << facts.texts << " texts that the model has written"
        << (facts.samples > 0 ? ", and in the samples\n" : "\n");
  }
  for (const quantizer::KeptNode &node : facts.beyond) {
    out << plainName(node.name) << " (" << node.op << "): in float32, " << node.why << '\n';
  }
  for (const OutputFacts &output : facts.outputs) {
    printOutput(out, options, output);
  }
  if (facts.secondsBefore >= 0) {
    out << llvm::format("%.2f us -> %.2f us a run\n", facts.secondsBefore * 1e6, facts.secondsAfter * 1e6);
  }
  return text;
}

static void writeDistribution(llvm::json::OStream &json, llvm::StringRef key,
                              const std::optional<Distribution> &distribution) {
  if (distribution) {
    json.attributeObject(key, [&] {
      json.attribute("low", distribution->low);
      json.attribute("high", distribution->high);
      json.attribute("counts", llvm::json::Array(distribution->counts));
    });
  }
}

static void writeLayer(llvm::json::OStream &json, const LayerFacts &layer) {
  json.object([&] {
    json.attribute("name", layer.name);
    json.attribute("operator", layer.op);
    json.attribute("quantized", layer.kept.empty());
    json.attribute("scheme", layer.form.empty() ? "float" : layer.form);
    if (!layer.kept.empty()) {
      json.attribute("why", layer.kept);
    }
    if (layer.hasRange) {
      json.attribute("low", layer.low);
      json.attribute("high", layer.high);
    }
    if (layer.method) {
      json.attribute("range_by", support::wordOf(*layer.method));
    }
    if (layer.smoothing >= 0) {
      json.attribute("smoothing", layer.smoothing);
    }
    if (layer.similarity) {
      writeSimilarity(json, *layer.similarity);
    }
    if (layer.alone >= 0) {
      json.attribute("drop_alone", layer.alone);
    }
    json.attribute("weight_bytes_before", layer.bytesBefore);
    json.attribute("weight_bytes_after", layer.bytesAfter);
    if (layer.secondsBefore >= 0) {
      json.attribute("us_before", layer.secondsBefore * 1e6);
      json.attribute("us_after", layer.secondsAfter * 1e6);
      json.attribute("share", layer.share);
    }
    writeDistribution(json, "reads", layer.reads);
    writeDistribution(json, "weights", layer.weights);
  });
}

std::string quantizeJson(const quantizer::Options &options, const QuantizeFacts &facts) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::json::OStream json(out);
  json.object([&] {
    json.attribute("model", facts.path);
    json.attribute("scheme", support::wordOf(options.scheme));
    json.attribute("method", support::wordOf(options.rangeMethod()));
    json.attribute("samples", facts.samples);
    if (facts.texts > 0) {
      json.attribute("own_texts", facts.texts);
    }
    if (facts.heldOut > 0) {
      json.attribute("effort", support::wordOf(options.effort));
      json.attribute("samples_held_out", facts.heldOut);
    }
    json.attribute("bytes_before", facts.bytesBefore);
    json.attribute("bytes_after", facts.bytesAfter);
    if (facts.secondsBefore >= 0) {
      json.attribute("us_before", facts.secondsBefore * 1e6);
      json.attribute("us_after", facts.secondsAfter * 1e6);
    }
    if (std::optional<double> least = facts.leastCosine()) {
      json.attribute("cosine", *least);
    }
    if (facts.layers.empty()) {
      json.attribute("nodes_converted", facts.nodes.converted);
      json.attribute("nodes_kept", facts.nodes.kept);
      json.attributeArray("kept", [&] {
        for (const quantizer::KeptNode &node : facts.beyond) {
          json.object([&] {
            json.attribute("name", node.name);
            json.attribute("operator", node.op);
            json.attribute("why", node.why);
          });
        }
      });
    }
    json.attributeArray("outputs", [&] {
      for (const OutputFacts &output : facts.outputs) {
        json.object([&] {
          json.attribute("name", output.name);
          if (output.isFloat) {
            writeSimilarity(json, output.similarity);
          } else {
            json.attribute("differing", output.differing);
            json.attribute("elements", output.elements);
          }
        });
      }
    });
    json.attribute("warnings", llvm::json::Array(facts.warnings));
    json.attributeArray("layers", [&] {
      for (const LayerFacts &layer : facts.layers) {
        writeLayer(json, layer);
      }
    });
  });
  out << '\n';
  return text;
}

} // namespace ingot::driver
