// Runs of a compiled model with the same sizes, wherever it is: in this process (LocalExecution) or on another machine
// (Runner.h). What both have in common: which sizes recorded or random inputs have, and what a status means.
#pragma once
#include "compiler/driver/execution/DataSet.h"
#include "compiler/support/Size.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace ingot::driver {

/// Sizes that a user gives to a model's symbols: by name, or through the shapes of inputs.
struct GivenSizes {
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::vector<int64_t>> shapes;
};

/// Times of runs, a number for each batch of them, and what they ran on.
struct Samples {
  std::vector<double> seconds; ///< of one run
  int batch = 1;
  int level = 0; ///< of those of the model, the one that ran; 0: it is for one machine
  int threads = 1;
};

/// Times of runs and of the kernels in them, of a model that was compiled for it.
struct KernelSamples {
  struct Launch {
    int64_t calls = 0;           ///< in all runs
    std::vector<double> seconds; ///< in each run
  };
  std::vector<double> seconds;  ///< of each run
  std::vector<Launch> launches; ///< by their numbers; shorter where the last ones never ran
};

class Execution {
public:
  virtual ~Execution() = default;
  Execution(const Execution &) = delete;

  /// Takes recorded inputs; their shapes say the sizes of the run. The error says which does not fit the model.
  llvm::Error setInputs(llvm::ArrayRef<HostTensor> inputs, const std::string &folder);

  /// The same values each time: floats from -1 to 1, integers 0 or 1 (they may be indices). Symbols without a size
  /// are 1, with a warning.
  llvm::Error setRandomInputs(const GivenSizes &given);

  /// One run, with the error that its status stands for, or that it wrote where it may not.
  virtual llvm::Error runChecked() = 0;
  /// Many runs, for about so long.
  virtual llvm::Expected<Samples> measure(double seconds) = 0;
  virtual llvm::Expected<KernelSamples> profile(double seconds) = 0;

  /// Of the last run.
  virtual std::vector<HostTensor> outputs() const = 0;
  virtual int64_t workspaceBytes() const = 0;
  /// The value of an expression of the model's symbols; 0 when it has none.
  int64_t evaluate(const support::Size &size) const;

protected:
  explicit Execution(const ingot_model &model) : model(model) {}

  /// Takes the inputs, whose sizes are known now, in the order of the model's.
  virtual llvm::Error prepare(llvm::ArrayRef<HostTensor> inputs) = 0;
  /// `more`: what a device has to say, or nothing.
  llvm::Error failure(int status, const std::string &more = "") const;

  const ingot_model &model;
  std::vector<int64_t> sizes; ///< of the model's symbols, then what the last run found

private:
  std::string folder; ///< of the recorded inputs; of others none

  /// Binds the symbols. The error names the input that does not fit.
  llvm::Error bind(llvm::ArrayRef<HostTensor> inputs);
  std::string sizesText(const ingot_tensor_info &info, llvm::ArrayRef<int64_t> dims) const;
};

llvm::ArrayRef<ingot_tensor_info> inputsOf(const ingot_model &model);
llvm::ArrayRef<ingot_tensor_info> outputsOf(const ingot_model &model);
/// The sizes of the axes of all outputs together.
size_t outputAxes(const ingot_model &model);

/// Bytes of a tensor; throws std::bad_alloc where they are more than there can be.
int64_t tensorBytes(int32_t type, llvm::ArrayRef<int64_t> dims);

} // namespace ingot::driver
