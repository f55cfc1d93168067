#include "compiler/driver/execution/BoardModel.h"
#include "compiler/driver/Driver.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/Texts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

namespace ingot::driver {
namespace {

constexpr unsigned mostSeconds = 600; ///< that a run may take, whose program could hang

/// Why a program ended before its answer, by exit codes (program.c, semihosting.c).
struct EndRow {
  int code;
  const char *why;
};
constexpr EndRow ends[] = {
    {101, "the request ended before the program had read all inputs"},
    {102, "the program could not write its reply"},
    {103, "tensors and workspace take more than the board's memory for data"},
    {104, "the processor met a fault"},
    {105, "the model has more tensors or axes than the board's program takes"},
};

/// The first number of a request (program.c): it asks for a run that shows how much stack it takes, and for a second
/// one whose instructions are counted.
constexpr int64_t kAskForMeasures = 3;

void addWord(std::string &text, int64_t value) {
  char bytes[8];
  llvm::support::endian::write64le(bytes, uint64_t(value));
  text.append(bytes, 8);
}

/// Runs a program in a folder, with what it prints in a file of that. Returns its exit code, and what it printed.
std::pair<int, std::string> call(const std::string &folder, llvm::ArrayRef<std::string> command) {
  llvm::SmallString<128> log(folder);
  llvm::sys::path::append(log, "log");
  (void)llvm::sys::fs::remove(log); // it would be written over, and its end stay
  std::vector<llvm::StringRef> all = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder};
  all.insert(all.end(), command.begin(), command.end());
  std::string message;
  int code =
      llvm::sys::ExecuteAndWait(all.front(), all, std::nullopt, {"", log.str(), log.str()}, mostSeconds, 0, &message);
  auto file = llvm::MemoryBuffer::getFile(log);
  std::string output = file ? (*file)->getBuffer().trim().str() : "";
  return {code, message + (message.empty() || output.empty() ? "" : "\n") + output};
}

/// A run on a board, whose program is started for it.
class BoardExecution final : public Execution {
public:
  explicit BoardExecution(const BoardModel &of) : Execution(of.model()), of(of) {}

  llvm::Error runChecked() override {
    llvm::Expected<std::string> reply = of.exchange(request);
    if (!reply) {
      return reply.takeError();
    }
    rest = *reply, isCut = false;
    int status = int(word());
    int64_t stack = word(), counted = word(), workspace = word();
    if (status && !isCut) {
      return failure(status);
    }
    llvm::Error error = readOutputs();
    rest = {};
    of.noteRun(stack, counted, workspace + callersBytes());
    return error;
  }

  llvm::Expected<RunTimes> measure(double) override { return noTime(); }
  llvm::Expected<KernelRunTimes> profile(double) override { return noTime(); }
  std::vector<HostTensor> outputs() const override { return results; }
  int64_t workspaceBytes() const override { return model.workspace_bytes; }

private:
  static llvm::Error noTime() { // checkFlags refuses what measures
    return llvm::make_error<ExitError>(2, "internal error: a board tells no time");
  }

  llvm::Error prepare(llvm::ArrayRef<HostTensor> tensors) override {
    if (llvm::Error error = refuseStrings(model)) {
      return error;
    }
    request.clear(), inputBytes = 0;
    addWord(request, kAskForMeasures);
    for (const HostTensor &tensor : tensors) {
      addWord(request, tensor.isAbsent ? -1 : int64_t(tensor.dims.size()));
      for (int64_t size : tensor.isAbsent ? llvm::ArrayRef<int64_t>() : llvm::ArrayRef(tensor.dims)) {
        addWord(request, size);
      }
      request.append(tensor.bytes.begin(), tensor.bytes.end());
      inputBytes += int64_t(tensor.bytes.size());
    }
    return llvm::Error::success();
  }

  /// Returns the next word of the reply; 0 behind its end, of which `isCut` is true then.
  int64_t word() {
    if (rest.size() < 8) {
      isCut = true, rest = {};
      return 0;
    }
    int64_t value = int64_t(llvm::support::endian::read64le(rest.data()));
    rest = rest.drop_front(8);
    return value;
  }

  /// Returns the bytes of inputs and outputs that a caller holds in a run of these sizes.
  int64_t callersBytes() const {
    int64_t bytes = inputBytes;
    for (auto [tensor, info] : llvm::zip(results, outputsOf(model))) {
      bytes += info.in_place_of == 0 ? int64_t(tensor.bytes.size()) : 0;
    }
    return bytes;
  }

