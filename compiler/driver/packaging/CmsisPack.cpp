// Writes CMSIS-Packs: VENDOR.NAME.pdsc, by version 1.7.7 of Arm's schema PACK.xsd, and beside it what it names. A zip
// of the folder is the pack.
#include "compiler/driver/packaging/Library.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace ingot::driver {
namespace {

std::string archiveFolder(const PackageMachine &machine) { return "lib/" + machine.name.str() + "/"; }

const LibraryFolders folders = {"include/", "source/", archiveFolder};

/// Returns the condition for a processor: "Cortex-M4" with or without its floating-point unit. Projects for processors
/// with one pass floats in its registers.
std::string conditionOf(const PackageMachine &machine) {
  Processor processor(machine);
  llvm::StringRef number = processor.core;
  number.consume_front("cortex-m");
  std::string core = number == "0plus" ? "0+" : number.str();
  bool mayHaveUnit = number != "0plus" && number != "3";
  std::vector<std::string> units = {""};
  if (mayHaveUnit) {
    units = processor.lacksFloats ? std::vector<std::string>{" Dfpu=\"NO_FPU\""}
                                  : std::vector<std::string>{" Dfpu=\"SP_FPU\"", " Dfpu=\"DP_FPU\""};
  }
  std::string accepts;
  for (const std::string &unit : units) {
    accepts += llvm::formatv("      <accept Dcore=\"Cortex-M{0}\"{1}/>\n", core, unit).str();
  }
  return llvm::formatv(
      "    <condition id=\"{0}\">\n      <description>Cortex-M{1}</description>\n{2}    </condition>\n", machine.name,
      core, accepts);
}

std::string description(const Package &package) {
  std::string conditions, libraries;
  for (const CompiledModel &build : package.models.front()) {
    conditions += conditionOf(*build.machine);
  }
  for (const std::vector<CompiledModel> &model : package.models) {
    for (const CompiledModel &build : model) {
      libraries += llvm::formatv("        <file category=\"library\" name=\"{0}lib{1}.a\" condition=\"{2}\"/>\n",
                                 archiveFolder(*build.machine), build.name(), build.machine->name);
    }
  }
  return llvm::formatv(R"(<?xml version="1.0" encoding="UTF-8"?>
<package schemaVersion="1.7.7" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" xs:noNamespaceSchemaLocation="PACK.xsd">
  <vendor>ingot</vendor>
  <name>{0}</name>
  <description>Models compiled ahead of time: {1}</description>
  <url>http://localhost/</url>
  <releases>
    <release version="{2}">Written by ingot package.</release>
  </releases>
  <conditions>
{3}  </conditions>
  <components>
    <component Cclass="Machine Learning" Cgroup="{0}" Cversion="{2}">
      <description>Models: {1}</description>
      <files>
        <file category="include" name="include/"/>
{4}{5}        <file category="sourceC" name="examples/run_models.c" attr="template" select="A program that runs the models"/>
        <file category="doc" name="README.md"/>
      </files>
    </component>
  </components>
</package>
)",
                       package.name, llvm::join(modelNames(package), ", "), package.version, conditions,
                       eachOf(coreSources(), "        <file category=\"sourceC\" name=\"source/{0}\"/>\n"), libraries);
}

} // namespace

llvm::Error writeCmsisPack(const Package &package, PackageFiles &files) {
  std::string stem = "ingot." + package.name;
  files.add(stem + ".pdsc", description(package));
  files.add("examples/run_models.c", "/* Runs the models of this pack once, on zeros. */\n" + exampleSource(package));
  return addLibrary(
      package, folders,
      llvm::formatv("`zip -r {0}.{1}.pack *` in this folder makes the pack, which `cpackget add` and IDEs "
                    "install. The component is\n`Machine Learning:{2}`.\n",
                    stem, package.version, package.name),
      files);
}

} // namespace ingot::driver
