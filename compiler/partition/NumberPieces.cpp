// Nodes are taken in their order; each joins the pieces of those that it reads, unless something outside would then lie
// between two nodes of one piece. Pieces are in one block.
#include "compiler/onnx/Control.h"
#include "compiler/partition/PlaceByCost.h"
#include "compiler/partition/Roles.h"

using namespace mlir;

namespace ingot::partition {
namespace {

class BlockPieces {
public:
  BlockPieces(Block &block, const llvm::DenseMap<Operation *, int> &deviceOf) {
    for (auto [i, op] : llvm::enumerate(block)) {
      order[&op] = static_cast<int>(i);
      auto known = deviceOf.find(&op);
      devices.push_back(known == deviceOf.end() ? 0 : known->second);
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
        if (devices[op] != 0 && devices[maker] == devices[op] && canMerge(pieceOf[maker], pieceOf[op])) {
          merge(pieceOf[maker], pieceOf[op]);
        }
      }
    }
  }

  /// Returns a number that all ops of a piece have.
  int of(Operation *op) const { return pieceOf[order.lookup(op)]; }

private:
  llvm::DenseMap<Operation *, int> order;
  std::vector<int> devices, pieceOf;
  std::vector<SmallVector<int, 4>> needs, members; ///< `members`: the nodes of a piece by its number, ascending

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

  /// Whether nothing outside of two pieces that are not one depends on them and is needed by them.
  bool canMerge(int a, int b) const {
    if (a == b) {
      return false;
    }
    int horizon = std::min(members[a].front(), members[b].front());
    std::vector<bool> seen(needs.size() - horizon);
    SmallVector<int> todo;
    auto isInside = [&](int op) { return pieceOf[op] == a || pieceOf[op] == b; };
    auto push = [&](int op) {
      for (int member : members[pieceOf[op]]) { // a piece waits for all that any of it needs
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
