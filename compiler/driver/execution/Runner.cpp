#include "compiler/driver/execution/Runner.h"
#include "compiler/driver/Driver.h"
#include "compiler/driver/Text.h"
#include "compiler/emit/SharedLibrary.h"
#include "runtime_support/runner/protocol.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

namespace ingot::driver {
namespace {

/// A request, which is written word by word.
class Request {
public:
  Request() { word(INGOT_RUNNER_MAGIC); }
  void word(int64_t value) {
    char bytes[8];
    llvm::support::endian::write64le(bytes, uint64_t(value));
    text.append(bytes, 8);
  }
  void real(double value) { word(llvm::bit_cast<int64_t>(value)); }
  void bytes(llvm::StringRef value) {
    word(int64_t(value.size()));
    text += value;
  }
  const std::string &str() const { return text; }

private:
  std::string text;
};

/// A reply, which is read word by word; what is behind its end is 0, and `isCut` says so.
class Reply {
public:
  explicit Reply(llvm::StringRef text) : rest(text) {}
  int64_t word() {
    if (rest.size() < 8) {
      cut = true, rest = "";
      return 0;
    }
    uint64_t value = llvm::support::endian::read64le(rest.data());
    rest = rest.drop_front(8);
    return int64_t(value);
  }
  double real() { return llvm::bit_cast<double>(word()); }
  llvm::StringRef bytes() {
    int64_t size = word();
    cut |= size < 0 || uint64_t(size) > rest.size();
    llvm::StringRef value = rest.take_front(cut ? 0 : size_t(size));
    rest = rest.drop_front(value.size());
    return value;
  }
  /// Returns a number of things each of which has a word at least.
  int32_t count() {
    int64_t value = word();
    cut |= value < 0 || uint64_t(value) > rest.size() / 8;
    return cut ? 0 : int32_t(value);
  }
  bool isCut() const { return cut; }

private:
  llvm::StringRef rest;
  bool cut = false;
};

llvm::Error cutShort() { return llvm::createStringError("--runner: what the program there wrote is cut short"); }

} // namespace

llvm::Expected<std::unique_ptr<Runner>> Runner::create(const std::string &command) {
  std::unique_ptr<Runner> runner(new Runner());
  runner->command = command;
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver saver(memory);
  llvm::SmallVector<const char *> words;
  llvm::cl::TokenizeGNUCommandLine(command, saver, words);
  if (words.empty()) {
    return llvm::createStringError("--runner names no program");
  }
  if (std::optional<std::string> name = boardOf(command)) {
    llvm::Expected<Board> board = findBoard(*name);
    if (!board) {
      return board.takeError();
    }
    runner->onBoard = std::move(*board);
  } else {
    llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(words[0]);
    if (!program) {
      return llvm::createStringError("--runner " + command + ": program '" + words[0] + "' is not found");
    }
    runner->words.assign(words.begin(), words.end());
    runner->words[0] = *program;
  }
  llvm::Expected<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder) {
    return folder.takeError();
  }
  runner->folder = std::move(*folder);
  return runner;
}

std::string Runner::path(llvm::StringRef name) const {
  llvm::SmallString<128> whole(folder.path());
  llvm::sys::path::append(whole, name);
  return std::string(whole);
}

llvm::Error Runner::start(const std::string &program, llvm::ArrayRef<std::string> arguments) const {
  std::vector<llvm::StringRef> all(words.begin(), words.end());
  all.push_back(program);
  llvm::append_range(all, arguments);
  std::string message;
  // Its stdout is not ours: with --json that is one object.
  int code = llvm::sys::ExecuteAndWait(words[0], all, std::nullopt, {"", "", std::nullopt}, 0, 0, &message);
  if (code != 0) {
    return llvm::createStringError("--runner " + command + " " +
                                   (code < 0 ? "failed: " + message : "ended with exit code " + std::to_string(code)));
  }
  return llvm::Error::success();
}

static std::vector<emit::Descriptor::Tensor> readTensors(Reply &reply, int32_t count) {
  std::vector<emit::Descriptor::Tensor> tensors(static_cast<size_t>(count));
  for (emit::Descriptor::Tensor &tensor : tensors) {
    tensor.name = reply.bytes();
    tensor.type = int32_t(reply.word());
    tensor.dims.resize(size_t(reply.count()));
    for (int64_t &size : tensor.dims) {
      size = reply.word();
    }
    tensor.elements = reply.word(), tensor.bytes = reply.word();
    tensor.flags = uint32_t(reply.word()), tensor.inPlaceOf = int32_t(reply.word());
  }
  return tensors;
}

