// Makes loops over sequences of which only a run can tell how many iterations they have: they carry packed sequences.
#include "compiler/graph/resolve/Resolver.h"

using namespace mlir;

namespace ingot::graph {

namespace {
/// How a sequence is packed, which has to have room for what any iteration makes.
struct Packing {
  int64_t rank = 0;
  bool mixes = false, isOptional = false;
  friend bool operator==(const Packing &, const Packing &) = default;
};
} // namespace

static Packing packingOf(const ResolvedValue &resolved) {
  return resolved.sequence
             ? Packing{resolved.sequence->rank(), resolved.sequence->mixesRanks, bool(resolved.sequence->present)}
             : Packing();
}

ResolvedValue Resolver::packedAs(const Node &node, ResolvedValue resolved, int64_t rank, bool mixes, bool isOptional) {
  if (resolved.sequence) {
    Sequence &s = *resolved.sequence;
    s = SequenceFormula(builder, node.loc).packed(s, rank);
    s.mixesRanks |= mixes;
    if (isOptional && !s.present) {
      s.present = truth(node.loc, true);
    }
  }
  return resolved;
}

/// The body decides how many axes the tensors of a sequence have, and whether it may be absent: it is written again
/// until its outputs are packed as its inputs are.
std::optional<ResolvedValues>
Resolver::carryPacked(const Node &node, Value trips, Value condition, const ResolvedValues &initial, unsigned scans,
                      int numberRank, llvm::function_ref<std::optional<Iteration>(Block &, ResolvedValues)> body) {
  constexpr int mostTries = 10;
  SmallVector<Packing> packings = llvm::map_to_vector(initial, packingOf);
  for (int tries = 0; tries < mostTries; ++tries) {
    ResolvedValues start;
    for (auto [resolved, packing] : llvm::zip_equal(initial, packings)) {
      start.push_back(packedAs(node, resolved, packing.rank, packing.mixes, packing.isOptional));
    }
    SmallVector<Packing> made = packings;
    auto yields = [&](Block &block) -> Values {
      std::optional<Iteration> iteration = body(block, withTensors(start, block.getArguments().drop_front(2)));
      if (!iteration) {
        return {};
      }
      for (auto [own, resolved, packing, wanted] : llvm::zip_equal(start, iteration->state, packings, made)) {
        if (own.sequence.has_value() != resolved.sequence.has_value()) {
          fail(node, "carries a sequence that its body gives as a tensor, or the other way round");
          return {};
        }
        resolved = packedAs(node, resolved, packing.rank, packing.mixes, packing.isOptional);
        bool grows = packingOf(resolved).rank > packing.rank; // then there are no tensors of fewer axes yet
        wanted = grows ? Packing{packingOf(resolved).rank, packing.mixes, packing.isOptional} : packingOf(resolved);
      }
      if (made != packings) {
        return {};
      }
      Values all = {iteration->continues};
      all.append(tensorsOf(iteration->state));
      all.append(iteration->slices);
      return all;
    };
    Values tensors = tensorsOf(start);
    Values results = loop(node, trips, condition, tensors, tensors.size() + scans, numberRank, yields);
    if (made != packings) {
      packings = made;
      continue;
    }
    if (results.empty()) {
      return std::nullopt;
    }
    ResolvedValues all = withTensors(start, results);
    for (Value scan : llvm::ArrayRef<Value>(results).drop_front(tensors.size())) {
      all.push_back({scan});
    }
    return all;
  }
  fail(node, "carries a sequence whose tensors get more axes in each iteration");
  return std::nullopt;
}

} // namespace ingot::graph