  llvm::Error readOutputs() {
    results.clear();
    for (const ingot_tensor_info &info : outputsOf(model)) {
      HostTensor tensor;
      tensor.name = info.name, tensor.type = info.type;
      isCut |= word() != info.rank;
      for (int32_t axis = 0; axis < info.rank && !isCut; ++axis) {
        tensor.dims.push_back(word());
        isCut |= tensor.dims.back() < 0;
      }
      int64_t bytes = isCut ? 0 : tensorBytes(info.type, tensor.dims);
      if (isCut || uint64_t(bytes) > rest.size()) {
        return llvm::createStringError("--runner: what the board's program wrote is cut short");
      }
      tensor.bytes.assign(rest.begin(), rest.begin() + bytes);
      rest = rest.drop_front(size_t(bytes));
      results.push_back(std::move(tensor));
    }
    return llvm::Error::success();
  }

  const BoardModel &of;
  std::string request;
  int64_t inputBytes = 0; ///< of those that the request gives
  llvm::StringRef rest;   ///< of the reply
  bool isCut = false;
  std::vector<HostTensor> results;
};

} // namespace

BoardModel::BoardModel(const Board &board, const Manifest &manifest, std::string folder)
    : board(board), facts(manifest), folder(std::move(folder)) {
  description = std::make_unique<ModelDescription>(emit::describe(manifest, {}));
}

std::string BoardModel::in(llvm::StringRef file) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

llvm::Error BoardModel::lacks(llvm::StringRef program) const {
  std::string how = board.packages.empty() ? "" : "; on Debian: apt-get install " + board.packages;
  return llvm::sys::findProgramByName(program) ? llvm::Error::success()
                                               : llvm::createStringError("--runner: board '" + board.name + "' needs " +
                                                                         program + ", which is not found" + how);
}

llvm::Error BoardModel::writeFiles() const {
  for (llvm::ArrayRef<Text> texts : {boardTexts(), supportTexts()}) {
    for (const Text &text : texts) {
      std::string path = in(text.name);
      (void)llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
      if (llvm::Error error = writeText(path, text.text.str())) {
        return error;
      }
    }
  }
  return llvm::Error::success();
}

/// Returns the error of a build that failed: where the linker says so, which memory is too small, and else what was
/// printed.
llvm::Error BoardModel::buildError(const std::string &output) const {
  llvm::SmallVector<llvm::StringRef> match;
  if (llvm::Regex("region [`']([A-Z]+)' overflowed by ([0-9]+) bytes").match(output, &match)) {
    return llvm::createStringError("--runner: model '" + facts.name + "' does not fit board '" + board.name +
                                   "': its memory " + match[1] + " (" + board.script + ") is " + match[2] +
                                   " bytes too small; the model takes " + arenaText(facts.sizes.flash) +
                                   " of flash and " + arenaText(facts.sizes.ram) + " of RAM");
  }
  return llvm::createStringError("--runner: the program for board '" + board.name + "' cannot be built:\n" + output);
}

llvm::Error BoardModel::build(const std::string &object) const {
  if (llvm::Error error = writeFiles()) {
    return error;
  }
  std::vector<std::string> command = board.compiler;
  const Board::TargetRow *row = board.rowOf(facts.target);
  command.insert(command.end(), row->flags.begin(), row->flags.end());
  for (const char *flag : {"-std=c11", "-Os", "-ffreestanding", "-fno-builtin", "-fno-tree-loop-distribute-patterns",
                           "-ffunction-sections", "-Iinclude", "-Icore", "-I.", "-nostdlib", "-Wl,--gc-sections"}) {
    command.push_back(flag);
  }
  command.push_back("-DMODEL=" + facts.name + "_model");
  if (!board.folder.empty()) {
    command.insert(command.end(), {"-L", board.folder});
  }
  command.insert(command.end(), {"-L", "."});
  auto placed = [&](const std::string &file) { return board.folder.empty() ? file : board.folder + "/" + file; };
  auto own = [&](const std::string &file) { return llvm::sys::fs::exists(placed(file)) ? placed(file) : file; };
  command.insert(command.end(), {"-T", own(board.script), object, "program.c"});
  if (facts.streamsWeights()) { // they are in the program, which copies them when the model asks for some
    std::string from = llvm::StringRef(object).drop_back(2).str() + ".weights";
    if (std::error_code code = llvm::sys::fs::copy_file(from, in("streamed.weights"))) {
      return llvm::createStringError(from + ": error: " + code.message());
    }
    command.insert(command.end(), {"-DSTREAMED_WEIGHTS=\"streamed.weights\"", "streamed.S"});
  }
  for (const std::string &source : board.sources) {
    command.push_back(own(source));
  }
  for (const Text &text : supportTexts()) {
    if (text.name.ends_with(".c")) {
      command.push_back(text.name.str());
    }
  }
  command.insert(command.end(), {"-lgcc", "-o", "program"});
  auto [code, output] = call(folder, command);
  return code == 0 ? llvm::Error::success() : buildError(output);
}

