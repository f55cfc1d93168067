// --dim seq=64,128: the imported model is copied, the symbol is a number in the types of each copy's arguments, and
// every phase runs on all of them. Where --dim asks for nothing of the kind, small models get a variant for a batch of
// 1 (SmallModel.cpp). --levels: what all machines have in common is done once; then each gets a copy of every variant.
// --with-host-fallback: in the same way each variant gets a copy that has no devices with memories of their own.
// Weights are in one table, in which equal constants under equal recipes are stored once.
#include "compiler/entry/BuildDispatch.h"
#include "compiler/onnx/rewriting/Formula.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/pipeline/State.h"
#include "compiler/support/SymbolNames.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::pipeline {

static constexpr size_t mostVariants = 16;

using Values = std::map<std::string, int64_t>;

/// Returns a function that puts numbers in the place of symbols; one without a number stays.
static auto numbersOf(const Values &values) {
  return [&values](support::Symbol symbol) {
    auto value = values.find(symbol.str());
    return value == values.end() ? Size(symbol) : Size(value->second);
  };
}

static void replaceIn(Value v, llvm::function_ref<Size(support::Symbol)> symbol) {
  if (auto type = dyn_cast<RankedTensorType>(v.getType())) {
    onnx::Sizes sizes = onnx::sizesOf(type);
    for (Size &size : sizes) {
      size = size.replaced(symbol);
    }
    v.setType(onnx::sizedType(sizes, type.getElementType()));
  }
}

/// Nothing speaks of the symbols any more: types of what loops carry, and what ops required, would be taken for other
/// sizes than those of which the arguments are.
void replaceSymbols(func::FuncOp function, llvm::function_ref<Size(support::Symbol)> symbol) {
  support::Facts known = onnx::factsOf(function);
  function.walk([&](Operation *op) {
    onnx::replaceSizes(op, [&](const Size &size) { return size.replaced(symbol); });
    llvm::for_each(op->getResults(), [&](Value v) { replaceIn(v, symbol); });
    for (Region &region : op->getRegions()) {
      llvm::for_each(region.getArguments(), [&](Value v) { replaceIn(v, symbol); });
    }
  });
  // A result may be an argument.
  Block &block = function.getBody().front();
  function.setType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  onnx::Sizes facts;
  function->removeAttr(onnx::checksName);
  for (const Size &fact : known.sizes()) {
    if (Size rest = fact.replaced(symbol); !rest.isNumber() && !llvm::is_contained(facts, rest)) {
      facts.push_back(rest);
      onnx::addCheck(function, {{rest}, ""});
    }
  }
  onnx::setFacts(function, facts);
}

/// A copy of an imported model for some sizes.
static Variant variantFor(State &s, OwningOpRef<ModuleOp> imported, const Values &values) {
  Variant variant{"", values, std::move(imported), s.model().info, s.devices};
  for (const auto &[symbol, size] : values) {
    variant.suffix += "_" + support::asWord(symbol) + std::to_string(size);
  }
  while (llvm::any_of(s.variants, [&](const Variant &other) { return other.suffix == variant.suffix; })) {
    variant.suffix += "_"; // symbols may be alike as words
  }
  replaceSymbols(variant.function(), numbersOf(values));
  return variant;
}