static emit::Descriptor readDescriptor(Reply &reply) {
  emit::Descriptor model = {};
  model.name = reply.bytes(), model.target = reply.bytes();
  model.flags = uint32_t(reply.word());
  int32_t inputs = reply.count(), outputs = reply.count();
  model.nodes.resize(size_t(reply.count()));
  model.symbolCount = reply.count(), model.dataDependentCount = reply.count();
  model.levels.resize(size_t(reply.count()));
  model.workspaceBytes = reply.word(), model.workspaceAlign = reply.word();
  model.weightBytes = reply.word(), model.weightHash = uint64_t(reply.word());
  model.inputs = readTensors(reply, inputs), model.outputs = readTensors(reply, outputs);
  for (std::string &node : model.nodes) {
    node = reply.bytes();
  }
  model.symbols.resize(size_t(model.symbolCount) + size_t(model.dataDependentCount));
  for (emit::Descriptor::Symbol &symbol : model.symbols) {
    symbol.name = reply.bytes(), symbol.least = reply.word(), symbol.most = reply.word();
  }
  for (int32_t &level : model.levels) {
    level = int32_t(reply.word());
  }
  return model;
}

RemoteModel::RemoteModel(const Runner &runner, std::string program, std::string library, std::string name)
    : runner(runner), program(std::move(program)), library(std::move(library)), name(std::move(name)) {}

/// Returns what the program writes behind the text that says whether it could do what it was asked for.
llvm::Expected<std::string> RemoteModel::start(const std::string &verb, const std::string &request) const {
  std::string path = runner.path("reply");
  (void)llvm::sys::fs::remove(path);
  std::vector<std::string> arguments = {verb, library, name};
  if (!request.empty()) {
    arguments.push_back(request);
  }
  arguments.push_back(path);
  if (llvm::Error error = runner.start(program, arguments)) {
    return error;
  }
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    return llvm::createStringError("--runner: the program there wrote no reply to " + path + ": " +
                                   buffer.getError().message());
  }
  Reply reply((*buffer)->getBuffer());
  if (reply.word() != INGOT_RUNNER_MAGIC) {
    return llvm::createStringError("--runner: the program there is of another version of ingot");
  }
  llvm::StringRef problem = reply.bytes();
  if (!problem.empty()) {
    return llvm::createStringError(library + ": error: " + problem);
  }
  return (*buffer)->getBuffer().drop_front(16).str();
}

llvm::Expected<std::string> RemoteModel::ask(const std::string &request) const {
  std::string path = runner.path("request");
  if (llvm::Error error = writeText(path, request)) {
    return error;
  }
  return start("run", path);
}

/// Returns the machine that a shared library is for, as it says itself: whoever compiles C++ source chooses it.
static llvm::Expected<std::string> tripleOf(const std::string &library) {
  auto file = llvm::object::ObjectFile::createObjectFile(library);
  if (!file) {
    return llvm::createStringError(library + ": error: " + llvm::toString(file.takeError()));
  }
  return (llvm::Triple::getArchTypeName(file->getBinary()->getArch()) + "-unknown-linux-gnu").str();
}

llvm::Expected<std::unique_ptr<RemoteModel>> RemoteModel::load(const Runner &runner, const Manifest &manifest,
                                                               const std::string &library) {
  llvm::Expected<std::string> triple = manifest.triple.empty() ? tripleOf(library) : manifest.triple;
  if (!triple) {
    return triple.takeError();
  }
  std::string program = emit::findRuntimeFile(*triple, "ingot-runner");
  if (program.empty()) {
    return llvm::createStringError("--runner: ingot-runner for " + *triple +
                                   " is neither beside the compiler in ../lib nor in its build folder");
  }
  std::unique_ptr<RemoteModel> remote(new RemoteModel(runner, program, library, manifest.name));
  llvm::Expected<std::string> text = remote->start("describe", "");
  if (!text) {
    return text.takeError();
  }
  Reply reply(*text);
  auto description = std::make_unique<ModelDescription>(readDescriptor(reply));
  if (reply.isCut() || !description->isSound()) {
    return cutShort();
  }
  remote->description = std::move(description);
  return remote;
}

