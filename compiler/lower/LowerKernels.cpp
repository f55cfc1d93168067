// Each kernel becomes a private function
//   @NAME(operands..., results..., [scratch: memref<Nxi8>], symbols: index..., begin: index, end: index) -> () or i32
// over flat memrefs (bare pointers), with the model's symbols that occur in its sizes; the i32 is a status. One that
// does too little to be split over threads runs all items whatever the range says, and its loops have constant bounds.
// Its name is the family and the node it was first built for; a kernel equal to an earlier one (same region, types,
// constness, target; data-dependent sizes may have other names) becomes another launch of that one's function.
#include "compiler/lower/LowerKernels.h"
#include "compiler/lower/KernelKey.h"
#include "compiler/lower/Packing.h"
#include "compiler/lower/ZeroHalos.h"
#include "compiler/lower/core/Denormals.h"
#include "compiler/lower/core/KernelWork.h"
#include "compiler/lower/core/LlvmAttributes.h"
#include "compiler/lower/core/Outline.h"
#include "compiler/lower/product/ProductRate.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ElementTypes.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/onnx/OpWork.h"
#include "compiler/onnx/constants/Constants.h"
#include "compiler/onnx/ops/Constant.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/onnx/text/Texts.h"
#include "compiler/plan/InPlace.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/plan/KernelAttributes.h"
#include "compiler/plan/WorkAttributes.h"
#include "compiler/target/OneThread.h"
#include "compiler/target/Platform.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <unordered_map>

using namespace mlir;

