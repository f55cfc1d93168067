// The placement by cost against all placements that there are, on random graphs with random machines.
#include "compiler/partition/PlaceByCost.h"
#include "compiler/onnx/Onnx.h"
#include "compiler/partition/Bundles.h"
#include "compiler/partition/MinCut.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace ingot::partition;

namespace {

class PlainTarget final : public ingot::target::Target {
public:
  StringRef name() const override { return "plain"; }
  std::vector<ingot::target::Level> levels() const override { return {}; }
  bool accepts(StringRef) const override { return true; }
  llvm::Expected<ingot::target::MachineModel> machine(StringRef) const override {
    return ingot::target::MachineModel();
  }
  std::string refuses(Operation *, const ingot::target::MachineModel &) const override { return ""; }
};

class PlaceByCost : public ::testing::Test {
protected:
  MLIRContext context;
  PlainTarget target;
  std::mt19937 random{7};
  OwningOpRef<ModuleOp> module;
  std::vector<Device> devices;
  std::vector<PlacedNode> nodes;
  Policy policy;

  PlaceByCost() { context.loadDialect<ingot::onnx::OnnxDialect, func::FuncDialect>(); }

  double pick(double least, double most) { return std::uniform_real_distribution<double>(least, most)(random); }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); }

  /// `count` ops on 1,024 floats, elementwise and not, each of which reads one or two values: up to three inputs, or
  /// made before. What nobody reads is a result.
  func::FuncOp drawGraph(int count) {
    int inputs = 1 + below(3), results = 0;
    std::string type = "tensor<32x32xf32>", text, given, types;
    std::vector<bool> read(inputs + count);
    auto name = [](int i) { return "%v" + std::to_string(i); };
    for (int i = inputs; i < inputs + count; ++i) {
      int a = below(i), b = below(i), kind = below(3);
      read[a] = true;
      if (kind == 1) {
        read[b] = true;
        text +=
            name(i) + " = onnx.Add " + name(a) + ", " + name(b) + " : (" + type + ", " + type + ") -> " + type + "\n";
      } else {
        text += name(i) + " = onnx." + (kind ? "Softmax " : "Exp ") + name(a) + " : (" + type + ") -> " + type + "\n";
      }
    }
    for (int i = inputs; i < inputs + count; ++i) {
      if (!read[i]) {
        given += (results ? ", " : "") + name(i);
        types += (results++ ? ", " : "") + type;
      }
    }
    std::string arguments;
    for (int i = 0; i < inputs; ++i) {
      arguments += (i ? ", " : "") + name(i) + ": " + type;
    }
    text = "func.func @f(" + arguments + ") -> (" + types + ") {\n" + text + "return " + given + " : " + types + "\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return *module->getOps<func::FuncOp>().begin();
  }

  /// Devices with memories of their own, and the host behind them; each of them takes some of the ops.
  void drawMachines(func::FuncOp function, int count) {
    devices.clear(), nodes.clear();
    for (int i = 0; i <= count; ++i) {
      ingot::target::MachineModel machine;
      machine.spec = "m" + std::to_string(i);
      machine.hasOwnMemory = i < count;
      machine.rates = {1e9, pick(1e8, 5e9), pick(1e9, 50e9), pick(0, 4e-6)};
      machine.upload = {pick(0, 3e-6), pick(1e9, 20e9)};
      machine.download = {pick(0, 3e-6), pick(1e9, 20e9)};
      devices.push_back({&target, machine});
    }
    for (Operation &op : function.getBody().front().without_terminator()) {
      PlacedNode node{&op, {}};
      for (int i = 0; i < count; ++i) {
        if (below(4)) {
          node.takers.push_back(i);
        }
      }
      if (node.takers.empty() || below(8)) {
        node.takers.push_back(count);
      }
      node.device = node.takers.front();
      nodes.push_back(node);
    }
  }

  SmallVector<int> placed() const {
    return llvm::to_vector(llvm::map_range(nodes, [](const PlacedNode &node) { return node.device; }));
  }

  /// The least that any placement costs.
  static double least(const Costs &costs, ArrayRef<PlacedNode> nodes, SmallVector<int> &placed, size_t i) {
    if (i == nodes.size()) {
      return costs.ofKernels(placed) + costs.ofCopies(placed);
    }
    double best = std::numeric_limits<double>::infinity();
    for (int taker : nodes[i].takers) {
      placed[i] = taker;
      best = std::min(best, least(costs, nodes, placed, i + 1));
    }
    return best;
  }
};

