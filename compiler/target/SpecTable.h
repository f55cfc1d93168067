// What targets with a table of their machines do with it. A row has at least `spec`, the machine's name in --target,
// and `sentence`, what `ingot targets` says of it.
#pragma once
#include "compiler/target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace ingot::target {

/// Returns the row of `spec`; null where the table has none.
template <typename Row, size_t N> const Row *rowOf(const Row (&rows)[N], llvm::StringRef spec) {
  const Row *row = llvm::find_if(rows, [&](const Row &each) { return spec == each.spec; });
  return row == std::end(rows) ? nullptr : row;
}

template <typename Row, size_t N> std::vector<Level> levelsOf(const Row (&rows)[N]) {
  std::vector<Level> levels;
  for (const Row &row : rows) {
    levels.push_back({row.spec, row.sentence});
  }
  return levels;
}

/// Returns the error of a spec that the table has no row of; `kind` is what its rows are.
template <typename Row, size_t N>
llvm::Error unknownSpec(const Row (&rows)[N], llvm::StringRef kind, llvm::StringRef spec) {
  auto specs = llvm::map_range(rows, [](const Row &each) { return llvm::StringRef(each.spec); });
  return llvm::createStringError("unknown " + kind + " '" + spec + "'; use one of " + llvm::join(specs, ", "));
}

} // namespace ingot::target