namespace {

/// The runs on another machine, each of which starts the runner.
class RemoteExecution final : public Execution {
public:
  RemoteExecution(const RemoteModel &remote, std::string weights, int threads, int32_t level)
      : Execution(remote.model()), remote(remote), weights(std::move(weights)), threads(threads), level(level) {}

  llvm::Error runChecked() override { return run(0, false); }

  llvm::Expected<RunTimes> measure(double seconds) override {
    if (llvm::Error error = run(seconds, false)) {
      return error;
    }
    return samples;
  }

  llvm::Expected<KernelRunTimes> profile(double seconds) override {
    if (llvm::Error error = run(seconds, true)) {
      return error;
    }
    return kernels;
  }

  std::vector<HostTensor> outputs() const override { return results; }
  int64_t workspaceBytes() const override { return workspace; }

private:
  llvm::Error prepare(llvm::ArrayRef<HostTensor> tensors) override {
    if (llvm::Error error = refuseStrings(model)) {
      return error;
    }
    inputs.assign(tensors.begin(), tensors.end());
    return llvm::Error::success();
  }

  std::string request(double seconds, bool profiles) const {
    Request text;
    text.word(threads), text.word(level), text.real(seconds), text.word(profiles), text.bytes(weights);
    for (int64_t size : llvm::ArrayRef(sizes).take_front(size_t(model.symbol_count))) {
      text.word(size);
    }
    for (const HostTensor &input : inputs) {
      text.word(!input.isAbsent);
      text.bytes({input.bytes.data(), input.bytes.size()});
    }
    return text.str();
  }

  llvm::Error run(double seconds, bool profiles) {
    llvm::Expected<std::string> text = remote.ask(request(seconds, profiles));
    if (!text) {
      return text.takeError();
    }
    Reply reply(*text);
    int status = int(reply.word());
    llvm::StringRef damage = reply.bytes();
    if (!damage.empty()) {
      return llvm::make_error<ExitError>(2, "internal error: the compiled model " + damage.str());
    }
    if (status) {
      return failure(status);
    }
    samples.level = int(reply.word()), samples.threads = int(reply.word()), workspace = reply.word();
    sizes.resize(size_t(model.symbol_count + model.found_count));
    for (int64_t &size : sizes) {
      size = reply.word();
    }
    return readResults(reply);
  }

  llvm::Error readResults(Reply &reply) {
    results.clear();
    for (const ingot_tensor_info &info : outputsOf(model)) {
      HostTensor tensor;
      tensor.name = info.name, tensor.type = info.type;
      for (int32_t axis = 0; axis < info.rank; ++axis) {
        tensor.dims.push_back(reply.word());
      }
      llvm::StringRef bytes = reply.bytes();
      if (reply.isCut() || int64_t(bytes.size()) != tensorBytes(info.type, tensor.dims)) {
        return cutShort();
      }
      tensor.bytes.assign(bytes.begin(), bytes.end());
      results.push_back(std::move(tensor));
    }
    samples.batch = int(reply.word());
    samples.seconds.resize(size_t(reply.count()));
    for (double &sample : samples.seconds) {
      sample = reply.real();
    }
    readKernels(reply);
    return reply.isCut() ? cutShort() : llvm::Error::success();
  }

  void readKernels(Reply &reply) {
    kernels = {};
    int32_t launches = reply.count(), runs = reply.count();
    kernels.launches.resize(size_t(launches));
    for (KernelRunTimes::Launch &launch : kernels.launches) {
      launch.calls = reply.word();
    }
    for (int32_t run = 0; run < runs; ++run) {
      kernels.seconds.push_back(reply.real());
      for (KernelRunTimes::Launch &launch : kernels.launches) {
        launch.seconds.push_back(reply.real());
      }
    }
  }

  const RemoteModel &remote;
  std::string weights;
  int threads;
  int32_t level;
  std::vector<HostTensor> inputs, results;
  int64_t workspace = 0;
  RunTimes samples;
  KernelRunTimes kernels;
};

} // namespace

std::unique_ptr<Execution> RemoteModel::execution(int threads, int32_t level) const {
  std::string weights = llvm::StringRef(library).drop_back(3).str() + ".weights";
  return std::make_unique<RemoteExecution>(*this, weights, threads, level);
}

} // namespace ingot::driver
