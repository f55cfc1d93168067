// Names come from the file, so they are escaped and shortened before they reach a terminal.
#include "compiler/support/Problems.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::support {

static constexpr size_t kKept = 2000, kNameLength = 200;

std::string quoted(llvm::StringRef name) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '\'';
  for (char c : name.take_front(kNameLength)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out << llvm::format("\\%02x", c);
    } else {
      out << c;
    }
  }
  out << (name.size() > kNameLength ? "...'" : "'");
  return text;
}

std::string Where::opText() const {
  std::string text = quoted(op);
  text = text.substr(1, text.size() - 2);
  return opset > 0 ? text + ", opset " + std::to_string(opset) : text;
}

void Problems::add(const Where &where, const llvm::Twine &text) {
  ++additions;
  if (lines.size() >= kKept) {
    ++total;
    return;
  }
  std::string line;
  llvm::raw_string_ostream out(line);
  out << file << ": error: ";
  if (!where.node.empty() || !where.op.empty()) {
    out << "node " << quoted(where.node);
    if (!where.op.empty()) {
      out << " (" << where.opText() << ')';
    }
    out << ": ";
  }
  out << text;
  if (known.insert(line).second) {
    ++total;
    lines.push_back(std::move(line));
  }
}

void Problems::addBug(const Where &where, const llvm::Twine &text) {
  isBug = true;
  add(where, "internal error: " + text);
}

void Problems::add(const Problems &others) {
  additions += others.additions;
  isBug |= others.isBug;
  for (const std::string &line : others.lines) {
    if (lines.size() < kKept && known.insert(line).second) {
      lines.push_back(line);
      ++total;
    }
  }
}

std::string Problems::first() const {
  return lines.empty() ? "" : lines.front().substr(file.size() + llvm::StringRef(": error: ").size());
}

std::string Problems::text() const {
  std::string all;
  for (const std::string &line : lines) {
    all += line + "\n";
  }
  if (total > lines.size()) {
    all += file + ": error: and " + std::to_string(total - lines.size()) + " more problems\n";
  }
  return all;
}

} // namespace ingot::support
