// Orders the steps of emission and writes the files.
//
// From one module of loop IR come, in this order: the loops as text; images of devices, whose kernels leave the module;
// C++ source, from a copy; and from the module itself LLVM IR, assembly (from a copy) and the object. The object has
// zeros in the place of the weights, which are streamed into the file as it is written (Object.cpp), so that they are
// never in memory a second time.
//
// Everything is generated before the first file is written, but for NAME.weights, of whose bytes the code has the hash.
// Every file is made under a temporary name and renamed when it is whole, so that an error leaves the files of an
// earlier compilation as they were, or the new ones, and never a part of one.
#include "compiler/emit/Emit.h"
#include "compiler/emit/CodeGen.h"
#include "compiler/emit/CodeParts.h"
#include "compiler/emit/CycleEstimate.h"
#include "compiler/emit/DeviceCode.h"
#include "compiler/emit/LinkPieces.h"
#include "compiler/emit/Lowering.h"
#include "compiler/emit/Object.h"
#include "compiler/emit/SharedLibrary.h"
#include "compiler/emit/StackBound.h"
#include "compiler/emit/SupportCode.h"
#include "compiler/emit/Texts.h"
#include "compiler/emit/WeightsFile.h"
#include "compiler/emit/cpp/Cpp.h"
#include "compiler/support/ElementTypes.h"
#include "compiler/support/OutputFiles.h"
#include "compiler/target/Platform.h"
#include "runtime_support/include/ingot.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using ingot::emit::Kind;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;

bool ingot::emit::needsMachineCode(ArrayRef<Kind> kinds) {
  return llvm::any_of(kinds, [](Kind kind) { return kind != Kind::Cpp && kind != Kind::Mlir; });
}

// Kernels are built once for all kinds, so that what C++ source cannot say is no instruction for the object either.
ingot::target::MachineModel ingot::emit::machineFor(ArrayRef<Kind> kinds, target::MachineModel machine) {
  if (llvm::is_contained(kinds, Kind::Cpp)) {
    for (auto [i, intrinsic] : llvm::enumerate(machine.intrinsics)) {
      if (!*target::infoOf(target::Instruction(i)).source) {
        intrinsic = nullptr;
      }
    }
    machine.tiles = {};
  }
  return machine;
}

namespace {

/// The code of a model in memory, before any file is written.
struct Code {
  SmallVector<char, 0> object;
  std::string assembly, llvmIR, loops, source;
};

class Emitter {
public:
  Emitter(mlir::ModuleOp module, ingot::plan::ModelInfo &model, const ingot::emit::Options &options,
          ingot::emit::Result &result)
      : module(module), model(model), options(options), result(result) {}

  ~Emitter() {
    if (weightsFile) { // something failed
      consumeError(weightsFile->discard());
    }
  }

  LogicalResult prepareFiles(const ingot::emit::WeightsSource &weights);
  LogicalResult generate(const ingot::target::MachineModel &machine, const ingot::emit::WeightsSource &weights);
  LogicalResult writeFiles(const ingot::emit::WeightsSource &weights);

private:
  bool wants(Kind kind) const { return llvm::is_contained(options.kinds, kind); }
  bool needsObject() const { return wants(Kind::Lib) || wants(Kind::Obj) || wants(Kind::Shared); }
  LogicalResult fail(Error error) { return module.emitError(toString(std::move(error))); }
  LogicalResult makeFolder();
  LogicalResult generateSource(const ingot::target::MachineModel &machine, const ingot::emit::WeightsSource &weights);
  LogicalResult generateObject(const ingot::target::MachineModel &machine);
  LogicalResult checkInterface();
  LogicalResult checkSymbols(ArrayRef<StringLiteral> compilerCalls);
  LogicalResult boundStack(const ingot::target::Platform &platform);
  LogicalResult writeBinaries(const ingot::emit::WeightsSource &weights);
  Error writeArchive(StringRef object);
  Error writeText(StringRef extension, StringRef text);
  /// Gives the path of a file that is to be written, or an error if the model was read from that file.
  Expected<std::string> placeOf(StringRef extension) const;
  std::string pathOf(StringRef extension) const;
  void note(const std::string &path);

