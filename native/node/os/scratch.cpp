#include "node/os/scratch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "node/os/files.hpp"
#include "node/os/unavailable.hpp"

namespace wulf::node {
namespace {

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

ScratchFile::ScratchFile(std::string folder, std::size_t bytes)
    : folder_(std::move(folder)), file_(make(folder_)) {
  if (file_ < 0 || !fill(file_, bytes)) {
    const std::string why = std::strerror(errno);
    if (file_ >= 0) {
      close(file_);
    }
    throw Unavailable("cannot make a file of " + std::to_string(bytes) + " B in " + folder_ + ": " + why +
                      ". Name another folder");
  }
}

ScratchFile::~ScratchFile() { close(file_); }

}  // namespace wulf::node
