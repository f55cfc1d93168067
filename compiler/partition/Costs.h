// Estimates the seconds that one run takes under a placement, which gives each op of a function a device. The estimate
// is ofKernels(placement) + ofCopies(placement):
//  - Kernels: an op costs what its device's target says (target::Target::seconds) and one launch. Inside of loops both
//    count once for each iteration.
//  - Fusion: an elementwise op joins the kernel of its "leader", the op that makes an operand of the same shape. Where
//    both are on one device, the op costs no launch, and that operand does not pass through memory.
//  - Copies: a value is downloaded once if it is made on a device and read in another memory. It is uploaded once to
//    each device memory, other than its own, in which it is read. Constants are not copied. The estimate assumes that
//    no kernel runs while a copy is under way.
//  - Shared copies: small inputs of the model go to a memory in one copy, and small results come back in one
//    (Bundles.h). If any of them is copied, the latency of that copy counts once. Which other values share a copy
//    depends on the order of kernels, which is not known yet: each of them counts as a copy of its own.
#pragma once
#include "compiler/partition/PlaceNodes.h"
#include "llvm/ADT/DenseMap.h"

namespace ingot::partition {

/// An op that a kernel computes, with the devices that could run it and the one that is to. A "node" below is the index
/// of an op in the list of these.
struct PlacedNode {
  mlir::Operation *op;
  llvm::SmallVector<int, 2> takers; ///< indices of the devices that accept the op, in the order of --target
  int device = -1;                  ///< the index of the chosen device, one of `takers`; -1: none accepts the op
  std::string whyNot = "";          ///< why the devices before the chosen one refused the op or gave it back
};

/// The costs of all placements of one function. A placement is an array with the device's index for each node.
class Costs {
public:
  /// Makers and readers of a value are nodes, by index, or negative numbers. `host` (-1) stands for the caller and for
  /// whatever else works in the host's memory. outside(m) stands for the caller where --bind says that the input or
  /// output lies in memory m.
  static constexpr int host = -1;
  static int outside(int64_t memory) { return host - static_cast<int>(memory); }
  static bool isNode(int node) { return node >= 0; }

  /// A value that kernels, control flow or the caller read, and how long it lives. Times are "places": the positions of
  /// ops in a pre-order walk of the function.
  struct Tensor {
    /// The bytes of the largest part that anybody reads (of a value behind a slice, the slice), and how often the value
    /// is made in a run.
    double bytes = 0, iterations = 1;
    int maker = host;                       ///< a node, `host` or outside(memory)
    llvm::SmallVector<int, 4> readers = {}; ///< nodes, `host` or outside(memory); one entry for each use
    size_t begin = 0, end = 0;              ///< the place where the value is made, and the last one where it is read
    /// Input: the caller passes the value in the host's memory. Result: the caller alone reads it, there. Inside:
    /// everything else, and inputs and results that a run may lack or whose size depends on data.
    enum Edge { Inside, Input, Result } edge = Inside;
    llvm::SmallVector<bool, 2> isBundled = {}; ///< for each memory, whether the copy to or from there is a shared one
  };

  /// A copy between the host's memory and another, which several values share.
  struct Shared {
    int memory;                           ///< the other memory
    double latency;                       ///< seconds, which count once if any member is copied
    llvm::SmallVector<size_t, 4> members; ///< indices in crossing(): only inputs, or only results
  };

  Costs(mlir::func::FuncOp function, llvm::ArrayRef<Device> devices, llvm::ArrayRef<PlacedNode> nodes,
        const Policy &policy);

  /// Returns the memory in which a device works. 0 is the host's; each device with a memory of its own has the next
  /// number, in the order of --target.
  int memoryOf(int device) const { return memories[device]; }
  /// Returns the memory in which a node works under a placement; for a negative `node`, the one that it stands for.
  int memoryOf(int node, llvm::ArrayRef<int> placed) const {
    return isNode(node) ? memories[placed[node]] : host - node;
  }
  int memoryCount() const { return static_cast<int>(deviceOfMemory.size()); }
  /// Returns the machine to which a memory other than the host's belongs.
  const target::MachineModel &machineOf(int memory) const { return devices[deviceOfMemory[memory]].machine; }

  /// Returns the seconds of a node in a run on a device that accepts it, as a part of its leader's kernel. A node
  /// without a leader is a kernel of its own.
  double seconds(int node, int device) const { return costs[node].joined[device]; }
  /// Returns how many seconds more the node takes if its leader is on another device; 0 if it has no leader.
  double extraAlone(int node, int device) const { return costs[node].extraAlone[device]; }
  /// Returns the node whose kernel this one joins if both are on one device; `host` if there is none.
  int leader(int node) const { return costs[node].leader; }

  /// Returns all values but constants, whether or not a placement makes them cross.
  llvm::ArrayRef<Tensor> crossing() const { return values; }
  /// Returns the constants, and the values that the compiler computes from constants alone.
  llvm::ArrayRef<Tensor> constants() const { return weights; }
  /// Return the seconds in a run of copying a value from the host to a memory, or back. Where the copy is a shared one,
  /// they leave its latency out, which is in Shared, and include copying the value into or out of the bundle.
  double upload(const Tensor &value, int memory) const { return ofCopy(value, memory, machineOf(memory).upload); }
  double download(const Tensor &value, int memory) const { return ofCopy(value, memory, machineOf(memory).download); }
  llvm::ArrayRef<Shared> shared() const { return sharedCopies; }

  /// Return the seconds of a node, of all nodes and of all copies in a run under a placement.
  double ofNode(int node, llvm::ArrayRef<int> placed) const;
  double ofKernels(llvm::ArrayRef<int> placed) const;
  double ofCopies(llvm::ArrayRef<int> placed) const;
  /// Returns, for each place of the function, about how many bytes of a memory are in use: all constants that are read
  /// in that memory, and the values that are alive there. What the caller has in that memory does not count.
  std::vector<double> bytesIn(int memory, llvm::ArrayRef<int> placed) const;

private:
  struct NodeCost {
    int leader = host;
    llvm::SmallVector<double, 2> joined, extraAlone; ///< seconds for each device; 0 for one that refuses the node
  };
  llvm::ArrayRef<Device> devices;
  const Policy &policy;
  const support::Bounds &bounds;
  llvm::SmallVector<int, 2> memories, deviceOfMemory; ///< the memory of each device, and the device of each memory
  llvm::DenseMap<mlir::Operation *, int> numberOf;    ///< the node of an op
  size_t places = 0;                                  ///< how many places the function has
  /// The place of each op, and for an If or a Loop the place of the last op in its regions.
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
