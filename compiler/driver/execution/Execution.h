// Runs a compiled model with the same sizes, wherever it is: in this process (LocalExecution) or on another machine
// (Runner.h). What both have in common is here: which sizes recorded or random inputs have, and what a status means.
#pragma once
#include "compiler/driver/execution/DataSet.h"
#include "compiler/support/Size.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace ingot::driver {

/// The sizes that a user gives to a model's symbols, by name, or through the shapes of inputs.
struct GivenSizes {
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::vector<int64_t>> shapes;
};

/// The times of runs, with a number for each batch of them, and what they ran on.
struct RunTimes {
  std::vector<double> seconds; ///< of one run
  int batch = 1;
  int level = 0; ///< the level of the model that ran; 0: the model is for one machine
  int threads = 1;
};

/// The times of runs and of the kernels in them, of a model that was compiled for it.
struct KernelRunTimes {
  struct Launch {
    int64_t calls = 0;           ///< how many calls there were in all runs
    std::vector<double> seconds; ///< in each run
  };
  std::vector<double> seconds;  ///< of each run
  std::vector<Launch> launches; ///< launches by their numbers; there are fewer where the last ones never ran
};

class Execution {
public:
  virtual ~Execution() = default;
  Execution(const Execution &) = delete;

  /// Takes recorded inputs; their shapes say the sizes of the run. The error says which does not fit the model.
  llvm::Error setInputs(llvm::ArrayRef<HostTensor> inputs, const std::string &folder);

  /// Takes inputs that have the same values each time: floats from -1 to 1, integers 0 or 1 (they may be indices).
  /// Symbols without a size are 1, with a warning.
  llvm::Error setRandomInputs(const GivenSizes &given);

  /// Runs once. Returns the error that its status stands for, or that it wrote where it may not.
  virtual llvm::Error runChecked() = 0;
  /// Runs many times, for about `seconds` seconds.
  virtual llvm::Expected<RunTimes> measure(double seconds) = 0;
  virtual llvm::Expected<KernelRunTimes> profile(double seconds) = 0;

  /// Returns the outputs of the last run.
  virtual std::vector<HostTensor> outputs() const = 0;
  virtual int64_t workspaceBytes() const = 0;
  /// Returns the value of an expression of the model's symbols; 0 when it has none.
  int64_t evaluate(const support::Size &size) const;

protected:
  explicit Execution(const ingot_model &model) : model(model) {}

  /// Takes the inputs, whose sizes are known now, in the order of the model's.
  virtual llvm::Error prepare(llvm::ArrayRef<HostTensor> inputs) = 0;
  /// Returns the error of a status; `more` is what a device has to say, or nothing.
  llvm::Error failure(int status, const std::string &more = "") const;

  const ingot_model &model;
  std::vector<int64_t> sizes; ///< sizes of the model's symbols, then those that the last run found

private:
  std::string folder; ///< the folder of recorded inputs; empty for others

  /// Binds the symbols. The error names the input that does not fit.
  llvm::Error bind(llvm::ArrayRef<HostTensor> inputs);
  std::string sizesText(const ingot_tensor_info &info, llvm::ArrayRef<int64_t> dims) const;
};

llvm::ArrayRef<ingot_tensor_info> inputsOf(const ingot_model &model);
llvm::ArrayRef<ingot_tensor_info> outputsOf(const ingot_model &model);
/// Returns how many axes all outputs have together.
size_t outputAxes(const ingot_model &model);

/// Returns the bytes of a tensor; throws std::bad_alloc where they are more than there can be.
int64_t tensorBytes(int32_t type, llvm::ArrayRef<int64_t> dims);

} // namespace ingot::driver
