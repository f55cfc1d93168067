// Declares the writer of NAME_run and of what it calls. BuildEntry.cpp describes the run. The members are defined there
// and in five other files: Sizes.cpp (who is let in, NAME_plan, and where open slots begin), Memory.cpp (where values
// lie, and memory that the run asks for), Devices.cpp, Control.cpp (branches and loops), and Parts.cpp (functions of a
// long run).
#pragma once
#include "compiler/entry/BuildEntry.h"
#include "compiler/lower/core/Writer.h"
#include "compiler/onnx/Control.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/onnx/sizes/Shapes.h"
#include "compiler/plan/IndexWidth.h"
#include "compiler/plan/Layout.h"
#include "compiler/plan/Model.h"
#include "compiler/plan/Plan.h"
#include "compiler/plan/Run.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::entry {

using namespace lower; // the writer of loops, with its addresses and element types

/// Writes the functions of one variant. `entry` is the function that is written at present, `function` the run in the
/// memory form.
class Entry {
public:
  Entry(mlir::func::FuncOp function, int64_t workspaceBytes, int64_t slackBytes, int64_t weightBytes,
        int64_t firstLaunch, plan::ModelInfo &info, llvm::StringRef suffix);

  void build();

private:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using Operation = mlir::Operation;
  using FuncOp = mlir::func::FuncOp;
  using Size = support::Size;

  /// Returns the type of a size that a caller of NAME_run gives: int64_t for C, whatever the width of an index is.
  Type sizeType() { return isNarrow() ? Type(w.b.getI64Type()) : w.b.getIndexType(); }
  /// Returns whether sums of sizes need not fit an index although each size does, which happens where an index has
  /// fewer than 64 bits.
  bool isNarrow() { return plan::indexBits(function) < 64; }

  FuncOp function, entry;
  mlir::SymbolTable kernels; ///< by name, with what else the module had before the entry was built
  Writer w;
  plan::ModelInfo &info;
  std::string suffix;
  int64_t workspaceBytes, slackBytes, weightBytes, firstLaunch;
  llvm::SmallVector<Type> inputTypes, outputTypes; ///< tensors of the model
  /// `open`: the symbols that are no number in this variant; `symbols`: those that are arguments of its functions
  std::vector<std::string> open, symbols;
  support::Bounds bounds;               ///< bounds of data-dependent sizes
  std::vector<plan::SlotOp> openSlots;  ///< slots whose places depend on sizes
  std::vector<int64_t> hostAllocations; ///< by number of a host allocation, the output that it is, or -1 - its device
  Value held;                           ///< the list of host allocations that the run holds
  int64_t deviceCount = 0;              ///< devices with a memory of their own
  FuncOp profile;                       ///< NAME_profile; null where nothing has been reported yet
  /// NAME_admits(open symbols: index...) -> i32; null where there are none
  FuncOp admits;
  Value weights;
  bool reads = false;                  ///< whether some weights are streamed
  bool isReading = false;              ///< whether a read of weights is under way where the builder stands
  llvm::SmallVector<Value> workspaces; ///< the parts of the workspace (ModelInfo::workspaceParts)
  Value wordList;                      ///< the words of a launch on a device; null where there has been none yet
  /// Addresses of devices' memories, by the library function that gives them and the device's number.
  llvm::StringMap<Value> deviceMemories;
  llvm::DenseMap<Value, Value> starts; ///< where each open slot begins
  llvm::DenseMap<Value, Value> values; ///< plan.read and constants of the run -> what they are in the entry

  /// Returns a constant of so many bits.
  Value number(int64_t n, unsigned bits) { return mlir::arith::ConstantIntOp::create(w.b, w.loc, n, bits); }
  /// Returns a constant status: the kind of error in its low 8 bits, and above them 1 + the number of the node (-1:
  /// none).
  Value status(int64_t kind, int64_t node) { return number(kind | (node + 1) << 8, 32); }
  /// Returns the number of a node in `info.nodes`, to which it is added if necessary.
  int64_t nodeNumber(const std::string &name);
  llvm::StringMap<int64_t> nodeNumbers; ///< of what is in `info.nodes`
  void ret(Value value) { mlir::func::ReturnOp::create(w.b, w.loc, value); }
  /// Returns (i1) whether a pointer is not null.
  Value isGiven(Value pointer) { return run::GivenOp::create(w.b, w.loc, w.b.getI1Type(), pointer); }
  /// Ends `f` with a result where a condition (i1) holds; the builder goes on where it does not.
  void returnIf(FuncOp f, Value condition, llvm::function_ref<Value()> result);
  /// Ends `f` where a status is not 0, with `result`, or with that status where `result` is null.
  void returnIfBad(FuncOp f, Value status, llvm::function_ref<Value()> result = nullptr);

