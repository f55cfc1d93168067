// Declares how sizes are represented, for the files that implement them: the nodes that all equal sizes share, and the
// terms of a size while they are put together.
#pragma once
#include "compiler/support/Size.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <mutex>

namespace ingot::support {

namespace detail {

/// The node of a symbol; the text is the key in Nodes::symbols.
struct SymbolNode {
  SymbolKind kind;
  llvm::StringRef text;
};

/// The node of a set of facts.
struct FactsNode : llvm::FoldingSetNode {
  Sizes all, others; ///< all facts, and those that are not in `bounds`
  Bounds bounds;
  mutable std::mutex mutex;
  mutable llvm::DenseMap<const Sum *, Size> simplified; ///< answers of Size::simplified() so far

  void Profile(llvm::FoldingSetNodeID &id) const { profile(id, all); }
  static void profile(llvm::FoldingSetNodeID &id, llvm::ArrayRef<Size> sizes);
};

using Factors = llvm::SmallVector<const Factor *, 2>;

/// Returns whether `a` comes before `b` in the order of factors, or of lists of factors. The order is that of texts, so
/// that it is the same in every process.
inline bool before(const Factor *a, const Factor *b) { return a != b && a->text < b->text; }
inline bool before(const Factors &a, const Factors &b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const Factor *x, const Factor *y) { return before(x, y); });
}

/// All nodes that there are. They are never destroyed, because Sizes may be static.
struct Nodes {
  std::mutex mutex;
  llvm::StringMap<SymbolNode> symbols;
  llvm::FoldingSet<Factor> factors;
  llvm::FoldingSet<Sum> sums;
  llvm::FoldingSet<FactsNode> facts;

  static Nodes &all() {
    static Nodes &nodes = *new Nodes;
    return nodes;
  }
};

/// Returns the node that equals the one described by `key`. A new one is completed by `fill`, outside of the lock: that
/// may take long, and ask for other nodes.
template <typename Node, typename... Key>
const Node *unique(llvm::FoldingSet<Node> &all, llvm::function_ref<void(Node &)> fill, const Key &...key) {
  llvm::FoldingSetNodeID id;
  Node::profile(id, key...);
  std::unique_lock lock(Nodes::all().mutex);
  void *place;
  if (const Node *known = all.FindNodeOrInsertPos(id, place)) {
    return known;
  }
  lock.unlock();
  auto made = std::make_unique<Node>();
  fill(*made);
  lock.lock();
  if (const Node *known = all.FindNodeOrInsertPos(id, place)) { // another thread was faster
    return known;
  }
  all.InsertNode(made.get(), place);
  return made.release();
}

/// Returns "div", "min" and so on.
llvm::StringRef nameOf(Call call);

} // namespace detail

/// The terms of a size in their order, while they are put together.
class Polynomial {
public:
  Polynomial() = default;
  explicit Polynomial(const Size &size);
  llvm::SmallVector<detail::Term, 4> terms;

  /// Adds a term; returns false on overflow.
  bool add(const detail::Factors &factors, int64_t coefficient);
  /// Returns the size that the terms are.
  Size size() const;

  static Size of(const detail::Factor *factor) { return of(detail::Term{{factor}, 1}); }
  static Size of(const detail::Term &term);
  static Size of(Symbol symbol);
  /// Returns a call as it stands, which the caller knows to be in normal form.
  static Size of(Call call, const Size &a, const Size &b);
};

} // namespace ingot::support