llvm::Expected<std::unique_ptr<BoardModel>> BoardModel::load(const Runner &runner, const Manifest &manifest,
                                                             const std::string &object) {
  const Board &board = *runner.board();
  llvm::Expected<std::string> target = boardTarget(board, manifest.target);
  if (!target) {
    return target.takeError();
  }
  if (manifest.takesWeights()) {
    return llvm::createStringError("--runner: the weights of model '" + manifest.name +
                                   "' are in a file, which a board does not read; compile it without --weights");
  }
  size_t number = 0; // of models that this command has compiled for other sizes
  auto folder = [&] { return runner.path("board" + std::to_string(number)); };
  while (llvm::sys::fs::exists(folder())) {
    ++number;
  }
  std::unique_ptr<BoardModel> model(new BoardModel(board, manifest, folder()));
  for (llvm::StringRef program : {llvm::StringRef(board.compiler.front()), llvm::StringRef(board.run.front())}) {
    if (llvm::Error error = program.starts_with("{") ? llvm::Error::success() : model->lacks(program)) {
      return error;
    }
  }
  if (std::error_code code = llvm::sys::fs::create_directories(model->folder)) {
    return llvm::createStringError(model->folder + ": error: " + code.message());
  }
  if (llvm::Error error = model->build(object)) {
    return error;
  }
  return model;
}

llvm::Expected<std::string> BoardModel::exchange(const std::string &request) const {
  if (llvm::Error error = writeText(in("request"), request)) {
    return error;
  }
  (void)llvm::sys::fs::remove(in("reply"));
  std::vector<std::string> command = board.run;
  const std::pair<llvm::StringRef, std::string> places[] = {
      {"{program}", in("program")}, {"{request}", in("request")}, {"{reply}", in("reply")}, {"{board}", board.folder}};
  for (std::string &word : command) {
    for (const auto &[name, path] : places) {
      for (size_t at = word.find(name); at != std::string::npos; at = word.find(name, at + path.size())) {
        word.replace(at, name.size(), path);
      }
    }
  }
  auto [code, output] = call(folder, command);
  if (code != 0) {
    const auto *row = llvm::find_if(ends, [code = code](const EndRow &row) { return row.code == code; });
    std::string why = row != std::end(ends) ? row->why : "ended with exit code " + std::to_string(code);
    return llvm::createStringError("--runner: board '" + board.name + "': " + why +
                                   (output.empty() ? "" : ": " + output));
  }
  auto reply = llvm::MemoryBuffer::getFile(in("reply"));
  if (!reply) {
    return llvm::createStringError("--runner: board '" + board.name + "' wrote no reply" +
                                   (output.empty() ? "" : ": " + output));
  }
  return (*reply)->getBuffer().str();
}

void BoardModel::noteRun(int64_t stack, int64_t counted, int64_t ram) const {
  const emit::BuildSizes &sizes = facts.sizes;
  bool isCounted = counted >= 0 && board.instructionsPerTick > 0;
  last = BoardRun{board.name,
                  facts.target,
                  sizes.flash,
                  sizes.ram >= 0 ? sizes.ram : ram + sizes.data + sizes.zeroed,
                  stack,
                  sizes.stack.bytes,
                  isCounted ? int64_t(double(counted) * board.instructionsPerTick + 0.5) : -1};
}

std::unique_ptr<Execution> BoardModel::execution(int, int32_t) const { return std::make_unique<BoardExecution>(*this); }

} // namespace ingot::driver
