#include <sys/mman.h>

#include <cerrno>

#include "core/json/error.hpp"
#include "node/memory/pages.hpp"
#include "node/os/private_folder.hpp"
#include "node/os/scratch.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kPageStep = std::size_t{16} << 10U;  ///< lmbench's PSIZE
constexpr std::size_t kPart = 10;                          ///< lmbench's N: a tenth of the file is touched

/// Maps the file, writes to every 16 KiB of its first tenth, and unmaps it.
void map_and_touch(int file, std::size_t bytes) {
  void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (place == MAP_FAILED) {
    throw system_error("limit", "cannot map a file of " + std::to_string(bytes) + " B", errno);
  }
  auto* memory = static_cast<volatile char*>(place);
  for (std::size_t at = 0; at < bytes / kPart; at += kPageStep) {
    memory[at] = 1;
  }
  munmap(place, bytes);
}

/// lmbench's lat_mmap.
class Mmap final : public HostProbe {
 public:
  Mmap() : HostProbe("mmap", "memory", "mapping a file, touching a tenth of it, and unmapping it") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMostBytes = 1LL << 40U;
    return {{"bytes", ParamType::kInt, "B", 1 << 23U, kPageStep, kMostBytes, "of the file"}, folder_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "map, touch and unmap"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto bytes = params.at("bytes").get<std::size_t>();
    check_memory(bytes);  // the file is written, and stays in memory
    const ScratchFile file(params.at("folder").get<std::string>(), bytes);
    const Samples samples = time_batches(
        [&](std::uint64_t count) {
          for (std::uint64_t i = 0; i < count; ++i) {
            map_and_touch(file.file(), bytes);
          }
        },
        params.at("seconds").get<double>());
    return {.metrics = {{"latency", samples.metric()}},
            .seconds = samples.spent(),
            .info = {{"touches", ((bytes / kPart) + kPageStep - 1) / kPageStep},
                     {"counts", "mmap of a shared file, a store to every 16 KiB of its first tenth, munmap"},
                     {"folder", file.folder()}}};
  }
};

const Registered<HostProbe> registered_mmap{std::make_unique<Mmap>()};

}  // namespace
}  // namespace wulf::node
