#include "node/os/private_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <random>

#include "core/json/error.hpp"
#include "node/os/child.hpp"
#include "node/os/unavailable.hpp"

namespace wulf::node {
namespace {

/// As getdents64(2) writes them.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];  // NOLINT(hicpp-avoid-c-arrays,modernize-avoid-c-arrays,cppcoreguidelines-avoid-c-arrays)
};

/// Removes the files of a folder. Without readdir(3), which needs memory: this runs in a forked child.
void empty_folder(int folder) noexcept {
  alignas(Entry) std::array<char, 8192> buffer{};
  long got = 0;
  while ((got = syscall(SYS_getdents64, folder, buffer.data(), buffer.size())) > 0) {
    bool removed = false;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer.data() + at);
      removed = unlinkat(folder, &entry->name[0], 0) == 0 || removed;
      at += entry->length;
    }
    if (removed) {
      lseek(folder, 0, SEEK_SET);  // what is removed while reading may hide what follows
    }
  }
}

void close_all_but(int kept) noexcept {
  constexpr long kCloseRange = 436;  // of every architecture; older C libraries lack the name
  const auto fd = static_cast<unsigned>(kept);
  const bool before = fd == 0 || syscall(kCloseRange, 0U, fd - 1, 0U) == 0;
  if (before && syscall(kCloseRange, fd + 1, ~0U, 0U) == 0) {
    return;
  }
  const long most = sysconf(_SC_OPEN_MAX);
  for (int file = 0; file < most; ++file) {
    if (file != kept) {
      close(file);
    }
  }
}

/// The life of the process that cleans up. In a session of its own, so that a signal to the program's group
/// does not end it with the program; without the program's files, so that their other ends see it go.
[[noreturn]] void sweep(int lifeline, const char* path) noexcept {
  setsid();
  close_all_but(lifeline);
  char nothing = 0;
  while (read(lifeline, &nothing, 1) < 0 && errno == EINTR) {
  }
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (folder >= 0) {
    empty_folder(folder);
    rmdir(path);
  }
  _exit(0);
}

std::string random_name() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::uniform_int_distribution<std::size_t> digit(0, kDigits.size() - 1);
  std::string name = "wulf-node-";
  for (int i = 0; i < 16; ++i) {
    name += kDigits[digit(random)];
  }
  return name;
}

}  // namespace

Param folder_param() {
  return {"folder", ParamType::kStr, "", "/tmp", nullptr, nullptr, "where to make files, and remove them"};
}

PrivateFolder::PrivateFolder(const std::string& parent) : path_(parent + "/" + random_name()) {
  if (!parent.starts_with("/")) {
    throw bad_parameter("folder", "folder is '" + parent + "': give it from the root, such as /tmp");
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Unavailable("no pipe can be made", errno);
  }
  const File watched(ends[0]);
  lifeline_ = File(ends[1]);
  sweeper_ = fork();  // before there is anything to sweep
  if (sweeper_ < 0) {
    throw Unavailable("no process can be made that would clean up (fork)", errno);
  }
  if (sweeper_ == 0) {
    sweep(watched.fd(), path_.c_str());
  }
  try {
    open_below(parent);
  } catch (...) {
    release();
    throw;
  }
}

void PrivateFolder::open_below(const std::string& parent) {
  if (mkdir(path_.c_str(), S_IRWXU) != 0) {
    throw Unavailable("no folder can be made in " + parent + " (another one: folder=)", errno);
  }
  folder_ = File(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder_.fd() < 0) {
    throw Unavailable("cannot open " + path_, errno);
  }
}

void PrivateFolder::release() noexcept {
  lifeline_.close();
  wait_for(sweeper_);
}

PrivateFolder::~PrivateFolder() { release(); }

}  // namespace wulf::node
