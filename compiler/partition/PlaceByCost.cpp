// Finds the cheapest placement as a minimum cut (MinCut.h). Take two devices, A and B, where B comes later in the order
// of --target. Each node that A accepts is a node of a network. A cut that has it at the source's side means "on A"; at
// the sink's side it means "on B", or on the next device that accepts it, if B does not.
//
//   a cost of the placement                                 in the network
//   node i takes 3 us on A and 5 us on B                    an edge of 3 to the sink, an edge of 5 from the source
//   i takes 1 us more if its leader is not on A as well     an edge of 1 from i to the leader
//   i makes a value on A that B reads, a copy of 2 us       an edge of 2 from i to the reader; several readers share
//                                                           one, so that the copy counts once (addCost)
//
// Thus the cheapest cut is the cheapest placement, and it moves single nodes and whole groups of them at once. With one
// device beside the host, one cut is enough. With several, each pair is cut in turn, while nodes on other devices stay,
// until no cut changes anything. No cut makes the estimated run longer. If two placements cost the same, the one that
// leaves more nodes on A, the earlier device, wins.
//
// Memory has a limit, which a cut knows nothing of. A memory that is too small therefore gets a price for each byte, at
// each place of the function where it is too small: a value pays at those places where it is alive, a constant pays for
// all. The price is raised until what stays fits, so that the nodes that gain the least time for their bytes leave
// first. For constants the price also grows along the function. Of equal layers, which gain the same, the last ones
// then leave first, and those that stay are connected.
#include "compiler/partition/PlaceByCost.h"
#include "compiler/partition/MinCut.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace ingot::partition {
namespace {

/// Returns a time in picoseconds. The costs of cuts are integers, so that sums do not depend on their order.
int64_t costOf(double seconds) {
  constexpr double most = 1e15; // 1000 seconds; sums of many such costs still fit in 64 bits
  return static_cast<int64_t>(std::llround(std::min(seconds * 1e12, most)));
}

/// A condition on the side of a cut on which `node` is. Never and Always do not depend on the cut.
struct Literal {
  enum Kind { Never, Always, AtSource, AtSink } kind = Never;
  int node = 0;
};

/// The price of a device's memory. A byte in use at k of the n places that are `full` costs byte * k / n seconds.
struct Price {
  double byte = 0;          ///< seconds for a byte that is in use at all full places; 0: the memory costs nothing
  std::vector<bool> full;   ///< for each place of the function, whether the memory has been too small there
  std::vector<double> upTo; ///< for each place, the share of the full places that are at or before it, up to 1
  /// Returns the price of a byte that is in use from one place to another, both included.
  double between(size_t begin, size_t end) const { return byte * (upTo[end] - (begin ? upTo[begin - 1] : 0)); }
};

/// Finds the cheapest placement in which `device` and `other`, which comes later in the order, exchange nodes. `placed`
/// is the placement before. The file's head describes the network.
class PairPlacement {
public:
  /// A node that is on `device`, or was moved from there to a later device, may be in both places. All others stay:
  /// those that `device` refuses, those on devices before it, and those that nothing behind it accepts.
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

  /// Returns the device of each node in the cheapest placement.
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
  SmallVector<int> atSource, atSink; ///< for each node, its device if the cut has it at the source, and at the sink

  bool moves(int node) const { return atSource[node] != atSink[node]; }

  /// Adds what node `i` costs on either side, if it may be on both.
  void addKernel(int i) {
    if (moves(i)) {
      cut.addCostAtSource(i, costOf(costs.seconds(i, atSource[i])));
      cut.addCostAtSink(i, costOf(costs.seconds(i, atSink[i])));
    }
    if (int leader = costs.leader(i); leader != Costs::host) {
      addSeparation(i, leader);
    }
  }

  /// Adds the extra cost of a node that is on another device than its leader: `onSource` where the node is on its
  /// device of the source's side, `onSink` where it is on that of the sink's. Where both may move, their devices on the
  /// sink's side may differ. Then the node has no leader there, and pays whenever it is on that side.
  void addSeparation(int i, int leader) {
    int64_t onSource = costOf(costs.extraAlone(i, atSource[i])), onSink = costOf(costs.extraAlone(i, atSink[i]));
    if (moves(i) && moves(leader)) {
      cut.addEdge(i, leader, onSource);
      if (atSink[i] == atSink[leader]) {
        cut.addEdge(leader, i, onSink);
      } else {
        cut.addCostAtSink(i, onSink);
      }
    } else if (moves(i)) {
      cut.addCostAtSource(i, atSource[i] == atSource[leader] ? 0 : onSource);
      cut.addCostAtSink(i, atSink[i] == atSink[leader] ? 0 : onSink);
    } else if (moves(leader)) {
      cut.addCostAtSource(leader, atSource[i] == atSource[leader] ? 0 : onSource);
      cut.addCostAtSink(leader, atSink[i] == atSink[leader] ? 0 : onSink);
    }
  }

  /// Returns the condition that a node works in a memory, or, without `in`, that it does not.
  Literal works(int node, int memory, bool in = true) const {
    bool first = (costs.memoryOf(node, atSource) == memory) == in,
         second = (costs.memoryOf(node, atSink) == memory) == in;
    return {first && second ? Literal::Always
            : first         ? Literal::AtSource
            : second        ? Literal::AtSink
                            : Literal::Never,
            node};
  }

  /// Adds the copies of a value. For each memory other than the host's, an upload is paid if the maker is outside of it
  /// and any reader inside, and a download if the maker is inside and any reader outside.
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

  /// Adds the latency of a shared copy, which is paid if any of its members crosses, and once if several do.
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

  /// Adds what values and constants pay for their bytes in a memory. They are there if their maker or any reader is. A
  /// constant pays for all places; the later it is last read, the more it pays, up to twice the price.
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

