// A device and one behind it in the user's order are two sides of a network: whatever the first one takes may stay (the
// side of the source) or move to the other one, or to the next that takes it (the side of the sink). Everything that a
// placement costs is a cost of such a cut, since a value costs a copy when it is made on one side and read on the
// other, however often it is read: the cheapest cut (MinCut.h) is the cheapest placement, whole pieces and parts of
// them at once. With one device beside the host one cut is enough. With several, pairs of them are cut one after the
// other, while nodes on other devices stay, until no cut changes anything; none makes the run longer. Between equal
// costs a node goes where the user's order puts it.
//
// A memory that is too small gets a price for each of its bytes at each place of the function where it is too small: a
// value pays where it lives, a constant everywhere. The price is raised until what the device keeps has room, so that
// nodes that gain the least time for their bytes leave it first. For constants the price grows along the function: of
// layers that are alike, and gain the same, the last ones leave first, and those that stay are one piece.
#include "compiler/partition/PlaceByCost.h"
#include "compiler/partition/MinCut.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace ingot::partition {
namespace {

/// Returns picoseconds, which are whole numbers, so that sums do not depend on their order.
int64_t costOf(double seconds) {
  constexpr double most = 1e15; // this is a quarter of an hour
  return static_cast<int64_t>(std::llround(std::min(seconds * 1e12, most)));
}

/// A condition on the side on which a node is.
struct Literal {
  enum Kind { Never, Always, AtSource, AtSink } kind = Never;
  int node = 0;
};

/// The price of a device's memory.
struct Price {
  double byte = 0;          ///< seconds, for a byte that is taken all the time
  std::vector<bool> full;   ///< places of the function where it has been too small, where it is paid for
  std::vector<double> upTo; ///< the share of each place and of those before it
  double between(size_t begin, size_t end) const { return byte * (upTo[end] - (begin ? upTo[begin - 1] : 0)); }
};

/// The cheapest placement when a device and one later in the order, `other`, may exchange nodes, and all others stay.
class PairPlacement {
public:
  PairPlacement(ArrayRef<PlacedNode> nodes, const Costs &costs, int device, int other, ArrayRef<int> placed,
                ArrayRef<Price> prices)
      : costs(costs), cut(static_cast<int>(nodes.size())) {
    for (auto [i, node] : llvm::enumerate(nodes)) {
      const auto *own = llvm::find(node.takers, device), *now = llvm::find(node.takers, placed[i]);
      bool stays = own == node.takers.end() || now < own;
      const auto *next = llvm::find(node.takers, other);
      if (stays || now > own) {
        next = now;
      } else if (next == node.takers.end()) {
        next = std::next(own);
      }
      atSink.push_back(next == node.takers.end() ? placed[i] : *next);
      atSource.push_back(stays ? placed[i] : device);
    }
    for (int i = 0; i < static_cast<int>(atSource.size()); ++i) {
      addKernel(i);
    }
    for (const Costs::Tensor &value : costs.crossing()) {
      addCopies(value);
    }
    for (const Costs::Shared &copy : costs.shared()) {
      addShared(copy);
    }
    for (auto [i, price] : llvm::enumerate(prices)) {
      addMemory(costs.memoryOf(static_cast<int>(i)), price);
    }
  }

  SmallVector<int> best() {
    std::vector<bool> isAtSource = cut.solve();
    SmallVector<int> result;
    for (size_t i = 0; i < atSource.size(); ++i) {
      result.push_back(isAtSource[i] ? atSource[i] : atSink[i]);
    }
    return result;
  }

private:
  const Costs &costs;
  MinCut cut;
  SmallVector<int> atSource, atSink; ///< the devices of nodes at the source, and at the sink

  bool moves(int node) const { return atSource[node] != atSink[node]; }

  void addKernel(int i) {
    if (moves(i)) {
      cut.addCostAtSource(i, costOf(costs.seconds(i, atSource[i])));
      cut.addCostAtSink(i, costOf(costs.seconds(i, atSink[i])));
    }
    if (int leader = costs.leader(i); leader != Costs::host) {
      addSeparation(i, leader);
    }
  }

