// `ingot verify`: a line an output, and exit code 1 if one differs. With --per-node the model is one whose values are
// all outputs (tools/ingot-record writes it from any model, with what ONNX Runtime computes), and the first that
// differs is named with its node. With --digest there are no recorded outputs: the digest of what the model gives for
// all data sets is printed, or compared. Of a run on a board, what it takes there is printed, too.
#include "compiler/driver/ModelSource.h"
#include "compiler/driver/commands/BoardRows.h"
#include "compiler/driver/commands/Compare.h"
#include "compiler/driver/commands/Digest.h"
#include "compiler/importer/ElementType.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {
namespace {

struct Row {
  std::string folder;
  HostTensor got;
  TensorComparison comparison;
};

struct Divergence {
  const Row *row;
  std::string node; ///< "'conv1' (Conv)"; empty where it is not known
};

/// Takes recorded outputs by their names, where not all were recorded (maps cannot be saved by all tools). False, and
/// nothing is changed, where one of them has the name of no output.
bool takeByName(Recorded &recorded, const ingot_model &model) {
  std::vector<HostTensor> all(size_t(model.output_count));
  for (HostTensor &absent : all) {
    absent.isAbsent = true;
  }
  for (const HostTensor &tensor : recorded.tensors) {
    llvm::ArrayRef<ingot_tensor_info> outputs(model.outputs, all.size());
    const auto *own = llvm::find_if(outputs, [&](const ingot_tensor_info &info) { return tensor.name == info.name; });
    if (tensor.name.empty() || own == outputs.end()) {
      return false;
    }
    all[size_t(own - outputs.begin())] = tensor;
  }
  recorded.tensors = std::move(all);
  return !recorded.sequences.empty();
}

llvm::Error verifyOne(const Invocation &invocation, ModelSource &source, const RunThreads &threads,
                      const std::string &folder, std::vector<Row> &rows, BesideHost &host,
                      std::vector<BoardRow> &boards) {
  llvm::Expected<ValueKinds> kinds = source.kinds();
  if (!kinds) {
    return kinds.takeError();
  }
  llvm::Expected<DataSet> data = readDataSet(folder, *kinds);
  if (!data) {
    return data.takeError();
  }
  llvm::Expected<Recorded> expected = readTensors(folder, "output", kinds->outputs);
  if (!expected) {
    return expected.takeError();
  }
  llvm::Expected<const LoadedModel *> model = source.get(&*data);
  if (!model) {
    return model.takeError();
  }
  const std::vector<int64_t> &sequences = (*model)->manifest().outputSequences;
  size_t files = sequences.empty() ? size_t((*model)->model().output_count) : sequences.size();
  bool areSome = expected->sequences.size() < files && takeByName(*expected, (*model)->model());
  if (expected->sequences.size() != files && !areSome) {
    return llvm::createStringError(folder + ": error: the folder has " + llvm::Twine(expected->sequences.size()) +
                                   " output_K.pb, the model has " + llvm::Twine(files) + " outputs");
  }
  llvm::Expected<std::vector<HostTensor>> outputs = runOnce(**model, threads, *data);
  if (!outputs) {
    return outputs.takeError();
  }
  if (std::optional<BoardRun> run = (*model)->lastBoardRun()) {
    llvm::Expected<BoardRow> row = host.compare(*run, *data, *outputs);
    if (!row) {
      return row.takeError();
    }
    boards.push_back(std::move(*row));
  }
  llvm::Expected<Recorded> recorded = recordedOf(std::move(*outputs), sequences);
  if (!recorded) {
    return recorded.takeError();
  }
  if (!areSome && expected->sequences != recorded->sequences) {
    return llvm::createStringError(folder + ": error: sequences in output_K.pb have other lengths than the model's");
  }
  for (auto [got, want] : llvm::zip(recorded->tensors, expected->tensors)) {
    if (!got.mapKeys.empty()) {
      want = importer::inOrder(want, got.mapKeys).value_or(want);
    }
    if (want.isAbsent) {
      continue;
    }
    TensorComparison comparison = compareTensors(got, want, invocation.tolerance);
    got.bytes.clear(), got.strings.clear();
    rows.push_back({folder, std::move(got), std::move(comparison)});
  }
  return llvm::Error::success();
}

/// Computes the digest of all outputs of all data sets, in their order.
llvm::Expected<std::string> digestOf(ModelSource &source, const RunThreads &threads,
                                     llvm::ArrayRef<std::string> folders) {
  Digest digest;
  llvm::Expected<ValueKinds> kinds = source.kinds();
  if (!kinds) {
    return kinds.takeError();
  }
  for (const std::string &folder : folders) {
    llvm::Expected<ModelSource::FolderRun> run = source.run(folder, *kinds, threads);
    if (!run) {
      return run.takeError();
    }
    llvm::for_each(run->outputs, [&](const HostTensor &output) { digest.add(output); });
  }
  return digest.text();
}

/// Prints a digest, and whether it is the wanted one; the error is that it is not.
llvm::Error reportDigest(const Invocation &invocation, llvm::StringRef digest, double compileSeconds) {
  bool passed = invocation.digest == "print" || invocation.digest == digest;
  if (invocation.json) {
    llvm::outs() << llvm::json::Value(
                        llvm::json::Object{{"passed", passed}, {"compile_seconds", compileSeconds}, {"digest", digest}})
                 << '\n';
  } else {
    llvm::outs() << (passed ? "ok    " : "FAIL  ") << "digest " << digest
                 << (passed ? "" : ", which is not that of --digest") << '\n';
  }
  return passed ? llvm::Error::success() : llvm::make_error<ExitError>(1, "");
}

void printText(const std::vector<Row> &rows) {
  for (const Row &row : rows) {
    const TensorComparison &comparison = row.comparison;
    llvm::outs() << (comparison.equal ? "ok    " : "FAIL  ") << row.folder << "  " << row.got.name << "  "
                 << importer::elementName(row.got.type) << importer::dimsText(row.got.dims);
    if (comparison.equal) {
      llvm::outs() << llvm::format("  max error %.3g, max %.3g", comparison.maxError, comparison.maxExpected);
    } else {
      llvm::outs() << "  " << comparison.why;
    }
    llvm::outs() << '\n';
  }
}

/// Returns the first value, in the order of their nodes, that differs: where an error begins, not where it spread to.
std::optional<Divergence> firstDivergence(const Invocation &invocation, const std::vector<Row> &rows) {
  auto row = llvm::find_if(rows, [](const Row &row) { return !row.comparison.equal; });
  if (!invocation.perNode || row == rows.end()) {
    return std::nullopt;
  }
  llvm::Expected<ModelFacts> facts = readModelFacts(invocation.model.modelPath);
  if (!facts) { // the model is a manifest
    llvm::consumeError(facts.takeError());
    return Divergence{&*row, ""};
  }
  return Divergence{&*row, facts->makers[row->got.name]};
}

void printDivergence(const std::vector<Row> &rows, const Divergence &first) {
  size_t differ = llvm::count_if(rows, [](const Row &row) { return !row.comparison.equal; });
  llvm::outs() << "first divergence: " << (first.node.empty() ? "" : "node " + first.node + ", ") << "value '"
               << plainName(first.row->got.name) << "': " << first.row->comparison.why << "; " << differ << " of "
               << rows.size() << " values differ\n";
}

void printJson(const std::vector<Row> &rows, bool passed, double compileSeconds, const std::optional<Divergence> &first,
               const std::vector<BoardRow> &boards) {
  llvm::json::OStream json(llvm::outs());
  json.object([&] {
    json.attribute("passed", passed);
    json.attribute("compile_seconds", compileSeconds);
    if (first) {
      json.attributeObject("first_divergence", [&] {
        json.attribute("node", first->node);
        json.attribute("value", first->row->got.name);
        json.attribute("max_error", first->row->comparison.maxError);
        json.attribute("why", first->row->comparison.why);
      });
    }
    printBoards(boards, json);
    json.attributeArray("outputs", [&] {
      for (const Row &row : rows) {
        json.object([&] {
          json.attribute("data", row.folder);
          json.attribute("name", row.got.name);
          json.attribute("type", importer::elementName(row.got.type));
          json.attribute("dims", llvm::json::Array(row.got.dims));
          json.attribute("equal", row.comparison.equal);
          json.attribute("max_error", row.comparison.maxError);
          json.attribute("max_expected", row.comparison.maxExpected);
          json.attribute("why", row.comparison.why);
        });
      }
    });
  });
  llvm::outs() << '\n';
}

} // namespace

