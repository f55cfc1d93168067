// Runs the phases in order, with their dumps, times and diagnostics. A failure is the user's where the phase or its
// message says so; any other, and one without a message, is a bug of ours.
#include "compiler/pipeline/Pipeline.h"
#include "compiler/emit/Emit.h"
#include "compiler/onnx/Messages.h"
#include "compiler/pipeline/DeviceMemory.h"
#include "compiler/pipeline/Dialects.h"
#include "compiler/pipeline/PatchSearch.h"
#include "compiler/pipeline/Policy.h"
#include "compiler/pipeline/State.h"
#include "compiler/support/Problems.h"
#include "compiler/target/Reproducible.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <chrono>

using namespace mlir;

namespace ingot::pipeline {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Renders "FILE: error: node 'x' (Op, opset 17): text"; the location is the ONNX node's name with the operator behind
/// it.
std::string render(const std::string &file, Diagnostic &d) {
  std::string node, place = file;
  if (auto line = dyn_cast<FileLineColLoc>(d.getLocation())) { // the location is in another file than the model
    place = (line.getFilename().strref() + ":" + Twine(line.getLine())).str();
  }
  d.getLocation()->walk([&](Location l) {
    auto named = dyn_cast<NameLoc>(l);
    auto op = named ? dyn_cast<NameLoc>(named.getChildLoc()) : NameLoc();
    if (!op) { // it is a model, an input or a weight
      return WalkResult::advance();
    }
    node = support::quoted(named.getName()) + " (" + op.getName().str() + ")";
    return WalkResult::interrupt();
  });
  StringRef severity = d.getSeverity() == DiagnosticSeverity::Error     ? "error"
                       : d.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                                                                        : "note";
  return (Twine(place) + ": " + severity + ": " + (node.empty() ? "" : "node " + node + ": ") +
          onnx::withStrings(d.str()) + "\n")
      .str();
}

/// Returns a C identifier made of the file's name.
std::string identifier(StringRef path) {
  StringRef stem = llvm::sys::path::stem(path);
  if (stem == "model") { // ONNX's own tests have the layout FOLDER/model.onnx
    StringRef folder = llvm::sys::path::filename(llvm::sys::path::parent_path(path));
    stem = folder.empty() || folder == "." || folder == ".." ? stem : folder;
  }
  std::string name;
  for (char c : stem) {
    name += isalnum(static_cast<unsigned char>(c)) ? c : '_';
  }
  bool isTaken = name == "ingot"; // ingot.h and ingot_run() are the support library's
  return name.empty() || isTaken || isdigit(static_cast<unsigned char>(name[0])) ? "m" + name : name;
}

class Run {
public:
  Run(const Options &options, Result &result, std::string &diagnostics)
      : options(options), diagnostics(diagnostics), context(MLIRContext::Threading::DISABLED),
        state{options, result, context, options.name.empty() ? identifier(options.modelPath) : options.name, {}} {
    state.variants.resize(1);
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([&](Diagnostic &d) {
      hasReportedError |= d.getSeverity() == DiagnosticSeverity::Error;
      std::string text = render(this->options.modelPath, d);
      if (!StringRef(this->diagnostics).contains(text)) { // each variant of a model would say it
        this->diagnostics += text;
      }
      return success();
    });
  }

  Status run() {
    double start = now();
    if (!resolveTargets() || !readSchedules()) {
      return Status::UserError;
    }
    state.model().info.name = state.name;
    int64_t alignment = target::platformOf(partition::hostOf(state.devices)).alignment;
    state.model().info.workspaceAlign = alignment;
    state.weights.setAlignment(alignment);
    describeTargets();
    llvm::ArrayRef<Phase> table = phaseTable();
    Retry retry;
    PatchSearch patches;
    size_t partitionPhase = 0, simplifyPhase = 0, saidBefore = 0;
    for (size_t i = 0; i < table.size(); ++i) {
      const Phase &phase = table[i];
      if (StringRef(phase.name) == "simplify") {
        simplifyPhase = i;
        saidBefore = diagnostics.size();
        patches.save(state);
      }
      if (StringRef(phase.name) == "partition" && partitionPhase == 0) {
        partitionPhase = i;
        retry.save(state);
      }
      if (options.progress) {
        options.progress(i, table.size(), phase.name);
      }
      if (Status status = runPhase(phase); status != Status::Ok) {
        return status;
      }
      if (StringRef(phase.name) == "memory") {
        FailureOr<bool> again = retry.isWanted(state);
        if (failed(again)) {
          return Status::UserError;
        }
        if (*again) {
          i = partitionPhase - 1; // the partition is the next phase
          continue;
        }
        FailureOr<bool> goesOn = patches.goesOn(state);
        if (failed(goesOn)) {
          return Status::UserError;
        }
        if (*goesOn) {
          i = simplifyPhase - 1;
          diagnostics.resize(saidBefore); // the next plan says it again
          continue;
        }
      }
      if (llvm::is_contained(options.dumpAfter, phase.name)) {
        dump(llvm::errs());
      }
      if (options.stopAfter == phase.name) {
        dump(llvm::outs());
      }
      bool isRead = options.importsOnly && StringRef(phase.name) == "expand";
      if (options.stopAfter == phase.name || isRead) {
        break;
      }
    }
    if (options.progress) {
      options.progress(table.size(), table.size(), "done");
    }
    state.result.seconds = now() - start;
    return Status::Ok;
  }

private:
  const Options &options;
  std::string &diagnostics;
  MLIRContext context;
  State state;
  bool hasReportedError = false; ///< whether an error's message was given