  mlir::ModuleOp module;
  ingot::plan::ModelInfo &model;
  const ingot::emit::Options &options;
  ingot::emit::Result &result;
  Code code;
  StringRef constants;                                ///< Platform::constants
  std::vector<ingot::emit::DeviceCode> devices;       ///< one for each of the model's devices
  bool decodesImages = false;                         ///< whether the object calls libingot_image.a
  std::vector<ingot::emit::FunctionSize> overAligned; ///< of the module, for boundStack
  ingot::emit::CycleEstimate cycles;                  ///< of the module
  std::optional<sys::fs::TempFile> weightsFile;
};

std::string Emitter::pathOf(StringRef extension) const {
  SmallString<256> path(options.dir);
  sys::path::append(path, model.name + extension);
  return path.str().str();
}

Expected<std::string> Emitter::placeOf(StringRef extension) const {
  std::string path = pathOf(extension);
  auto isPath = [&](const std::string &file) { return ingot::support::isSameFile(file, path); };
  if (auto read = llvm::find_if(options.dependencies, isPath); read != options.dependencies.end()) {
    return createStringError("'" + path + "' would replace '" + *read +
                             "', which the model is read from; give another --name or folder");
  }
  return path;
}

void Emitter::note(const std::string &path) {
  uint64_t bytes = 0;
  (void)sys::fs::file_size(path, bytes);
  result.artifacts.push_back({path, int64_t(bytes)});
}

/// Refuses tensors whose elements have no type in C, by which the entry's parameters are declared.
LogicalResult Emitter::checkInterface() {
  for (const auto *tensors : {&model.inputs, &model.outputs}) {
    for (const ingot::plan::TensorInfo &tensor : *tensors) {
      if (ingot::support::elementType(tensor.type).c.empty()) {
        return module.emitError("tensor '" + tensor.name + "' has an element type that compiled models cannot pass");
      }
    }
  }
  return success();
}

LogicalResult Emitter::generate(const ingot::target::MachineModel &machine, const ingot::emit::WeightsSource &weights) {
  if (wants(Kind::Mlir)) { // loops are printed first, since lowering consumes the module
    raw_string_ostream stream(code.loops);
    module.print(stream);
  }
  devices = ingot::emit::findDeviceCode(module, model.devices.size());
  if (failed(checkInterface()) || failed(ingot::emit::makeImages(module, options.devices, devices)) ||
      (wants(Kind::Cpp) && failed(generateSource(machine, weights)))) {
    return failure();
  }
  return ingot::emit::needsMachineCode(options.kinds) ? generateObject(machine) : success();
}

LogicalResult Emitter::generateSource(const ingot::target::MachineModel &machine,
                                      const ingot::emit::WeightsSource &weights) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  if (failed(ingot::emit::cpp::prepare(*copy, machine))) {
    return failure();
  }
  SmallVector<char, 0> bytes;
  if (!model.takesWeights() && ingot::emit::cpp::areInitialized(model)) {
    weights([&](ArrayRef<char> some) { llvm::append_range(bytes, some); });
  }
  mlir::FailureOr<std::string> text = ingot::emit::cpp::sourceText(*copy, machine, model, devices, bytes);
  if (failed(text)) {
    return failure();
  }
  code.source = std::move(*text);
  return success();
}