/// What goes together, as text: "0+1 3+4".
std::string bundled(ArrayRef<Crossing> values, ingot::target::MachineModel::Link link) {
  std::string text;
  for (const Bundle &bundle : bundlesOf(values, link)) {
    EXPECT_GT(bundle.saved, 0);
    for (size_t member : bundle.members) {
      text += (member == bundle.members.front() ? text.empty() ? "" : " " : "+") + std::to_string(member);
    }
  }
  return text;
}

TEST(Bundles, SmallValuesThatNobodyWaitsForGoTogether) {
  ingot::target::MachineModel::Link link = {10e-6, 1e9}; // 10 kB take as long as the latency
  EXPECT_EQ(bundled({{4e3, 0, 1, 9}, {4e3, 0, 2, 9}}, link), "0+1");
  EXPECT_EQ(bundled({{4e3, 0, 1, 9}, {4e3, 0, 2, 9}, {4e3, 0, 3, 9}, {4e3, 0, 4, 9}}, link), "0+1 2+3"); // in all
  EXPECT_EQ(bundled({{4e3, 0, 1, 9}, {11e3, 0, 2, 9}, {4e3, 0, 3, 9}}, link), "0+2");                    // large
  EXPECT_EQ(bundled({{4e3, 0, 1, 2}, {4e3, 0, 2, 9}, {4e3, 0, 3, 9}}, link), "1+2");                     // urgent
  EXPECT_EQ(bundled({{4e3, 0, 1, 9}, {4e3, 0, 2, 3}, {4e3, 0, 4, 9}}, link), "0+1");
  EXPECT_EQ(bundled({{4e3, 4e-6, 1, 9}, {4e3, 5e-6, 2, 9}}, link), "0+1");
  EXPECT_EQ(bundled({{4e3, 6e-6, 1, 9}, {4e3, 5e-6, 2, 9}}, link), ""); // staging takes longer than the copy
  EXPECT_EQ(bundled({{4e3, 6e-6, 1, 9}, {4e3, 5e-6, 2, 9}, {2e3, 0, 3, 9}}, link), "0+1+2");
  EXPECT_EQ(bundled({{4e3, 0, 1, 9}, {4e3, 0, 2, 9}}, {}), ""); // no latency
  EXPECT_EQ(bundled({{4e9, 0, 1, 9}, {4e9, 0, 2, 9}}, {10e-6}), "0+1");
  EXPECT_EQ(bundled({}, link), "");
}

TEST_F(PlaceByCost, OneDeviceIsPlacedBest) {
  int moved = 0, kept = 0, shared = 0;
  for (int round = 0; round < 300; ++round) {
    func::FuncOp function = drawGraph(3 + below(8));
    drawMachines(function, 1);
    Costs costs(function, devices, nodes, policy);
    shared += !costs.shared().empty();
    SmallVector<int> all = placed();
    double best = least(costs, nodes, all, 0);
    ASSERT_TRUE(succeeded(placeByCost(function, devices, nodes, costs, policy)));
    double found = costs.ofKernels(placed()) + costs.ofCopies(placed());
    ASSERT_NEAR(found, best, 1e-10) << round; // picoseconds are rounded
    for (const PlacedNode &node : nodes) {
      moved += !node.whyNot.empty();
      kept += node.device == 0;
    }
  }
  EXPECT_GT(moved, 100);
  EXPECT_GT(kept, 100);
  EXPECT_GT(shared, 50);
}

TEST_F(PlaceByCost, SeveralDevicesGetNoWorse) {
  int best = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    func::FuncOp function = drawGraph(3 + below(5));
    drawMachines(function, 2 + below(2));
    Costs costs(function, devices, nodes, policy);
    double before = costs.ofKernels(placed()) + costs.ofCopies(placed());
    SmallVector<int> all = placed();
    double least = this->least(costs, nodes, all, 0);
    ASSERT_TRUE(succeeded(placeByCost(function, devices, nodes, costs, policy)));
    double found = costs.ofKernels(placed()) + costs.ofCopies(placed());
    EXPECT_LE(found, before + 1e-10);
    best += found < least * 1.0001;
  }
  EXPECT_GT(best, rounds * 3 / 4); // turns of one device after the other are not all that one could try
}

