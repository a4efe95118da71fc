#include "core/host/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "node/os/files.hpp"
#include "node/os/private_folder.hpp"
#include "node/os/unavailable.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr std::uint64_t kMostFiles = 4096;

/// Makes and removes files "0", "1", … of equal contents in a folder.
class Files {
 public:
  Files(int folder, std::size_t bytes) : folder_(folder), contents_(bytes, 'w') {}

  void create(std::uint64_t count) {
    prepare(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const File file(
          openat(folder_, names_[i].c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
      if (file.fd() < 0 || !fill(file.fd())) {
        throw Unavailable("a file of " + std::to_string(contents_.size()) + " B cannot be made", errno);
      }
    }
  }

  void remove(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (unlinkat(folder_, names_[i].c_str(), 0) != 0) {
        throw Unavailable("a file cannot be removed", errno);
      }
    }
  }

  /// Names are not written during the measured time.
  void prepare(std::uint64_t count) {
    while (names_.size() < count) {
      names_.push_back(std::to_string(names_.size()));
    }
  }

 private:
  [[nodiscard]] bool fill(int fd) const {
    return contents_.empty() ||
           write(fd, contents_.data(), contents_.size()) == static_cast<ssize_t>(contents_.size());
  }

  int folder_;
  std::string contents_;
  std::vector<std::string> names_;
};

/// Both halves take their turns, and one of them is timed.
Samples time_files(Files& files, bool creating, double seconds) {
  auto both = [&](std::uint64_t count) {
    files.create(std::min(count, kMostFiles));
    files.remove(std::min(count, kMostFiles));
  };
  const std::uint64_t count = std::min(calibrate(both), kMostFiles);
  constexpr std::size_t kLeast = 3;
  Samples samples;
  const Nanoseconds end = now() + from_seconds(seconds);
  while (samples.size() < kLeast || now() < end) {
    const Nanoseconds start = now();
    files.create(count);
    const Nanoseconds middle = now();
    files.remove(count);
    const Nanoseconds spent = creating ? middle - start : now() - middle;
    samples.add(to_seconds(spent) / static_cast<double>(count), count);
  }
  return samples;
}

/// lmbench's file create and delete.
class FileProbe final : public HostProbe {
 public:
  FileProbe() : HostProbe("file", "os", "makes files in a folder of their own, or removes them") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMostBytes = 1 << 20;
    return {{"action",
             ParamType::kStr,
             "",
             "create",
             nullptr,
             nullptr,
             "open, write and close of a new file; or its removal",
             {"create", "delete"}},
            {"bytes", ParamType::kInt, "B", 0, 0, kMostBytes, "what is written into each"},
            folder_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "one file"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    private_files();
    const auto parent = params.at("folder").get<std::string>();
    const PrivateFolder folder(parent);
    Files files(folder.fd(), params.at("bytes").get<std::size_t>());
    const Samples samples =
        time_files(files, params.at("action") == "create", params.at("seconds").get<double>());
    return {.metrics = {{"latency", samples.metric()}},
            .seconds = samples.spent(),
            .info = {{"folder", file_system_of(parent)}}};
  }
};

const Registered<HostProbe> registered_file_probe{std::make_unique<FileProbe>()};

}  // namespace
}  // namespace wulf::node
