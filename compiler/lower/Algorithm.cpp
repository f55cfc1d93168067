// The list of algorithms, and the one place where one of them is chosen: candidates are compared in the order of their
// algorithms' ranks, the most general one first, and a later one takes the place of the best so far if it beats it.
// A candidate that the user or a table of schedules asks for beats all others that are possible.
#include "compiler/lower/Algorithm.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace ingot::lower {

#define ALGORITHM(Name) std::unique_ptr<Algorithm> create##Name##Algorithm();
#include "compiler/lower/Algorithms.inc"
#undef ALGORITHM

using Algorithms = SmallVector<const Algorithm *, 8>;

namespace {
class List {
public:
  List() {
#define ALGORITHM(Name) all.push_back(create##Name##Algorithm());
#include "compiler/lower/Algorithms.inc"
#undef ALGORITHM
    llvm::sort(all,
               [](const auto &a, const auto &b) { return std::pair(a->rank, a->name) < std::pair(b->rank, b->name); });
    for (const auto &algorithm : all) {
      for (TypeID root : algorithm->roots()) {
        byRoot[root].push_back(algorithm.get());
      }
    }
  }

  /// Lowest rank first.
  const Algorithms &of(Operation *root) const { return byRoot.find(root->getName().getTypeID())->second; }

private:
  std::vector<std::unique_ptr<Algorithm>> all;
  llvm::DenseMap<TypeID, Algorithms> byRoot;
};
} // namespace

static const Algorithms &algorithmsOf(Operation *root) {
  static const auto *list = new List;
  return list->of(root);
}

// The choice.

/// Whether a schedule is one of this algorithm: it says so, or says that none of the others is used.
static bool isOf(const target::Schedule &said, const Algorithm &algorithm, const Algorithms &all) {
  auto uses = [&](const Algorithm *a) { return !a->key.empty() && said[a->key].value_or(0) > 0; };
  return !said.empty() && (algorithm.key.empty() ? llvm::none_of(all, uses) : uses(&algorithm));
}

static bool beats(const Candidate &candidate, const Candidate &best) {
  if (candidate.isWanted != best.isWanted) {
    return candidate.isWanted;
  }
  if (candidate.beats) {
    return candidate.beats(best);
  }
  return !best.cost || (candidate.cost && candidate.cost->cycles < best.cost->cycles);
}

Choice choose(plan::KernelOp kernel, const target::MachineModel &machine) {
  const Algorithms &all = algorithmsOf(kernel.root());
  target::Schedule said = scheduleSaid(kernel.root());
  Choice choice;
  for (const Algorithm *algorithm : all) {
    if (!algorithm->key.empty() && said[algorithm->key] == 0) {
      choice.whyNot.push_back({algorithm->name, "the file of schedules says so"});
      continue;
    }
    Offer offer = algorithm->offer(kernel, machine);
    if (offer.candidates.empty()) {
      choice.whyNot.push_back({algorithm->name, std::move(offer.whyNot)});
    }
    for (Candidate &candidate : offer.candidates) {
      candidate.algorithm = algorithm;
      candidate.isWanted |= isOf(said, *algorithm, all);
      bool isBest = choice.candidates.empty() || beats(candidate, choice.best());
      choice.candidates.push_back(std::move(candidate));
      choice.chosen = isBest ? choice.candidates.size() - 1 : choice.chosen;
    }
  }
  assert(!choice.candidates.empty() && "some algorithm computes every kernel of a family");
  return choice;
}

// Texts.

/// "62 k"
static std::string countText(double cycles) {
  for (auto [unit, name] : {std::pair(1e9, " G"), {1e6, " M"}, {1e3, " k"}}) {
    if (cycles >= unit) {
      double count = cycles / unit;
      return llvm::formatv(count < 10 ? "{0:f1}{1}" : "{0:f0}{1}", count, name).str();
    }
  }
  return llvm::formatv("{0:f0}", cycles).str();
}