LogicalResult Emitter::generateObject(const ingot::target::MachineModel &machine) {
  ingot::target::Platform platform = ingot::target::platformOf(machine);
  constants = platform.constants;
  std::vector<ingot::emit::PieceObject> pieces = ingot::emit::takePieceObjects(module);
  std::unique_ptr<TargetMachine> target = ingot::emit::createTargetMachine(module, machine);
  ingot::emit::Machines machines(machine, options.machines);
  if (!target || failed(ingot::emit::lowerToLLVM(module, machines, options.optimize))) {
    return failure();
  }
  for (const ingot::emit::DeviceCode &device : devices) {
    if (device.staysInObject()) {
      ingot::emit::addDeviceBodies(module, device.kernels);
    }
  }
  LLVMContext context;
  std::unique_ptr<Module> ir = ingot::emit::translate(module, context, *target, model);
  if (!ir || failed(ingot::emit::addDescriptor(module, *ir, model, devices))) {
    return failure();
  }
  // This is asked before functions become parts of others.
  ingot::emit::CodeOptions how{!model.symbols.empty(), machine.gatherLoads, llvm::any_of(*ir, [](const Function &f) {
                                 return f.hasFnAttribute(ingot::emit::usesAmx);
                               })};
  ingot::emit::optimize(*ir, *target);
  ingot::emit::callForWideArithmetic(*ir, machine);
  if (options.symbols == ingot::emit::Symbols::None &&
      failed(ingot::emit::addSupportCode(module, ir, machine, how, options.jobs))) {
    result.writing = true; // it is the user's choice
    return failure();
  }
  ingot::emit::requireLibraryVersion(*ir, model.name);
  if (!model.symbols.empty()) { // weights are constants here, and a variable behind defineWeights
    cycles.why = "they depend on sizes that a run chooses";
  } else if (machine.instructionCycles) {
    cycles = ingot::emit::estimateCycles(*ir, *target, model.name + "_run", *machine.instructionCycles,
                                         options.flashWaitStates);
  }
  // The cycles above are of loops whose counts are constants.
  if (options.optimize == ingot::emit::Optimize::Size ||
      (options.optimize == ingot::emit::Optimize::Balanced && platform.sharesCode)) {
    ingot::emit::shareFunctions(*ir);
    ingot::emit::shareParts(*ir, *target);
  }
  if (wants(Kind::Llvm)) {
    raw_string_ostream stream(code.llvmIR);
    ir->print(stream, nullptr);
  }
  ingot::emit::defineWeights(*ir, model.name, constants);
  overAligned = ingot::emit::overAlignedFrames(*ir);
  if (wants(Kind::Asm)) {
    SmallString<0> text;
    raw_svector_ostream stream(text);
    Expected<std::unique_ptr<Module>> copy = ingot::emit::exactCopy(*ir);
    if (!copy) {
      return fail(copy.takeError());
    }
    ingot::emit::CodeSettings settings(how);
    if (!ingot::emit::generateCode(**copy, *target, ingot::emit::CodeFile::Assembly, stream)) {
      return module.emitError(ingot::emit::wrongCodeFile);
    }
    code.assembly = text.str().str();
  }
  mlir::FailureOr<SmallVector<char, 0>> object =
      ingot::emit::generateObject(module, std::move(ir), machine, how, options.jobs);
  if (failed(object)) {
    return failure();
  }
  code.object = std::move(*object);
  if (!pieces.empty()) {
    Expected<SmallVector<char, 0>> whole =
        ingot::emit::linkPieces(StringRef(code.object.data(), code.object.size()), pieces);
    if (!whole) {
      return fail(whole.takeError());
    }
    code.object = std::move(*whole);
  }
  return success(succeeded(checkSymbols(platform.compilerCalls)) && succeeded(boundStack(platform)));
}

/// Bounds the stack of a call, on machines whose programs set it aside.
LogicalResult Emitter::boundStack(const ingot::target::Platform &platform) {
  if (!platform.boundsStack) {
    return success();
  }
  Expected<ingot::emit::StackBound> bound = ingot::emit::boundStack(StringRef(code.object.data(), code.object.size()),
                                                                    model.name, platform.compilerCalls, overAligned);
  if (!bound) {
    return fail(bound.takeError());
  }
  result.sizes.stack = std::move(*bound);
  return success();
}

