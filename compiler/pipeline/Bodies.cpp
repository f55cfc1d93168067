// --dim seq=64,128: the imported model is copied, the symbol is a number in the types of each copy's arguments, and
// every phase runs on all of them. Where --dim asks for nothing of the kind, small models get a body for a batch of 1
// (SmallModel.cpp). --levels: what all machines have in common is done once; then each gets a copy of every body.
// Weights are in one table, in which equal constants under equal recipes are stored once.
#include "compiler/importer/Types.h"
#include "compiler/lower/BuildDispatch.h"
#include "compiler/onnx/Shapes.h"
#include "compiler/pipeline/State.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using ingot::support::Size;

namespace ingot::pipeline {

static constexpr size_t mostBodies = 16;

using Values = std::map<std::string, int64_t>;

static Size fixed(const Size &size, const Values &values) {
  auto symbol = [&](StringRef name) {
    auto value = values.find(name.str());
    return value == values.end() ? Size::symbol(name) : Size(value->second);
  };
  auto call = [](StringRef name, const Size &a, const Size &b) {
    return name == "div" ? floorDiv(a, b) : name == "min" ? min(a, b) : max(a, b);
  };
  return size.isUnknown() ? size : size.compute<Size>({symbol, call});
}

/// Types of the arguments and what is known of the symbols; everything else is inferred anew.
static void fix(func::FuncOp function, const Values &values) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    onnx::Sizes sizes = onnx::sizesOf(type);
    for (Size &size : sizes) {
      size = fixed(size, values);
    }
    argument.setType(onnx::sizedType(sizes, type.getElementType()));
  }
  function.setType(FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                                     function.getResultTypes()));
  SmallVector<Attribute> facts;
  onnx::Sizes known = onnx::factsOf(function);
  function->removeAttr(onnx::factsName);
  function->removeAttr(onnx::checksName);
  for (const Size &fact : known) {
    if (Size rest = fixed(fact, values); !rest.isNumber()) {
      facts.push_back(StringAttr::get(function.getContext(), rest.text()));
      onnx::addCheck(function, {rest.text(), ""});
    }
  }
  if (!facts.empty()) {
    function->setAttr(onnx::factsName, ArrayAttr::get(function.getContext(), facts));
  }
}

/// A copy of an imported model for some sizes.
static Body bodyFor(State &s, OwningOpRef<ModuleOp> imported, const Values &values) {
  Body body{"", values, std::move(imported), s.info, s.devices};
  for (const auto &[symbol, size] : values) {
    body.suffix += "_" + symbol + std::to_string(size);
  }
  fix(*body.module->getOps<func::FuncOp>().begin(), values);
  return body;
}

LogicalResult makeBodies(State &s) {
  s.choices = s.options.choices;
  std::vector<std::string> symbols = onnx::symbolsOf(s.function().getArgumentTypes());
  std::vector<Values> all = {{}};
  for (const auto &[name, choice] : s.choices) {
    std::string symbol = importer::symbolOf("", 0, name);
    if (!llvm::is_contained(symbols, symbol)) {
      return emitError(s.function().getLoc(), "--dim gives sizes to '")
             << name << "', which is not an open dimension of any input";
    }
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
    s.generalBody &= choice.others;
  }
  llvm::erase_if(all, [](const Values &values) { return values.empty(); }); // the model itself
  if (all.size() > mostBodies) {
    return emitError(s.function().getLoc(), "--dim asks for ")
           << all.size() << " bodies, all combinations of sizes; at most " << mostBodies << " are made";
  }
  for (const Values &values : all) {
    s.bodies.push_back(bodyFor(s, s.module->clone(), values));
  }
  if (!s.bodies.empty()) {
    s.weights.shareEqual();
  }
  return success();
}

