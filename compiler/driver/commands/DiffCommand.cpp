// Runs `ingot diff`: says what grew and shrank between two manifests, for reviews of a change.
//
// Three things are compared: figures of the whole model, the code of functions by their names, and inputs and outputs
// by theirs. A thing that only one manifest has is null in JSON and "-" in the table.
#include "compiler/driver/Driver.h"
#include "compiler/driver/ModelFacts.h"
#include "compiler/driver/execution/Manifest.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {
namespace {

/// A figure in both manifests; nothing: that manifest does not have it.
struct Change {
  std::string name;
  std::optional<int64_t> before, after;
  int64_t growth() const { return after.value_or(0) - before.value_or(0); }
};

/// An input or output, as "float32[1,3]".
struct TensorChange {
  std::string kind, name;
  std::optional<std::string> before, after;
};

std::optional<int64_t> known(int64_t bytes) { return bytes < 0 ? std::nullopt : std::optional(bytes); }

std::vector<Change> figures(const Manifest &a, const Manifest &b) {
  auto row = [](const char *name, int64_t before, int64_t after) { return Change{name, known(before), known(after)}; };
  // An earlier manifest does not have them, nor does one of C++ source.
  auto constants = [](const Manifest &manifest) { return manifest.sizes.flash < 0 ? -1 : manifest.sizes.constants; };
  std::vector<Change> rows = {
      row("flash", a.sizes.flash, b.sizes.flash),   row("ram", a.sizes.ram, b.sizes.ram),
      row("weights", a.weightBytes, b.weightBytes), row("code", a.codeBytes, b.codeBytes),
      row("constants", constants(a), constants(b)), row("workspace", a.workspaceBytes, b.workspaceBytes),
      row("kernels", a.kernels, b.kernels)};
  if (a.sizes.stack.bytes >= 0 || b.sizes.stack.bytes >= 0) {
    rows.push_back(row("stack", a.sizes.stack.bytes, b.sizes.stack.bytes));
  }
  if (a.sizes.cycles.cycles >= 0 || b.sizes.cycles.cycles >= 0) {
    rows.push_back(row("cycles", a.sizes.cycles.cycles, b.sizes.cycles.cycles));
  }
  if (a.streamsWeights() || b.streamsWeights()) {
    rows.push_back(row("streamed weights", a.streamedBytes, b.streamedBytes));
    rows.push_back(row("workspace for them", a.streamBytes, b.streamBytes));
  }
  auto partIn = [](const Manifest &manifest, const std::string &name) -> std::optional<int64_t> {
    auto memory = llvm::find_if(manifest.memories, [&](const plan::MemoryInfo &each) { return each.name == name; });
    return memory == manifest.memories.end() ? std::nullopt : std::optional(memory->workspaceBytes);
  };
  for (const plan::MemoryInfo &memory : b.memories) {
    rows.push_back({"workspace in " + memory.name, partIn(a, memory.name), memory.workspaceBytes});
  }
  for (const plan::MemoryInfo &memory : a.memories) {
    if (!partIn(b, memory.name)) {
      rows.push_back({"workspace in " + memory.name, memory.workspaceBytes, std::nullopt});
    }
  }
  return rows;
}

/// Returns the functions whose code has another size, the largest change first.
std::vector<Change> functions(const Manifest &a, const Manifest &b) {
  // Functions of a model may share a name only if they are local to different objects; their sizes are added up then.
  auto add = [](std::optional<int64_t> &sum, int64_t bytes) { sum = sum.value_or(0) + bytes; };
  std::map<std::string, Change> all;
  for (const emit::FunctionSize &function : a.sizes.functions) {
    add(all[function.name].before, function.bytes);
  }
  for (const emit::FunctionSize &function : b.sizes.functions) {
    add(all[function.name].after, function.bytes);
  }
  std::vector<Change> changes;
  for (auto &[name, change] : all) {
    if (change.before != change.after) {
      change.name = name;
      changes.push_back(change);
    }
  }
  llvm::sort(changes, [](const Change &x, const Change &y) {
    return std::pair(-std::abs(x.growth()), x.name) < std::pair(-std::abs(y.growth()), y.name);
  });
  return changes;
}

std::string typeText(const plan::TensorInfo &tensor) {
  std::string text = support::elementType(tensor.type).name.str() + "[";
  for (const support::Size &dim : tensor.dims) {
    text += (text.back() == '[' ? "" : ",") + dim.text();
  }
  return text + "]";
}

void addTensors(const char *kind, llvm::ArrayRef<plan::TensorInfo> before, llvm::ArrayRef<plan::TensorInfo> after,
                std::vector<TensorChange> &changes) {
  auto find = [](llvm::ArrayRef<plan::TensorInfo> tensors, const std::string &name) -> std::optional<std::string> {
    const auto *found = llvm::find_if(tensors, [&](const plan::TensorInfo &tensor) { return tensor.name == name; });
    return found == tensors.end() ? std::nullopt : std::optional(typeText(*found));
  };
  for (const plan::TensorInfo &tensor : before) {
    if (auto now = find(after, tensor.name); now != typeText(tensor)) {
      changes.push_back({kind, tensor.name, typeText(tensor), now});
    }
  }
  for (const plan::TensorInfo &tensor : after) {
    if (!find(before, tensor.name)) {
      changes.push_back({kind, tensor.name, std::nullopt, typeText(tensor)});
    }
  }
}

void writeJson(const Invocation &invocation, llvm::ArrayRef<Change> sizes, llvm::ArrayRef<Change> code,
               llvm::ArrayRef<TensorChange> tensors) {
  llvm::json::OStream json(llvm::outs());
  auto write = [&](const char *key, const auto &value) {
    json.attribute(key, value ? llvm::json::Value(*value) : llvm::json::Value(nullptr));
  };
  auto list = [&](const char *key, const auto &changes, auto own) {
    json.attributeArray(key, [&] {
      for (const auto &change : changes) {
        json.object([&] {
          own(change);
          json.attribute("name", llvm::json::fixUTF8(change.name));
          write("old", change.before);
          write("new", change.after);
        });
      }
    });
  };
  json.object([&] {
    json.attribute("old", llvm::json::fixUTF8(invocation.manifests[0]));
    json.attribute("new", llvm::json::fixUTF8(invocation.manifests[1]));
    list("sizes", sizes, [](const Change &) {});
    list("functions", code, [](const Change &) {});
    list("tensors", tensors, [&](const TensorChange &change) { json.attribute("kind", change.kind); });
  });
  llvm::outs() << '\n';
}

void printChange(const Change &change, size_t width) {
  auto text = [](std::optional<int64_t> number) { return number ? std::to_string(*number) : "-"; };
  llvm::outs() << "  " << llvm::left_justify(change.name, unsigned(width))
               << llvm::right_justify(text(change.before), 14) << llvm::right_justify(text(change.after), 14);
  if (int64_t growth = change.growth(); change.before && change.after && growth != 0) {
    llvm::outs() << llvm::right_justify((growth > 0 ? "+" : "") + std::to_string(growth), 13);
    if (*change.before > 0) {
      llvm::outs() << llvm::format("  %+.1f %%", 100.0 * double(growth) / double(*change.before));
    }
  }
  llvm::outs() << '\n';
}

void printText(llvm::ArrayRef<Change> sizes, llvm::ArrayRef<Change> code, llvm::ArrayRef<TensorChange> tensors) {
  size_t width = 12;
  for (const Change &change : code) {
    width = std::max(width, change.name.size() + 1);
  }
  llvm::outs() << "  " << std::string(width, ' ') << "           old           new       change\n";
  for (const Change &change : sizes) {
    printChange(change, width);
  }
  llvm::outs() << (code.empty() ? "no function has another size\n" : "bytes of functions that changed\n");
  for (const Change &change : code) {
    printChange(change, width);
  }
  llvm::outs() << (tensors.empty() ? "inputs and outputs are the same\n" : "inputs and outputs that changed\n");
  for (const TensorChange &change : tensors) {
    llvm::outs() << "  " << change.kind << " '" << plainName(change.name)
                 << "': " << plainName(change.before.value_or("-")) << " to " << plainName(change.after.value_or("-"))
                 << '\n';
  }
}

/// Checks --fail-on-growth of flash and ram.
llvm::Error checkGrowth(const Invocation &invocation, llvm::ArrayRef<Change> sizes) {
  for (const Change &change : sizes.take_front(2)) {
    if (!change.before || !change.after) {
      return llvm::createStringError(invocation.manifests[change.before ? 1 : 0] + ": error: does not say how much " +
                                     change.name + " the model takes, which --fail-on-growth compares");
    }
    double most = double(*change.before) * (1 + *invocation.mostGrowth / 100);
    if (double(*change.after) > most) {
      return llvm::createStringError(invocation.manifests[1] + ": error: takes " + llvm::Twine(change.growth()) +
                                     " bytes of " + change.name + " more than before, and --fail-on-growth allows " +
                                     llvm::Twine(int64_t(most) - *change.before));
    }
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error diffCommand(const Invocation &invocation) {
  llvm::Expected<Manifest> before = readManifest(invocation.manifests[0]);
  if (!before) {
    return before.takeError();
  }
  llvm::Expected<Manifest> after = readManifest(invocation.manifests[1]);
  if (!after) {
    return after.takeError();
  }
  std::vector<Change> sizes = figures(*before, *after), code = functions(*before, *after);
  std::vector<TensorChange> tensors;
  addTensors("input", before->inputs, after->inputs, tensors);
  addTensors("output", before->outputs, after->outputs, tensors);
  if (invocation.json) {
    writeJson(invocation, sizes, code, tensors);
  } else {
    printText(sizes, code, tensors);
  }
  return invocation.mostGrowth ? checkGrowth(invocation, sizes) : llvm::Error::success();
}

} // namespace ingot::driver
