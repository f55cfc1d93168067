// What Halide lowers a pipeline to takes a halide_buffer_t for each tensor, checks them, and gets large intermediate
// values from the heap. All that is known here, so that its last form is rewritten before Halide's code generator gets
// it: addresses are loaded from the arrays of the caller, checks are dropped, and intermediate values lie in the
// scratch memory, each at a place of its own.
#include "Object.h"
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <stdlib.h>

using namespace Halide;
using namespace Halide::Internal;

namespace halide_target {

namespace {

class Rewriter : public IRMutator {
public:
  int64_t scratchBytes = 0;

  /// The tensor called `name` has the number `i` in the array `list`.
  void place(const std::string &name, const char *list, size_t i) { places[name + ".buffer"] = {list, int(i)}; }

protected:
  using IRMutator::visit;

  Expr visit(const Call *call) override {
    if (call->name == Call::buffer_get_host) {
      const auto *buffer = call->args[0].as<Variable>();
      auto place = buffer ? places.find(buffer->name) : places.end();
      if (place == places.end()) {
        throw std::runtime_error("a buffer that is neither an input nor an output");
      }
      return Load::make(Handle(), place->second.first, place->second.second, Buffer<>(), Parameter(), const_true(),
                        ModulusRemainder());
    }
    bool isField = call->name.rfind("_halide_buffer_get_", 0) == 0; // numbers that the schedule fixed
    return isField ? make_zero(call->type) : IRMutator::visit(call);
  }

  Stmt visit(const AssertStmt *) override { return Evaluate::make(0); }

  Stmt visit(const Allocate *allocate) override {
    constexpr int64_t mostOnStack = 1024, padding = 128; // loads of vectors may go beyond the end
    int64_t bytes = int64_t(allocate->constant_allocation_size()) * allocate->type.bytes();
    if (bytes == 0) {
      throw std::runtime_error("an intermediate value whose size is not known");
    }
    if (bytes <= mostOnStack) {
      return IRMutator::visit(allocate);
    }
    Expr scratch = reinterpret(UInt(64), Variable::make(Handle(), "scratch"));
    Expr address = reinterpret(Handle(), scratch + make_const(UInt(64), scratchBytes));
    scratchBytes += (bytes + padding + 63) / 64 * 64;
    inScratch.insert(allocate->name);
    return LetStmt::make(allocate->name, address, mutate(allocate->body));
  }

  Stmt visit(const Free *free) override {
    return inScratch.count(free->name) ? Evaluate::make(0) : IRMutator::visit(free);
  }

private:
  std::map<std::string, std::pair<const char *, int>> places;
  std::set<std::string> inScratch;
};

std::string readFile(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace

Object compileObject(const Pipeline &pipeline, const std::string &symbol, const Target &target) {
  std::vector<Argument> arguments(pipeline.inputs.begin(), pipeline.inputs.end());
  Module lowered =
      Halide::Pipeline(pipeline.outputs).compile_to_module(arguments, symbol, target, LinkageType::External);
  Rewriter rewriter;
  for (size_t i = 0; i < pipeline.inputs.size(); ++i) {
    rewriter.place(pipeline.inputs[i].name(), "inputs", i);
  }
  for (size_t i = 0; i < pipeline.outputs.size(); ++i) {
    rewriter.place(pipeline.outputs[i].name(), "outputs", i);
  }
  Module module(symbol, target);
  std::vector<LoweredArgument> own;
  for (const char *name : {"inputs", "outputs", "scratch", "sizes"}) {
    own.emplace_back(name, Argument::InputScalar, Handle(), 0, ArgumentEstimates());
  }
  LoweredFunc function = lowered.get_function_by_name(symbol);
  module.append(LoweredFunc(symbol, own, rewriter.mutate(function.body), LinkageType::External));
  std::string pattern = (std::filesystem::temp_directory_path() / "halide_target-XXXXXX").string();
  if (!mkdtemp(pattern.data())) {
    throw std::runtime_error("no temporary folder can be made");
  }
  std::filesystem::path folder(pattern);
  module.compile({{OutputFileType::object, (folder / "piece.o").string()}});
  Object object{readFile(folder / "piece.o"), rewriter.scratchBytes};
  std::filesystem::remove_all(folder);
  return object;
}

} // namespace halide_target
