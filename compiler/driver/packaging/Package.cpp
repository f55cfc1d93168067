#include "compiler/driver/packaging/Package.h"
#include "compiler/driver/packaging/Library.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {

llvm::ArrayRef<PackageFormat> packageFormats() {
  static constexpr PackageMachine wasm[] = {{"", "wasm32+simd128"},
                                            {".scalar", "wasm32"},
                                            {".relaxed", "wasm32+relaxed-simd"},
                                            {".threads", "wasm32+threads"}};
  auto row = [](auto word, auto help, llvm::ArrayRef<PackageMachine> machines, auto write) {
    return PackageFormat{word, help, machines, /*choosesTargets=*/true, emit::Kind::Lib, wrongLibraryName, write};
  };
  static const PackageFormat formats[] = {
      {"npm", "WebAssembly for browsers and Node", wasm, /*choosesTargets=*/false, emit::Kind::Obj, wrongNpmName,
       writeNpm},
      row(llvm::StringLiteral("arduino"), llvm::StringLiteral("a library for Arm's boards"), armMachines(),
          writeArduino),
      row(llvm::StringLiteral("platformio"), llvm::StringLiteral("the same boards"), armMachines(), writePlatformIo),
      row(llvm::StringLiteral("cmsis-pack"), llvm::StringLiteral("a pack for Arm's tools"), packMachines(),
          writeCmsisPack),
      row(llvm::StringLiteral("esp-idf"), llvm::StringLiteral("a component for RISC-V chips"), riscvMachines(),
          writeEspIdf),
      row(llvm::StringLiteral("zephyr"), llvm::StringLiteral("a module"), firmwareMachines(), writeZephyr),
  };
  return formats;
}

const PackageFormat *packageFormat(llvm::StringRef word) {
  const auto *row = llvm::find_if(packageFormats(), [&](const PackageFormat &format) { return format.word == word; });
  return row == packageFormats().end() ? nullptr : row;
}

llvm::Error PackageFiles::copy(const std::string &path, const std::string &from) {
  auto buffer = llvm::MemoryBuffer::getFile(from);
  if (!buffer) {
    return llvm::createStringError(from + ": error: cannot be read: " + buffer.getError().message());
  }
  add(path, (*buffer)->getBuffer().str());
  return llvm::Error::success();
}

llvm::Error PackageFiles::write(const std::string &dir) const {
  support::OutputFiles output;
  for (const auto &[path, text] : files) {
    std::string whole = dir + "/" + path;
    std::error_code error = llvm::sys::fs::create_directories(llvm::sys::path::parent_path(whole));
    if (error) {
      return llvm::createStringError(whole + ": error: its folder cannot be made: " + error.message());
    }
    if (llvm::Error failed = output.add(whole, [&](llvm::raw_ostream &out) { out << text; })) {
      return support::located(std::move(failed));
    }
  }
  llvm::Error kept = output.keep();
  return kept ? support::located(std::move(kept)) : llvm::Error::success();
}

llvm::Error checkTensors(const Manifest &model, const PackageFormat &format) {
  auto refuse = [&](const plan::TensorInfo &tensor, const char *what) {
    return llvm::createStringError("'" + tensor.name + "' of model '" + model.name + "' is " + what +
                                   ", which packages for " + format.word.str() + " do not take");
  };
  for (const auto &tensors : {model.inputs, model.outputs}) {
    for (const plan::TensorInfo &tensor : tensors) {
      if (support::elementType(tensor.type).kind == support::ElementKind::String) {
        return refuse(tensor, "a tensor of strings");
      }
    }
  }
  return llvm::Error::success();
}

} // namespace ingot::driver