  /// Adds the extra cost of a node that is on another device than the node which it follows.
  void addSeparation(int i, int leader) {
    int64_t there = costOf(costs.extraAlone(i, atSource[i])), here = costOf(costs.extraAlone(i, atSink[i]));
    if (moves(i) && moves(leader)) {
      cut.addEdge(i, leader, there);
      if (atSink[i] == atSink[leader]) {
        cut.addEdge(leader, i, here);
      } else {
        cut.addCostAtSink(i, here);
      }
    } else if (moves(i)) {
      cut.addCostAtSource(i, atSource[i] == atSource[leader] ? 0 : there);
      cut.addCostAtSink(i, atSink[i] == atSink[leader] ? 0 : here);
    } else if (moves(leader)) {
      cut.addCostAtSource(leader, atSource[i] == atSource[leader] ? 0 : there);
      cut.addCostAtSink(leader, atSink[i] == atSink[leader] ? 0 : here);
    }
  }

  /// Returns the condition that a node works in a memory, or does not.
  Literal works(int node, int memory, bool in = true) const {
    bool first = (costs.memoryOf(node, atSource) == memory) == in,
         second = (costs.memoryOf(node, atSink) == memory) == in;
    return {first && second ? Literal::Always
            : first         ? Literal::AtSource
            : second        ? Literal::AtSink
                            : Literal::Never,
            node};
  }

  void addCopies(const Costs::Tensor &value) {
    for (int memory = 1; memory < costs.memoryCount(); ++memory) {
      SmallVector<Literal> inside, outside;
      for (int reader : value.readers) {
        inside.push_back(works(reader, memory));
        outside.push_back(works(reader, memory, /*in=*/false));
      }
      addCost(costOf(costs.upload(value, memory)), works(value.maker, memory, /*in=*/false), inside);
      addCost(costOf(costs.download(value, memory)), works(value.maker, memory), outside);
    }
  }

  /// Adds what values that go in one copy cost together, which is the same however many of them cross.
  void addShared(const Costs::Shared &copy) {
    SmallVector<Literal> cross;
    for (size_t member : copy.members) {
      const Costs::Tensor &value = costs.crossing()[member];
      if (value.edge == Costs::Tensor::Result) {
        cross.push_back(works(value.maker, copy.memory));
        continue;
      }
      for (int reader : value.readers) {
        cross.push_back(works(reader, copy.memory));
      }
    }
    addCost(costOf(copy.latency), {Literal::Always}, cross);
  }

  void addMemory(int memory, const Price &price) {
    auto add = [&](const Costs::Tensor &value, double share) {
      SmallVector<Literal> users;
      for (int reader : value.readers) {
        users.push_back(works(reader, memory));
      }
      users.push_back(works(value.maker, memory));
      addCost(costOf(share * value.bytes), {Literal::Always}, users);
    };
    if (price.byte == 0) {
      return;
    }
    for (const Costs::Tensor &value : costs.crossing()) {
      add(value, price.between(value.begin, value.end));
    }
    for (const Costs::Tensor &value : costs.constants()) {
      add(value, price.byte * (1 + static_cast<double>(value.end) / static_cast<double>(price.upTo.size())));
    }
  }

  /// Adds a cost that is paid where `condition` and any of the others hold. All of the others that depend on a side are
  /// about the same one, and the condition, if it depends, about the other side: a node of its own then stands for "any
  /// of them", with edges that no cut can afford.
  void addCost(int64_t cost, Literal condition, ArrayRef<Literal> any) {
    if (condition.kind == Literal::Never || cost == 0) {
      return;
    }
    SmallVector<Literal> open;
    for (Literal literal : any) {
      if (literal.kind == Literal::Always) {
        return addCost(cost, condition);
      }
      if (literal.kind != Literal::Never) {
        open.push_back(literal);
      }
    }
    if (open.empty()) {
      return;
    }
    int all = open.front().node;
    if (open.size() > 1) {
      all = cut.addNode();
      for (Literal literal : open) {
        literal.kind == Literal::AtSource ? cut.addEdge(literal.node, all, MinCut::unlimited)
                                          : cut.addEdge(all, literal.node, MinCut::unlimited);
      }
    }
    if (condition.kind == Literal::Always) {
      addCost(cost, {open.front().kind, all});
    } else if (condition.kind == Literal::AtSource) {
      cut.addEdge(condition.node, all, cost);
    } else {
      cut.addEdge(all, condition.node, cost);
    }
  }

