// What Halide lowers a pipeline to takes a halide_buffer_t for each tensor, checks them, and gets large intermediate
// values from the heap. All that is known here, so that its last form is rewritten before Halide's code generator gets
// it: addresses are loaded from the arrays of the caller, checks are dropped, and intermediate values lie in the
// scratch memory, each at a place of its own.
#include "Object.h"
#include <cstring>
#include <elf.h>
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

/// The first symbol that an object refers to and does not define; empty: there is none.
std::string undefinedSymbol(const std::string &object) {
  auto read = [&](size_t at, auto &to) {
    if (at + sizeof(to) > object.size()) {
      throw std::runtime_error("an object that ends too early");
    }
    std::memcpy(&to, object.data() + at, sizeof(to));
  };
  Elf64_Ehdr header;
  read(0, header);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section, names;
    read(header.e_shoff + i * sizeof(section), section);
    if (section.sh_type != SHT_SYMTAB) {
      continue;
    }
    read(header.e_shoff + section.sh_link * sizeof(names), names);
    for (size_t j = 1; j < section.sh_size / sizeof(Elf64_Sym); ++j) {
      Elf64_Sym symbol;
      read(section.sh_offset + j * sizeof(symbol), symbol);
      if (symbol.st_shndx == SHN_UNDEF) {
        return object.c_str() + names.sh_offset + symbol.st_name;
      }
    }
  }
  return "";
}

/// LLVM is not to make calls of memset and memcpy of loops, which nobody would have; Halide passes this on to it.
void forbidLibraryCalls() {
  const char *flag = "-disable-loop-idiom-all", *given = std::getenv("HL_LLVM_ARGS");
  std::string words = given ? given : "";
  if (words.find(flag) == std::string::npos) {
    setenv("HL_LLVM_ARGS", (words + (given ? " " : "") + flag).c_str(), /*overwrite=*/1);
  }
}

} // namespace

Object compileObject(const Pipeline &pipeline, const std::string &symbol, const Target &target) {
  forbidLibraryCalls();
  std::vector<Argument> arguments(pipeline.inputs.begin(), pipeline.inputs.end());
  arguments.emplace_back("outputs", Argument::InputScalar, Handle(), 0, ArgumentEstimates());
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
  Object object{readFile(folder / "piece.o"), rewriter.scratchBytes, ""};
  std::filesystem::remove_all(folder);
  object.undefined = undefinedSymbol(object.bytes);
  return object;
}

} // namespace halide_target
