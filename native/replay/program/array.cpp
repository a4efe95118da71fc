#include "replay/program/array.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <set>

#include "core/host/file.hpp"
#include "core/host/huge_pages.hpp"
#include "core/json/error.hpp"

namespace wulf::replay {
namespace {

/// Arrays of at least this many bytes have huge pages of their own: one is then a quarter full at least.
constexpr std::size_t kHugeFrom = std::size_t{512} << 10U;

/// Where large arrays go, and which of them lie in files.
struct Spill {
  std::mutex mutex;
  std::string folder;
  std::set<void*> files;
};

Spill& spill() {
  static Spill only;
  return only;
}

Error refused(const std::string& folder, const std::string& what, int error) {
  return {"spill", "arrays can't be kept in " + folder + ": " + what + ": " + std::strerror(error), "folder"};
}

/// A file without a name: it is gone when the last mapping of it is, however the process ends.
File nameless_file(const std::string& folder) {
  std::string path = folder + "/wulf-replay-XXXXXX";
  File file(mkostemp(path.data(), O_CLOEXEC));
  if (file.fd() < 0) {
    throw refused(folder, "no file can be made", errno);
  }
  unlink(path.c_str());
  return file;
}

void* mapped(const std::string& folder, std::size_t bytes) {
  const File file = nameless_file(folder);
  // room is taken now: a file system that is full later would end the process by SIGBUS
  if (const int error = posix_fallocate(file.fd(), 0, static_cast<off_t>(bytes)); error != 0) {
    throw refused(folder, std::to_string(bytes >> 20U) + " MiB", error);
  }
  void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (place == MAP_FAILED) {
    throw refused(folder, "mmap", errno);
  }
  return place;
}

/// Memory in huge pages, which the kernel gives hundreds of times as seldom, and a walk in no order needs
/// fewer of than a TLB has places.
void* in_huge_pages(std::size_t bytes) {
  void* place = map_aligned(bytes);
  if (place == nullptr) {
    throw std::bad_alloc();
  }
  advise_huge_pages(place, bytes);
  return place;
}

}  // namespace

void spill_arrays_to(const std::string& folder) {
  if (!folder.empty()) {
    nameless_file(folder);
  }
  const std::lock_guard lock(spill().mutex);
  spill().folder = folder;
}

void* take_array(std::size_t bytes) {
  if (bytes >= kSpilledFrom) {
    const std::lock_guard lock(spill().mutex);
    if (!spill().folder.empty()) {
      void* place = mapped(spill().folder, bytes);
      spill().files.insert(place);
      return place;
    }
  }
  if (bytes >= kHugeFrom) {
    return in_huge_pages(bytes);
  }
  return ::operator new (bytes, std::align_val_t{kArrayAlignment});
}

void give_array_back(void* place, std::size_t bytes) noexcept {
  if (bytes >= kSpilledFrom) {
    const std::lock_guard lock(spill().mutex);
    if (spill().files.erase(place) != 0) {
      munmap(place, bytes);
      return;
    }
  }
  if (bytes >= kHugeFrom) {
    unmap_aligned(place, bytes);
    return;
  }
  ::operator delete (place, std::align_val_t{kArrayAlignment});
}

}  // namespace wulf::replay
