#include "node/scratch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"

namespace wulf::node {
namespace {

std::string usual_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

int make(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) {
    return file;
  }
  // some file systems (overlayfs on old kernels, NFS) have no files without a name
  std::string name = folder + "/wulf-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) {
    unlink(name.c_str());
  }
  return named;
}

}  // namespace

Param folder_param() {
  return {
      "folder", ParamType::kStr, "", "", nullptr, nullptr, "where its file lies (default: $TMPDIR, or /tmp)"};
}

ScratchFile::ScratchFile(const std::string& folder, std::size_t bytes)
    : folder_(folder.empty() ? usual_folder() : folder), file_(make(folder_)) {
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) {
    const std::string why = std::strerror(errno);
    if (file_ >= 0) {
      close(file_);
    }
    throw bad_parameter("folder", "cannot make a file of " + std::to_string(bytes) + " B in " + folder_ +
                                      ": " + why + ". Name another folder");
  }
}

ScratchFile::~ScratchFile() { close(file_); }

}  // namespace wulf::node
