// Runs `ingot package`: compiles models for the machines of a format, and has the format arrange the files.
#include "compiler/driver/Driver.h"
#include "compiler/driver/TemporaryFolder.h"
#include "compiler/driver/Text.h"
#include "compiler/driver/commands/Outputs.h"
#include "compiler/driver/packaging/Package.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::driver {
namespace {

/// Returns the name that the package is given, or that of its folder.
llvm::Expected<std::string> nameOf(const Invocation &invocation, const PackageFormat &format) {
  std::string name = invocation.packageName;
  if (name.empty()) {
    llvm::SmallString<128> folder(invocation.model.outDir);
    llvm::sys::fs::make_absolute(folder);
    llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    name = llvm::sys::path::filename(folder).str();
  }
  std::string wrong = format.wrongName(name);
  return wrong.empty() ? llvm::Expected<std::string>(name)
                       : llvm::createStringError("'" + name + "' is no name of a package for " + format.word.str() +
                                                 ": it " + wrong + "; give one by --package-name");
}

llvm::Expected<CompiledModel> compileBuild(const Invocation &invocation, const PackageFormat &format,
                                           const std::string &path, const PackageMachine &machine,
                                           const std::string &folder) {
  pipeline::Options options = invocation.model;
  options.modelPath = path;
  options.targets = {machine.target.str()};
  options.triple = machine.triple.str();
  options.outDir = folder;
  options.emit = {format.kind};
  llvm::Expected<pipeline::Result> result = compileModel(invocation, options);
  if (!result) {
    return result.takeError();
  }
  auto isManifest = [](const emit::Artifact &artifact) { return llvm::StringRef(artifact.path).ends_with(".json"); };
  auto artifact = llvm::find_if(result->artifacts, isManifest);
  llvm::Expected<Manifest> manifest = readManifest(artifact->path);
  if (!manifest) {
    return manifest.takeError();
  }
  if (llvm::Error error = checkTensors(*manifest, format)) {
    return std::move(error);
  }
  return CompiledModel{&machine, folder, std::move(*manifest)};
}

llvm::Error compileModels(const Invocation &invocation, const PackageFormat &format, const std::string &scratch,
                          Package &package) {
  const std::vector<std::string> &targets = invocation.model.targets;
  for (const std::string &path : invocation.models) {
    std::vector<CompiledModel> &builds = package.models.emplace_back();
    for (const PackageMachine &machine : format.machines) {
      if (!targets.empty() && !llvm::is_contained(targets, machine.target)) {
        continue;
      }
      std::string folder = scratch + "/" + std::to_string(package.models.size()) + "-" + std::to_string(builds.size());
      llvm::Expected<CompiledModel> build = compileBuild(invocation, format, path, machine, folder);
      if (!build) {
        return build.takeError();
      }
      builds.push_back(std::move(*build));
    }
    const std::string &name = builds.front().name();
    auto isCalledSo = [&](const std::vector<CompiledModel> &other) { return other.front().name() == name; };
    if (llvm::count_if(package.models, isCalledSo) > 1) {
      return llvm::createStringError("two models are called '" + name + "'; give one of them another file name");
    }
  }
  return llvm::Error::success();
}

void say(const Invocation &invocation, const Package &package, const PackageFiles &files) {
  if (!invocation.json) {
    for (const auto &[path, text] : files.all()) {
      llvm::outs() << package.dir << '/' << path << "  " << bytesText(int64_t(text.size())) << '\n';
    }
    return;
  }
  llvm::json::OStream json(llvm::outs());
  json.object([&] {
    json.attribute("name", llvm::json::fixUTF8(package.name));
    json.attributeArray("artifacts", [&] {
      for (const auto &[path, text] : files.all()) {
        json.object([&] {
          json.attribute("path", llvm::json::fixUTF8(package.dir + "/" + path));
          json.attribute("bytes", int64_t(text.size()));
        });
      }
    });
  });
  llvm::outs() << '\n';
}

} // namespace

llvm::Error packageCommand(const Invocation &invocation) {
  const PackageFormat &format = *packageFormat(invocation.packageFormat);
  llvm::Expected<std::string> name = nameOf(invocation, format);
  if (!name) {
    return name.takeError();
  }
  if (llvm::Error error = checkFolder(invocation.model.outDir)) {
    return error;
  }
  llvm::Expected<TemporaryFolder> scratch = TemporaryFolder::make();
  if (!scratch) {
    return scratch.takeError();
  }
  Package package{*name, invocation.packageVersion, invocation.model.outDir, {}};
  if (llvm::Error error = compileModels(invocation, format, scratch->path(), package)) {
    return error;
  }
  PackageFiles files;
  if (llvm::Error error = format.write(package, files)) {
    return error;
  }
  if (llvm::Error error = files.write(package.dir)) {
    return error;
  }
  say(invocation, package, files);
  return llvm::Error::success();
}

} // namespace ingot::driver
