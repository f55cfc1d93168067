// Decides where every value of a run lies and how long; PlanMemory.cpp writes the memory form from these answers.
// Places.cpp describes the rules, and Arenas.cpp those for places in arenas.
#pragma once
#include "compiler/memory/PlanMemory.h"
#include "compiler/onnx/ops/Control.h"
#include "compiler/onnx/sizes/DataDependentSizes.h"
#include "compiler/plan/Layout.h"
#include "llvm/ADT/BitVector.h"

namespace ingot::memory {

/// Memory that a run must have got at some point of an op: `bytes` in the host allocation `number`, of which the first
/// `kept` bytes stay as they are.
struct Need {
  /// When the memory must be there: before the op runs, or in a loop before each iteration (Iteration) or at the end of
  /// each.
  enum When { Before, Iteration, End };
  int64_t number;
  When when;
  support::Size kept, bytes;
};

/// The places of all values of a function. find() computes them; everything else answers questions about them.
class Places {
public:
  using Place = ingot::plan::Place;
  using Value = mlir::Value;
  using Operation = mlir::Operation;

  Places(mlir::func::FuncOp function, llvm::ArrayRef<ingot::plan::SymbolInfo> symbols, bool mayAllocate,
         int64_t alignment)
      : function(function), symbols(symbols), block(function.getBody().front()), bounds(onnx::boundsOf(function)),
        mayAllocate(mayAllocate), alignment(alignment) {}

  /// Finds all places. It fails with a message where memory has no bound and may not be asked for, or fits no machine.
  mlir::LogicalResult find();
  MemoryPlan plan;
  std::vector<int64_t>
      hostAllocations; ///< by number of a host allocation: the output of the model that it holds, or -1 - its device

  /// Returns the value that has the buffer in which `v` lies, and where in that buffer. That value is no part of a
  /// join, and no control op gives it a place.
  Place homeOf(Value v);
  /// Returns the output of the model that `base`, a value with a buffer, is written to.
  std::optional<int64_t> outputOf(Value base) const { return numberIn(outputs, base); }
  /// Returns the host allocation in which `base` lies, which may be an output's.
  std::optional<int64_t> hostAllocationOf(Value base) const;
  /// Returns the outputs that are made in the workspace and copied at the end, so that a device that fails leaves what
  /// the caller had in them.
  llvm::ArrayRef<unsigned> heldBack() const { return held; }
  /// Returns the value that is copied to such an output. Where the model's op for the output would only have copied a
  /// value, it is that value, which stays where it is until then.
  Value heldIn(unsigned output) const;
  /// Returns whether the result of `stage` is only copied to an output that is held back, so that the stage itself need
  /// not copy.
  bool isLeftToHandOver(ingot::plan::StageOp stage) const;
  /// Returns whether the op may write an output where the caller has it, because all devices are done by then.
  bool comesBehindDevices(Operation *op) const { return behindDevices.contains(op); }
  /// Returns the number in slots() of the slot in which `base` lies.
  size_t slotOf(Value base) const { return slotNumbers.at(bufferOf.at(base)); }
  /// Returns the host allocation in which a launch has its scratch; where it is none, slotForScratch() returns the
  /// slot.
  std::optional<int64_t> hostAllocationForScratch(Operation *launch) const;
  size_t slotForScratch(Operation *launch) const { return slotNumbers.at(scratchOf.at(launch)); }

  /// A stretch of the workspace, which either has a place (`at`, in bytes) or lies above other slots, given by their
  /// numbers.
  struct Slot {
    std::string name;
    support::Size bytes;
    std::optional<int64_t> at;
    std::vector<size_t> above;
    int64_t device;
  };
  /// Returns all slots, device by device and in the order of their places. Of two slots of one device that are live at
  /// the same time, one lies above the other, directly or through others between them.
  llvm::ArrayRef<Slot> slots() const { return ordered; }

