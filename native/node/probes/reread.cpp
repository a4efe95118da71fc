#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <utility>

#include "core/json/error.hpp"
#include "core/kernels/opaque.hpp"
#include "node/memory/pages.hpp"
#include "node/os/files.hpp"
#include "node/os/private_folder.hpp"
#include "node/os/unavailable.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kPiece = 64U << 10U;  // of one read(2), as lmbench has it

constexpr std::size_t kBlock = 128;

/// The sum of a block, each word after the last, without a branch between them.
template <std::size_t... word>
[[gnu::always_inline]] inline std::uint64_t sum_of(std::span<const std::uint64_t, kBlock> block,
                                                   std::index_sequence<word...> /*all*/) noexcept {
  std::uint64_t sum = 0;
  ((sum += block[word], opaque(sum)), ...);  // or the compiler would add vectors
  return sum;
}

/// Adds up whole words as lmbench's bread() does: sums of 128, so that a CPU works on as many of them at once
/// as it can look ahead. What is left of a file that is no whole number of such blocks is not added.
void add_up(std::span<const std::uint64_t> words) noexcept {
  std::uint64_t total = 0;
  for (; words.size() >= kBlock; words = words.subspan(kBlock)) {
    total += sum_of(words.first<kBlock>(), std::make_index_sequence<kBlock>{});
  }
  keep(total);
}

/// A file of `bytes` in the page cache, open for reading and writing.
File cached_file(const PrivateFolder& folder, std::size_t bytes) {
  File file(openat(folder.fd(), "0", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.fd() < 0 || !fill(file.fd(), bytes)) {
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

/// A file in the own address space, while it lives.
class Mapped {
 public:
  Mapped(int fd, std::size_t bytes)
      : bytes_(bytes), place_(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0)) {
    if (place_ == MAP_FAILED) {
      throw Unavailable("a file cannot be mapped", errno);
    }
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  Mapped(Mapped&&) = delete;
  Mapped& operator=(Mapped&&) = delete;
  ~Mapped() { munmap(place_, bytes_); }

  [[nodiscard]] std::span<const std::uint64_t> words() const {
    return {static_cast<const std::uint64_t*>(place_), bytes_ / sizeof(std::uint64_t)};
  }

 private:
  std::size_t bytes_;
  void* place_;
};

void read_again(int fd, std::size_t bytes, std::span<std::uint64_t> buffer, std::uint64_t count) {
  for (; count > 0; --count) {
    read_all(fd, buffer, bytes);
  }
}

void map_again(int fd, std::size_t bytes, std::uint64_t count) {
  for (; count > 0; --count) {
    add_up(Mapped(fd, bytes).words());
  }
}

void load_again(const Mapped& file, std::uint64_t count) {
  for (; count > 0; --count) {
    add_up(file.words());
  }
}

/// lmbench's file reread (read) and mmap reread (mapped).
class Reread final : public HostProbe {
 public:
  Reread() : HostProbe("reread", "os", "reads a file again that is in memory, and adds up what it holds") {}

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
             "read(2) of 64 KiB at a time; a mapping, made and removed every time; or one mapping that stays",
             {"read", "mmap", "mapped"}},
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
        timed(file.fd(), bytes, params.at("how").get<std::string>(), params.at("seconds").get<double>());
    return {.metrics = {{"throughput", samples.rate("B/s", static_cast<double>(bytes))}},
            .seconds = samples.spent(),
            .info = {{"folder", file_system_of(parent)}}};
  }

 private:
  [[nodiscard]] static Samples timed(int fd, std::size_t bytes, const std::string& how, double seconds) {
    if (how == "read") {
      const Pages piece(kPiece, "default");
      const auto buffer = piece.as<std::uint64_t>();
      return time_batches([=](std::uint64_t count) { read_again(fd, bytes, buffer, count); }, seconds);
    }
    if (how == "mmap") {
      return time_batches([=](std::uint64_t count) { map_again(fd, bytes, count); }, seconds);
    }
    const Mapped file(fd, bytes);
    return time_batches([&](std::uint64_t count) { load_again(file, count); }, seconds);
  }
};

const Registered<HostProbe> registered_reread{std::make_unique<Reread>()};

}  // namespace
}  // namespace wulf::node
