// Writes what build systems made of CMake take: components for ESP-IDF, by idf_component.yml, and modules for Zephyr,
// by zephyr/module.yml.
#include "compiler/driver/packaging/Library.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace ingot::driver {
namespace {

std::string archiveFolder(const PackageMachine &machine) { return "lib/" + machine.name.str() + "/"; }

const LibraryFolders folders = {"include/", "source/", archiveFolder};

/// Espressif's chips with a RISC-V core, by the machine whose code they run. Xtensa's are not among ingot's targets.
struct ChipRow {
  llvm::StringLiteral chip, machine;
};
constexpr ChipRow chipRows[] = {{"esp32c2", "rv32imc"},  {"esp32c3", "rv32imc"},  {"esp32c5", "rv32imc"},
                                {"esp32c6", "rv32imc"},  {"esp32c61", "rv32imc"}, {"esp32h2", "rv32imc"},
                                {"esp32p4", "rv32imafc"}};

bool hasMachine(const Package &package, llvm::StringRef name) {
  return llvm::any_of(package.models.front(), [&](const CompiledModel &build) { return build.machine->name == name; });
}

/// Returns a Kconfig condition of Zephyr under which the code of a machine is the project's.
std::string zephyrCondition(const PackageMachine &machine) {
  Processor processor(machine);
  if (processor.core == "rv32imc") {
    return "CONFIG_RISCV AND NOT CONFIG_64BIT AND NOT CONFIG_FPU";
  }
  if (processor.core == "rv32imafc") {
    return "CONFIG_RISCV AND NOT CONFIG_64BIT AND CONFIG_FPU AND NOT CONFIG_CPU_HAS_FPU_DOUBLE_PRECISION";
  }
  std::string core = processor.core.upper();
  std::replace(core.begin(), core.end(), '-', '_');
  bool mayHaveUnit = core != "CORTEX_M0PLUS" && core != "CORTEX_M3";
  const char *unit = !mayHaveUnit            ? ""
                     : processor.lacksFloats ? " AND NOT CONFIG_FPU"
                     : processor.isHard      ? " AND CONFIG_FPU AND CONFIG_FP_HARDABI"
                                             : " AND CONFIG_FPU AND NOT CONFIG_FP_HARDABI";
  return "CONFIG_CPU_" + core + unit;
}

std::string example(const Package &package) {
  return "/* Runs the models once, on zeros. */\n" + exampleSource(package);
}

} // namespace

llvm::Error writeEspIdf(const Package &package, PackageFiles &files) {
  std::string targets, machines;
  for (const ChipRow &row : chipRows) {
    if (hasMachine(package, row.machine)) {
      targets += ("  - " + row.chip + "\n").str();
      machines += ("set(machine_" + row.chip + " " + row.machine + ")\n").str();
    }
  }
  files.add(
      "idf_component.yml",
      llvm::formatv("version: \"{0}\"\ndescription: \"Models compiled ahead of time: {1}\"\nlicense: \"Apache-2.0 WITH "
                    "LLVM-exception\"\ntargets:\n{2}dependencies:\n  idf: \">=5.0\"\n",
                    package.version, llvm::join(modelNames(package), ", "), targets));
  files.add("CMakeLists.txt", llvm::formatv(R"(# Models compiled ahead of time, for chips with a RISC-V core.
{0}
if(NOT machine_${{IDF_TARGET})
  message(FATAL_ERROR "{1}: no models for ${{IDF_TARGET}, which has another processor")
endif()
idf_component_register(SRCS{2} INCLUDE_DIRS include)
foreach(model{3})
  add_prebuilt_library(${{model} ${{CMAKE_CURRENT_LIST_DIR}/lib/${{machine_${{IDF_TARGET}}/lib${{model}.a)
  target_link_libraries(${{COMPONENT_LIB} INTERFACE ${{model})
  target_link_libraries(${{model} INTERFACE ${{COMPONENT_LIB}) # whose functions models call
endforeach()
)",
                                            machines, package.name, eachOf(coreSources(), " source/{0}"),
                                            eachOf(modelNames(package), " {0}")));
  files.add("examples/run/main/main.c", example(package) + "\nvoid app_main(void) { run_models(); }\n");
  files.add("examples/run/main/CMakeLists.txt", "idf_component_register(SRCS main.c)\n");
  files.add("examples/run/main/idf_component.yml",
            "dependencies:\n  " + package.name + ":\n    version: \"*\"\n    override_path: \"../../..\"\n");
  files.add("examples/run/CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\ninclude($ENV{IDF_PATH}/tools/cmake/project.cmake)\nproject(run)\n");
  return addLibrary(
      package, folders,
      "Put this folder into `components` of the project, or name it in `idf_component.yml` (`override_path`). "
      "`examples/run` is a\nproject: `idf.py set-target esp32c3 build flash monitor`.\n",
      files);
}

llvm::Error writeZephyr(const Package &package, PackageFiles &files) {
  std::string option = llvm::StringRef(package.name).upper(), choices;
  std::replace(option.begin(), option.end(), '-', '_');
  for (const CompiledModel &build : package.models.front()) {
    choices += llvm::formatv("  {0}if({1})\n    set(machine {2})\n", choices.empty() ? "" : "else",
                             zephyrCondition(*build.machine), build.machine->name);
  }
  files.add("zephyr/module.yml", "name: " + package.name + "\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\n");
  files.add(
      "zephyr/Kconfig",
      llvm::formatv("config {0}\n\tbool \"Models compiled ahead of time: {1}\"\n\thelp\n\t  Links the models, and the "
                    "core of ingot's support library.\n",
                    option, llvm::join(modelNames(package), ", ")));
  files.add("zephyr/CMakeLists.txt",
            llvm::formatv(R"(# Models compiled ahead of time, by the processor and the float ABI of the board.
if(CONFIG_{0})
{1}  else()
    message(FATAL_ERROR "{2}: no models for this board's processor")
  endif()
  set(root ${{CMAKE_CURRENT_LIST_DIR}/..)
  zephyr_include_directories(${{root}/include)
  zephyr_library()
  zephyr_library_sources({3})
  foreach(model{4})
    zephyr_library_import(${{model} ${{root}/lib/${{machine}/lib${{model}.a)
  endforeach()
endif()
)",
                          option, choices, package.name,
                          llvm::StringRef(eachOf(coreSources(), "${{root}/source/{0} ")).rtrim(),
                          eachOf(modelNames(package), " {0}")));
  files.add(
      "samples/run/CMakeLists.txt",
      "cmake_minimum_required(VERSION 3.20)\nlist(APPEND ZEPHYR_EXTRA_MODULES ${CMAKE_CURRENT_LIST_DIR}/../..)\n"
      "find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})\nproject(run)\ntarget_sources(app PRIVATE main.c)\n");
  files.add("samples/run/prj.conf", "CONFIG_" + option + "=y\n");
  files.add("samples/run/main.c", example(package) + "\nint main(void) { return run_models(); }\n");
  return addLibrary(package, folders,
                    "Name this folder in `ZEPHYR_EXTRA_MODULES`, or as a project of `west.yml`, and set `CONFIG_" +
                        option + "=y`.\n`samples/run` is an application: `west build -b BOARD samples/run`.\n",
                    files);
}

} // namespace ingot::driver
