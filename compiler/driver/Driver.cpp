#include "compiler/driver/Driver.h"
#include "compiler/driver/Crash.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/commands/Reproduce.h"
#include "compiler/target/Target.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <new>

namespace ingot::driver {

char ExitError::ID = 0;

std::string withShownPath(const Invocation &invocation, std::string text) {
  const std::string &own = invocation.model.modelPath, &shown = invocation.shownPath;
  for (size_t at = 0; !shown.empty() && (at = text.find(own, at)) != std::string::npos; at += shown.size()) {
    text.replace(at, own.size(), shown);
  }
  return text;
}

llvm::Expected<pipeline::Result> compileModel(const Invocation &invocation, const pipeline::Options &options,
                                              std::string *messages) {
  ProgressBar bar(options.dumpAfter.empty()); // dumps go to stderr, too
  pipeline::Options watched = options;
  watched.progress = [&](int done, int total, const std::string &phase) {
    setCrashContext("while compiling, in phase '" + phase + "'");
    bar.show(done, total, phase);
  };
  setCrashContext("while compiling");
  setReproduction(reproductionOf(options, {}));
  watched.reads = [&](const std::map<std::string, std::string> &external) {
    setReproduction(reproductionOf(options, external));
    if (options.reads) {
      options.reads(external);
    }
  };
  if (!watched.refuses && !options.memories.empty() && invocation.command != Command::Inspect) {
    watched.refuses = [&](const pipeline::Result &result, const plan::ModelInfo &model, const emit::BuildSizes &sizes) {
      return exceeds(Budget(), options, result, model, sizes);
    };
  }
  pipeline::Result result;
  std::string diagnostics;
  pipeline::Status status = pipeline::compile(watched, result, diagnostics);
  setCrashContext("");
  bar.clear();
  if (!diagnostics.empty() && diagnostics.back() != '\n') {
    diagnostics += '\n';
  }
  diagnostics = withShownPath(invocation, std::move(diagnostics));
  llvm::errs() << diagnostics;
  if (messages) {
    *messages = diagnostics;
  }
  if (status == pipeline::Status::Bug) {
    llvm::errs() << "ingot: error: internal error; " << writeReproducer() << '\n';
  }
  setReproduction(invocation.reproduction);
  if (invocation.timing) {
    for (const pipeline::PhaseTime &phase : result.phases) {
      llvm::errs() << llvm::format("%10.3f s  ", phase.seconds) << phase.name << '\n';
    }
    llvm::errs() << llvm::format("%10.3f s  ", result.seconds) << "total\n";
  }
  if (status != pipeline::Status::Ok) {
    return llvm::make_error<ExitError>(int(status), "");
  }
  return result;
}

static llvm::Error dispatch(const Invocation &invocation) {
  for (const std::string &path : invocation.model.plugIns) {
    if (llvm::Error error = target::loadTarget(path)) {
      return error;
    }
  }
  switch (invocation.command) {
  case Command::Compile:
    return compileCommand(invocation);
  case Command::Inspect:
    return inspectCommand(invocation);
  case Command::Run:
    return runCommand(invocation);
  case Command::Verify:
    return verifyCommand(invocation);
  case Command::Bench:
    return benchCommand(invocation);
  case Command::Report:
    return reportCommand(invocation);
  case Command::Quantize:
    return quantizeCommand(invocation);
  case Command::Tune:
    return tuneCommand(invocation);
  case Command::Diff:
    return diffCommand(invocation);
  case Command::Package:
    return packageCommand(invocation);
  case Command::Targets:
    return targetsCommand(invocation);
  }
  return llvm::Error::success();
}

/// Prints what the error says, and returns the exit code.
static int report(llvm::Error error) {
  int code = 0;
  auto print = [](const std::string &text) {
    if (!text.empty()) {
      // Messages about a file begin with its name, as the compiler's own do.
      bool located = text.find(": error: ") != std::string::npos;
      llvm::errs() << (located ? "" : "ingot: error: ") << text << '\n';
    }
  };
  llvm::handleAllErrors(
      std::move(error),
      [&](const ExitError &exit) {
        print(exit.text);
        code = std::max(code, exit.code);
      },
      [&](const llvm::ErrorInfoBase &other) {
        print(other.message());
        code = std::max(code, 1);
      });
  return code;
}

/// Returns the exit code: a closed pipe or a full disk behind stdout is not a success.
static int flushOutput(int code) {
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    llvm::errs() << "ingot: error: cannot write to stdout: " << llvm::outs().error().message() << '\n';
    llvm::outs().clear_error();
    return std::max(code, 1);
  }
  return code;
}

int run(int argc, const char *const *argv) {
  installCrashHandler(argc, argv);
  ParsedCommandLine parsed = parseCommandLine(argc, argv);
  if (!parsed.invocation) {
    (parsed.exitCode ? llvm::errs() : llvm::outs()) << parsed.text;
    return flushOutput(parsed.exitCode);
  }
  parsed.invocation->arguments.assign(argv + 1, argv + argc);
  parsed.invocation->reproduction = reproductionOf(*parsed.invocation, argc, argv);
  setReproduction(parsed.invocation->reproduction);
  try {
    return flushOutput(report(dispatch(*parsed.invocation)));
  } catch (const std::bad_alloc &) {
    llvm::errs() << "ingot: error: out of memory\n";
    return flushOutput(1);
  }
}

} // namespace ingot::driver
