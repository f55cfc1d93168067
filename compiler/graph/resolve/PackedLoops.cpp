// Makes loops over sequences of which only a run can tell how often they turn: they carry packed sequences.
#include "compiler/graph/resolve/Resolver.h"

using namespace mlir;

namespace ingot::graph {

namespace {
/// The form of a packed sequence, which has to have room for what any iteration makes.
struct Form {
  int64_t rank = 0;
  bool mixes = false, isOptional = false;
  friend bool operator==(const Form &, const Form &) = default;
};
} // namespace

static Form formOf(const Given &given) {
  return given.sequence ? Form{given.sequence->rank(), given.sequence->mixesRanks, bool(given.sequence->present)}
                        : Form();
}

Given Resolver::inForm(const Node &node, Given given, int64_t rank, bool mixes, bool isOptional) {
  if (given.sequence) {
    Sequence &s = *given.sequence;
    s = SequenceFormula(builder, node.loc).packed(s, rank);
    s.mixesRanks |= mixes;
    if (isOptional && !s.present) {
      s.present = truth(node.loc, true);
    }
  }
  return given;
}

/// The body decides how many axes the tensors of a sequence have, and whether it may be absent: it is written again
/// until its outputs have the form of its inputs.
std::optional<Givens> Resolver::carry(const Node &node, Value trips, Value condition, const Givens &initial,
                                      unsigned scans, int numberRank,
                                      llvm::function_ref<std::optional<Turn>(Block &, Givens)> body) {
  constexpr int kMostForms = 10;
  SmallVector<Form> forms = llvm::map_to_vector(initial, formOf);
  for (int tries = 0; tries < kMostForms; ++tries) {
    Givens start;
    for (auto [given, form] : llvm::zip_equal(initial, forms)) {
      start.push_back(inForm(node, given, form.rank, form.mixes, form.isOptional));
    }
    SmallVector<Form> made = forms;
    auto yields = [&](Block &block) -> Values {
      std::optional<Turn> turn = body(block, like(start, block.getArguments().drop_front(2)));
      if (!turn) {
        return {};
      }
      for (auto [own, given, form, wanted] : llvm::zip_equal(start, turn->state, forms, made)) {
        if (own.sequence.has_value() != given.sequence.has_value()) {
          fail(node, "carries a sequence that its body gives as a tensor, or the other way round");
          return {};
        }
        given = inForm(node, given, form.rank, form.mixes, form.isOptional);
        bool grows = formOf(given).rank > form.rank; // then there are no tensors of fewer axes yet
        wanted = grows ? Form{formOf(given).rank, form.mixes, form.isOptional} : formOf(given);
      }
      if (made != forms) {
        return {};
      }
      Values all = {turn->goes};
      all.append(flat(turn->state));
      all.append(turn->slices);
      return all;
    };
    Values tensors = flat(start);
    Values results = loop(node, trips, condition, tensors, tensors.size() + scans, numberRank, yields);
    if (made != forms) {
      forms = made;
      continue;
    }
    if (results.empty()) {
      return std::nullopt;
    }
    Givens all = like(start, results);
    for (Value scan : llvm::ArrayRef<Value>(results).drop_front(tensors.size())) {
      all.push_back({scan});
    }
    return all;
  }
  fail(node, "carries a sequence whose tensors get more axes in each iteration");
  return std::nullopt;
}

} // namespace ingot::graph