/// Results keep the axes that the general variant gives them: where its sizes of 1 are numbers, a Squeeze without axes
/// takes them away.
static LogicalResult giveAxes(Variant &variant, func::FuncOp general) {
  func::FuncOp function = variant.function();
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder b(end);
  for (auto [i, like] : llvm::enumerate(general.getResultTypes())) {
    RankedTensorType own = onnx::ranked(end->getOperand(i)), wanted = dyn_cast<RankedTensorType>(like);
    if (!own || !wanted || own.getRank() == wanted.getRank()) {
      continue;
    }
    onnx::Sizes sizes = onnx::sizesOf(wanted);
    llvm::for_each(sizes, [&](Size &size) { size = size.replaced(numbersOf(variant.sizes)); });
    auto longer = [](ArrayRef<Size> all) {
      return llvm::to_vector(llvm::make_filter_range(all, [](const Size &size) { return !size.is(1); }));
    };
    if (longer(sizes) != longer(onnx::sizesOf(own))) {
      return emitError(function.getLoc(), "output ")
             << i << " has other axes for some sizes of --dim: " << onnx::textOf(onnx::sizesOf(own)) << " and "
             << onnx::textOf(sizes);
    }
    end->setOperand(i, onnx::Formula(b, function.getLoc()).reshapeTo(end->getOperand(i), sizes));
  }
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(), end->getOperandTypes()));
  return success();
}

/// Variants of several sizes and machines store equal weights once.
static void add(State &s, Variant variant) {
  s.variants.push_back(std::move(variant));
  s.weights.shareEqual();
}

/// Assigns what the flags say to the symbols that stay open.
static LogicalResult resolveFlags(State &s) {
  func::FuncOp function = s.model().function();
  std::vector<importer::OpenAxis> axes = importer::openAxes(function);
  for (const auto &[name, choice] : s.options.choices) {
    std::vector<std::string> symbols = importer::symbolsNamed(axes, name);
    if (symbols.empty()) {
      return emitError(function.getLoc(), "--dim gives sizes to '")
             << name << "', which is not an open dimension of any input";
    }
    for (const std::string &symbol : symbols) {
      s.choices[support::symbolText(symbol)] = choice;
    }
  }
  for (const auto &[name, bounds] : s.options.bounds) {
    for (const std::string &symbol : importer::symbolsNamed(axes, name)) {
      s.bounds[support::symbolText(symbol)] = bounds;
    }
  }
  return success();
}

LogicalResult makeVariants(State &s) {
  if (failed(resolveFlags(s))) {
    return failure();
  }
  func::FuncOp function = s.model().function();
  std::vector<Values> all = {{}};
  for (const auto &[symbol, choice] : s.choices) {
    std::vector<Values> more;
    for (const Values &values : all) {
      for (int64_t size : choice.sizes) {
        more.push_back(values);
        more.back()[symbol] = size;
      }
      if (choice.others) {
        more.push_back(values);
      }
    }
    all = std::move(more);
    s.model().runs &= choice.others;
  }
  llvm::erase_if(all, [](const Values &values) { return values.empty(); }); // the general variant
  if (all.size() > mostVariants) {
    return emitError(function.getLoc(), "--dim asks for ")
           << all.size() << " variants, all combinations of sizes; at most " << mostVariants << " are made";
  }
  for (const Values &values : all) {
    add(s, variantFor(s, s.model().module->clone(), values));
  }
  return success();
}

void makeLevels(State &s) {
  if (s.options.levels.empty()) {
    return;
  }
  std::vector<Variant> models(std::make_move_iterator(s.variants.begin() + 1),
                              std::make_move_iterator(s.variants.end()));
  s.variants.resize(1);
  Variant &general = s.model();
  if (general.runs) {
    models.push_back({models.empty() ? "" : "_any", {}, general.module->clone(), general.info});
    general.runs = false;
  }
  for (auto [number, device] : llvm::enumerate(s.devices)) {
    std::string level;
    for (char c : device.machine.spec) {
      level += llvm::isAlnum(c) ? c : '_';
    }
    for (Variant &model : models) {
      s.variants.push_back({model.suffix + "_" + level,
                            model.sizes,
                            OwningOpRef<ModuleOp>(model.module->clone()),
                            model.info,
                            {device},
                            unsigned(number)});
    }
  }
}