  /// Adds a cost that a cut pays if `condition` holds, and any of the conditions `any` does too. A cut can express this
  /// because callers pass conditions of one side in `any` (all AtSource, or all AtSink, besides constant ones), and
  /// `condition`, unless it is constant, is of the other side. For "x at the source, and y or z at the sink" a further
  /// node stands for "y or z": edges without limit to y and z force it to the sink if either is there, and the cost is
  /// that of an edge from x to it.
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

  /// Adds a cost that a cut pays if a condition holds. One that always holds is paid by every cut, and changes nothing.
  void addCost(int64_t cost, Literal condition) {
    if (condition.kind == Literal::AtSource) {
      cut.addCostAtSource(condition.node, cost);
    } else if (condition.kind == Literal::AtSink) {
      cut.addCostAtSink(condition.node, cost);
    }
  }
};

/// Returns a text such as "1.23 us more", "4.00 ms less", or "as long" for a difference below a picosecond.
std::string changeText(double seconds) {
  double size = std::abs(seconds);
  if (costOf(size) == 0) {
    return "as long";
  }
  const char *text = size >= 1e-3 ? "{0:f2} ms" : size >= 1e-6 ? "{0:f2} us" : "{0:f2} ns";
  double unit = size >= 1e-3 ? 1e3 : size >= 1e-6 ? 1e6 : 1e9;
  return llvm::formatv(text, size * unit).str() + (seconds < 0 ? " less" : " more");
}

/// Places all nodes by cost, makes what is placed fit into the memories, and notes the reasons in the nodes.
class CostPlacement {
public:
  CostPlacement(ArrayRef<Device> devices, MutableArrayRef<PlacedNode> nodes, const Costs &costs, const Policy &policy)
      : devices(devices), nodes(nodes), costs(costs), policy(policy), prices(devices.size()) {
    for (const PlacedNode &node : nodes) {
      first.push_back(node.device);
    }
    placed = first;
  }

  /// Returns the cheapest placement at the present prices of memory. If the policy does not weigh costs, only devices
  /// whose memory has a price give nodes to later ones.
  SmallVector<int> cheapest() const {
    constexpr int mostRounds = 16; // this bounds the time; rounds usually end as soon as one changes nothing
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

  /// Moves nodes away from memories that are too small, by raising the prices of these. A node that leaves one device
  /// may overfill another one; if that goes on for some rounds, all limited memories get the highest price. Fails with
  /// a message if a memory is too small even for the nodes that no other device accepts.
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

  /// Writes into the nodes on which devices they are now, and why those that moved did. Connected nodes that made the
  /// same move share one reason.
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
  static constexpr double mostPrice = 1e-3; ///< seconds for a byte, which is more than any node gains
  ArrayRef<Device> devices;
  MutableArrayRef<PlacedNode> nodes;
  const Costs &costs;
  const Policy &policy;
  std::vector<Price> prices;      ///< one for each device
  SmallVector<int> first, placed; ///< for each node, the first device that accepts it, and its present device
  SmallVector<int> unpriced;      ///< `placed` before memory had a price; empty: all memories are large enough

  /// Returns the bytes of a device's memory that the estimate must leave free (Policy::reserved).
  int64_t heldBack(size_t device) const { return policy.reserved.empty() ? 0 : policy.reserved[device]; }

  /// Returns how many bytes of a device's memory values and constants may take.
  double roomOf(size_t device) const {
    return static_cast<double>(devices[device].machine.memoryBytes - heldBack(device));
  }

  /// Returns the most bytes of a device's memory that are in use at any place of the function, under a placement.
  double peakOf(size_t device, ArrayRef<int> where) const {
    std::vector<double> bytes = costs.bytesIn(costs.memoryOf(static_cast<int>(device)), where);
    return *std::max_element(bytes.begin(), bytes.end());
  }

  bool hasRoom(size_t device, ArrayRef<int> where) const {
    double peak = peakOf(device, where);
    return peak == 0 || peak <= roomOf(device);
  }

  /// Returns the first device whose memory is too small for what is placed there; nothing if all are large enough.
  std::optional<size_t> tooSmall() const {
    for (size_t device = 0; device < devices.size(); ++device) {
      if (devices[device].machine.memoryBytes > 0 && !hasRoom(device, placed)) {
        return device;
      }
    }
    return std::nullopt;
  }

  /// Marks as full the places where a device's memory is too small now, or all places. Places that have been full
  /// before stay so: otherwise the nodes that left because of them came back.
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

  /// Sets the price of a device's memory to the lowest one, within 1 %, at which what stays there fits, and places the
  /// nodes by it. A bisection over the logarithm of the price finds it. The new price is at least four times the last
  /// one, so that fit() needs few rounds.
  void raisePrice(size_t device) {
    constexpr double least = 1e-15, factor = 1.01, step = 4;
    // Nodes that leave where the memory is full may make it full elsewhere, since their results have to be uploaded:
    // the highest price is tried several times, each with the places that have become full meanwhile.
    constexpr int mostTries = 8;
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

  /// Returns for each node that moved the nodes that made the same move and read a result of it, or make what it reads.
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

  /// Returns all nodes that are reachable from a node over neighbours, itself included.
  static SmallVector<int> connectedTo(int node, ArrayRef<SmallVector<int, 4>> neighbours) {
    llvm::SmallSetVector<int, 16> piece;
    piece.insert(node);
    for (size_t i = 0; i < piece.size(); ++i) {
      piece.insert(neighbours[piece[i]].begin(), neighbours[piece[i]].end());
    }
    return piece.takeVector();
  }

  /// Notes in the nodes of a connected group why it moved: how much longer kernels and copies would take if it alone
  /// had stayed on its first device, and all other nodes were where they are now.
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