  void error(const Twine &text) { diagnostics += (Twine(options.modelPath) + ": error: " + text + "\n").str(); }

  /// Warns where machine code has to do without what C++ source beside it cannot say, since both have the same loops.
  void warnOfSource(const target::MachineModel &machine, const target::MachineModel &common) {
    int64_t lost = llvm::count_if(llvm::zip_equal(machine.intrinsics, common.intrinsics),
                                  [](auto both) { return std::get<0>(both) && !std::get<1>(both); });
    if (emit::needsMachineCode(options.emit) && lost > 0) {
      diagnostics += (Twine(options.modelPath) + ": warning: beside C++ source the code for " + machine.spec +
                      " does without " + Twine(lost) + " instructions that source has no name for" +
                      (machine.tiles.count > 0 ? ", and without matrix registers" : "") +
                      "; compile it alone for the fastest one\n")
                         .str();
    }
  }

  bool resolveTargets() {
    std::vector<std::string> specs = options.levels.empty() ? options.targets : options.levels;
    if (specs.empty()) {
      specs.push_back(wantsSource() && !emit::needsMachineCode(options.emit) ? sourceOnlySpec() : "native");
    }
    for (const std::string &spec : specs) {
      const target::Target *t = target::findTarget(spec);
      if (!t) {
        error("no target is called '" + spec + "'; 'ingot targets' lists them");
        return false;
      }
      llvm::Expected<target::MachineModel> machine = target::resolveMachine(spec);
      if (!machine) {
        error("target '" + spec + "': " + llvm::toString(machine.takeError()));
        return false;
      }
      bool hasImages = t->images(*machine) != nullptr; // images hold machine code, whatever the host's code is
      target::MachineModel common = hasImages ? *machine : emit::machineFor(options.emit, *machine);
      warnOfSource(*machine, common);
      state.devices.push_back({t, std::move(common)});
    }
    return giveMachinesToPieces() && checkExits() && haveHost() && haveBothForFallback() && haveOneTriple() &&
           (options.levels.empty() || orderLevels()) && (!options.isReproducible() || makeReproducible()) &&
           readPolicy(options, state.devices, state.policy, diagnostics);
  }

  bool readSchedules() {
    state.schedules = options.schedules;
    if (!state.schedules && !options.tuningFile.empty()) {
      llvm::Expected<target::ScheduleTable> read = target::ScheduleTable::read(options.tuningFile);
      if (!read) {
        diagnostics += llvm::toString(read.takeError()) + "\n";
        return false;
      }
      state.schedules = std::move(*read);
    }
    return true;
  }

  /// Gives targets that bring the code of pieces, and have no machine of their own, that of the first other one that
  /// works in the host's memory.
  bool giveMachinesToPieces() {
    auto isOther = [](const partition::Device &device) {
      return !device.target->pieces() && !device.machine.hasOwnMemory;
    };
    auto other = llvm::find_if(state.devices, isOther);
    llvm::Expected<target::MachineModel> host =
        other == state.devices.end() ? target::resolveMachine("native") : other->machine;
    if (!host) {
      error("target 'native': " + llvm::toString(host.takeError()));
      return false;
    }
    state.model().info.target = host->spec;
    for (partition::Device &device : state.devices) {
      if (device.target->pieces()) {
        std::string spec = std::move(device.machine.spec);
        device.machine = *host;
        device.machine.spec = std::move(spec);
        device.machine.level = 0;
        device.machine.hasOwnMemory = false;
      }
    }
    return true;
  }

  bool wantsSource() const { return llvm::is_contained(options.emit, emit::Kind::Cpp); }

