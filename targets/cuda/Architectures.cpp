#include "targets/cuda/Architectures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <string>

using namespace llvm;

namespace ingot::targets::cuda {

static constexpr Architecture rows[] = {
    {"sm_75", "+ptx70", "T4", 40, 8.1e12, 0, 320e9, 15.75e9},
    {"sm_80", "+ptx70", "A100 (SXM, 40 GB)", 108, 19.5e12, 156e12, 1555e9, 31.5e9},
    {"sm_86", "+ptx71", "A10", 72, 31.2e12, 62.5e12, 600e9, 31.5e9},
    {"sm_89", "+ptx78", "L4", 58, 30.3e12, 60e12, 300e9, 31.5e9},
    {"sm_90", "+ptx78", "H100 (SXM)", 132, 67e12, 494.5e12, 3350e9, 63e9},
    {"sm_90a", "+ptx84", "H100 (SXM)", 132, 67e12, 494.5e12, 3350e9, 63e9},
    {"sm_100", "+ptx86", "B200", 148, 75e12, 1100e12, 8000e9, 63e9},
    {"sm_120", "+ptx87", "RTX 5090", 170, 104.8e12, 104.8e12, 1792e9, 63e9},
};

int32_t Architecture::number() const {
  int32_t number = 0;
  StringRef digits = StringRef(name).drop_front(3);
  bool isNone = digits.consumeInteger(10, number);
  assert(!isNone);
  (void)isNone;
  return number;
}

ArrayRef<Architecture> architectures() { return rows; }

const Architecture &architectureOf(const target::MachineModel &machine) {
  return *find_if(rows, [&](const Architecture &row) { return machine.cpu == row.name; });
}

static std::string names() {
  return join(map_range(ArrayRef(rows), [](const Architecture &row) { return std::string(row.name); }), ", ");
}

Expected<Request> readRequest(StringRef spec) {
  Request request;
  SmallVector<StringRef> words;
  spec.consume_front("cuda");
  spec.consume_front(":");
  spec.split(words, '+');
  for (StringRef word : words) {
    const Architecture *row = find_if(rows, [&](const Architecture &each) { return word == each.name; });
    bool isKnown = row != std::end(rows);
    if (!isKnown && word != "emulated" && word != "watched" && word != "cubin" && word != "unpacked" &&
        word != "wgmma") {
      return createStringError("unknown architecture '" + word + "'; use one of " + names() +
                               " behind 'cuda:', or several, as in cuda:sm_80+sm_90");
    }
    if (isKnown && is_contained(request.architectures, row)) {
      return createStringError("architecture '" + word + "' stands there twice");
    }
    if (isKnown) {
      request.architectures.push_back(row);
    }
    request.watched |= word == "watched";
    request.emulated |= word == "emulated" || word == "watched";
    request.cubin |= word == "cubin";
    request.unpacked |= word == "unpacked";
    request.wgmma |= word == "wgmma";
  }
  if (request.architectures.empty()) { // none is named
    request.architectures.push_back(
        find_if(rows, [](const Architecture &row) { return StringRef(row.name) == "sm_80"; }));
  }
  sort(request.architectures); // in the order of the rows
  // A kernel's blocks are the same in all images, and no other architecture has use for these.
  if (request.wgmma &&
      (request.architectures.size() > 1 || StringRef(request.architectures.front()->name) != "sm_90a")) {
    return createStringError("'wgmma' is for sm_90a alone: write cuda:sm_90a+wgmma, and give other architectures a "
                             "library of their own");
  }
  return request;
}

Request requestOf(const target::MachineModel &machine) { return cantFail(readRequest(machine.spec)); }

} // namespace ingot::targets::cuda
