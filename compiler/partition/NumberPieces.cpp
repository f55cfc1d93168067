// Numbers, for the report, the pieces that devices with their own memory compute. A piece consists of connected nodes
// of one block and one memory. It is convex: no path of dependencies leaves it and comes back, so that the device could
// run it as a whole.
//
// Ops are visited in the order of their block. The pieces of an op and of the ops whose results it reads become one,
// unless that piece were not convex:
//
//   a (device) -> b (host) -> c (device), and a -> c       {a} and {c}: the path over b leaves {a, c} and comes back
#include "compiler/onnx/Control.h"
#include "compiler/partition/PlaceByCost.h"
#include "compiler/partition/Roles.h"

using namespace mlir;

namespace ingot::partition {
namespace {

/// The pieces of one block. An op is known by its position in the block, a piece by the number of its first op.
class BlockPieces {
public:
  /// `memoryOf` has the memory in which each node works (Costs::memoryOf). Other ops count as the host's, memory 0.
  BlockPieces(Block &block, const llvm::DenseMap<Operation *, int> &memoryOf) {
    for (auto [i, op] : llvm::enumerate(block)) {
      order[&op] = static_cast<int>(i);
      auto known = memoryOf.find(&op);
      memories.push_back(known == memoryOf.end() ? 0 : known->second);
      pieceOf.push_back(static_cast<int>(i));
      members.push_back({static_cast<int>(i)});
      needs.emplace_back();
      onnx::eachOutsideOperand(&op, [&](OpOperand &use) {
        Operation *maker = viewed(use.get()).getDefiningOp();
        if (maker && maker->getBlock() == &block) {
          needs.back().push_back(order.lookup(maker));
        }
      });
    }
    for (int op = 0; op < static_cast<int>(needs.size()); ++op) {
      for (int maker : needs[op]) {
        if (memories[op] != 0 && memories[maker] == memories[op] && canMerge(pieceOf[maker], pieceOf[op])) {
          merge(pieceOf[maker], pieceOf[op]);
        }
      }
    }
  }

  /// Returns the number of the op's piece. Numbers are unique within the block and have gaps.
  int of(Operation *op) const { return pieceOf[order.lookup(op)]; }

private:
  llvm::DenseMap<Operation *, int> order; ///< the position of each op in the block
  std::vector<int> memories, pieceOf;     ///< the memory and the piece of the op at each position
  /// For the op at each position, the ops of the block whose results it reads, through views; and for each piece, by
  /// its number, its ops in ascending order (none where the piece became a part of another).
  std::vector<SmallVector<int, 4>> needs, members;

  /// Makes the ops of piece `from` members of piece `into`.
  void merge(int into, int from) {
    for (int op : members[from]) {
      pieceOf[op] = into;
    }
    SmallVector<int, 4> both;
    std::merge(members[into].begin(), members[into].end(), members[from].begin(), members[from].end(),
               std::back_inserter(both));
    members[into] = std::move(both);
    members[from].clear();
  }

  /// Whether two different pieces may become one: no op outside of both depends on them and is needed by them. The
  /// search goes from what they need, through what these ops need in turn, and must not come back to them.
  bool canMerge(int a, int b) const {
    if (a == b) {
      return false;
    }
    // Ops before the first one of both pieces cannot depend on them.
    int horizon = std::min(members[a].front(), members[b].front());
    std::vector<bool> seen(needs.size() - horizon);
    SmallVector<int> todo;
    auto isInside = [&](int op) { return pieceOf[op] == a || pieceOf[op] == b; };
    auto push = [&](int op) {
      // A piece starts only when everything that any of its ops needs is there.
      for (int member : members[pieceOf[op]]) {
        if (member > horizon && !seen[member - horizon]) {
          seen[member - horizon] = true;
          todo.push_back(member);
        }
      }
    };
    for (int piece : {a, b}) {
      for (int op : members[piece]) {
        llvm::for_each(needs[op], [&](int need) { isInside(need) ? void() : push(need); });
      }
    }
    while (!todo.empty()) {
      for (int need : needs[todo.pop_back_val()]) {
        if (isInside(need)) {
          return false;
        }
        push(need);
      }
    }
    return true;
  }
};

} // namespace

std::vector<int> numberPieces(ArrayRef<PlacedNode> nodes, const Costs &costs) {
  llvm::DenseMap<Operation *, int> memories;
  llvm::DenseMap<Block *, std::unique_ptr<BlockPieces>> blocks;
  for (const PlacedNode &node : nodes) {
    memories[node.op] = costs.memoryOf(node.device);
  }
  std::map<std::pair<Block *, int>, int> numbers;
  std::vector<int> pieces;
  for (const PlacedNode &node : nodes) {
    if (memories[node.op] == 0) {
      pieces.push_back(-1);
      continue;
    }
    Block *block = node.op->getBlock();
    std::unique_ptr<BlockPieces> &in = blocks[block];
    if (!in) {
      in = std::make_unique<BlockPieces>(*block, memories);
    }
    int number = static_cast<int>(numbers.size());
    pieces.push_back(numbers.try_emplace({block, in->of(node.op)}, number).first->second);
  }
  return pieces;
}

} // namespace ingot::partition
