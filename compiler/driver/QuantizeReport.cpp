#include "compiler/driver/QuantizeReport.h"
#include "compiler/driver/ModelFacts.h"
#include "compiler/driver/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

namespace ingot::driver {

double QuantizeFacts::leastCosine() const {
  double least = 1;
  for (const OutputFacts &output : outputs) {
    least = std::min(least, output.cosine);
  }
  return least;
}

static void printLayer(llvm::raw_ostream &out, const LayerFacts &layer) {
  if (layer.hasRange) {
    out << llvm::format("%10.4g %10.4g ", layer.low, layer.high);
  } else {
    out << "         -          - ";
  }
  if (layer.cosine >= 0) {
    out << llvm::format("%8.6f %6.1f ", layer.cosine, layer.sqnr);
  } else {
    out << "       -      - ";
  }
  if (layer.alone >= 0) {
    out << llvm::format("%9.2g ", layer.alone);
  }
  out << llvm::right_justify(bytesText(layer.bytesBefore), 9) << ' '
      << llvm::right_justify(bytesText(layer.bytesAfter), 9) << "  ";
  if (layer.secondsBefore >= 0) {
    out << llvm::format("%9.1f %9.1f  ", layer.secondsBefore * 1e6, layer.secondsAfter * 1e6);
  }
  out << plainName(layer.name) << " (" << layer.op << ")" << (layer.kept.empty() ? "" : ": in float, " + layer.kept)
      << '\n';
}

/// JSON has no infinity.
static void writeDecibels(llvm::json::OStream &json, double value) {
  json.attribute("sqnr_db", std::isfinite(value) ? llvm::json::Value(value) : llvm::json::Value(nullptr));
}

std::string quantizeText(const ptq::Options &options, const QuantizeFacts &facts) {
  std::string text;
  llvm::raw_string_ostream out(text);
  bool times = llvm::any_of(facts.layers, [](const LayerFacts &layer) { return layer.secondsBefore >= 0; });
  bool alone = llvm::any_of(facts.layers, [](const LayerFacts &layer) { return layer.alone >= 0; });
  if (!facts.layers.empty()) {
    out << "       low       high   cosine     dB " << (alone ? "    alone " : "") << "   before     after  "
        << (times ? "us before     after  " : "") << "layer\n";
  }
  for (const LayerFacts &layer : facts.layers) {
    printLayer(out, layer);
  }
  size_t kept = llvm::count_if(facts.layers, [](const LayerFacts &layer) { return !layer.kept.empty(); });
  out << facts.path << "  " << options.scheme << ", " << bytesText(facts.bytesBefore) << " -> "
      << bytesText(facts.bytesAfter) << "; ";
  if (facts.layers.empty()) {
    out << facts.nodes.converted << " of " << facts.nodes.converted + facts.nodes.kept << " nodes converted\n";
  } else {
    out << facts.layers.size() - kept << " of " << facts.layers.size() << " layers quantized\n";
  }
  for (const ptq::KeptNode &node : facts.beyond) {
    out << plainName(node.name) << " (" << node.op << "): in float32, " << node.why << '\n';
  }
  for (const OutputFacts &output : facts.outputs) {
    out << llvm::format("cosine %.6f, %.1f dB  ", output.cosine, output.sqnr) << plainName(output.name);
    bool isNarrow = options.scheme == "fp16" && !options.keepIo;
    out << (isNarrow && !std::isfinite(output.sqnr) ? ": not finite in float16; --keep-io keeps it in float32\n"
                                                    : "\n");
  }
  if (facts.secondsBefore >= 0) {
    out << llvm::format("%.2f us -> %.2f us a run\n", facts.secondsBefore * 1e6, facts.secondsAfter * 1e6);
  }
  return text;
}

static void writeLayer(llvm::json::OStream &json, const LayerFacts &layer) {
  json.object([&] {
    json.attribute("name", layer.name);
    json.attribute("operator", layer.op);
    json.attribute("quantized", layer.kept.empty());
    if (!layer.kept.empty()) {
      json.attribute("why", layer.kept);
    }
    if (layer.hasRange) {
      json.attribute("low", layer.low);
      json.attribute("high", layer.high);
    }
    if (layer.cosine >= 0) {
      json.attribute("cosine", layer.cosine);
      writeDecibels(json, layer.sqnr);
    }
    if (layer.alone >= 0) {
      json.attribute("drop_alone", layer.alone);
    }
    json.attribute("weight_bytes_before", layer.bytesBefore);
    json.attribute("weight_bytes_after", layer.bytesAfter);
    if (layer.secondsBefore >= 0) {
      json.attribute("us_before", layer.secondsBefore * 1e6);
      json.attribute("us_after", layer.secondsAfter * 1e6);
    }
  });
}

std::string quantizeJson(const ptq::Options &options, const QuantizeFacts &facts) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::json::OStream json(out);
  json.object([&] {
    json.attribute("model", facts.path);
    json.attribute("scheme", options.scheme);
    json.attribute("method", options.method);
    json.attribute("samples", facts.samples);
    json.attribute("bytes_before", facts.bytesBefore);
    json.attribute("bytes_after", facts.bytesAfter);
    if (facts.secondsBefore >= 0) {
      json.attribute("us_before", facts.secondsBefore * 1e6);
      json.attribute("us_after", facts.secondsAfter * 1e6);
    }
    if (!facts.outputs.empty()) {
      json.attribute("cosine", facts.leastCosine());
    }
    if (facts.layers.empty()) {
      json.attribute("nodes_converted", facts.nodes.converted);
      json.attribute("nodes_kept", facts.nodes.kept);
      json.attributeArray("kept", [&] {
        for (const ptq::KeptNode &node : facts.beyond) {
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
          json.attribute("cosine", output.cosine);
          writeDecibels(json, output.sqnr);
        });
      }
    });
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
