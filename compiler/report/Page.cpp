// The page is page.html with the head, the scripts and the data put in their places. All data is one JSON text in
// which '<', '>' and '&' are written as escapes, so that no name of a model, whatever it is, can end the script element
// that holds it; the scripts put names into the page as text, never as markup. The page's own policy forbids everything
// from outside.
#include "compiler/report/Page.h"
#include "compiler/report/Assets.inc"
#include "compiler/report/Json.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::report {
namespace {

using llvm::json::fixUTF8;

void writeTexts(llvm::json::OStream &json, llvm::StringRef key, const std::vector<std::string> &texts) {
  json.attributeArray(key, [&] {
    for (const std::string &text : texts) {
      json.value(fixUTF8(text));
    }
  });
}

/// Returns the estimated cycles of one launch of each kernel, whose launches are all alike.
llvm::StringMap<double> cyclesOfLaunches(const pipeline::Result &result) {
  llvm::StringMap<int64_t> launches;
  for (const pipeline::GraphNode &node : result.launches) {
    ++launches[node.launch.kernel];
  }
  llvm::StringMap<double> cycles;
  for (const emit::FunctionCycles &function : result.functionCycles) {
    if (auto found = launches.find(function.name); found != launches.end()) {
      cycles[function.name] = static_cast<double>(function.cycles) / static_cast<double>(found->second);
    }
  }
  return cycles;
}

/// Writes nodes or launches; `cycles` has the estimated cycles of a launch by its kernel, if they are known.
void writeNodes(llvm::json::OStream &json, llvm::StringRef key, const std::vector<pipeline::GraphNode> &nodes,
                const llvm::StringMap<double> &cycles) {
  json.attributeArray(key, [&] {
    for (const pipeline::GraphNode &node : nodes) {
      json.object([&] {
        json.attribute("name", fixUTF8(node.name));
        json.attribute("op", fixUTF8(node.op));
        json.attribute("type", fixUTF8(node.type));
        json.attribute("step", node.step);
        json.attribute("choice", fixUTF8(node.launch.choice));
        writeTexts(json, "nodes", node.launch.nodes);
        writeTexts(json, "symbols", node.launch.symbols);
        if (!node.launch.kernel.empty()) {
          auto found = cycles.find(node.launch.kernel);
          json.attribute("cycles", found == cycles.end() ? -1 : found->second);
        }
        json.attribute("from", llvm::json::Array(node.from));
      });
    }
  });
}

void writeArena(llvm::json::OStream &json, const pipeline::Result &result) {
  json.attributeArray("buffers", [&] {
    for (const pipeline::BufferLife &buffer : result.buffers) {
      json.object([&] {
        json.attribute("name", fixUTF8(buffer.name));
        json.attribute("offset", buffer.offset);
        json.attribute("bytes", buffer.bytes);
        json.attribute("first", buffer.first);
        json.attribute("last", buffer.last);
        json.attribute("target", fixUTF8(buffer.target.empty() ? buffer.memory : buffer.target));
      });
    }
  });
}

std::string dataText(const pipeline::Result &result, const PageFacts &facts) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("model", fixUTF8(facts.model));
    json.attribute("target", fixUTF8(facts.target));
    json.attribute("body", fixUTF8(facts.variant));
    json.attribute("median", facts.medianSeconds);
    json.attribute("macs",
                   result.macs < 0 ? llvm::json::Value(fixUTF8(result.macsText)) : llvm::json::Value(result.macs));
    json.attribute("arena", result.arenaBytes);
    json.attribute("weights", result.weightBytes);
    json.attribute("code", result.codeBytes);
    json.attribute("cycles", result.cycles);
    writeTexts(json, "inputs", result.inputs);
    llvm::StringMap<double> cycles = cyclesOfLaunches(result);
    writeNodes(json, "before", result.imported, cycles);
    writeNodes(json, "after", result.launches, cycles);
    json.attributeArray("times", [&] {
      for (const LaunchTime &time : facts.kernels) {
        json.object([&] {
          json.attribute("launch", time.launch);
          json.attribute("seconds", time.seconds);
          json.attribute("calls", time.calls);
        });
      }
    });
    writeSizes(json, result);
    writeAllocations(json, result);
    writeArena(json, result);
    writeMemories(json, result);
    writeStream(json, result);
    json.attributeArray("placement", [&] {
      for (const pipeline::NodePlacement &placement : result.placement) {
        writePlacement(json, placement);
      }
    });
    writeTransfers(json, result);
    writeDevices(json, result);
  });
  return text;
}

/// JSON may have any character of a string as an escape; outside of strings it has none of these three.
std::string withoutMarkup(llvm::StringRef json) {
  std::string text;
  text.reserve(json.size());
  for (char c : json) {
    switch (c) {
    case '<':
      text += "\\u003c";
      break;
    case '>':
      text += "\\u003e";
      break;
    case '&':
      text += "\\u0026";
      break;
    default:
      text += c;
    }
  }
  return text;
}

/// Puts parts in the places of their marks, in the order of the page; what was put in is not searched again.
std::string filled(llvm::StringRef page, llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> parts) {
  std::string text;
  for (auto [mark, part] : parts) {
    auto [before, behind] = page.split(mark);
    text += before;
    text += part;
    page = behind;
  }
  return text + page.str();
}

/// Returns what all pages begin with, up to the style of their own.
std::string headText(llvm::StringRef title) {
  std::string text = filled(head_html, {{"/*TITLE*/", title}, {"/*STYLE*/", page_css}});
  text.pop_back(); // the line's end, which the page has behind the mark
  return text;
}

} // namespace

std::string pageText(const pipeline::Result &result, const PageFacts &facts) {
  std::string data = withoutMarkup(dataText(result, facts)), head = headText("ingot report");
  return filled(page_html,
                {{"<!--HEAD-->", head}, {"/*DATA*/", data}, {"/*LAYOUT*/", layout_js}, {"/*PAGE*/", page_js}});
}

std::string quantizedPageText(llvm::StringRef json) {
  std::string data = withoutMarkup(json), head = headText("ingot quantize");
  return filled(quantized_html, {{"<!--HEAD-->", head}, {"/*DATA*/", data}, {"/*PAGE*/", quantized_js}});
}

} // namespace ingot::report