std::vector<Variant> hostVariants(State &s) {
  std::vector<Variant> copies;
  auto copy = [&](const Variant &variant) {
    if (!variant.runs) {
      return;
    }
    Variant &made = copies.emplace_back(Variant{variant.suffix + "_host", variant.sizes,
                                                OwningOpRef<ModuleOp>(variant.module.get().clone()), variant.info});
    made.onHost = true;
    llvm::copy_if(variant.devices, std::back_inserter(made.devices),
                  [](const partition::Device &device) { return !device.machine.hasOwnMemory; });
  };
  llvm::for_each(llvm::drop_begin(s.variants), copy); // those for some sizes are asked before the one for all
  copy(s.model());
  return copies;
}

partition::Policy policyOf(const State &s, const Variant &variant) {
  partition::Policy policy = s.policy;
  if (!variant.onHost) {
    return policy;
  }
  policy.fallback = true, policy.reserved.clear();
  policy.demands.clear(), policy.overrides.clear();
  std::vector<int> numbers; // of the devices among those of the host; -1: they have a memory of their own
  numbers.reserve(s.devices.size());
  int count = 0;
  for (const partition::Device &device : s.devices) {
    numbers.push_back(device.machine.hasOwnMemory ? -1 : count++);
  }
  auto keep = [&](const auto &all, auto &kept) {
    for (auto each : all) {
      if ((each.device = numbers[each.device]) >= 0) {
        kept.push_back(each);
      }
    }
  };
  keep(s.policy.demands, policy.demands);
  keep(s.policy.overrides, policy.overrides);
  return policy;
}

LogicalResult describeVariants(State &s, Variant &variant) {
  if (s.variants.size() > 1 && !variant.info.dataDependentSizes.empty()) {
    return emitError(variant.function().getLoc(),
                     "--dim asks for variants for several sizes, which are unsupported where a run "
                     "finds sizes in data: ")
           << variant.info.dataDependentSizes.front().name;
  }
  for (const auto &[name, choice] : s.choices) {
    for (plan::SymbolInfo &symbol : variant.info.symbols) {
      if (symbol.name == name) {
        symbol.sizes = choice.sizes;
        symbol.others = choice.others;
        for (int64_t size : choice.sizes) { // its variant may take what the general one refuses
          symbol.least = std::min(symbol.least, size);
          symbol.most = symbol.most < 0 ? -1 : std::max(symbol.most, size);
        }
      }
    }
  }
  return success();
}

/// What is told of the model is what phases tell of the general variant or, where that one does not run, of the first
/// one.
static Result &resultOf(State &s, Variant &variant, bool description) {
  Variant &reported = description || s.model().runs ? s.model() : s.variants[1];
  return &variant == &reported ? s.result : variant.result;
}

/// "seq = 64", "x86-64-v3, seq = 64"
static std::string variantText(State &s, const Variant &variant) {
  std::string text = s.model().info.levels.empty() ? "" : variant.devices.front().machine.spec;
  for (const auto &[symbol, size] : variant.sizes) {
    text += (text.empty() ? "" : ", ") + symbol + " = " + std::to_string(size);
  }
  if (variant.onHost) {
    text += text.empty() ? "no devices" : ", no devices";
  }
  return text;
}

LogicalResult onEachVariant(State &s, VariantPhase phase, bool description) {
  for (Variant &variant : s.variants) {
    s.weights.setReader(variant.level);
    bool wanted = variant.runs || description;
    if (wanted && failed(phase(s, variant, resultOf(s, variant, description)))) {
      return failure();
    }
  }
  return success();
}