  /// Returns the symbol that stands for the number of a loop's present iteration.
  support::Symbol iterationOf(Operation *loop) const { return iterations.at(loop); }
  /// Returns the memory that the run must have asked for by the time of `op`.
  std::vector<Need> needsOf(Operation *op);
  /// Returns the host allocations that nothing needs behind `op`, an op of the function's own block.
  std::vector<int64_t> releasedBehind(Operation *op) const;

private:
  mlir::func::FuncOp function;
  llvm::ArrayRef<ingot::plan::SymbolInfo> symbols;
  mlir::Block &block;
  support::Bounds bounds; ///< the bounds of data-dependent sizes
  bool mayAllocate, unbounded = false;
  int64_t alignment; ///< of every buffer, in bytes
  int64_t step = 0;
  std::vector<size_t> fetched; ///< buffers of streamed weights
  int64_t repeats = 1;         ///< how often the present op runs, in the iterations of all loops around it
  ingot::plan::PlaceFinder places;
  llvm::DenseMap<Value, Place> adopted; ///< values that lie in the result of a control op, and where in it
  /// Loops around the current op: the step where each begins, and the buffers from before it that its body uses.
  llvm::SmallVector<std::pair<int64_t, llvm::SmallSetVector<size_t, 8>>> around;
  std::vector<support::Size> sizes;       ///< bytes of each buffer
  llvm::DenseMap<Value, int64_t> outputs; ///< value with a buffer -> the function result that it is
  llvm::SmallVector<unsigned> held;       ///< function results that are held back, because a device may still fail
  /// Launches that write an output behind all work of devices.
  llvm::SmallPtrSet<Operation *, 4> behindDevices;
  llvm::DenseMap<Value, size_t> bufferOf; ///< value with a buffer -> the buffer's number in the plan
  /// Launch -> the buffer that is its scratch memory.
  llvm::DenseMap<Operation *, size_t> scratchOf;
  /// Launch -> the step in which it runs.
  llvm::DenseMap<Operation *, int64_t> stepOf;
  llvm::DenseMap<Operation *, int64_t> endOf;          ///< the last step of an op of the function's own block
  std::map<Operation *, support::Symbol> iterations;   ///< loop -> the number of the present iteration
  std::vector<bool> needsAllocation;                   ///< by buffer: whether nothing bounds its size
  std::map<size_t, int64_t> allocationOfBuffer;        ///< buffer -> its number in `hostAllocations`
  llvm::DenseMap<int64_t, int64_t> allocationOfOutput; ///< function result -> its number in `hostAllocations`
  std::map<size_t, size_t> slotNumbers;                ///< buffer -> its number in `ordered`
  std::vector<Slot> ordered;

  template <typename Map, typename Key> static std::optional<int64_t> numberIn(const Map &map, const Key &key) {
    auto it = map.find(key);
    return it == map.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }
  std::optional<int64_t> largest(const support::Size &bytes) const;
  int64_t mostBytes(Value tensor) const;
  size_t addBuffer(const support::Size &exact, int64_t step, std::string name, int64_t device);
  void refuseAllocation(const support::Size &bytes, const llvm::Twine &what);

  void adopt(Operation *op);
  bool isUnbounded(Value v) const;
  int64_t inputReplacedBy(Value result);
  bool isToBeKept(Value result);
  Operation *writerBehindDevices(Value result);

  // Steps.
  std::optional<size_t> touch(Value v, llvm::StringRef name = "");
  void touch(size_t buffer);
  void count(std::optional<size_t> buffer, int64_t bytes);
  void countTensor(std::optional<size_t> buffer, Value tensor);
  std::vector<int64_t> trafficOf(ingot::plan::LaunchOp launch) const;
  void visit(mlir::Block &block);
  void visit(ingot::plan::LaunchOp launch);
  void visitCopy(Operation &op);
  void visit(ingot::plan::FetchOp fetch);
  void visitIf(Operation &op);
  void visitLoop(onnx::LoopOp loop);

  void shareInPlace();
  bool planArenas();
  bool planArena(int64_t device, llvm::ArrayRef<size_t> numbers);
  bool divideArena(llvm::ArrayRef<size_t> numbers);
  bool isOpen() const;

  /// Launches that a device may run at once, where they need not follow each other; their steps are in a row.
  struct LaunchRow {
    int64_t begin;                           ///< the first step
    std::vector<llvm::BitVector> behind;     ///< by launch: a bit for each that it has to follow
    std::map<size_t, llvm::BitVector> users; ///< buffer -> a bit for each launch that uses it
    int64_t end() const { return begin + static_cast<int64_t>(behind.size()); }
  };
  std::vector<LaunchRow> launchRows();
  LaunchRow launchRowOf(llvm::ArrayRef<ingot::plan::LaunchOp> launches);
  bool separateBranches(llvm::ArrayRef<size_t> numbers, std::vector<BufferLifetime> &lives);
  void orderSlots();

  // Memory that the run asks for.
  void numberHostAllocations();
  bool isAllocatedByLoop(Value v);
  support::Size knownBefore(Operation *op, const support::Size &size);
  void needOfChanging(onnx::LoopOp loop, mlir::OpResult v, std::vector<Need> &needs);
  void describeHostAllocations();
};

} // namespace ingot::memory