  /// Begins a function called NAME SUFFIX `what`, of which the body is written next; the builder stands in it.
  FuncOp begin(llvm::StringRef what, llvm::ArrayRef<Type> types);

  // The run

  void buildRun();
  /// Begins NAME_run, or NAME_inner_run where it is held, and the weights.
  void declare();
  /// Writes, ahead of all else, the checks of weights that the caller has, because they are not in the object, or of
  /// what reads them.
  void checkWeights();
  /// Ends the run where kernels need tiles and the system does not give them.
  void askForTiles();
  /// Gives the symbols of optional inputs their values: 1 where the caller gave the input, and else 0.
  void presence();
  /// Writes operations of the memory form in their order: buildAll() in functions of their own where there are many of
  /// them (Parts.cpp), buildRange() here.
  void buildAll(llvm::iterator_range<mlir::Block::iterator> ops);
  void buildRange(llvm::iterator_range<mlir::Block::iterator> ops);
  void build(plan::LaunchOp launch);
  /// Returns the arguments of a kernel that follow its buffers and precede its range of work items.
  llvm::SmallVector<Value> argumentsBehindBuffers(plan::LaunchOp launch);
  /// Calls a function on all work items of a launch. Returns its status, or null where it has none.
  Value call(plan::LaunchOp launch, FuncOp callee, llvm::ArrayRef<Value> arguments);
  void build(plan::CopyOp copy);
  void build(plan::FetchOp fetch);
  void build(plan::FetchedOp fetched);
  void build(plan::WaitOp wait);
  void build(plan::NeedOp need);
  void build(plan::ReleaseOp release);
  void build(plan::ReadOp read);
  void build(plan::WriteOp write);
  void build(plan::CheckOp check);
  void build(plan::IfOp op);
  void build(plan::LoopOp loop);
  /// Returns (i1) whether the launch has enough work for other threads to help.
  Value isWorthSplitting(plan::LaunchOp launch);
  /// Ends the run where a launch's status is not 0, and adds the node to that status.
  void checkStatus(plan::LaunchOp launch, Value result);
  /// Tells the profiler, in models for profiling, that a launch begins or has ended.
  void callProfile(plan::LaunchOp launch, bool hasEnded);
  FuncOp profileFunction();
  /// Returns the arguments that are parts of the workspace.
  mlir::ValueRange workspaceArguments();
  /// Returns the arguments that are symbols, and behind them the places to which data-dependent sizes are written.
  mlir::ValueRange sizeArguments();
  mlir::ValueRange symbolArguments() { return sizeArguments().take_front(symbols.size()); }
  Value exec() { return entry.getArguments().back(); }

  // Parts of a long run (Parts.cpp)

  /// Some operations of a long run: the blocks from `first` on, in front of `behind`, where the run goes on.
  struct Part {
    mlir::Block *first, *behind;
  };
  llvm::SmallVector<Part> parts; ///< those that stand in another one come before it
  /// Writes a part.
  void part(llvm::function_ref<void()> body);
  /// Calls the functions that a kernel (plan::partsName) consists of.
  void callParts(plan::LaunchOp launch, FuncOp kernel);
  llvm::SetVector<FuncOp> inParts; ///< the kernels that the run calls so
  /// Makes each part a function, when all of the run is written.
  void cutParts();
  void cut(Part part, llvm::StringRef name);
  /// Lets the run read what the part computes for operations behind it from memory of the run.
  void handOn(Part part);

  // What depends on sizes