LogicalResult simplifyVariants(State &s, VariantPhase simplify) {
  std::string batch = s.choices.empty() && s.options.caches.empty() ? batchOf(s.model().function()) : "";
  OwningOpRef<ModuleOp> imported = batch.empty() ? nullptr : s.model().module->clone();
  if (failed(onEachVariant(s, simplify, /*description=*/true))) {
    return failure();
  }
  for (Variant &variant : llvm::drop_begin(s.variants)) {
    if (failed(giveAxes(variant, s.model().function()))) {
      return failure();
    }
  }
  if (batch.empty() || !deservesVariantForOne(s.model().function(), batch)) {
    return success();
  }
  Variant variant = variantFor(s, std::move(imported), {{batch, 1}});
  ScopedDiagnosticHandler silent(&s.context, [](Diagnostic &) { return success(); }); // all has been said of the model
  if (failed(simplify(s, variant, variant.result)) || failed(giveAxes(variant, s.model().function()))) {
    return success();
  }
  // Sizes that a run finds are not dispatched, nor may one variant find what the others know. Perhaps no run has one.
  describe(variant.function(), variant.info);
  bool isPossible =
      llvm::none_of(variant.info.symbols, [](const plan::SymbolInfo &symbol) { return symbol.isImpossible(); });
  if (isPossible && onnx::symbolsDefinedInside(variant.function()).empty()) {
    s.choices[batch] = {{1}, true};
    add(s, std::move(variant));
  }
  return success();
}

/// Moves everything into `to`; functions whose names are taken get others, as do the kernels of `launches`.
static void moveInto(ModuleOp to, ModuleOp from, MutableArrayRef<plan::LaunchInfo> launches) {
  SymbolTable taken(to);
  llvm::StringMap<std::string> names;
  for (func::FuncOp function : from.getOps<func::FuncOp>()) {
    std::string name = function.getName().str();
    for (int number = 0;
         !function.isExternal() && (taken.lookup(name) || (number > 0 && SymbolTable(from).lookup(name))); ++number) {
      name = (function.getName() + "_" + llvm::Twine(number)).str();
    }
    names[function.getName()] = name;
  }
  for (plan::LaunchInfo &launch : launches) {
    launch.function = names.lookup(launch.function);
  }
  AttrTypeReplacer renamed;
  renamed.addReplacement([&](FlatSymbolRefAttr symbol) {
    auto name = names.find(symbol.getValue());
    return name == names.end() ? symbol : FlatSymbolRefAttr::get(symbol.getContext(), name->second);
  });
  renamed.recursivelyReplaceElementsIn(from);
  for (Operation &op : llvm::make_early_inc_range(*from.getBody())) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (function && !function.isExternal()) {
      function.setName(names.lookup(function.getName()));
    } else if (taken.lookup(SymbolTable::getSymbolName(&op))) {
      continue; // the weights, functions of the support library
    }
    op.remove();
    to.push_back(&op);
  }
}

/// The sizes and the machine of the runs that a variant takes.
static entry::VariantSizes runsOf(State &s, const Variant &variant) {
  const plan::ModelInfo &library = s.model().info;
  entry::VariantSizes runs{
      variant.suffix, {}, library.levels.empty() ? 0 : variant.devices.front().machine.level, variant.onHost};
  for (const plan::SymbolInfo &symbol : library.symbols) {
    auto value = variant.sizes.find(symbol.name);
    runs.sizes.push_back(value == variant.sizes.end() ? std::nullopt : std::optional(value->second));
  }
  return runs;
}

/// Builds the entry of a variant other than the general one. Numbers of nodes and launches count through all variants.
static void finish(State &s, Variant &variant, bool first, void (*build)(State &, Variant &, Result &)) {
  plan::ModelInfo &library = s.model().info;
  variant.info.symbols = library.symbols;
  variant.info.nodes = library.nodes;
  variant.info.launches = library.launches;
  variant.info.reads = library.reads;
  if (variant.onHost) { // its NAME_plan has the type of the others', which tell of devices
    variant.info.devices = (s.model().runs ? s.model() : s.variants[1]).info.devices;
  }
  Result &report = resultOf(s, variant, /*description=*/false);
  report.variant = variantText(s, variant);
  build(s, variant, report);
  library.nodes = variant.info.nodes;
  library.launches = variant.info.launches;
  library.reads = variant.info.reads;
  library.makesStrings |= variant.info.makesStrings;
  if (library.allocations.empty()) { // what one variant asks for, the others ask for as well
    library.allocations = variant.info.allocations;
  }
  bool isOnlyOne = first && !s.model().runs; // nothing is known of the general variant's memory
  for (auto [output, own] : llvm::zip_equal(library.outputs, variant.info.outputs)) {
    output.inPlaceOf = isOnlyOne || output.inPlaceOf == own.inPlaceOf ? own.inPlaceOf : -1;
  }
}

