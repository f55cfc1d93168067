// Models are C files, compiled by the C compiler that built the tests.
#include "test/driver/FakePipeline.h"
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>

namespace ingot::test {
pipeline::Options lastOptions;
int compilations = 0;
} // namespace ingot::test

namespace ingot::pipeline {
namespace {

const char *const kSource = R"(
#include "runtime_support/include/ingot.h"
static const int64_t dims[] = {DIMS};
static const ingot_tensor_info in = {"x", 1, RANK, dims, ELEMENTS, 4 * ELEMENTS, 0, 0, 0}, out = {"y", 1, RANK, dims, ELEMENTS, 4 * ELEMENTS, 0, 0, 0};
static const char *const nodes[] = {"lookup"};
static int body(void *args, int64_t begin, int64_t end) {
  void **pointers = args;
  for (int64_t i = begin; i < end; ++i) {
    ((float *)pointers[1])[i] = 2 * ((const float *)pointers[0])[i];
  }
  return STATUS;
}
static int run(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace, const ingot_exec *exec) {
  void *pointers[] = {(void *)inputs[0], outputs[0]};
  ((char *)workspace)[0] = 1;
  return ingot_parallel_for(exec, body, pointers, ELEMENTS + SPILL);
}
static const ingot_model model = {INGOT_ABI, 0, "NAME", "fake", 1, 1, 1, 0, &in, &out, 64, 64, 0, nodes, 0, 0, run};
const ingot_model *NAME_model(void) { return &model; }
)";

const char *const kOpenSource = R"(
#include "runtime_support/include/ingot.h"
static const int64_t dims[] = {-1, 3}, computed[] = {INGOT_DIM_COMPUTED, 3};
static const ingot_tensor_info in = {"x", 1, 2, dims, -1, -1, 0, 0, 0}, out = {"y", 1, 2, computed, -1, -1, 0, 0, 0};
static const ingot_symbol_info rows = {"rows", 1, 4};
static int plan(const int64_t *sizes, int64_t *dims, int64_t *bytes) {
  *dims = *sizes, dims[1] = 3, *bytes = 64 * *sizes;
  return 0;
}
static int run(const void *const *inputs, void *const *outputs, int64_t *sizes, void *workspace, const ingot_exec *exec) {
  for (int64_t i = 0; i < 3 * *sizes; ++i) {
    ((float *)outputs[0])[i] = 2 * ((const float *)inputs[0])[i];
    ((char *)workspace)[64 * *sizes - 1] = 1;
  }
  return 0;
}
static const ingot_model model = {INGOT_ABI, 0, "NAME", "fake", 1, 1, 0, 1, &in, &out, -1, 64, 0, 0, &rows, plan, run};
const ingot_model *NAME_model(void) { return &model; }
)";

void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// Recursion without end, which no optimisation can see through.
int overflowStack(int depth) {
  volatile char frame[4096] = {};
  return depth < 0 ? 0 : overflowStack(depth + 1) + frame[depth & 4095];
}

Status makeModel(const Options &options, Result &result, std::string &diagnostics) {
  std::vector<int64_t> dims = {2, 3};
  if (auto found = options.shapes.find("x"); found != options.shapes.end()) {
    dims = found->second;
  }
  int64_t elements = 1;
  std::string list;
  for (int64_t dim : dims) {
    elements *= dim;
    list += std::to_string(dim) + ",";
  }
  bool isOpen = options.name == "open";
  std::string source = isOpen ? kOpenSource : kSource;
  replaceAll(source, "DIMS", list);
  replaceAll(source, "RANK", std::to_string(dims.size()));
  replaceAll(source, "ELEMENTS", std::to_string(elements));
  replaceAll(source, "STATUS", options.name == "fails" ? "INGOT_STATUS(INGOT_ERROR_INDEX, 0)" : "0");
  replaceAll(source, "SPILL", options.name == "spill" ? "1" : "0");
  if (options.name == "old") {
    replaceAll(source, "INGOT_ABI", "99");
  }
  replaceAll(source, "NAME", options.name);
  std::string stem = options.outDir + "/" + options.name;
  std::ofstream(stem + ".c") << source;
  std::ofstream(stem + ".json") << R"({"manifest_version":1,"name":")" << options.name
                                << (isOpen ? R"(","macs":"3*rows","arena_bytes":null)"
                                           : R"(","macs":1000,"arena_bytes":64)")
                                << R"(,"code_bytes":10,"weight_bytes":5})";
  std::string command =
      TEST_C_COMPILER " -shared -fPIC -O1 -I" TEST_SOURCE " -o '" + stem + ".so' '" + stem + ".c' " TEST_RUNTIME;
  if (std::system(command.c_str()) != 0) {
    diagnostics = "the test's C compiler failed";
    return Status::Bug;
  }
  result.artifacts = {{stem + ".so", 1000}, {stem + ".json", 100}};
  return Status::Ok;
}

} // namespace

Status compile(const Options &options, Result &result, std::string &diagnostics) {
  test::lastOptions = options;
  ++test::compilations;
  options.progress(1, 2, "second");
  result.phases = {{"first", 0.25}, {"second", 0.5}};
  result.seconds = 0.75;
  result.arenaBytes = 4096;
  result.arenaLowerBound = 4000;
  result.weightBytes = 20;
  result.codeBytes = 300;
  result.kernels = 2;
  result.macs = 1234567;
  result.memoryPlan = "the plan\n";
  result.placement = {{"a", "Conv", "k0", "cuda", ""}, {"b", "Relu", "k1", "x86", "cuda: no Relu"}};
  if (options.name == "wrong") {
    diagnostics = options.modelPath + ": error: node 'n' (Foo, opset 9): unsupported operator\n";
    return Status::UserError;
  }
  if (options.name == "bug") {
    diagnostics = options.modelPath + ": error: internal error";
    return Status::Bug;
  }
  if (options.name == "crash") {
    std::raise(SIGSEGV);
  }
  if (options.name == "overflow") {
    return Status(overflowStack(0));
  }
  if (options.name == "memory") {
    throw std::bad_alloc();
  }
  if (options.outDir.empty() || options.name.empty()) {
    return Status::Ok;
  }
  return makeModel(options, result, diagnostics);
}

const std::vector<PhaseInfo> &phases() {
  static const std::vector<PhaseInfo> all = {{"first", "The first."}, {"second", "The second."}};
  return all;
}

} // namespace ingot::pipeline
