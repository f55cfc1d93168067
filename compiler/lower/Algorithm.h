// An algorithm is one way to compute the kernels of some operators: it says whether it applies to a kernel, what it is
// expected to cost there, which layout and schedules it wants, and how it writes the loops. An algorithm is a file of
// algorithms/ (found by folder) that defines
//   std::unique_ptr<Algorithm> ingot::lower::create<Stem>Algorithm();
// and nobody names it. Which algorithm computes a kernel on a machine is decided in one place, choose(), once: what was
// decided travels in the kernel's shape (KernelShape::build), and the text of it is what people see.
// See algorithms/SumConv.cpp for a small one.
#pragma once
#include "compiler/lower/Family.h"

namespace ingot::lower {

class Algorithm;

/// One way to compute a kernel, decided in all details.
struct Candidate {
  std::string name; ///< for people: "winograd=4"
  /// The estimated time of one thread, in cycles of the machine's model, for one image, one matrix product, or one step
  /// of a recurrent network. Sizes that only the run knows count with typical ones.
  double cycles;
  target::Schedule schedule = {}; ///< what a table says to get it
  bool isWanted = false;          ///< the user or a table asks for it, whatever it costs
  std::function<KernelShape()> shape = {};

  // Whether it takes the place of the best one of those that come before it.
  double mustBeBelow = 1; ///< the share of that one's cycles below which its own ones have to be
  double belowOwn = 1;    ///< the same where that one is of the same algorithm
  double mustSave = 0;    ///< the cycles that it has to take less beside that
  double countsAs = 1; ///< by how much its cycles are multiplied where those of another algorithm are held against it
  std::string drawback = {}; ///< why it is only taken where it is asked for; empty: there is no such reason

  // What choose() adds.
  const Algorithm *algorithm = nullptr;
  std::string whyLost = {}; ///< to one that takes longer
};

/// The answer of an algorithm for a kernel: candidates, or the reason why there are none.
struct Offer {
  std::vector<Candidate> candidates;
  std::string whyNot;

  Offer(Candidate candidate) { candidates.push_back(std::move(candidate)); }
  Offer(std::vector<Candidate> candidates) : candidates(std::move(candidates)) {}
  Offer(std::string whyNot) : whyNot(std::move(whyNot)) {}
  Offer(const char *whyNot) : whyNot(whyNot) {}
};

class Algorithm {
public:
  virtual ~Algorithm() = default;

  /// For people, "winograd".
  const std::string name;
  /// Algorithms of a higher rank are for fewer kernels: they are asked for a layout first, and for candidates last.
  /// docs/performance.md lists the ranks.
  const int rank;
  /// The number in a schedule that says whether the algorithm is used, "winograd". Empty: it is the one if no other is.
  /// Of the algorithms that may compute the same kernel by several schedules, all but one have a key.
  const std::string key;

  /// The ops that are the roots of its kernels.
  virtual llvm::SmallVector<mlir::TypeID> roots() const = 0;
  /// The layout for which it would compute a kernel of `root`; nothing: others decide.
  virtual std::optional<LayoutRule> layoutRule(mlir::Operation *root, const target::MachineModel &machine) const {
    return std::nullopt;
  }
  /// How it would compute a kernel whose operands have their layouts. What a table says of the kernel
  /// (scheduleSaid) is followed. Candidates may refer to the machine, which lives longer than they do.
  virtual Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const = 0;
  /// Schedules beside those of its candidates: those first that are most likely to be faster.
  virtual std::vector<target::Schedule> schedules(plan::KernelOp kernel, const target::MachineModel &machine) const {
    return {};
  }
  /// As KernelFamily's. `alone` is what the algorithm takes for the whole image; choose() may know a faster one.
  virtual std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const {
    return std::nullopt;
  }

protected:
  Algorithm(std::string name, int rank, std::string key = "")
      : name(std::move(name)), rank(rank), key(std::move(key)) {}
  template <typename... Ops> static llvm::SmallVector<mlir::TypeID> rootsOf() { return {mlir::TypeID::get<Ops>()...}; }
};

/// How a kernel is computed on a machine, and what else there was.
struct Choice {
  std::vector<Candidate> candidates; ///< at least one
  size_t chosen = 0;
  std::vector<std::pair<std::string, std::string>> whyNot; ///< by the names of algorithms that do not apply

  const Candidate &best() const { return candidates[chosen]; }
  /// "winograd=4 strips=1: 62 k cycles; direct 84 k; winograd=2 60 k (has to be below 0.9 of direct); matrix: the
  /// machine has no matrix registers"
  std::string text() const;
};

/// Decides which algorithm computes a kernel. The kernel's root is one of an algorithm's roots.
Choice choose(plan::KernelOp kernel, const target::MachineModel &machine);

/// What is wrong with algorithms that offer these candidates for a kernel: two of them have no key, so that no schedule
/// could say which one it means. Empty: nothing.
std::string whyAmbiguous(llvm::ArrayRef<Candidate> candidates);

/// "62 k"
std::string countText(double cycles);
/// The text for people of a kernel that has one algorithm, in these numbers.
std::string onlyChoice(llvm::StringRef name, const target::Schedule &schedule);

// What a family says whose kernels are those of algorithms.

LayoutRule layoutOf(mlir::Operation *root, const target::MachineModel &machine);
KernelShape chosenShape(plan::KernelOp kernel, const target::MachineModel &machine);
std::optional<target::ScheduleChoices> schedulesOf(plan::KernelOp kernel, const target::MachineModel &machine);
std::optional<RowShape> chosenRowShape(plan::KernelOp kernel, const target::MachineModel &machine);

/// A family whose kernels are computed by the algorithm that choose() says.
template <typename Base = KernelFamily> class ByAlgorithm : public Base {
public:
  LayoutRule layoutRule(mlir::Operation *root, const target::MachineModel &machine) const override {
    return layoutOf(root, machine);
  }
  KernelShape shape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return chosenShape(kernel, machine);
  }
  std::optional<target::ScheduleChoices> schedules(plan::KernelOp kernel,
                                                   const target::MachineModel &machine) const override {
    return schedulesOf(kernel, machine);
  }
  std::optional<RowShape> rowShape(plan::KernelOp kernel, const target::MachineModel &machine) const override {
    return chosenRowShape(kernel, machine);
  }
};

} // namespace ingot::lower
