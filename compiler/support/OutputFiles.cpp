#include "compiler/support/OutputFiles.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

namespace ingot::support {

namespace fs = llvm::sys::fs;

namespace {

/// What is known of a path before it is written.
struct Place {
  std::string path;        ///< the path with links followed
  bool isDirect = false;   ///< a device or a pipe, which no other file can replace
  bool exists = false;     ///< whether a regular file is there
  fs::perms permissions{}; ///< the permissions of that file
};

/// Returns what is known of a path, or why it cannot be written.
llvm::Expected<Place> placeOf(const std::string &path) {
  Place place{path};
  fs::file_status status;
  if (path.empty()) {
    return llvm::createFileError(path, std::make_error_code(std::errc::no_such_file_or_directory));
  }
  if (fs::status(path, status)) {
    return place; // there is no such file; if its folder is missing too, making a file there fails
  }
  if (fs::is_directory(status)) {
    return llvm::createFileError(path, std::make_error_code(std::errc::is_a_directory));
  }
  if (std::error_code code = fs::access(path, fs::AccessMode::Write)) {
    return llvm::createFileError(path, code);
  }
  place.isDirect = !fs::is_regular_file(status);
  place.exists = !place.isDirect;
  place.permissions = status.permissions();
  llvm::SmallString<256> real;
  if (place.exists && !fs::real_path(path, real)) {
    place.path = std::string(real);
  }
  return place;
}

/// Makes an empty file beside `path` and opens it. A signal that ends the program also removes the file, until it has
/// its name. Errors mention the path as the user `named` it.
llvm::Expected<std::string> makeBeside(const std::string &path, const std::string &named, int &descriptor) {
  llvm::SmallString<256> pattern(llvm::sys::path::parent_path(path)), made;
  llvm::sys::path::append(pattern, ".ingot-%%%%%%%%"); // short, however long the other name is
  if (std::error_code code = fs::createUniqueFile(pattern, descriptor, made)) {
    return llvm::createFileError(named, code);
  }
  llvm::sys::RemoveFileOnSignal(made);
  return std::string(made);
}

/// Removes a temporary file.
void discard(const std::string &temporary) {
  (void)fs::remove(temporary);
  llvm::sys::DontRemoveFileOnSignal(temporary);
}

/// Writes to a descriptor and closes it.
llvm::Error writeContent(const std::string &path, int descriptor, WriteContent write) {
  llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/true);
  write(out);
  out.close();
  std::error_code code = out.error();
  out.clear_error(); // LLVM's destructor ends the program on an error that is not cleared
  return code ? llvm::createFileError(path, code) : llvm::Error::success();
}

} // namespace

OutputFiles::~OutputFiles() {
  for (const File &file : files) {
    discard(file.temporary);
  }
}

llvm::Error OutputFiles::add(const std::string &path, WriteContent write) {
  if (path == "-") {
    write(llvm::outs());
    return llvm::Error::success();
  }
  llvm::Expected<Place> place = placeOf(path);
  if (!place) {
    return place.takeError();
  }
  int descriptor = -1;
  if (place->isDirect) {
    std::error_code code = fs::openFileForWrite(path, descriptor, fs::CD_OpenExisting);
    return code ? llvm::createFileError(path, code) : writeContent(path, descriptor, write);
  }
  llvm::Expected<std::string> temporary = makeBeside(place->path, path, descriptor);
  if (!temporary) {
    return temporary.takeError();
  }
  files.push_back({place->path, *temporary});
  if (llvm::Error error = writeContent(path, descriptor, write)) {
    return error;
  }
  std::error_code code = place->exists ? fs::setPermissions(*temporary, place->permissions) : std::error_code();
  return code ? llvm::createFileError(path, code) : llvm::Error::success();
}

llvm::Error OutputFiles::keep() {
  llvm::Error all = llvm::Error::success();
  for (const File &file : files) {
    if (std::error_code code = fs::rename(file.temporary, file.path)) {
      all = llvm::joinErrors(std::move(all), llvm::createFileError(file.path, code));
      discard(file.temporary);
    } else {
      llvm::sys::DontRemoveFileOnSignal(file.temporary);
    }
  }
  files.clear();
  return all;
}

llvm::Error writeFile(const std::string &path, WriteContent write) {
  OutputFiles files;
  if (llvm::Error error = files.add(path, write)) {
    return error;
  }
  return files.keep();
}

llvm::Error checkWritable(const std::string &path) {
  if (path == "-") {
    return llvm::Error::success();
  }
  llvm::Expected<Place> place = placeOf(path);
  if (!place || place->isDirect) {
    return place.takeError();
  }
  int descriptor = -1;
  llvm::Expected<std::string> temporary = makeBeside(place->path, path, descriptor);
  if (!temporary) {
    return temporary.takeError();
  }
  (void)fs::closeFile(descriptor);
  discard(*temporary);
  return llvm::Error::success();
}

llvm::Error located(llvm::Error error) {
  return llvm::handleErrors(std::move(error), [](const llvm::FileError &file) -> llvm::Error {
    return llvm::createStringError(file.getFileName() + ": error: cannot be written: " + file.messageWithoutFileInfo());
  });
}

bool isSameFile(const std::string &a, const std::string &b) {
  bool isSame = false;
  if (!fs::equivalent(a, b, isSame)) {
    return isSame;
  }
  auto byFolder = [](const std::string &path) {
    llvm::SmallString<256> whole(path), folder;
    (void)fs::make_absolute(whole);
    if (fs::real_path(llvm::sys::path::parent_path(whole), folder)) {
      folder = llvm::sys::path::parent_path(whole);
    }
    llvm::sys::path::append(folder, llvm::sys::path::filename(whole));
    return std::string(folder);
  };
  return byFolder(a) == byFolder(b);
}

} // namespace ingot::support