namespace ingot::lower {

/// Attribute of a kernel that takes denormal numbers for zeros: what its weights decide, as KernelFamily::mark.
static constexpr StringRef denormalsName = "ingot.denormals_are_zeros";

/// The symbols that a kernel's sizes are made of, sorted; not the one that it finds.
static onnx::SymbolSet symbolsOf(plan::KernelOp kernel) {
  onnx::SymbolSet symbols, own;
  auto add = [&](const support::Size &size) {
    size.eachSymbol([&](support::Symbol symbol) { symbols.insert(symbol); });
  };
  onnx::walkSizes(kernel, add);
  for (Operation &op : kernel.getBody().front()) {
    onnx::walkSizes(&op, add);
    own.merge(onnx::symbolsDefinedBy(&op));
  }
  for (support::Symbol symbol : own) {
    symbols.erase(symbol);
  }
  return symbols;
}

/// "conv_layer1_0_conv1" from the first named node of the kernel; a piece's begins with its target.
static std::string nameOf(plan::KernelOp kernel, const KernelFamily &family) {
  std::string name = StringRef(family.stem).lower();
  if (kernel.getPiece()) {
    name = kernel.getTarget().take_while([](char c) { return isalnum(static_cast<unsigned char>(c)); });
  }
  Location loc = kernel.root() ? kernel.root()->getLoc() : kernel.getLoc();
  std::string node = onnx::nodeOf(loc);
  name += "_";
  for (char c : StringRef(node).take_back(48)) {
    name += isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  return name;
}

/// Counts the multiply-adds of a kernel's products and convolutions.
static support::Size macsOf(plan::KernelOp kernel) {
  support::Size macs = 0;
  kernel->walk([&](Operation *op) { macs = macs + onnx::multiplyAddsOf(op).value_or(0); });
  return macs;
}

namespace {
struct Lowering {
  ModuleOp module;
  MachineOf machineOf;
  plan::WeightTable &weights;
  ArrayRef<std::string> remarks; ///< ScheduleRequest::remarks
  SymbolTable symbols;
  llvm::StringSet<> remarked; ///< of those nodes: for which there was a kernel
  struct Built {
    func::FuncOp function;
    SmallVector<func::FuncOp, 0> ahead; ///< those of KernelShape::ahead
    KernelShape shape;   ///< its items are at least one where the halo of an image without elements must be written
    support::Size items; ///< the family's own
    KernelWork work;     ///< instructions of a launch, where it may be split
    onnx::SymbolSet symbols;
    std::vector<support::Symbol> dataDependentSizes; ///< as they occur in the first kernel
  };
  std::unordered_map<KernelKey, Built, KernelKey::Hash> built;

  /// `sizes` gets the kernel's data-dependent sizes: where the function speaks of built->dataDependentSizes.
  FailureOr<Built *> functionOf(plan::KernelOp kernel, std::vector<support::Symbol> &sizes) {
    const target::MachineModel &machine = machineFor(kernel);
    const KernelFamily &family = familyOf(kernel, machine);
    family.mark(kernel);
    if (meetsDenormals(kernel, machine)) {
      kernel->setAttr(denormalsName, UnitAttr::get(kernel.getContext()));
    }
    KernelKey key(kernel);
    sizes = key.dataDependentSizes;
    auto [it, isNew] = built.try_emplace(std::move(key));
    if (!isNew) {
      return &it->second;
    }
    it->second.shape = family.shape(kernel, machine);
    it->second.items = it->second.shape.items;
    if (mayBeHaloOnly(kernel)) {
      it->second.shape.items = max(support::Size(1), it->second.items);
    }
    if (failed(checkBlock(kernel, it->second.shape, machine))) {
      return failure();
    }
    it->second.symbols = symbolsOf(kernel);
    it->second.dataDependentSizes = sizes;
    while (it->second.ahead.size() < it->second.shape.ahead.size()) {
      it->second.ahead.push_back(declareAhead(kernel, it->second, family, machine));
      if (failed(writeAhead(kernel, it->second, family, machine))) {
        return failure();
      }
    }
    it->second.function = declare(kernel, it->second, family, machine);
    if (failed(write(kernel, it->second, family, machine))) {
      return failure();
    }
    it->second.shape.build = {}; // what it knows of the kernel is not for those that are equal to it
    if (kernel->hasAttr(denormalsName)) {
      takeDenormalsForZeros(it->second.function, machine);
    }
    if (!machine.hasOwnMemory) { // whose items are threads of the host
      keepSmallWhole(it->second, machine);
      cutLoops(it->second.function, symbols);
    }
    return &it->second;
  }

  /// Checks that the target can launch blocks of as many threads as one of its own families asks for.
  static LogicalResult checkBlock(plan::KernelOp kernel, const KernelShape &shape,
                                  const target::MachineModel &machine) {
    const target::MachineModel::Limits &most = machine.limits;
    SmallVector<Grid> grids = {shape.grid.value_or(Grid())};
    llvm::append_range(grids, llvm::map_range(shape.ahead, [](const KernelShape::Ahead &each) { return each.grid; }));
    for (const Grid &grid : grids) {
      int64_t threads = grid.threads[0] * grid.threads[1] * grid.threads[2];
      if (threads > most.threads || grid.sharedBytes > most.sharedBytes) {
        return kernel.emitError("target '")
               << machine.spec << "' asks for blocks of " << threads << " threads that share " << grid.sharedBytes
               << " bytes; a launch takes " << most.threads << " and " << most.sharedBytes;
      }
    }
    return success();
  }

  std::map<const target::MachineModel *, target::MachineModel> scalar;

  /// That of the kernel's target; without vectors where strings are moved: one is as wide as two registers.
  const target::MachineModel &machineFor(plan::KernelOp kernel) {
    const target::MachineModel &machine = machineOf(kernel.getTarget());
    auto isOfStrings = [](Type type) { return onnx::isString(getElementTypeOrSelf(type)); };
    if (llvm::none_of(kernel->getOperandTypes(), isOfStrings) && llvm::none_of(kernel.getResultTypes(), isOfStrings)) {
      return machine;
    }
    auto [it, isNew] = scalar.try_emplace(&machine, machine);
    it->second.lanes = 1;
    it->second.maskedAccess = false;
    return it->second;
  }

  /// Whether an image may have no elements and yet a halo, which is read as the padding that it is.
  static bool mayBeHaloOnly(plan::KernelOp kernel) {
    return llvm::any_of(kernel.getResultTypes(), [](Type type) {
      auto layout = plan::blockedOf(type);
      if (!layout || layout.getHalo().empty()) {
        return false;
      }
      support::Sizes sizes = onnx::sizesOf(cast<RankedTensorType>(type));
      return llvm::any_of(ArrayRef(sizes).drop_front(2),
                          [](const support::Size &size) { return !size.atLeast(1, support::Facts()); });
    });
  }

  static void keepSmallWhole(Built &built, const target::MachineModel &machine) {
    func::FuncOp function = built.function;
    support::Size &items = built.shape.items;
    if (items.is(0) || items.is(1)) {
      return;
    }
    SmallVector<support::Symbol> known(built.symbols.begin(), built.symbols.end());
    KernelWork work = workOf(function, known, items, machine.lanes);
    if (!target::isOneThread(machine) && typicalWork(work.instructions) >= machine.tuning.leastWorkToSplit) {
      built.work = work;
      return;
    }
    Writer w(OpBuilder::atBlockBegin(&function.front()), function.getLoc(), machine);
    w.symbols = symbolValues(built, built.function);
    auto range = function.getArguments().take_back(2);
    const Ix bounds[] = {0, items};
    for (auto [bound, value] : llvm::zip_equal(range, bounds)) {
      bound.replaceAllUsesWith(w.value(value));
    }
    items = 1;
  }

  /// Whether a run can tell from its sizes if a launch is worth splitting, with a few instructions.
  static bool mayWeigh(const KernelWork &work) {
    constexpr size_t longest = 400; // letters
    const support::Size &size = work.instructions;
    return !size.isNumber() && !size.isUnknown() && !work.dividesBySizes && size.text().size() <= longest;
  }

  static std::map<support::Symbol, Value> symbolValues(const Built &built, func::FuncOp function) {
    std::map<support::Symbol, Value> values;
    unsigned next = function.getNumArguments() - 2 - built.symbols.size();
    for (support::Symbol symbol : built.symbols) {
      values[symbol] = function.getArgument(next++);
    }
    return values;
  }

  static MemRefType flat(Type tensor) {
    auto type = cast<RankedTensorType>(tensor);
    return MemRefType::get({memoryExtent(plan::physicalElements(type))}, memoryType(type.getElementType()));
  }

  /// Returns the types of a function's parameters for the operands of its kernel.
  static SmallVector<Type> operandTypes(plan::KernelOp kernel, const KernelShape &shape) {
    SmallVector<Type> types;
    for (auto [i, v] : llvm::enumerate(kernel.getIns())) {
      auto recipe = shape.packed.find(i);
      types.push_back(recipe == shape.packed.end() || !onnx::constantOf(v) ? flat(v.getType())
                                                                           : packedType(v, i, shape));
    }
    return types;
  }

  /// Makes the function private, and marks what all threads of a block do together.
  void mark(func::FuncOp f, plan::KernelOp kernel, const std::optional<Grid> &grid,
            const target::MachineModel &machine) {
    OpBuilder b(f);
    f.setPrivate();
    symbols.insert(f); // makes the name unique
    f->setAttr(plan::machineName, b.getStringAttr(machine.spec));
    if (kernel->getParentOfType<ModuleOp>()->hasAttr(plan::strictName)) {
      f->setAttr(plan::strictName, b.getUnitAttr());
    }
    if (machine.itemsAreThreads) {
      f->setAttr(plan::readsName, b.getI64IntegerAttr(kernel->getNumOperands()));
    }
    if (grid) {
      f->setAttr(plan::gridName,
                 b.getDenseI64ArrayAttr({grid->threads[0], grid->threads[1], grid->threads[2], grid->sharedBytes}));
      f->setAttr(plan::passthroughName, b.getStrArrayAttr({"convergent"})); // as its barriers are
    }
  }

  static void setNoAlias(func::FuncOp f, llvm::function_ref<bool(unsigned)> isApart) {
    OpBuilder b(f);
    SmallVector<DictionaryAttr> attributes(f.getNumArguments(), b.getDictionaryAttr({}));
    for (auto [i, type] : llvm::enumerate(f.getArgumentTypes())) {
      if (isa<MemRefType>(type) && isApart(static_cast<unsigned>(i))) {
        attributes[i] = b.getDictionaryAttr(b.getNamedAttr(plan::noAliasName, b.getUnitAttr()));
      }
    }
    f.setAllArgAttrs(attributes);
  }

  /// The function of the next launch of KernelShape::ahead: of the kernel's operands, what the launches before it and
  /// it itself compute, symbols and the range of items.
  func::FuncOp declareAhead(plan::KernelOp kernel, const Built &built, const KernelFamily &family,
                            const target::MachineModel &machine) {
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    size_t number = built.ahead.size();
    const KernelShape::Ahead &own = built.shape.ahead[number];
    SmallVector<Type> types = operandTypes(kernel, built.shape);
    for (const KernelShape::Ahead &each : ArrayRef(built.shape.ahead).take_front(number + 1)) {
      types.push_back(flat(typeOf(each)));
    }
    types.append(built.symbols.size() + 2, b.getIndexType());
    auto f = func::FuncOp::create(b, kernel.getLoc(), (nameOf(kernel, family) + "_" + own.name).str(),
                                  b.getFunctionType(types, {}));
    mark(f, kernel, own.grid, machine);
    setNoAlias(f, [&](unsigned i) { return i < kernel->getNumOperands() + number; });
    return f;
  }

  /// The tensor that a launch ahead of a kernel computes.
  static RankedTensorType typeOf(const KernelShape::Ahead &ahead) {
    return onnx::sizedType({ahead.elements}, ahead.element);
  }

  func::FuncOp declare(plan::KernelOp kernel, const Built &built, const KernelFamily &family,
                       const target::MachineModel &machine) {
    const KernelShape &shape = built.shape;
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    SmallVector<Type> types = operandTypes(kernel, shape);
    llvm::append_range(types, llvm::map_range(shape.ahead, [](const auto &each) { return flat(typeOf(each)); }));
    auto operandCount = static_cast<unsigned>(types.size());
    llvm::append_range(types, llvm::map_range(kernel.getResultTypes(), flat));
    if (!shape.scratchBytes.is(0)) {
      types.push_back(MemRefType::get({memoryExtent(shape.scratchBytes)}, b.getI8Type()));
    }
    if (shape.takesExec) {
      types.push_back(pointerType(b.getContext()));
    }
    types.append(built.symbols.size() + 2, b.getIndexType());
    SmallVector<Type> status(shape.checked ? 1 : 0, b.getI32Type());
    auto f = func::FuncOp::create(b, kernel.getLoc(), nameOf(kernel, family), b.getFunctionType(types, status));
    mark(f, kernel, shape.grid, machine);
    SmallVector<int64_t> sharing = shape.inPlace; // the first result and the operands in whose buffer it may lie
    if (shape.extends) {
      sharing.push_back(*shape.extends);
    }
    if (!sharing.empty()) {
      sharing.push_back(operandCount);
    }
    // Behind a barrier a thread reads what others wrote there before.
    unsigned sharedByThreads = shape.grid ? operandCount : types.size();
    llvm::SmallDenseSet<int64_t> mayShare(sharing.begin(), sharing.end());
    setNoAlias(f, [&](unsigned i) { return i < sharedByThreads && !mayShare.contains(i); });
    return f;
  }

  /// The element type of what a kernel reads as its operand `i`. Packed weights keep theirs, or are float32: a recipe
  /// that needs another form says so by its bytes only.
  static Type elementRead(Value v, unsigned i, const KernelShape &shape) {
    return shape.packedAsFloats == i ? Float32Type::get(v.getContext()) : getElementTypeOrSelf(v.getType());
  }

  static MemRefType packedType(Value v, unsigned i, const KernelShape &shape) {
    Type element = memoryType(elementRead(v, i, shape));
    return MemRefType::get({shape.packed.at(i).bytes / onnxBytes(element)}, element);
  }
  static int64_t onnxBytes(Type element) { return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8); }

  static SmallVector<Buffer> operandBuffers(plan::KernelOp kernel, const KernelShape &shape, Block &entry) {
    SmallVector<Buffer> operands;
    for (auto [i, v] : llvm::enumerate(kernel.getIns())) {
      operands.push_back(bufferOf(entry.getArgument(static_cast<unsigned>(i)), elementRead(v, i, shape)));
    }
    return operands;
  }

  static LogicalResult writeAhead(plan::KernelOp kernel, Built &built, const KernelFamily &family,
                                  const target::MachineModel &machine) {
    Block *entry = built.ahead.back().addEntryBlock();
    Writer w(OpBuilder::atBlockEnd(entry), kernel.getLoc(), machine);
    SmallVector<Buffer> operands = operandBuffers(kernel, built.shape, *entry);
    SmallVector<Buffer, 2> ahead;
    for (const KernelShape::Ahead &each : ArrayRef(built.shape.ahead).take_front(built.ahead.size())) {
      auto number = static_cast<unsigned>(operands.size() + ahead.size());
      ahead.push_back(bufferOf(entry->getArgument(number), each.element));
    }
    w.symbols = symbolValues(built, built.ahead.back());
    Group group(w, kernel, operands, SmallVector<Buffer>(kernel->getNumResults()));
    auto range = entry->getArguments().take_back(2);
    Build build{w, group, w.ix(range[0]), w.ix(range[1]), {}, {}, {}, ahead};
    if (failed(family.buildAhead(build, built.shape))) {
      return failure();
    }
    func::ReturnOp::create(w.b, w.loc);
    return success();
  }

  LogicalResult write(plan::KernelOp kernel, Built &built, const KernelFamily &family,
                      const target::MachineModel &machine) {
    Block *entry = built.function.addEntryBlock();
    Writer w(OpBuilder::atBlockEnd(entry), kernel.getLoc(), machine);
    SmallVector<Buffer> operands = operandBuffers(kernel, built.shape, *entry), results;
    auto next = static_cast<unsigned>(operands.size());
    SmallVector<Buffer, 2> ahead;
    for (const KernelShape::Ahead &each : built.shape.ahead) {
      ahead.push_back(bufferOf(entry->getArgument(next++), each.element));
    }
    for (Value v : kernel.getOuts()) {
      results.push_back(bufferOf(entry->getArgument(next++), getElementTypeOrSelf(v.getType())));
    }
    Buffer scratch, status;
    if (!built.shape.scratchBytes.is(0)) {
      scratch = {entry->getArgument(next++), w.b.getI8Type()};
    }
    Value exec = built.shape.takesExec ? Value(entry->getArgument(next++)) : Value();
    w.symbols = symbolValues(built, built.function);
    next += w.symbols.size();
    if (built.shape.checked) {
      status = w.local(w.b.getI32Type(), 1);
      w.store(w.constant(0, w.b.getI32Type()), status, 0);
    }
    Group group(w, kernel, operands, results);
    Build build{w,    group, w.ix(entry->getArgument(next)), w.ix(entry->getArgument(next + 1)), scratch, status,
                exec, ahead};
    if (built.shape.items.is(1)) {
      build.begin = 0, build.end = 1;
    }
    zeroHalos(build, kernel);
    if (built.items != built.shape.items) {
      build.end = min(build.end, built.items);
    }
    if (!built.items.is(0) && failed(family.build(build, built.shape))) { // 0: nothing ever runs it
      return failure();
    }
    SmallVector<Value> out;
    if (status) {
      out.push_back(w.load(status, 0));
    }
    func::ReturnOp::create(w.b, w.loc, out);
    return success();
  }

  /// A view of a constant is one of its weights, in the memory that it is wanted in: rows of a table, as many as the
  /// run needs.
  void viewWeights(plan::ViewOp view) {
    auto transfer = view.getX().getDefiningOp<plan::TransferOp>();
    Value viewed = transfer ? transfer.getX() : view.getX();
    if (ElementsAttr constant = onnx::constantOf(viewed)) {
      OpBuilder b(view);
      uint64_t device = transfer ? transfer.getDevice() : 0;
      int64_t offset = weights.add(constant, plainRecipe(viewed), device);
      view.setOperand(plan::WeightOp::create(b, view.getLoc(), viewed.getType(), offset, device));
      if (transfer && transfer.use_empty()) {
        transfer.erase();
      }
    }
  }

  /// Remarks how a kernel is computed, if the user asked for one of its nodes and it does more than change a layout.
  void remarkOn(plan::KernelOp kernel, StringRef choice) {
    if (remarks.empty() || isa_and_nonnull<plan::ReorderOp>(kernel.root())) {
      return;
    }
    bool isWanted = llvm::is_contained(remarks, "*") && !choice.empty();
    Location loc = kernel.root() ? kernel.root()->getLoc() : kernel.getLoc();
    llvm::SetVector<StringRef> nodes;
    onnx::eachNode(kernel.getLoc(), [&](StringRef node, StringRef) {
      nodes.insert(node);
      if (llvm::is_contained(remarks, node)) {
        isWanted = true, remarked.insert(node);
      }
    });
    if (isWanted) {
      nodes.remove(onnx::nodeOf(loc));
      std::string others = nodes.empty() ? "" : " (with " + llvm::join(nodes, ", ") + ")";
      const std::string &family = familyOf(kernel, machineFor(kernel)).stem;
      emitRemark(loc) << "on " << kernel.getTarget() << others
                      << " chosen: " << (choice.empty() ? family + "; the only algorithm" : choice.str());
    }
  }

  LogicalResult replace(plan::KernelOp kernel) {
    std::vector<support::Symbol> sizes;
    FailureOr<Built *> built = functionOf(kernel, sizes);
    if (failed(built)) {
      return failure();
    }
    const KernelShape &shape = (*built)->shape;
    remarkOn(kernel, shape.choice);
    auto device = static_cast<uint64_t>(plan::deviceOf(kernel));
    OpBuilder b(kernel);
    SmallVector<Value> operands;
    for (auto [i, v] : llvm::enumerate(kernel.getIns())) {
      ElementsAttr constant = onnx::constantOf(v);
      if (!constant) {
        operands.push_back(v);
        continue;
      }
      Type type = v.getType();
      if (shape.packed.count(i)) {
        MemRefType packed = packedType(v, i, shape);
        type = RankedTensorType::get(packed.getShape(), packed.getElementType());
      }
      int64_t offset = weights.add(constant, recipeOf(kernel, shape, i), device);
      operands.push_back(plan::WeightOp::create(b, v.getLoc(), type, offset, device));
    }
    auto mine = [&](support::Symbol symbol) -> support::Size { // the kernel's own one for a symbol of the function
      auto it = llvm::find((*built)->dataDependentSizes, symbol);
      return it == (*built)->dataDependentSizes.end() ? symbol : sizes[it - (*built)->dataDependentSizes.begin()];
    };
    auto size = [&](const support::Size &s) {
      return b.getAttr<onnx::SizeAttr>(s.isDataDependent() ? s.replaced(mine) : s);
    };
    auto symbols = b.getAttr<onnx::SizesAttr>(llvm::map_to_vector<4>((*built)->symbols, mine));
    Operation *root = kernel.root();
    for (auto [each, function] : llvm::zip_equal(shape.ahead, (*built)->ahead)) {
      auto ahead =
          plan::LaunchOp::create(b, kernel.getLoc(), typeOf(each), function.getName(), operands, ValueRange(), Value(),
                                 size(each.items), size(0), symbols, /*checked=*/false, onnx::SymbolAttr(), device);
      operands.push_back(ahead.getResult(0));
    }
    auto launch = plan::LaunchOp::create(
        b, kernel.getLoc(), kernel.getResultTypes(), (*built)->function.getName(), operands, ValueRange(), Value(),
        size(shape.items), size(shape.scratchBytes), symbols, shape.checked,
        root ? root->getAttrOfType<onnx::SymbolAttr>(onnx::dataDependentSizeName) : onnx::SymbolAttr(), device);
    if (support::Size macs = macsOf(kernel); !macs.is(0)) {
      launch->setAttr(plan::macsName, size(macs));
    }
    if (!device && mayWeigh((*built)->work)) { // a device launches all of it at once
      launch->setAttr(plan::workName, size((*built)->work.instructions));
      launch->setAttr(plan::leastWorkName, b.getI64IntegerAttr(machineFor(kernel).tuning.leastWorkToSplit));
    }
    if (std::optional<support::Size> own = floatMultiplyAdds(kernel, shape, machineFor(kernel))) {
      launch->setAttr(plan::ownMacsName, size(*own));
    }
    if (Attribute key = kernel->getAttr(kernelName)) {
      launch->setAttr(kernelName, key);
    }
    if (!shape.choice.empty()) {
      launch->setAttr(choiceName, b.getStringAttr(shape.choice));
    }
    if (shape.error) {
      launch->setAttr(plan::errorName, b.getI64IntegerAttr(*shape.error));
    }
    if (shape.takesExec) {
      launch->setAttr(plan::textName, b.getBoolAttr(onnx::makesStrings(root)));
    }
    if (!shape.inPlace.empty()) {
      launch->setAttr(plan::inPlaceName, b.getDenseI64ArrayAttr(shape.inPlace));
    }
    if (shape.extends) {
      launch->setAttr(plan::extendsName, b.getI64IntegerAttr(*shape.extends));
    }
    kernel.replaceAllUsesWith(launch);
    kernel.erase();
    return success();
  }
};
} // namespace

/// Gives kernels the schedules that the table says, where they can have them.
static void useSchedules(ArrayRef<plan::KernelOp> kernels, MachineOf machineOf, ScheduleRequest &request) {
  if (!request.table && !request.lists) {
    return;
  }
  llvm::StringSet<> explained;
  for (plan::KernelOp kernel : kernels) {
    const target::MachineModel &machine = machineOf(kernel.getTarget());
    if (!kernel.root() || kernel.getPiece() || machine.packing) {
      continue;
    }
    const KernelFamily &family = familyOf(kernel, machine);
    std::optional<target::ScheduleChoices> choices = family.schedules(kernel, machine);
    if (!choices) {
      continue;
    }
    std::string key = keyOf(kernel, family.stem);
    const target::Schedule *requested = request.table ? request.table->find(machine.spec, key) : nullptr;
    const target::Schedule *meant = requested ? choices->find(*requested) : nullptr;
    kernel->setAttr(kernelName, StringAttr::get(kernel.getContext(), key));
    if (meant) {
      kernel->setAttr(scheduleName, StringAttr::get(kernel.getContext(), meant->text()));
    } else if (request.table && request.explains && explained.insert(key).second) {
      emitRemark(kernel.root()->getLoc())
          << (requested ? "the measured schedule '" + requested->text() + "' is none of kernel '"
                        : "no measured schedule for kernel '")
          << key << "' on " << machine.spec << "; it gets that of the machine model";
    }
    request.choices.try_emplace(key, std::move(*choices));
  }
}

LogicalResult lowerKernels(ModuleOp module, MachineOf machineOf, plan::WeightTable &weights,
                           ScheduleRequest &schedules) {
  plan::setIndexBits(module, target::platformOf(machineOf("")).indexBits);
  Lowering lowering{module, machineOf, weights, schedules.remarks, SymbolTable(module), {}, {}, {}};
  SmallVector<plan::KernelOp> kernels;
  module.walk<WalkOrder::PreOrder>([&](plan::KernelOp kernel) {
    kernels.push_back(kernel);
    return WalkResult::skip(); // the links of a chain are built with it
  });
  useSchedules(kernels, machineOf, schedules);
  for (plan::KernelOp kernel : kernels) {
    if (failed(lowering.replace(kernel))) {
      return failure();
    }
  }
  module.walk([&](plan::ViewOp view) { lowering.viewWeights(view); });
  for (const std::string &node : schedules.remarks) {
    if (node != "*" && !lowering.remarked.contains(node)) {
      emitWarning(module.getLoc()) << "--remarks=" << node << ": nothing is left to compute of node '" << node << "'";
    }
  }
  return success();
}

} // namespace ingot::lower