llvm::Error verifyCommand(const Invocation &invocation) {
  std::vector<std::string> folders = invocation.data;
  if (folders.empty()) {
    folders = dataBeside(invocation.model.modelPath);
  }
  if (folders.empty()) {
    return llvm::createStringError("no --data is given, and there is no test_data_set_* beside the model");
  }
  ModelSource source(invocation);
  llvm::Expected<int32_t> level = source.level();
  if (!level) {
    return level.takeError();
  }
  RunThreads threads(invocation.threads, *level, invocation.runner.empty());
  if (!invocation.digest.empty()) {
    llvm::Expected<std::string> digest = digestOf(source, threads, folders);
    return digest ? reportDigest(invocation, *digest, source.compileSeconds) : digest.takeError();
  }
  std::vector<Row> rows;
  std::vector<BoardRow> boards;
  BesideHost host(invocation);
  for (const std::string &folder : folders) {
    if (llvm::Error error = verifyOne(invocation, source, threads, folder, rows, host, boards)) {
      return error;
    }
  }
  bool passed = llvm::all_of(rows, [](const Row &row) { return row.comparison.equal; });
  std::optional<Divergence> first = firstDivergence(invocation, rows);
  if (invocation.json) {
    printJson(rows, passed, source.compileSeconds, first, boards);
  } else {
    printText(rows);
    printBoards(boards);
    if (first) {
      printDivergence(rows, *first);
    }
  }
  if (!passed) {
    return llvm::make_error<ExitError>(1, "");
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