/// Refuses calls that LLVM made of its own accord (memcpy, fmodf, __truncsfhf2), which would only show when a user
/// links, but for those that the platform takes from the C compiler's library.
LogicalResult Emitter::checkSymbols(ArrayRef<StringLiteral> compilerCalls) {
  Expected<ingot::emit::ObjectFacts> facts =
      ingot::emit::inspectObject(StringRef(code.object.data(), code.object.size()));
  if (!facts) {
    return fail(facts.takeError());
  }
  result.sizes = std::move(facts->sizes);
  result.sizes.cycles = std::move(cycles);
  // Their place in the object is still zeros, for which only WebAssembly has room in the file.
  int64_t &place = Triple(model.triple).isOSBinFormatWasm() ? result.sizes.constants : result.sizes.zeroed;
  place -= model.takesWeights() ? 0 : model.weightBytes;
  decodesImages = llvm::is_contained(facts->undefined, "ingot_image_decode");
  for (const std::string &name : facts->undefined) {
    bool isKnown = StringRef(name).starts_with("ingot_") || llvm::is_contained(compilerCalls, name);
    if (options.symbols == ingot::emit::Symbols::None) {
      result.writing = true;
      return module.emitError("generated code refers to '" + name +
                              "', which --symbols none cannot put into the object");
    }
    if (!isKnown) {
      return module.emitError("generated code refers to '" + name + "', which the support library does not have");
    }
  }
  return success();
}

Error Emitter::writeText(StringRef extension, StringRef text) {
  Expected<std::string> path = placeOf(extension);
  if (!path) {
    return path.takeError();
  }
  Error error = ingot::support::writeFile(*path, [&](raw_ostream &out) { out << text; });
  if (!error) {
    note(*path);
  }
  return error;
}

Error Emitter::writeArchive(StringRef object) {
  Expected<NewArchiveMember> member = NewArchiveMember::getFile(object, /*Deterministic=*/true);
  if (!member) {
    return member.takeError();
  }
  std::string name = model.name + ".o", path = pathOf(".a");
  member->MemberName = name;
  object::Archive::Kind kind = member->detectKindFromObject();
  SmallVector<NewArchiveMember, 1> members;
  members.push_back(std::move(*member));
  if (Error error = llvm::writeArchive(path, members, SymtabWritingMode::NormalSymtab, kind,
                                       /*Deterministic=*/true, /*Thin=*/false)) {
    return error;
  }
  note(path);
  return Error::success();
}

/// Writes the object under a temporary name, and from it the library and the shared library.
LogicalResult Emitter::writeBinaries(const ingot::emit::WeightsSource &weights) {
  // Before one of these files is written, none may be a file that the model is read from.
  for (auto [kind, extension] :
       {std::pair(Kind::Lib, ".a"), std::pair(Kind::Shared, ".so"), std::pair(Kind::Obj, ".o")}) {
    Expected<std::string> path = wants(kind) ? placeOf(extension) : "";
    if (!path) {
      return fail(path.takeError());
    }
  }
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(pathOf("-%%%%%%%%.o"), sys::fs::all_read | sys::fs::owner_write);
  if (!file) {
    return fail(file.takeError());
  }
  Error error = ingot::emit::writeObject(code.object, model.name, model.takesWeights() ? 0 : model.weightBytes,
                                         constants, weights, file->FD);
  if (!error && wants(Kind::Lib)) {
    error = writeArchive(file->TmpName);
  }
  if (!error && wants(Kind::Shared)) {
    error = ingot::emit::linkSharedLibrary(file->TmpName, model.triple, model.name, pathOf(".so"), decodesImages);
    if (!error) {
      note(pathOf(".so"));
    }
  }
  if (!error && wants(Kind::Obj)) {
    if (Error renamed = file->keep(pathOf(".o"))) {
      return fail(std::move(renamed));
    }
    note(pathOf(".o"));
    return success();
  }
  if (Error leftover = file->discard()) {
    error = joinErrors(std::move(error), std::move(leftover));
  }
  return error ? fail(std::move(error)) : success();
}

LogicalResult Emitter::makeFolder() {
  std::error_code code = sys::fs::create_directories(options.dir);
  return code ? module.emitError("cannot make the folder '" + options.dir + "': " + code.message()) : success();
}

