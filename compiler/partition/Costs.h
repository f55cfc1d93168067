// What a placement of a function's ops costs: an estimate in seconds of a run, from the machines' rates and links.
//  - An op costs what its device says (target::Target::seconds) and a launch, once for each iteration of the loops
//  around it.
//  - An elementwise op that follows the maker of an operand of its shape is a part of that one's kernel: where both are
//    on one device it costs neither a launch nor the way of that operand through memory.
//  - A value costs an upload for each memory, other than its own, in which it is read, and a download if it is made on
//    a device and read elsewhere; constants do not cross. Copies are counted as if nothing ran beside them.
//  - Small inputs of the model cross in one copy, small results, too (Bundles.h): they share its latency, whoever of
//    them crosses. What else goes together depends on the order of kernels, and is counted one by one.
#pragma once
#include "compiler/partition/PlaceNodes.h"
#include "llvm/ADT/DenseMap.h"

namespace ingot::partition {

/// An op with a place to run.
struct PlacedNode {
  mlir::Operation *op;
  llvm::SmallVector<int, 2> takers; ///< devices that may run it, by number, in the user's order
  int device = -1;
  std::string whyNot = ""; ///< what devices ahead of that one said
};

class Costs {
public:
  /// This stands for something that is no node: it is in the host's memory or (the caller's, by --bind) in another one.
  static constexpr int host = -1;
  static int outside(int64_t memory) { return host - static_cast<int>(memory); }
  static bool isNode(int node) { return node >= 0; }

  struct Tensor {
    double bytes = 0, iterations = 1; ///< how often it is made in a run
    int maker = host;
    llvm::SmallVector<int, 4> readers = {};
    size_t begin = 0, end = 0;                         ///< places of ops, in the order of the function
    enum Edge { Inside, Input, Result } edge = Inside; ///< whether the caller has it, or is to get it and nobody else
    llvm::SmallVector<bool, 2> isBundled = {};         ///< for each memory, whether it shares a copy to or from there
  };

  /// Values that share a copy between the host's memory and another.
  struct Shared {
    int memory;
    double latency;
    llvm::SmallVector<size_t, 4> members; ///< numbers in crossing(), all of one edge
  };

  Costs(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices, llvm::ArrayRef<PlacedNode> nodes,
        const Policy &policy);

  /// Returns the memory in which a device works; 0 is the host's.
  int memoryOf(int device) const { return memories[device]; }
  /// Returns the memory in which a node works under a placement of all of them.
  int memoryOf(int node, llvm::ArrayRef<int> placed) const {
    return isNode(node) ? memories[placed[node]] : host - node;
  }
  int memoryCount() const { return static_cast<int>(deviceOfMemory.size()); }
  const target::MachineModel &machineOf(int memory) const { return devices[deviceOfMemory[memory]].machine; }

  /// Return the seconds of a node on a device that takes it: with the node that it follows, and how much more they are
  /// without it.
  double seconds(int node, int device) const { return costs[node].joined[device]; }
  double extraAlone(int node, int device) const { return costs[node].extraAlone[device]; }
  /// Returns the node whose kernel this one joins where both are on one device, or `host`.
  int leader(int node) const { return costs[node].leader; }

  llvm::ArrayRef<Tensor> crossing() const { return values; }
  llvm::ArrayRef<Tensor> constants() const { return weights; }
  double upload(const Tensor &value, int memory) const { return ofCopy(value, memory, machineOf(memory).upload); }
  double download(const Tensor &value, int memory) const { return ofCopy(value, memory, machineOf(memory).download); }
  llvm::ArrayRef<Shared> shared() const { return sharedCopies; }

  /// Return the seconds of a node, of all nodes and of all copies under a placement.
  double ofNode(int node, llvm::ArrayRef<int> placed) const;
  double ofKernels(llvm::ArrayRef<int> placed) const;
  double ofCopies(llvm::ArrayRef<int> placed) const;
  /// Returns about how many bytes of a memory are needed at each place of the function: constants, and values that live
  /// there.
  std::vector<double> bytesIn(int memory, llvm::ArrayRef<int> placed) const;

private:
  struct NodeCost {
    int leader = host;
    llvm::SmallVector<double, 2> joined, extraAlone; ///< for each device; 0: it does not take the node
  };
  llvm::ArrayRef<Device> devices;
  const Policy &policy;
  const support::Bounds &bounds;
  llvm::SmallVector<int, 2> memories, deviceOfMemory;
  llvm::DenseMap<mlir::Operation *, int> numberOf;
  size_t places = 0;
  /// The place of an op, and of a loop the place where its body ends.
  llvm::DenseMap<mlir::Operation *, size_t> placeOf, endOf;
  std::vector<NodeCost> costs;
  std::vector<Tensor> values, weights;
  std::vector<Shared> sharedCopies;

  void orderOps(mlir::func::FuncOp function);
  void addValues(mlir::func::FuncOp function);
  static Tensor::Edge edgeOf(mlir::Value v);
  void shareCopies(int memory, Tensor::Edge edge, const target::MachineModel::Link &link);
  double ofCopy(const Tensor &value, int memory, const target::MachineModel::Link &link) const;
  NodeCost costOf(const PlacedNode &node) const;
  int leaderOf(mlir::Operation *op) const;
  double number(const support::Size &size) const;
  double bytesOf(mlir::Value v) const;
  bool isInLeader(const Tensor &value, llvm::ArrayRef<int> placed) const;
};

} // namespace ingot::partition
