// Writes libraries for Arduino, by its library specification 2.2, and for PlatformIO, by its manifest library.json:
//
//   library.properties or library.json   what the library is
//   src/                                 headers, the core's source, which the build system compiles
//   src/MCU/libNAME.a, src/MCU/FPU-ABI/  precompiled models, where Arduino's builder looks for them by the board's
//                                        build.mcu and the flags -mfpu and -mfloat-abi
//   link.py                              finds the same folders for PlatformIO
//   examples/                            a program
#include "compiler/driver/packaging/Library.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace ingot::driver {
namespace {

/// The names of the floating-point units in the flags of compilers.
struct UnitRow {
  llvm::StringLiteral core, name;
};
constexpr UnitRow unitRows[] = {{"cortex-m4", "fpv4-sp-d16"},
                                {"cortex-m7", "fpv5-d16"},
                                {"cortex-m33", "fpv5-sp-d16"},
                                {"cortex-m55", "fpv5-d16"},
                                {"cortex-m85", "fpv5-d16"}};

/// Returns "src/cortex-m4/fpv4-sp-d16-hard/": code that uses the unit has a folder of its own.
std::string archiveFolder(const PackageMachine &machine) {
  Processor processor(machine);
  std::string folder = "src/" + processor.core.str() + "/";
  const auto *unit = llvm::find_if(unitRows, [&](const UnitRow &row) { return row.core == processor.core; });
  bool hasUnit = unit != std::end(unitRows) && !processor.lacksFloats;
  return hasUnit ? folder + unit->name.str() + (processor.isHard ? "-hard/" : "-softfp/") : folder;
}

const LibraryFolders folders = {"src/", "src/", archiveFolder};

std::string sketch(const Package &package) {
  return "// Runs the models of this library once, on zeros, and prints the status: 0 where all is well.\n"
         "#define INGOT_PLAIN_C // of C++'s headers nothing is needed\n" +
         exampleSource(package) +
         "\nvoid setup() {\n  Serial.begin(115200);\n  Serial.println(run_models());\n}\n\nvoid loop() {}\n";
}

std::string headerList(const Package &package) {
  return llvm::join(llvm::map_range(modelNames(package), [](const std::string &name) { return name + ".h"; }), ",");
}

} // namespace

llvm::Error writeArduino(const Package &package, PackageFiles &files) {
  files.add(
      "library.properties",
      llvm::formatv("name={0}\nversion={1}\nauthor=ingot\nmaintainer=ingot\nsentence=Models compiled ahead of time.\n"
                    "paragraph=Archives for Arm Cortex-M, and a header for each model: {2}.\ncategory=Data Processing\n"
                    "url=https://arduino.github.io/arduino-cli/latest/library-specification\narchitectures=*\n"
                    "includes={3}\nprecompiled=true\nldflags={4}\n",
                    package.name, package.version, llvm::join(modelNames(package), ", "), headerList(package),
                    llvm::StringRef(eachOf(modelNames(package), "-l{0} ")).rtrim()));
  files.add("examples/run/run.ino", sketch(package));
  return addLibrary(
      package, folders,
      "Put this folder into the `libraries` of the sketchbook. `examples/run` runs the models. A board whose "
      "`build.mcu`, `-mfpu`\nand `-mfloat-abi` have no folder in `src` has no code here: the linker does not "
      "find `-l" +
          modelNames(package).front() + "`.\n",
      files);
}

llvm::Error writePlatformIo(const Package &package, PackageFiles &files) {
  auto headers = llvm::map_range(modelNames(package), [](const std::string &name) { return name + ".h"; });
  llvm::json::Object build{{"srcDir", "src"}, {"includeDir", "src"}, {"extraScript", "link.py"}, {"libArchive", false}};
  llvm::json::Object object{
      {"$schema",
       "https://raw.githubusercontent.com/platformio/platformio-core/develop/platformio/assets/schema/library.json"},
      {"name", package.name},
      {"version", package.version},
      {"description", "Models compiled ahead of time: " + llvm::join(modelNames(package), ", ")},
      {"keywords", "machine learning, onnx"},
      {"license", "Apache-2.0 WITH LLVM-exception"},
      {"frameworks", "*"},
      {"platforms", "*"},
      {"headers", llvm::json::Array(headers)},
      {"build", std::move(build)}};
  files.add("library.json", llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object))));
  std::string units = llvm::join(
      llvm::map_range(
          unitRows, [](const UnitRow &row) { return "    \"" + row.core.str() + "\": \"" + row.name.str() + "\",\n"; }),
      "");
  files.add("link.py", llvm::formatv(R"("""Links the archives for the board's processor."""
import os

Import("env")  # PlatformIO's

UNITS = {{
{0}}
core = env.BoardConfig().get("build.cpu", "")
flags = [str(flag) for flag in env.Flatten([env.get(name, []) for name in ("CCFLAGS", "CFLAGS", "LINKFLAGS")])]
abi = ([flag.split("=")[1] for flag in flags if flag.startswith("-mfloat-abi=")] or ["soft"])[-1]
folder = os.path.join(os.path.realpath("src"), core)
if core in UNITS and abi != "soft":
    folder = os.path.join(folder, UNITS[core] + "-" + abi)
if not core or not os.path.exists(os.path.join(folder, "lib{1}.a")):
    raise SystemExit("{2}: no models for a " + (core or "board without build.cpu") + " with -mfloat-abi=" + abi)
env.Append(LIBPATH=[folder], LIBS=[{3}])
)",
                                     units, modelNames(package).front(), package.name,
                                     llvm::StringRef(eachOf(modelNames(package), "\"{0}\", ")).rtrim(", ")));
  files.add("examples/run/main.c", "/* Runs the models of this library once, on zeros. */\n" + exampleSource(package) +
                                       "\nint main(void) { return run_models(); }\n");
  return addLibrary(
      package, folders,
      "In `platformio.ini`: `lib_deps = symlink://PATH/OF/THIS/FOLDER`. `link.py` chooses the archives by the "
      "board's\n`build.cpu` and `-mfloat-abi`. `examples/run` runs the models.\n",
      files);
}

} // namespace ingot::driver
