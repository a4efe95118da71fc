#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>

#include "core/error.hpp"
#include "node/files.hpp"
#include "node/pages.hpp"
#include "node/private_folder.hpp"
#include "node/probe.hpp"
#include "node/timing.hpp"
#include "node/unavailable.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kPiece = 64U << 10U;  // of one read(2), as lmbench has it

/// Adds up whole words; several sums, so that none has to wait for the one before.
void add_up(std::span<const std::uint64_t> words) noexcept {
  constexpr std::size_t kSums = 8;
  std::array<std::uint64_t, kSums> sums{};
  for (std::size_t i = 0; i + kSums <= words.size(); i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) {
      sums[k] += words[i + k];
    }
  }
  for (std::uint64_t& sum : sums) {
    keep(sum);
  }
}

/// A file of `bytes` in the page cache, open for reading and writing.
File cached_file(const PrivateFolder& folder, std::size_t bytes) {
  File file(openat(folder.fd(), "0", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const std::string piece(kPiece, 'w');
  std::size_t written = 0;
  while (file.fd() >= 0 && written < bytes) {
    const ssize_t some = write(file.fd(), piece.data(), std::min(piece.size(), bytes - written));
    if (some <= 0) {
      break;
    }
    written += static_cast<std::size_t>(some);
  }
  if (file.fd() < 0 || written < bytes) {
    throw Unavailable("no file of " + std::to_string(bytes) + " B can be written", errno);
  }
  return file;
}

void read_all(int fd, std::span<std::uint64_t> buffer, std::size_t bytes) {
  if (lseek(fd, 0, SEEK_SET) != 0) {
    throw Unavailable("a file cannot be read from its beginning", errno);
  }
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size_bytes());
    if (got <= 0) {
      throw Unavailable("a file that was just written cannot be read", errno);
    }
    add_up(buffer.first(static_cast<std::size_t>(got) / sizeof(std::uint64_t)));
    done += static_cast<std::size_t>(got);
  }
}

void map_all(int fd, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    throw Unavailable("a file cannot be mapped", errno);
  }
  add_up({static_cast<const std::uint64_t*>(memory), bytes / sizeof(std::uint64_t)});
  munmap(memory, bytes);
}

/// lmbench's file reread and mmap reread.
class Reread final : public Probe {
 public:
  Reread() : Probe("reread", "os", "reads a file again that is in memory, and adds up what it holds") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kDefault = 8 << 20;
    constexpr int kMost = 1 << 30;
    constexpr int kLeast = 4096;
    return {{"how",
             ParamType::kStr,
             "",
             "read",
             nullptr,
             nullptr,
             "read(2) of 64 KiB at a time; or a mapping, made and removed every time",
             {"read", "mmap"}},
            {"bytes", ParamType::kInt, "B", kDefault, kLeast, kMost, "of the file"},
            folder_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"throughput", "B/s", "higher", "bytes of the file"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto bytes = params.at("bytes").get<std::size_t>();
    const auto parent = params.at("folder").get<std::string>();
    if (const std::size_t free = available_memory(); bytes > free) {
      throw Error("limit",
                  "a file of " + std::to_string(bytes) + " B would not stay in the " + std::to_string(free) +
                      " B of memory that are available here",
                  "bytes");
    }
    private_files();
    const PrivateFolder folder(parent);
    const File file = cached_file(folder, bytes);
    const Samples samples =
        timed(file.fd(), bytes, params.at("how") == "read", params.at("seconds").get<double>());
    return {.metrics = {{"throughput", samples.rate("B/s", static_cast<double>(bytes))}},
            .seconds = samples.spent(),
            .info = {{"folder", file_system_of(parent)}}};
  }

 private:
  [[nodiscard]] static Samples timed(int fd, std::size_t bytes, bool reading, double seconds) {
    const Pages piece(kPiece, "default");
    const auto buffer = piece.as<std::uint64_t>();
    return time_batches(
        [&](std::uint64_t count) {
          for (std::uint64_t i = 0; i < count; ++i) {
            if (reading) {
              read_all(fd, buffer, bytes);
            } else {
              map_all(fd, bytes);
            }
          }
        },
        seconds);
  }
};

const Registered<Probe> registered_reread{std::make_unique<Reread>()};

}  // namespace
}  // namespace wulf::node
