// What packages for firmware have in common: an archive of each model for each processor, headers, the source of the
// support library's core, which their build systems compile, and a program that runs the models.
#pragma once
#include "compiler/driver/packaging/Package.h"

namespace ingot::driver {

/// Says where a layout has the files of a library. Folders end with a slash, or are empty for the package itself.
struct LibraryFolders {
  std::string headers, sources;
  /// Returns the folder of a processor's archives.
  std::string (*archives)(const PackageMachine &machine);
};

/// The processor of a machine, "cortex-m4", and how its code passes floats: in registers of the floating-point unit
/// ("-hard"), in others, or without such a unit ("-nofp").
struct Processor {
  llvm::StringRef core;
  bool isHard, lacksFloats;
  explicit Processor(const PackageMachine &machine);
};

llvm::ArrayRef<PackageMachine> firmwareMachines(); ///< all
llvm::ArrayRef<PackageMachine> armMachines();      ///< Arm's
llvm::ArrayRef<PackageMachine> packMachines();     ///< Arm's, where floats are passed in registers that are for them
llvm::ArrayRef<PackageMachine> riscvMachines();    ///< those of RISC-V

/// Adds headers, sources, archives, and README.md, which begins with `how` one uses the package.
llvm::Error addLibrary(const Package &package, const LibraryFolders &folders, const std::string &how,
                       PackageFiles &files);

/// Returns the sources of the core, without folders.
std::vector<std::string> coreSources();

/// Returns C source of a function `run_models` that runs each model once, on zeros.
std::string exampleSource(const Package &package);

/// Returns a list of words, each formatted as `format` says with {0} for the word.
std::string eachOf(llvm::ArrayRef<std::string> words, const char *format);

/// Returns the names of the models.
std::vector<std::string> modelNames(const Package &package);

std::string wrongLibraryName(llvm::StringRef name);

} // namespace ingot::driver
