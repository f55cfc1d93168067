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

/// The estimated time of one thread for one image or product, in cycles of the machine's model.
struct Cost {
  double cycles = 0;     ///< all, of which some may hide behind other
  double arithmetic = 0; ///< with whatever it reads in the first cache; 0: not told apart
  double memory = 0;     ///< bytes, each by the rate of the cache that they come from; 0: not told apart
};

/// One way to compute a kernel, decided in all details.
struct Candidate {
  std::string name;               ///< for people: "winograd=4"
  std::optional<Cost> cost = {};  ///< nothing: nobody estimates it, and whatever comes later is better
  target::Schedule schedule = {}; ///< what a table says to get it
  bool isWanted = false;          ///< the user or a table asks for it, whatever it costs
  std::function<KernelShape()> shape = {};
  /// Whether it is to replace the best one of those that come before it; by default if it costs less.
  std::function<bool(const Candidate &best)> beats = {};
  const Algorithm *algorithm = nullptr; ///< choose() says whose it is
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
  const int rank;
  /// The number in a schedule that says whether the algorithm is used, "winograd". Empty: it is the one if no other is.
  const std::string key;

  /// The ops that are the roots of its kernels.
  virtual llvm::SmallVector<mlir::TypeID> roots() const = 0;
  /// The layout for which it would compute a kernel of `root`; nothing: others decide.
  virtual std::optional<LayoutRule> layoutRule(mlir::Operation *root, const target::MachineModel &machine) const {
    return std::nullopt;
  }
  /// How it would compute a kernel whose operands have their layouts. What a table says of the kernel
  /// (scheduleSaid) is followed.
  virtual Offer offer(plan::KernelOp kernel, const target::MachineModel &machine) const = 0;
  /// Schedules beside those of its candidates: those first that are most likely to be faster.
  virtual std::vector<target::Schedule> schedules(plan::KernelOp kernel, const target::MachineModel &machine) const {
    return {};
  }
  /// As KernelFamily's; `alone` is what the algorithm would take for the whole image.
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
  /// "winograd=4 strips=1: 62 k cycles; direct 84 k; matrix: the machine has no matrix registers"
  std::string text() const;
};

/// Decides which algorithm computes a kernel. The kernel's root is one of an algorithm's roots.
Choice choose(plan::KernelOp kernel, const target::MachineModel &machine);

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