  void addCost(int64_t cost, Literal condition) {
    if (condition.kind == Literal::AtSource) {
      cut.addCostAtSource(condition.node, cost);
    } else if (condition.kind == Literal::AtSink) {
      cut.addCostAtSink(condition.node, cost);
    }
  }
};

/// Returns a text like "1.23 us more".
std::string changeText(double seconds) {
  double size = std::abs(seconds);
  if (costOf(size) == 0) {
    return "as long";
  }
  const char *text = size >= 1e-3 ? "{0:f2} ms" : size >= 1e-6 ? "{0:f2} us" : "{0:f2} ns";
  double unit = size >= 1e-3 ? 1e3 : size >= 1e-6 ? 1e6 : 1e9;
  return llvm::formatv(text, size * unit).str() + (seconds < 0 ? " less" : " more");
}

class CostPlacement {
public:
  CostPlacement(ArrayRef<Device> devices, MutableArrayRef<PlacedNode> nodes, const Costs &costs, const Policy &policy)
      : devices(devices), nodes(nodes), costs(costs), policy(policy), prices(devices.size()) {
    for (const PlacedNode &node : nodes) {
      first.push_back(node.device);
    }
    placed = first;
  }

  /// Returns the cheapest placement with the prices. If the policy does not weigh costs, only devices whose memory has
  /// a price exchange nodes with others.
  SmallVector<int> cheapest() const {
    constexpr int mostRounds = 16;
    SmallVector<int> best = first;
    bool changed = true;
    for (int round = 0; changed && round < mostRounds; ++round) {
      changed = false;
      for (int i = 0; i < static_cast<int>(devices.size()); ++i) {
        if (!policy.byCost && prices[i].byte == 0) {
          continue;
        }
        for (int other = i + 1; other < static_cast<int>(devices.size()); ++other) {
          SmallVector<int> better = PairPlacement(nodes, costs, i, other, best, prices).best();
          changed |= better != best;
          best = std::move(better);
        }
      }
    }
    return best;
  }

  void place() { placed = cheapest(); }

  /// Raises the prices of memories that are too small. What one device gives back another may take, whose memory is too
  /// small then: if that goes on, all get the highest price. Failure with a message where something can run nowhere
  /// else.
  LogicalResult fit(func::FuncOp function) {
    constexpr int mostRounds = 8;
    for (int round = 0; round < mostRounds && tooSmall(); ++round) {
      unpriced = unpriced.empty() ? placed : unpriced;
      raisePrice(*tooSmall());
    }
    if (tooSmall()) {
      for (size_t device = 0; device < devices.size(); ++device) {
        if (devices[device].machine.memoryBytes > 0) {
          addFullPlaces(device, /*all=*/true);
          prices[device].byte = mostPrice;
        }
      }
      placed = cheapest();
    }
    std::optional<size_t> full = tooSmall();
    if (!full) {
      return success();
    }
    const target::MachineModel &machine = devices[*full].machine;
    return emitError(function.getLoc()) << "target '" << machine.spec << "': what runs nowhere else needs about "
                                        << static_cast<int64_t>(peakOf(*full, placed)) + heldBack(*full)
                                        << " bytes of its memory, which has " << machine.memoryBytes;
  }

  /// Notes where nodes are now, and why those that moved did.
  void note() {
    llvm::BitVector explained(nodes.size());
    std::vector<SmallVector<int, 4>> neighbours = neighboursOfMoved();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (placed[i] != first[i] && !explained[i]) {
        explain(connectedTo(static_cast<int>(i), neighbours), explained);
      }
    }
    for (auto [node, device] : llvm::zip_equal(nodes, placed)) {
      node.device = device;
    }
  }

private:
  static constexpr double mostPrice = 1e-3; ///< seconds for a byte; nothing gains that much
  ArrayRef<Device> devices;
  MutableArrayRef<PlacedNode> nodes;
  const Costs &costs;
  const Policy &policy;
  std::vector<Price> prices; ///< one for each device
  SmallVector<int> first, placed;
  SmallVector<int> unpriced; ///< the devices of nodes before prices; empty: all memories are large enough

  /// Returns the bytes that packing and layouts took more than the estimate says.
  int64_t heldBack(size_t device) const { return policy.reserved.empty() ? 0 : policy.reserved[device]; }

  double roomOf(size_t device) const {
    return static_cast<double>(devices[device].machine.memoryBytes - heldBack(device));
  }

  /// Returns the most bytes that are needed of a device's memory at any place.
  double peakOf(size_t device, ArrayRef<int> where) const {
    std::vector<double> bytes = costs.bytesIn(costs.memoryOf(static_cast<int>(device)), where);
    return *std::max_element(bytes.begin(), bytes.end());
  }

  bool hasRoom(size_t device, ArrayRef<int> where) const {
    double peak = peakOf(device, where);
    return peak == 0 || peak <= roomOf(device);
  }

