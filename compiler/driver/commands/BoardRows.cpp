#include "compiler/driver/commands/BoardRows.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/commands/Compare.h"
#include "compiler/support/ElementTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {

static Invocation forHost(Invocation invocation) {
  invocation.runner.clear(), invocation.model.targets.clear(), invocation.model.triple.clear();
  // These are for microcontrollers.
  invocation.model.symbols = emit::Symbols::Libraries, invocation.model.flashWaitStates = 0;
  invocation.model.memories.clear();
  return invocation;
}

BesideHost::BesideHost(const Invocation &invocation) : here(forHost(invocation)), source(here) {}

llvm::Expected<BoardRow> BesideHost::compare(const BoardRun &run, const DataSet &data,
                                             llvm::ArrayRef<HostTensor> outputs) {
  BoardRow row;
  row.folder = data.folder, row.run = run;
  if (isManifest(here.model.modelPath)) {
    return row;
  }
  llvm::Expected<const LoadedModel *> model = source.get(&data);
  if (!model) {
    return model.takeError();
  }
  RunThreads threads(1);
  llvm::Expected<std::vector<HostTensor>> host = runOnce(**model, threads, data);
  if (!host) {
    return host.takeError();
  }
  row.isCompared = row.sameBits = true, row.maxError = 0;
  for (auto [got, want] : llvm::zip(outputs, *host)) {
    if (got.dims == want.dims && got.bytes == want.bytes) {
      continue;
    }
    row.sameBits = false;
    TensorComparison comparison = compareTensors(got, want, here.tolerance);
    bool isFloat = support::elementType(want.type).kind == support::ElementKind::Float;
    if (!comparison.equal && row.why.empty()) {
      row.why = comparison.why;
    }
    // There is no largest difference where NaNs, infinities or integers differ.
    bool isKnown = row.maxError && isFloat && (comparison.equal || comparison.maxError > 0);
    row.maxError = isKnown ? std::optional(std::max(*row.maxError, comparison.maxError)) : std::nullopt;
  }
  return row;
}

static std::string bitsText(const BoardRow &row) {
  if (!row.isCompared) {
    return "not compared with this host, as the model is compiled already";
  }
  if (row.sameBits || !row.maxError) {
    return row.sameBits ? "the bits of this host" : "beside this host: " + row.why;
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("max error %.3g beside this host", *row.maxError);
  return text;
}

void printBoards(llvm::ArrayRef<BoardRow> rows) {
  for (const BoardRow &row : rows) {
    const BoardRun &run = row.run;
    auto bytes = [](int64_t count) { return count < 0 ? "unknown" : countText(count) + " bytes"; };
    llvm::outs() << "board " << row.folder << "  " << run.board << " (" << run.target << ")  flash " << bytes(run.flash)
                 << ", RAM " << bytes(run.ram) << ", stack " << bytes(run.stack);
    if (run.stackAtMost >= 0) {
      llvm::outs() << " (at most " << countText(run.stackAtMost) << ")";
    }
    llvm::outs() << ", instructions " << (run.instructions < 0 ? "unknown" : countText(run.instructions)) << "; "
                 << bitsText(row) << '\n';
  }
}

void printBoards(llvm::ArrayRef<BoardRow> rows, llvm::json::OStream &json) {
  if (rows.empty()) {
    return;
  }
  auto known = [](int64_t count) { return count < 0 ? llvm::json::Value(nullptr) : llvm::json::Value(count); };
  json.attributeArray("boards", [&] {
    for (const BoardRow &row : rows) {
      json.object([&] {
        json.attribute("data", row.folder);
        json.attribute("board", row.run.board);
        json.attribute("target", row.run.target);
        json.attribute("flash_bytes", known(row.run.flash));
        json.attribute("ram_bytes", known(row.run.ram));
        json.attribute("stack_bytes", known(row.run.stack));
        json.attribute("stack_bound", known(row.run.stackAtMost));
        json.attribute("instructions", known(row.run.instructions));
        json.attribute("same_bits", row.isCompared ? llvm::json::Value(row.sameBits) : llvm::json::Value(nullptr));
        json.attribute("max_error", row.maxError ? llvm::json::Value(*row.maxError) : llvm::json::Value(nullptr));
      });
    }
  });
}

} // namespace ingot::driver