  /// Returns the spec of a target for any processor, which has C++ source.
  static std::string sourceOnlySpec() {
    for (const std::unique_ptr<target::Target> &t : target::allTargets()) {
      for (const target::Level &level : t->levels()) {
        llvm::Expected<target::MachineModel> machine = t->machine(level.spec);
        if (machine && !machine->machineCode) {
          return level.spec;
        }
        llvm::consumeError(machine.takeError());
      }
    }
    return "native";
  }

  /// Whether the wanted files can be written for these machines; gives a message if not.
  bool checkExits() {
    if (options.outDir.empty()) {
      return true;
    }
    for (const partition::Device &device : state.devices) {
      const target::MachineModel &machine = device.machine;
      if (!machine.machineCode && emit::needsMachineCode(options.emit)) {
        error("target '" + machine.spec + "' has no machine code, only C++ source; write --emit cpp");
        return false;
      }
      if (device.target->pieces() && wantsSource()) {
        error("target '" + machine.spec + "' brings machine code, which --emit cpp cannot hold");
        return false;
      }
    }
    if (wantsSource() && !options.levels.empty()) {
      error("--emit cpp makes source for one machine, not for --levels");
      return false;
    }
    return true;
  }

  /// Whether a device's code is in images, which may be for any architecture and system.
  static bool hasImages(const partition::Device &device) { return device.target->images(device.machine) != nullptr; }

  /// Whether some target is a machine for the run itself, which launches what the others do; gives a message if not.
  bool haveHost() {
    if (!llvm::all_of(state.devices, hasImages)) {
      return true;
    }
    const std::string &spec = state.devices.back().machine.spec;
    error("target '" + spec + "' runs kernels alone; name a machine for the rest: --target " + spec + ",native");
    return false;
  }

  /// Whether there are devices that a run may be without (--with-host-fallback), and a machine for that run; gives a
  /// message if not.
  bool haveBothForFallback() {
    auto isDevice = [](const partition::Device &device) { return device.machine.hasOwnMemory; };
    if (!options.hostFallback || (llvm::any_of(state.devices, isDevice) && !llvm::all_of(state.devices, isDevice))) {
      return true;
    }
    bool areDevices = isDevice(state.devices.front());
    error("--with-host-fallback: " +
          Twine(areDevices ? "no target is a machine for runs without devices; name one: --target " +
                                 state.devices.front().machine.spec + ",native"
                           : "no target has a memory of its own that a run may be without"));
    return false;
  }

  /// Whether there is one architecture and system, since one object is for one. False, with a message, where targets or
  /// --triple disagree.
  bool haveOneTriple() {
    auto archOf = [](const std::string &triple) { return llvm::Triple(triple).getArch(); };
    const target::MachineModel &first = llvm::find_if_not(state.devices, hasImages)->machine;
    for (const partition::Device &device : state.devices) {
      if (!hasImages(device) && archOf(device.machine.triple) != archOf(first.triple)) {
        error("'" + first.spec + "' and '" + device.machine.spec + "' cannot be in one library");
        return false;
      }
    }
    if (options.triple.empty()) {
      return true;
    }
    llvm::Triple triple(llvm::Triple::normalize(options.triple));
    if (triple.getArch() != archOf(first.triple)) {
      error("--triple " + options.triple + ": '" + first.spec + "' is a machine for " +
            llvm::Triple::getArchTypeName(archOf(first.triple)) + "; name one that fits with --target or --levels");
      return false;
    }
    bool known = triple.isOSBinFormatELF() || triple.isOSBinFormatMachO() || triple.isOSBinFormatCOFF() ||
                 triple.isOSBinFormatWasm();
    bool narrow = triple.getEnvironment() == llvm::Triple::GNUILP32;
    bool otherCalls = triple.isArm64e() || triple.isWindowsArm64EC();
    if (!known || narrow || otherCalls) {
      error("--triple " + options.triple + ": " +
            (narrow       ? "pointers of 32 bits on AArch64"
             : otherCalls ? "signed pointers and calls of emulated code"
                          : "objects that are not ELF, Mach-O, COFF or WebAssembly") +
            " are not supported");
      return false;
    }
    for (partition::Device &device : state.devices) {
      if (hasImages(device)) {
        continue;
      }
      device.machine.triple = triple.str();
      if (device.target->pieces() && !triple.isOSBinFormatELF()) {
        error("--triple " + options.triple + ": target '" + device.machine.spec +
              "' brings ELF objects, which cannot be linked into a library for that");
        return false;
      }
    }
    return true;
  }