std::string Choice::text() const {
  const Candidate &best = this->best();
  std::string schedule = best.schedule.text();
  bool isNamed = !best.algorithm->key.empty() && best.schedule[best.algorithm->key];
  std::string text = schedule.empty() ? best.name : isNamed ? schedule : best.name + " " + schedule;
  text += best.cost ? ": " + countText(best.cost->cycles) + " cycles" : "";
  for (auto [i, other] : llvm::enumerate(candidates)) {
    if (i != chosen) {
      text += "; " + other.name + (other.cost ? " " + countText(other.cost->cycles) : "");
    }
  }
  for (const auto &[name, why] : whyNot) {
    text += "; " + name + ": " + why;
  }
  return text;
}

// The answers of a family whose kernels are computed by algorithms (ByAlgorithm).

LayoutRule layoutOf(Operation *root, const target::MachineModel &machine) {
  for (const Algorithm *algorithm : llvm::reverse(algorithmsOf(root))) {
    if (std::optional<LayoutRule> rule = algorithm->layoutRule(root, machine)) {
      return *rule;
    }
  }
  return LayoutRule::Plain;
}

KernelShape chosenShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  Choice choice = choose(kernel, machine);
  KernelShape shape = choice.best().shape();
  shape.choice = choice.text();
  return shape;
}

/// The schedule that turns off each algorithm that has a key and could compute the kernel: "winograd=0 matrix=0".
static target::Schedule withoutKeys(const Algorithms &all, llvm::function_ref<bool(const Algorithm *)> isPossible) {
  target::Schedule zeros;
  for (const Algorithm *algorithm : all) {
    if (!algorithm->key.empty() && isPossible(algorithm)) {
      zeros.set(algorithm->key, 0);
    }
  }
  return zeros;
}

std::optional<target::ScheduleChoices> schedulesOf(plan::KernelOp kernel, const target::MachineModel &machine) {
  const Algorithms &all = algorithmsOf(kernel.root());
  Choice choice = choose(kernel, machine);
  std::map<const Algorithm *, std::vector<target::Schedule>> more;
  for (const Algorithm *algorithm : all) {
    more[algorithm] = algorithm->schedules(kernel, machine);
  }
  auto isPossible = [&](const Algorithm *algorithm) {
    auto isIts = [&](const Candidate &candidate) { return candidate.algorithm == algorithm; };
    return llvm::any_of(choice.candidates, isIts) || !more[algorithm].empty();
  };
  target::Schedule zeros = withoutKeys(all, isPossible);
  auto whole = [&](target::Schedule schedule, const Algorithm *algorithm) {
    return algorithm->key.empty() ? schedule.with(zeros) : schedule;
  };
  target::ScheduleChoices choices;
  const Candidate &best = choice.best();
  choices.why = choice.text(), choices.without = zeros, choices.chosen = whole(best.schedule, best.algorithm);
  auto add = [&](target::Schedule schedule) {
    if (!schedule.empty() && schedule != choices.chosen && !llvm::is_contained(choices.others, schedule)) {
      choices.others.push_back(std::move(schedule));
    }
  };
  for (auto [i, other] : llvm::enumerate(choice.candidates)) {
    if (i != choice.chosen) { // of one without a key it is enough to say that no other is used
      add(other.algorithm->key.empty() && !zeros.empty() ? zeros : other.schedule);
    }
  }
  for (const Algorithm *algorithm : llvm::reverse(all)) {
    for (const target::Schedule &schedule : more[algorithm]) {
      add(whole(schedule, algorithm));
    }
  }
  return choices.others.empty() ? std::nullopt : std::optional(std::move(choices));
}

std::optional<RowShape> chosenRowShape(plan::KernelOp kernel, const target::MachineModel &machine) {
  for (const Algorithm *algorithm : algorithmsOf(kernel.root())) {
    if (std::optional<RowShape> shape = algorithm->rowShape(kernel, machine)) {
      Choice choice = choose(kernel, machine);
      if (choice.best().algorithm != algorithm) {
        shape->alone = choice.best().cost->cycles;
      }
      return shape;
    }
  }
  return std::nullopt;
}

} // namespace ingot::lower
