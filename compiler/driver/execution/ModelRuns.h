// Compiles a model file for data and runs it on them, several times with other data.
#pragma once
#include "compiler/driver/ModelSource.h"

namespace ingot::driver {

class ModelRuns {
public:
  /// Messages call the file `shown`, where it is none of the user's; empty: by its path.
  ModelRuns(const Invocation &invocation, const std::string &modelPath, const std::string &shown = "");
  /// Checks that the importer takes the model.
  llvm::Error check();
  llvm::Expected<std::vector<HostTensor>> outputs(const DataSet &data);
  /// The median seconds of a run, and of the kernels by their nodes ("name (Operator)").
  struct Times {
    double run = 0;
    std::map<std::string, double> nodes;
  };
  llvm::Expected<Times> times(const DataSet &data, double seconds);

private:
  Invocation invocation; ///< the invocation for this file
  ModelSource source;
  RunThreads threads;
};

} // namespace ingot::driver