  /// Returns a device whose memory has no room for what is there.
  std::optional<size_t> tooSmall() const {
    for (size_t device = 0; device < devices.size(); ++device) {
      if (devices[device].machine.memoryBytes > 0 && !hasRoom(device, placed)) {
        return device;
      }
    }
    return std::nullopt;
  }

  /// Puts a price on the places where a memory is too small now (or all places), beside those where it has been.
  void addFullPlaces(size_t device, bool all) {
    Price &price = prices[device];
    std::vector<double> bytes = costs.bytesIn(costs.memoryOf(static_cast<int>(device)), placed);
    price.full.resize(bytes.size());
    price.upTo.clear();
    double count = 0;
    for (size_t place = 0; place < bytes.size(); ++place) {
      price.full[place] = price.full[place] || all || bytes[place] > roomOf(device);
      price.upTo.push_back(count += price.full[place] ? 1 : 0);
    }
    for (double &upTo : price.upTo) {
      upTo /= count;
    }
  }

  /// Finds, within 1 %, the lowest price at which what the device keeps has room. It is at least four times the last
  /// one, so that few rounds are needed.
  void raisePrice(size_t device) {
    constexpr double least = 1e-15, factor = 1.01, step = 4;
    constexpr int mostTries = 8; // values that are given back at one place may have to be uploaded at another
    double low = std::min(std::max(prices[device].byte * step, least), mostPrice), high = mostPrice;
    auto fitsAt = [&](double byte) {
      prices[device].byte = byte;
      placed = cheapest();
      return hasRoom(device, placed);
    };
    bool fits = false;
    for (int i = 0; !fits && i < mostTries; ++i) {
      addFullPlaces(device, /*all=*/false);
      fits = fitsAt(mostPrice);
    }
    while (fits && high > low * factor) {
      double middle = std::sqrt(low * high);
      (fitsAt(middle) ? high : low) = middle;
    }
    fitsAt(high);
  }

  /// Returns for each node that moved those that made the same move and have a value in common with it.
  std::vector<SmallVector<int, 4>> neighboursOfMoved() const {
    std::vector<SmallVector<int, 4>> neighbours(nodes.size());
    for (const Costs::Tensor &value : costs.crossing()) {
      for (int reader : value.readers) {
        int maker = value.maker;
        if (Costs::isNode(maker) && Costs::isNode(reader) && placed[maker] != first[maker] &&
            first[reader] == first[maker] && placed[reader] == placed[maker]) {
          neighbours[maker].push_back(reader);
          neighbours[reader].push_back(maker);
        }
      }
    }
    return neighbours;
  }

  /// Returns the node and all that are its neighbours, or neighbours of these, and so on.
  static SmallVector<int> connectedTo(int node, ArrayRef<SmallVector<int, 4>> neighbours) {
    llvm::SmallSetVector<int, 16> piece;
    piece.insert(node);
    for (size_t i = 0; i < piece.size(); ++i) {
      piece.insert(neighbours[piece[i]].begin(), neighbours[piece[i]].end());
    }
    return piece.takeVector();
  }

  /// Notes for a piece what it would have cost to leave it where it was, beside all the others as they are now.
  void explain(ArrayRef<int> piece, llvm::BitVector &explained) {
    int device = first[piece.front()];
    SmallVector<int> with = placed;
    for (int node : piece) {
      with[node] = device;
      explained.set(node);
    }
    std::string why =
        piece.size() == 1 ? "gives it back: " : "gives back a piece of " + std::to_string(piece.size()) + " nodes: ";
    if (!unpriced.empty() && unpriced[piece.front()] == device) {
      why += "its memory of " + std::to_string(devices[device].machine.memoryBytes) + " bytes is too small; ";
    }
    why += "kernels would take " + changeText(costs.ofKernels(with) - costs.ofKernels(placed)) + ", copies " +
           changeText(costs.ofCopies(with) - costs.ofCopies(placed));
    for (int node : piece) {
      nodes[node].whyNot += (nodes[node].whyNot.empty() ? "" : "; ") + devices[device].machine.spec + ": " + why;
    }
  }
};

} // namespace

LogicalResult placeByCost(func::FuncOp function, ArrayRef<Device> devices, MutableArrayRef<PlacedNode> nodes,
                          const Costs &costs, const Policy &policy) {
  CostPlacement placement(devices, nodes, costs, policy);
  placement.place();
  LogicalResult ok = placement.fit(function);
  placement.note();
  return ok;
}

} // namespace ingot::partition
