// Runs a model in this process, through the public entry.
#pragma once
#include "compiler/driver/execution/Devices.h"
#include "compiler/driver/execution/Execution.h"
#include "compiler/driver/execution/HostMemory.h"
#include "compiler/driver/execution/LoadedModel.h"
#include <memory>

namespace ingot::driver {

/// Buffers for runs of one model: inputs, outputs and workspace, aligned to 64 bytes, outputs, workspace and what runs
/// allocate with a guard behind them. Inputs are set before the first run.
class LocalExecution final : public Execution {
public:
  LocalExecution(const LoadedModel &model, const ingot_exec *exec)
      : Execution(model.model()), devices(model.devices()), exec(exec ? *exec : ingot_exec{}) {
    this->exec.weights = model.weights();
    host.serve(this->exec);
    this->exec.strings = &made;
  }
  ~LocalExecution() override {
    ingot_strings_release(&exec);
    giveBackHeld();
  }

  llvm::Error runChecked() override;
  /// Whether the last run left all outputs as they were, but for those that are not kept when a run fails: what it
  /// asked for, what is in a device's memory, what may be written in the place of an input.
  bool keptOutputs() const;
  /// Gives back all that the model's devices hold. Inputs have to be set again before the next run.
  void closeDevices();
  llvm::Expected<RunTimes> measure(double seconds) override;
  llvm::Expected<KernelRunTimes> profile(double seconds) override;
  std::vector<HostTensor> outputs() const override;
  int64_t workspaceBytes() const override { return workspace.bytes; }

private:
  struct Free {
    void operator()(char *data) const;
  };
  struct GuardedMemory {
    std::unique_ptr<char, Free> data;
    int64_t bytes = 0;
  };
  struct Tensor {
    GuardedMemory memory;
    int64_t elements = 0;
    void *given = nullptr; ///< the memory of this output, which the last run allocated
    void *there = nullptr; ///< the address in the memory of the device to which it is bound
    /// The strings of an input, to which its memory points, or of an output of the last run.
    std::vector<std::string> strings = {};
  };
  llvm::Error prepare(llvm::ArrayRef<HostTensor> inputs) override;
  /// Opens the model's devices. Where that fails, and the model has code for the host alone, it says so and goes on.
  llvm::Error openDevices();
  /// Runs once through ingot_run, and returns its status.
  int run();
  /// Returns the error that a status stands for. With status 0 it checks whether something was written behind a buffer.
  llvm::Error check(int status);
  /// Copies the strings of outputs, and gives back the memory that the run made them in.
  void keepStrings(bool succeeded);
  static GuardedMemory allocate(int64_t bytes);
  static bool guardIsIntact(const GuardedMemory &memory);
  /// Gives back the outputs that the last run allocated.
  void releaseGiven();
  void giveBackHeld();
  /// Returns what a run is given for the tensor; with `isInput` its device gets a copy.
  llvm::Expected<ingot_buffer> bufferOf(const ingot_tensor_info &info, Tensor &tensor, bool isInput);
  static Tensor makeTensor(const ingot_tensor_info &info, llvm::ArrayRef<int64_t> dims);

  HostMemory host;
  Devices &devices;                ///< the model's
  std::vector<Devices::Held> held; ///< for tensors that are bound to a device
  ingot_exec exec;
  ingot_strings made = {nullptr, 0, 0, nullptr};
  std::vector<int64_t> outputDims; ///< dims of all outputs of the last run
  std::vector<Tensor> inputs, outputTensors;
  GuardedMemory workspace;
  std::vector<ingot_buffer> inputBuffers, outputBuffers;
};

} // namespace ingot::driver