void makeLevels(State &s) {
  if (s.options.levels.empty()) {
    return;
  }
  std::vector<Body> models = std::move(s.bodies);
  if (s.generalBody) {
    models.push_back({models.empty() ? "" : "_any", {}, s.module->clone(), s.info, {}});
  }
  s.bodies.clear();
  s.generalBody = false;
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

LogicalResult tellBodies(State &s) {
  if (!s.bodies.empty() && !s.info.found.empty()) {
    return emitError(s.function().getLoc(),
                     "--dim asks for bodies for several sizes, which are unsupported where a run "
                     "finds sizes in data: ")
           << s.info.found.front().name;
  }
  for (const auto &[name, choice] : s.choices) {
    for (plan::SymbolInfo &symbol : s.info.symbols) {
      if (symbol.name == importer::symbolOf("", 0, name)) {
        symbol.sizes = choice.sizes;
        symbol.others = choice.others;
      }
    }
  }
  return success();
}

/// `tells`: what is told of the model is what phases tell of this body.
static void exchange(State &s, Body &body, bool tells) {
  std::swap(s.module, body.module);
  std::swap(s.info, body.info);
  std::swap(s.devices, body.devices);
  if (!tells) {
    std::swap(s.result, body.result);
  }
}

static LogicalResult onBody(State &s, Body &body, LogicalResult (*phase)(State &), bool tells) {
  exchange(s, body, tells);
  s.weights.setReader(body.level);
  LogicalResult ok = phase(s);
  exchange(s, body, tells);
  return ok;
}

/// "seq = 64", "x86-64-v3, seq = 64"
static std::string bodyText(const State &s, const Body &body) {
  std::string text = s.info.levels.empty() ? "" : body.devices.front().machine.spec;
  for (const auto &[symbol, size] : body.sizes) {
    text += (text.empty() ? "" : ", ") + symbol + " = " + std::to_string(size);
  }
  return text;
}

LogicalResult onEachBody(State &s, LogicalResult (*phase)(State &), bool description) {
  bool general = s.generalBody || description;
  if (general && failed(phase(s))) {
    return failure();
  }
  for (Body &body : s.bodies) { // what is told is about the general body, or the first one
    if (failed(onBody(s, body, phase, !general && &body == &s.bodies.front()))) {
      return failure();
    }
  }
  return success();
}

LogicalResult simplifyBodies(State &s, LogicalResult (*simplify)(State &)) {
  std::string batch = s.choices.empty() && s.options.caches.empty() ? batchOf(s.function()) : "";
  OwningOpRef<ModuleOp> imported = batch.empty() ? nullptr : s.module->clone();
  if (failed(onEachBody(s, simplify, /*description=*/true))) {
    return failure();
  }
  if (batch.empty() || !deservesBodyForOne(s.function(), batch)) {
    return success();
  }
  Body body = bodyFor(s, std::move(imported), {{batch, 1}});
  ScopedDiagnosticHandler silent(&s.context, [](Diagnostic &) { return success(); }); // all has been said of the model
  if (succeeded(onBody(s, body, simplify, /*tells=*/false))) {
    s.choices[batch] = {{1}, true};
    s.bodies.push_back(std::move(body));
    s.weights.shareEqual();
  }
  return success();
}

/// Moves everything into `to`; functions whose names are taken get others.
static void moveInto(ModuleOp to, ModuleOp from) {
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
  from.walk([&](func::CallOp call) { call.setCallee(names.lookup(call.getCallee())); });
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

void joinBodies(State &s, void (*build)(State &, StringRef)) {
  std::vector<lower::BodySizes> entries;
  std::vector<std::optional<int64_t>> any(s.info.symbols.size());
  int64_t most = 0, kernels = 0;
  auto finish = [&](StringRef suffix, const Values &values, int32_t level) {
    build(s, suffix);
    most = most < 0 || s.info.workspaceBytes < 0 ? -1 : std::max(most, s.info.workspaceBytes);
    kernels += s.info.kernels;
    std::vector<std::optional<int64_t>> sizes = any;
    for (auto [size, symbol] : llvm::zip_equal(sizes, s.info.symbols)) {
      if (auto value = values.find(symbol.name); value != values.end()) {
        size = value->second;
      }
    }
    entries.push_back({suffix.str(), sizes, level});
  };
  bool first = !s.generalBody; // of which is told
  for (Body &body : s.bodies) {
    (first ? s.result : body.result).body = bodyText(s, body);
    body.info.symbols = s.info.symbols;
    body.info.nodes = s.info.nodes;
    body.info.launches = s.info.launches;
    exchange(s, body, first);
    finish(body.suffix, body.sizes, s.info.levels.empty() ? 0 : s.devices.front().machine.level);
    exchange(s, body, first);
    if (!first) {
      s.result.bodies.push_back(std::move(body.result));
    }
    s.info.nodes = body.info.nodes;
    if (s.info.allocations.empty()) { // what one body asks for, the others ask for as well
      s.info.allocations = body.info.allocations;
    }
    s.info.launches = body.info.launches;
    for (auto [output, own] : llvm::zip_equal(s.info.outputs, body.info.outputs)) {
      output.inPlaceOf = first || output.inPlaceOf == own.inPlaceOf ? own.inPlaceOf : -1;
    }
    first = false;
  }
  if (s.generalBody) {
    finish("_any", {}, 0);
  } else {
    s.function().erase();
  }
  for (Body &body : s.bodies) {
    moveInto(*s.module, *body.module);
  }
  s.info.workspaceBytes = most;
  s.info.arenaBytes = s.result.arenaBytes = most <= 0 ? most : most - s.info.workspaceAlign;
  s.info.kernels = kernels;
  s.result.kernels = static_cast<int64_t>(s.result.launches.size()); // of a run
  lower::buildDispatch(*s.module, s.info, entries);
}

} // namespace ingot::pipeline