/// Makes the parts that memories have of the workspace large enough for one more variant.
static void join(ArrayRef<plan::MemoryInfo> own, std::vector<plan::MemoryInfo> &all) {
  if (all.empty()) {
    all.assign(own.begin(), own.end());
  }
  int64_t end = 0;
  for (auto [memory, other] : llvm::zip_equal(all, own)) {
    memory.workspaceAt = end;
    memory.workspaceBytes = std::max(memory.workspaceBytes, other.workspaceBytes);
    memory.trafficBytes = std::max(memory.trafficBytes, other.trafficBytes);
    end += memory.workspaceBytes;
  }
}

void joinVariants(State &s, void (*build)(State &, Variant &, Result &)) {
  Variant &general = s.model();
  if (s.variants.size() == 1) {
    build(s, general, s.result);
    return;
  }
  std::vector<entry::VariantSizes> entries;
  int64_t most = 0, kernels = 0, streamed = 0;
  std::vector<plan::DeviceInfo> devices;
  std::vector<plan::MemoryInfo> memories;
  auto larger = [](int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : std::max(a, b); };
  auto add = [&](const Variant &variant) {
    most = larger(most, variant.info.workspaceBytes);
    streamed = larger(streamed, variant.info.streamBytes);
    general.info.hostFallback |= variant.onHost;
    join(variant.info.memories, memories);
    devices.resize(variant.info.devices.size()); // the same ones in all variants
    for (auto [all, own] : llvm::zip_equal(devices, variant.info.devices)) {
      int64_t workspace = larger(all.workspaceBytes, own.workspaceBytes);
      all = own, all.workspaceBytes = workspace;
    }
    kernels += variant.info.kernels;
    entries.push_back(runsOf(s, variant));
  };
  auto others = llvm::drop_begin(s.variants);
  SmallVector<std::pair<size_t, size_t>> launches; // of each of the others: the first one, and how many
  for (Variant &variant : others) {
    size_t first = general.info.launches.size();
    finish(s, variant, &variant == &s.variants[1], build);
    launches.push_back({first, general.info.launches.size() - first});
    add(variant);
    if (&resultOf(s, variant, /*description=*/false) != &s.result) {
      s.result.variants.push_back(std::move(variant.result));
    }
  }
  if (general.runs) { // what no other variant takes
    general.suffix = "_any";
    build(s, general, s.result);
    add(general);
  } else {
    general.function().erase();
  }
  for (auto [variant, own] : llvm::zip_equal(others, launches)) {
    moveInto(*general.module, *variant.module, MutableArrayRef(general.info.launches).slice(own.first, own.second));
  }
  s.variants.resize(1);
  plan::ModelInfo &library = s.model().info;
  if (!memories.empty()) { // the largest part of each memory may be another variant's
    most = memories.back().workspaceAt + memories.back().workspaceBytes;
  }
  library.workspaceBytes = most;
  library.devices = std::move(devices);
  library.memories = s.result.memories = std::move(memories);
  library.arenaBytes = s.result.arenaBytes = most <= 0 ? most : most - library.workspaceAlign;
  library.kernels = kernels;
  library.streamBytes = s.result.streamBytes = streamed;
  s.result.reads = library.reads;
  s.result.kernels = static_cast<int64_t>(s.result.launches.size()); // of a run
  entry::buildDispatch(*s.model().module, library, entries);
}

} // namespace ingot::pipeline