TEST_F(PlaceByCost, SmallMemoriesAreKeptTo) {
  int tight = 0;
  for (int round = 0; round < 300; ++round) {
    func::FuncOp function = drawGraph(4 + below(12));
    int count = 1 + below(2);
    drawMachines(function, count);
    for (PlacedNode &node : nodes) { // all may go to the host
      if (node.takers.back() != count) {
        node.takers.push_back(count);
      }
    }
    for (int device = 0; device < count; ++device) {
      devices[device].machine.memoryBytes = 4096 * (1 + below(5));
    }
    Costs costs(function, devices, nodes, policy);
    auto fits = [&](int device) {
      std::vector<double> bytes = costs.bytesIn(costs.memoryOf(device), placed());
      return *std::max_element(bytes.begin(), bytes.end()) <= static_cast<double>(devices[device].machine.memoryBytes);
    };
    tight += !fits(0);
    policy.byCost = below(4);
    ASSERT_TRUE(succeeded(placeByCost(function, devices, nodes, costs, policy)))
        << round << (policy.byCost ? " by cost" : " greedy") << count;
    for (int device = 0; device < count; ++device) {
      EXPECT_TRUE(fits(device)) << round;
    }
  }
  EXPECT_GT(tight, 50);
}

TEST_F(PlaceByCost, PiecesAreConvex) {
  int pieces = 0, cut = 0;
  for (int round = 0; round < 300; ++round) {
    func::FuncOp function = drawGraph(4 + below(12));
    drawMachines(function, 2);
    Costs costs(function, devices, nodes, policy);
    std::vector<int> numbers = numberPieces(nodes, costs);
    llvm::DenseMap<Operation *, int> numberOf;
    for (auto [node, number] : llvm::zip_equal(nodes, numbers)) {
      numberOf[node.op] = number;
      pieces = std::max(pieces, number);
      EXPECT_EQ(number < 0, costs.memoryOf(node.device) == 0);
    }
    // From each op all that leaves its piece: none of it may come back.
    for (const PlacedNode &node : nodes) {
      int own = numberOf[node.op];
      SmallVector<Operation *> todo;
      llvm::SmallPtrSet<Operation *, 16> seen;
      for (Operation *user : node.op->getUsers()) {
        if (own >= 0 && numberOf.contains(user) && numberOf[user] != own) {
          todo.push_back(user);
        } else if (own >= 0 && numberOf.contains(user)) {
          ++cut;
        }
      }
      while (!todo.empty()) {
        for (Operation *user : todo.pop_back_val()->getUsers()) {
          if (numberOf.contains(user) && seen.insert(user).second) {
            EXPECT_NE(numberOf[user], own) << round;
            todo.push_back(user);
          }
        }
      }
    }
  }
  EXPECT_GT(pieces, 2);
  EXPECT_GT(cut, 100); // edges inside of pieces
}

TEST(MinCut, FindsTheCheapest) {
  std::mt19937 random(3);
  auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int round = 0; round < 500; ++round) {
    int n = 1 + below(8);
    MinCut cut(n);
    std::vector<std::array<int64_t, 3>> edges; // -1: the source, -2: the sink
    for (int i = 0; i < 3 * n; ++i) {
      int a = below(n), b = below(n), cost = below(20);
      switch (below(4)) {
      case 0:
        cut.addCostAtSink(a, cost);
        edges.push_back({-1, a, cost});
        break;
      case 1:
        cut.addCostAtSource(a, cost);
        edges.push_back({a, -2, cost});
        break;
      default:
        if (a != b) {
          cut.addEdge(a, b, cost);
          edges.push_back({a, b, cost});
        }
      }
    }
    auto costOf = [&](auto isAtSource) {
      int64_t sum = 0;
      for (auto [from, to, cost] : edges) {
        sum += isAtSource(from) && !isAtSource(to) ? cost : 0;
      }
      return sum;
    };
    std::vector<bool> found = cut.solve();
    auto inFound = [&](int64_t node) { return node == -1 || (node >= 0 && found[node]); };
    int64_t best = INT64_MAX, atSource = 0;
    for (int set = 0; set < 1 << n; ++set) {
      auto inSet = [&](int64_t node) { return node == -1 || (node >= 0 && (set >> node & 1)); };
      if (int64_t cost = costOf(inSet); cost <= best) {
        atSource = cost < best ? set : atSource | set;
        best = cost;
      }
    }
    EXPECT_EQ(costOf(inFound), best);
    for (int node = 0; node < n; ++node) {
      EXPECT_EQ(found[node], bool(atSource >> node & 1)) << "of equal cuts the one with most at the source";
    }
  }
}

} // namespace