/// Writes NAME.weights under a temporary name, since code is generated with its hash, or takes the file in.
LogicalResult Emitter::prepareFiles(const ingot::emit::WeightsSource &weights) {
  bool isEmbedded = model.embedsWeights(), streams = model.weightsPlace == ingot::plan::WeightsPlace::Stream;
  if (isEmbedded && needsObject()) {
    if (Error error = ingot::emit::checkFitsObject(model.weightBytes)) { // before code is made, which takes long
      return fail(std::move(error));
    }
  }
  bool isIncluded = isEmbedded && wants(Kind::Cpp) && !ingot::emit::cpp::areInitialized(model);
  if (options.dir.empty() || (isEmbedded && !isIncluded && !streams)) {
    return success();
  }
  if (failed(makeFolder())) {
    return failure();
  }
  if (Expected<std::string> path = placeOf(".weights"); !path) {
    return fail(path.takeError());
  }
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(pathOf("-%%%%%%%%.weights"), sys::fs::all_read | sys::fs::owner_write);
  if (!file) {
    return fail(file.takeError());
  }
  weightsFile.emplace(std::move(*file));
  Expected<uint64_t> hash = streams
                                ? ingot::emit::writeWeightsFile(model.streamedBytes, options.streamed, weightsFile->FD)
                                : ingot::emit::writeWeightsFile(model.weightBytes, weights, weightsFile->FD);
  if (!hash) {
    return fail(hash.takeError());
  }
  model.weightHash = *hash;
  return success();
}

LogicalResult Emitter::writeFiles(const ingot::emit::WeightsSource &weights) {
  if (failed(makeFolder())) {
    return failure();
  }
  if (needsObject() && failed(writeBinaries(weights))) {
    return failure();
  }
  if (weightsFile) {
    if (Error renamed = weightsFile->keep(pathOf(".weights"))) {
      return fail(std::move(renamed));
    }
    weightsFile.reset();
    note(pathOf(".weights"));
  }
  Error error = wants(Kind::Asm) ? writeText(".s", code.assembly) : Error::success();
  if (!error && wants(Kind::Llvm)) {
    error = writeText(".ll", code.llvmIR);
  }
  if (!error && wants(Kind::Mlir)) {
    error = writeText(".mlir", code.loops);
  }
  if (!error && wants(Kind::Cpp)) {
    error = writeText(".cpp", code.source);
    if (!error && !model.takesWeights() && !ingot::emit::cpp::areInitialized(model)) {
      error = writeText(".weights.S", ingot::emit::cpp::assemblyText(model));
    }
  }
  if (!error) {
    error = writeText(".h", ingot::emit::headerText(model, result.sizes));
  }
  // The manifest names all other files, and the dependency file names the manifest, too.
  std::vector<std::string> names, paths;
  for (const ingot::emit::Artifact &artifact : result.artifacts) {
    names.push_back(sys::path::filename(artifact.path).str());
    paths.push_back(artifact.path);
  }
  if (!error) {
    ingot::emit::BuildInfo build{ingot::emit::manifestVersion, INGOT_ABI,      result.sizes.code, names, result.sizes,
                                 options.arithmeticVersion,    options.patches};
    error = writeText(".json", ingot::emit::manifestText(model, devices, build));
  }
  if (!error && options.depfile) {
    paths.push_back(pathOf(".json"));
    error = writeText(".d", ingot::emit::depfileText(paths, options.dependencies));
  }
  return error ? fail(std::move(error)) : success();
}

} // namespace

LogicalResult ingot::emit::emitModel(mlir::ModuleOp module, const target::MachineModel &machine, plan::ModelInfo &model,
                                     const WeightsSource &weights, const Options &options, Result &result) {
  Emitter emitter(module, model, options, result);
  model.triple = machine.triple;
  result.writing = true;
  if (failed(emitter.prepareFiles(weights))) {
    return failure();
  }
  result.writing = false;
  if (failed(emitter.generate(machine, weights))) {
    return failure();
  }
  result.writing = true;
  addUp(model, needsMachineCode(options.kinds), result.sizes);
  if (std::string why = options.refuses ? options.refuses(model, result.sizes) : ""; !why.empty()) {
    return module.emitError(why);
  }
  return options.dir.empty() ? success() : emitter.writeFiles(weights);
}
