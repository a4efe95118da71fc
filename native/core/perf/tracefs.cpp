#include "core/perf/tracefs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

namespace wulf {
namespace {

// Of linux/mount.h and asm-generic/unistd.h, which older headers lack; the numbers are alike on all
// architectures.
constexpr long kFsopen = 430;
constexpr long kFsconfig = 431;
constexpr long kFsmount = 432;
constexpr unsigned kCloseOnExec = 1;                     // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
constexpr unsigned kCreate = 6;                          // FSCONFIG_CMD_CREATE
constexpr unsigned kMountFlags = 0x1 | 0x2 | 0x4 | 0x8;  // MOUNT_ATTR_: RDONLY, NOSUID, NODEV, NOEXEC

constexpr std::array kPlaces{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

[[noreturn]] void refused(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

File folder_in(int parent, const char* path) {
  return File(openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

File detached_mount() {
  const File context(static_cast<int>(syscall(kFsopen, "tracefs", kCloseOnExec)));
  if (context.fd() < 0) {
    refused("tracefs is not mounted where it can be read, and can't be opened");
  }
  if (syscall(kFsconfig, context.fd(), kCreate, nullptr, nullptr, 0) != 0) {
    refused("tracefs is not mounted where it can be read, and can't be made ready");
  }
  File mount(static_cast<int>(syscall(kFsmount, context.fd(), kCloseOnExec, kMountFlags)));
  if (mount.fd() < 0) {
    refused("tracefs is not mounted where it can be read, and can't be mounted");
  }
  return mount;
}

}  // namespace

Tracefs::Tracefs() {
  for (const char* place : kPlaces) {
    root_ = folder_in(AT_FDCWD, place);
    if (root_.fd() >= 0 && folder_in(root_.fd(), "events/sched").fd() >= 0) {
      return;
    }
  }
  root_ = detached_mount();
}

std::optional<std::string> Tracefs::read(const std::string& path) const {
  const File file(openat(root_.fd(), path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd() < 0) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t count = ::read(file.fd(), part.data(), part.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return std::nullopt;
    }
    if (count == 0) {
      return text;
    }
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

std::vector<std::string> Tracefs::list(const std::string& path) const {
  const int folder = openat(root_.fd(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return {};
  }
  const auto end = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(end)> names(fdopendir(folder), end);
  std::vector<std::string> found;
  while (const dirent* entry = names ? readdir(names.get()) : nullptr) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (!name.starts_with(".")) {
      found.emplace_back(name);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace wulf