  /// Orders levels, the highest first; the others read its weights where they can. False, with a message, for machines
  /// of which no program can choose one.
  bool orderLevels() {
    llvm::sort(state.devices, [](const partition::Device &a, const partition::Device &b) {
      return a.machine.level > b.machine.level;
    });
    for (size_t i = 0; i < state.devices.size(); ++i) {
      const target::MachineModel &machine = state.devices[i].machine;
      if (machine.level == 0) {
        error("--levels: '" + machine.spec + "' is no level that a program can ask its machine for");
        return false;
      }
      if (i > 0 && state.devices[i - 1].machine.level == machine.level) {
        error("--levels: '" + state.devices[i - 1].machine.spec + "' and '" + machine.spec +
              "' cannot be in one library");
        return false;
      }
    }
    auto packing = std::make_shared<const target::MachineModel>(state.devices.front().machine);
    for (partition::Device &device : state.devices) {
      device.machine.packing = state.devices.size() > 1 ? packing : nullptr;
    }
    return true;
  }

  /// Gives kernels the one machine by which they have the same bits everywhere. False, with a message, for targets that
  /// compute otherwise.
  bool makeReproducible() {
    for (partition::Device &device : state.devices) {
      StringRef why = device.target->pieces() ? "what its own code computes is not known"
                      : device.machine.hasOwnMemory || hasImages(device)
                          ? "kernels of such a device add up in an order of their own"
                      : target::platformOf(device.machine).smallCode
                          ? "kernels that are to be small add up in an order of their own"
                          : "";
      if (!why.empty()) {
        error("target '" + device.machine.spec + "' and --accuracy reproducible cannot be combined: " + why);
        return false;
      }
      device.machine = target::reproducible(device.machine);
    }
    return true;
  }

  void describeTargets() {
    plan::ModelInfo &info = state.model().info;
    std::string host = std::move(info.target); // this is what pieces are for
    info.target.clear();
    if (options.levels.empty()) { // the library runs on these machines; devices are told of by themselves
      for (const partition::Device &device : state.devices) {
        if (!device.machine.hasOwnMemory && !device.target->pieces()) {
          info.target += (info.target.empty() ? "" : ",") + device.machine.spec;
        }
      }
      const partition::Device &first = state.devices.front();
      info.target = !info.target.empty() ? info.target : first.target->pieces() ? host : first.machine.spec;
      return;
    }
    for (const partition::Device &device : state.devices) {
      info.levels.push_back({device.machine.spec, device.machine.level});
      info.target = device.machine.spec + (info.target.empty() ? "" : ",") + info.target;
    }
  }

  Status runPhase(const Phase &phase) {
    double start = now();
    LogicalResult ok = phase.run(state);
    diagnostics += std::exchange(state.warnings, "");
    if (succeeded(ok) && state.model().module && StringRef(phase.name) != "emit") { // emit consumes the module
      for (Variant &variant : state.variants) {
        if (failed(verify(*variant.module))) {
          return bug(phase);
        }
      }
    }
    if (state.file) { // what a phase made of the weights is in memory, too
      state.file->forget();
    }
    state.result.phases.push_back({phase.name, now() - start});
    if (succeeded(ok)) {
      return Status::Ok;
    }
    diagnostics += state.problems.text();
    hasReportedError |= !state.problems.empty() && !state.problems.haveBug(); // a bug is no reason to refuse the model
    return hasReportedError && (phase.userFault || state.userFault) ? Status::UserError : bug(phase);
  }

  Status bug(const Phase &phase) {
    error(Twine("this is a bug in ingot (phase '") + phase.name + "')");
    return Status::Bug;
  }

  void dump(llvm::raw_ostream &os) {
    OpPrintingFlags flags;
    flags.elideLargeElementsAttrs(64).elideLargeResourceString(64);
    for (Variant &variant : state.variants) {
      if (&variant != &state.model()) {
        os << "\n// -----\n// the variant " << state.name << variant.suffix << "\n";
      }
      variant.module->print(os, flags);
    }
    os << "\n";
  }
};

} // namespace

const target::MachineModel &Variant::machineOf(llvm::StringRef spec) const {
  for (const partition::Device &d : devices) {
    if (d.machine.spec == spec) {
      return d.machine;
    }
  }
  return devices.front().machine;
}

Status compile(const Options &options, Result &result, std::string &diagnostics) {
  return Run(options, result, diagnostics).run();
}

const std::vector<PhaseInfo> &phases() {
  static const std::vector<PhaseInfo> all = [] {
    std::vector<PhaseInfo> infos;
    for (const Phase &p : phaseTable()) {
      infos.push_back({p.name, p.sentence});
    }
    return infos;
  }();
  return all;
}

} // namespace ingot::pipeline