  /// Gives symbols of the model their values in the present function.
  void setSymbols(llvm::ArrayRef<std::string> names, mlir::ValueRange values);
  /// Writes NAME_admits, which returns the status that refuses a run with given symbols, or 0.
  void buildAdmits();
  /// Writes NAME_plan.
  void buildPlan();
  /// Returns the bytes of all tensors and open slots that depend on the symbols, or the most that they can be where
  /// they are data-dependent.
  std::vector<Size> boundedBytes();
  /// Ends `f` where NAME_admits refuses the run.
  void returnIfRefused(FuncOp f);
  /// Ends the run where it is refused. Nearly all runs need few of the checks (SizeChecks.h: UsualRun), which are made
  /// in place; the others call NAME_admits for all.
  void returnIfRefusedOrUnusual();
  /// Returns (i1) whether the open slots together need more bytes than an index can address.
  Value arenasTooLarge();
  /// Computes where each open slot begins. Returns the ends of the highest slots of the host and of each device.
  llvm::SmallVector<Value> arenas();
  /// Gives a data-dependent size its value, from here on.
  void find(support::Symbol symbol, Value value) { w.symbols[symbol] = w.value(w.ix(value)); }

  // Memory

  mlir::MemRefType bytesType(const Size &n) { return mlir::MemRefType::get({memoryExtent(n)}, w.b.getI8Type()); }
  static Size bytesOf(Type t) { return plan::physicalBytes(mlir::cast<mlir::RankedTensorType>(t)); }
  /// Returns the address `offset` bytes behind `bytes`, as a memref of another type.
  Value at(Value bytes, Ix offset, Type type);
  /// Returns the address of so many bytes behind the beginning of the workspace, which may be in parts.
  Value inWorkspace(int64_t bytes, const Size &offset, Type type);
  /// Returns the address of a buffer, as the kernel's parameter type.
  Value address(Value buffer, Type type);
  /// Words of an entry in the list of host allocations (BuildEntry.cpp).
  static constexpr int64_t heldWords = 4;
  /// Returns the type of that list.
  mlir::MemRefType heldType();
  /// Returns whether NAME_run only holds memory or devices around a NAME_inner_run.
  bool isHeld() const { return !hostAllocations.empty() || deviceCount; }
  /// Writes NAME_run around NAME_inner_run.
  void buildHolder();
  /// Writes the list of host allocations in the holder, and returns it.
  Value beginMemory(FuncOp holder);
  /// Returns the number of a host allocation, as an argument for the support library.
  Value numberOf(Value hostAllocations);

  // Devices, which outside of the plan dialect count from 0, without the host

  Value deviceNumber(uint64_t device) { return number(static_cast<int64_t>(device) - 1, 32); }
  /// Returns the address that the library function `name` gives for the device. It is called once, where the run
  /// begins.
  Value deviceMemory(llvm::StringRef name, uint64_t device);
  /// Has a device execute a kernel with these arguments, which do not include its range.
  void enqueue(plan::LaunchOp launch, llvm::ArrayRef<Value> arguments);
  /// Returns the array for the words of a launch, which all launches use.
  Value launchWords();
  /// Waits until the device has done what was enqueued.
  void awaitDevice(uint64_t device);
  /// Writes a copy between the host and a device.
  void copyAcross(plan::CopyOp copy);
  /// Writes the beginning of a holder of devices.
  void beginDevices(FuncOp holder);

  // Control flow

  /// Ends the block with a branch to one of two blocks; without a condition (null) to the first.
  void branch(Value condition, mlir::Block *to, mlir::ValueRange operands, mlir::Block *otherwise,
              mlir::ValueRange others);
  /// Returns the trip count, or null where there is none. A loop without a condition of its own ends by its count
  /// alone, so a count that no run can reach is an error.
  Value tripsOf(plan::LoopOp loop, bool conditional);
  /// Writes one iteration. `sizes` become those of the next iteration.
  void beginIteration(plan::LoopOp loop, Value number, llvm::ArrayRef<onnx::Growth> growths,
                      llvm::SmallVectorImpl<Value> &sizes);
  /// Computes the sizes of the next iteration. The slices of a scan output must all have the size of the first one.
  void grow(plan::LoopOp loop, Value number, llvm::ArrayRef<onnx::Growth> growths, llvm::SmallVectorImpl<Value> &sizes);
};

} // namespace ingot::entry
