// --dim seq=64,128: the imported model is copied, the symbol is a number in the types of each copy's arguments, and
// every phase runs on all of them. Where --dim asks for nothing of the kind, small models get a body for a batch of 1
// (SmallModel.cpp). --levels: what all machines have in common is done once; then each gets a copy of every body.
// --with-host-fallback: in the same way each body gets a copy that has no devices with memories of their own.
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

static constexpr size_t mostBodies = 16;

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
static Body bodyFor(State &s, OwningOpRef<ModuleOp> imported, const Values &values) {
  Body body{"", values, std::move(imported), s.model().info, s.devices};
  for (const auto &[symbol, size] : values) {
    body.suffix += "_" + support::asWord(symbol) + std::to_string(size);
  }
  while (llvm::any_of(s.bodies, [&](const Body &other) { return other.suffix == body.suffix; })) {
    body.suffix += "_"; // symbols may be alike as words
  }
  replaceSymbols(body.function(), numbersOf(values));
  return body;
}

/// Results keep the axes that the general body gives them: where its sizes of 1 are numbers, a Squeeze without axes
/// takes them away.
static LogicalResult giveAxes(Body &body, func::FuncOp general) {
  func::FuncOp function = body.function();
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder b(end);
  for (auto [i, like] : llvm::enumerate(general.getResultTypes())) {
    RankedTensorType own = onnx::ranked(end->getOperand(i)), wanted = dyn_cast<RankedTensorType>(like);
    if (!own || !wanted || own.getRank() == wanted.getRank()) {
      continue;
    }
    onnx::Sizes sizes = onnx::sizesOf(wanted);
    llvm::for_each(sizes, [&](Size &size) { size = size.replaced(numbersOf(body.sizes)); });
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

/// Bodies of several sizes and machines store equal weights once.
static void add(State &s, Body body) {
  s.bodies.push_back(std::move(body));
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

LogicalResult makeBodies(State &s) {
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
  llvm::erase_if(all, [](const Values &values) { return values.empty(); }); // the general body
  if (all.size() > mostBodies) {
    return emitError(function.getLoc(), "--dim asks for ")
           << all.size() << " bodies, all combinations of sizes; at most " << mostBodies << " are made";
  }
  for (const Values &values : all) {
    add(s, bodyFor(s, s.model().module->clone(), values));
  }
  return success();
}

void makeLevels(State &s) {
  if (s.options.levels.empty()) {
    return;
  }
  std::vector<Body> models(std::make_move_iterator(s.bodies.begin() + 1), std::make_move_iterator(s.bodies.end()));
  s.bodies.resize(1);
  Body &general = s.model();
  if (general.runs) {
    models.push_back({models.empty() ? "" : "_any", {}, general.module->clone(), general.info});
    general.runs = false;
  }
  for (auto [number, device] : llvm::enumerate(s.devices)) {
    std::string level;
    for (char c : device.machine.spec) {
      level += llvm::isAlnum(c) ? c : '_';
    }
    for (Body &model : models) {
      s.bodies.push_back({model.suffix + "_" + level,
                          model.sizes,
                          OwningOpRef<ModuleOp>(model.module->clone()),
                          model.info,
                          {device},
                          unsigned(number)});
    }
  }
}

std::vector<Body> hostBodies(State &s) {
  std::vector<Body> copies;
  auto copy = [&](const Body &body) {
    if (!body.runs) {
      return;
    }
    Body &made = copies.emplace_back(
        Body{body.suffix + "_host", body.sizes, OwningOpRef<ModuleOp>(body.module.get().clone()), body.info});
    made.onHost = true;
    llvm::copy_if(body.devices, std::back_inserter(made.devices),
                  [](const partition::Device &device) { return !device.machine.hasOwnMemory; });
  };
  llvm::for_each(llvm::drop_begin(s.bodies), copy); // those for some sizes are asked before the one for all
  copy(s.model());
  return copies;
}

partition::Policy hostPolicy(const State &s) {
  partition::Policy policy = s.policy;
  policy.fallback = true, policy.reserved.clear();
  policy.demands.clear(), policy.overrides.clear();
  std::vector<int> numbers; // of the devices among those of the host; -1: they have a memory of their own
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

LogicalResult describeBodies(State &s, Body &body) {
  if (s.bodies.size() > 1 && !body.info.dataDependentSizes.empty()) {
    return emitError(body.function().getLoc(),
                     "--dim asks for bodies for several sizes, which are unsupported where a run "
                     "finds sizes in data: ")
           << body.info.dataDependentSizes.front().name;
  }
  for (const auto &[name, choice] : s.choices) {
    for (plan::SymbolInfo &symbol : body.info.symbols) {
      if (symbol.name == name) {
        symbol.sizes = choice.sizes;
        symbol.others = choice.others;
        for (int64_t size : choice.sizes) { // its body may take what the general one refuses
          symbol.least = std::min(symbol.least, size);
          symbol.most = symbol.most < 0 ? -1 : std::max(symbol.most, size);
        }
      }
    }
  }
  return success();
}

/// What is told of the model is what phases tell of the general body or, where that one does not run, of the first one.
static Result &resultOf(State &s, Body &body, bool description) {
  Body &reported = description || s.model().runs ? s.model() : s.bodies[1];
  return &body == &reported ? s.result : body.result;
}

/// "seq = 64", "x86-64-v3, seq = 64"
static std::string bodyText(State &s, const Body &body) {
  std::string text = s.model().info.levels.empty() ? "" : body.devices.front().machine.spec;
  for (const auto &[symbol, size] : body.sizes) {
    text += (text.empty() ? "" : ", ") + symbol + " = " + std::to_string(size);
  }
  if (body.onHost) {
    text += text.empty() ? "no devices" : ", no devices";
  }
  return text;
}

LogicalResult onEachBody(State &s, BodyPhase phase, bool description) {
  for (Body &body : s.bodies) {
    s.weights.setReader(body.level);
    bool wanted = body.runs || description;
    if (wanted && failed(phase(s, body, resultOf(s, body, description)))) {
      return failure();
    }
  }
  return success();
}

LogicalResult simplifyBodies(State &s, BodyPhase simplify) {
  std::string batch = s.choices.empty() && s.options.caches.empty() ? batchOf(s.model().function()) : "";
  OwningOpRef<ModuleOp> imported = batch.empty() ? nullptr : s.model().module->clone();
  if (failed(onEachBody(s, simplify, /*description=*/true))) {
    return failure();
  }
  for (Body &body : llvm::drop_begin(s.bodies)) {
    if (failed(giveAxes(body, s.model().function()))) {
      return failure();
    }
  }
  if (batch.empty() || !deservesBodyForOne(s.model().function(), batch)) {
    return success();
  }
  Body body = bodyFor(s, std::move(imported), {{batch, 1}});
  ScopedDiagnosticHandler silent(&s.context, [](Diagnostic &) { return success(); }); // all has been said of the model
  if (failed(simplify(s, body, body.result)) || failed(giveAxes(body, s.model().function()))) {
    return success();
  }
  // Sizes that a run finds are not dispatched, nor may one body find what the others know. Perhaps no run has one.
  describe(body.function(), body.info);
  bool isPossible =
      llvm::none_of(body.info.symbols, [](const plan::SymbolInfo &symbol) { return symbol.isImpossible(); });
  if (isPossible && onnx::symbolsDefinedInside(body.function()).empty()) {
    s.choices[batch] = {{1}, true};
    add(s, std::move(body));
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

/// The sizes and the machine of the runs that a body takes.
static entry::BodySizes runsOf(State &s, const Body &body) {
  const plan::ModelInfo &library = s.model().info;
  entry::BodySizes runs{body.suffix, {}, library.levels.empty() ? 0 : body.devices.front().machine.level, body.onHost};
  for (const plan::SymbolInfo &symbol : library.symbols) {
    auto value = body.sizes.find(symbol.name);
    runs.sizes.push_back(value == body.sizes.end() ? std::nullopt : std::optional(value->second));
  }
  return runs;
}

/// Builds the entry of a body other than the general one. Numbers of nodes and launches count through all bodies.
static void finish(State &s, Body &body, bool first, void (*build)(State &, Body &, Result &)) {
  plan::ModelInfo &library = s.model().info;
  body.info.symbols = library.symbols;
  body.info.nodes = library.nodes;
  body.info.launches = library.launches;
  if (body.onHost) { // its NAME_plan has the type of the others', which tell of devices
    body.info.devices = (s.model().runs ? s.model() : s.bodies[1]).info.devices;
  }
  Result &report = resultOf(s, body, /*description=*/false);
  report.body = bodyText(s, body);
  build(s, body, report);
  library.nodes = body.info.nodes;
  library.launches = body.info.launches;
  library.makesStrings |= body.info.makesStrings;
  if (library.allocations.empty()) { // what one body asks for, the others ask for as well
    library.allocations = body.info.allocations;
  }
  bool isOnlyOne = first && !s.model().runs; // nothing is known of the general body's memory
  for (auto [output, own] : llvm::zip_equal(library.outputs, body.info.outputs)) {
    output.inPlaceOf = isOnlyOne || output.inPlaceOf == own.inPlaceOf ? own.inPlaceOf : -1;
  }
}

void joinBodies(State &s, void (*build)(State &, Body &, Result &)) {
  Body &general = s.model();
  if (s.bodies.size() == 1) {
    build(s, general, s.result);
    return;
  }
  std::vector<entry::BodySizes> entries;
  int64_t most = 0, kernels = 0;
  std::vector<plan::DeviceInfo> devices;
  auto larger = [](int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : std::max(a, b); };
  auto add = [&](const Body &body) {
    most = larger(most, body.info.workspaceBytes);
    general.info.hostFallback |= body.onHost;
    devices.resize(body.info.devices.size()); // the same ones in all bodies
    for (auto [all, own] : llvm::zip_equal(devices, body.info.devices)) {
      int64_t workspace = larger(all.workspaceBytes, own.workspaceBytes);
      all = own, all.workspaceBytes = workspace;
    }
    kernels += body.info.kernels;
    entries.push_back(runsOf(s, body));
  };
  auto others = llvm::drop_begin(s.bodies);
  SmallVector<std::pair<size_t, size_t>> launches; // of each of the others: the first one, and how many
  for (Body &body : others) {
    size_t first = general.info.launches.size();
    finish(s, body, &body == &s.bodies[1], build);
    launches.push_back({first, general.info.launches.size() - first});
    add(body);
    if (&resultOf(s, body, /*description=*/false) != &s.result) {
      s.result.bodies.push_back(std::move(body.result));
    }
  }
  if (general.runs) { // what no other body takes
    general.suffix = "_any";
    build(s, general, s.result);
    add(general);
  } else {
    general.function().erase();
  }
  for (auto [body, own] : llvm::zip_equal(others, launches)) {
    moveInto(*general.module, *body.module, MutableArrayRef(general.info.launches).slice(own.first, own.second));
  }
  s.bodies.resize(1);
  plan::ModelInfo &library = s.model().info;
  library.workspaceBytes = most;
  library.devices = std::move(devices);
  library.arenaBytes = s.result.arenaBytes = most <= 0 ? most : most - library.workspaceAlign;
  library.kernels = kernels;
  s.result.kernels = static_cast<int64_t>(s.result.launches.size()); // of a run
  entry::buildDispatch(*s.model().module, library, entries);
}

} // namespace ingot::pipeline
