// Writes the manifest NAME.json: what a program or a build system may want to know of a compiled model without loading
// it. Its fields are listed in ManifestFields.h; here are those of images, and the dependency file NAME.d.
//
// NAME.d is one rule of make, by which the files that were written depend on all files that the model was read from.
#include "compiler/emit/ManifestFields.h"
#include "compiler/emit/Texts.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// Writes the images of a device: for each its size and its kernels, with the resources that a kernel takes. Those that
/// the target does not know (-1) are left out.
static void writeImages(json::OStream &json, const ingot::emit::DeviceCode &code) {
  json.attributeArray("images", [&] {
    for (const ingot::target::Image &image : code.images) {
      json.object([&] {
        json.attribute("target", image.target);
        json.attribute("bytes", int64_t(image.bytes.size()));
        json.attributeArray("kernels", [&] {
          for (auto [i, kernel] : llvm::enumerate(code.kernels)) {
            json.object([&, &kernel = kernel, i = i] {
              json.attribute("name", kernel);
              auto needs = i < image.needs.size() ? image.needs[i] : ingot::target::KernelNeeds();
              for (auto [name, need] : {std::pair("registers", needs.registers),
                                        {"scratch_bytes", needs.scratchBytes},
                                        {"shared_bytes", needs.sharedBytes}}) {
                if (need >= 0) {
                  json.attribute(name, need);
                }
              }
            });
          }
        });
      });
    }
  });
}

std::string ingot::emit::manifestText(const plan::ModelInfo &model, ArrayRef<DeviceCode> devices,
                                      const BuildInfo &build) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream json(stream, 2);
  support::JsonFieldWriter writer(json, &support::FieldRule::manifest);
  json.object([&] {
    visitManifest(writer, model, build, parameterNames(model), [&](size_t device) {
      if (!devices[device].staysInObject()) {
        writeImages(json, devices[device]);
      }
    });
  });
  stream << "\n";
  return text;
}

/// Quotes a path for make: spaces, tabs and # get a backslash, and $ is doubled.
static std::string quoteForMake(StringRef path) {
  std::string quoted;
  for (char c : path) {
    if (c == ' ' || c == '#' || c == '\t') {
      quoted += '\\';
    } else if (c == '$') {
      quoted += '$';
    }
    quoted += c;
  }
  return quoted;
}

std::string ingot::emit::depfileText(ArrayRef<std::string> targets, ArrayRef<std::string> dependencies) {
  std::string text;
  for (const std::string &target : targets) {
    text += (text.empty() ? "" : " ") + quoteForMake(target);
  }
  text += ":";
  for (const std::string &dependency : dependencies) {
    text += " \\\n  " + quoteForMake(dependency);
  }
  return text + "\n";
}
