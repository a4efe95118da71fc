#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/host/file.hpp"
#include "core/json/error.hpp"
#include "node/cpu/placement.hpp"
#include "node/memory/pages.hpp"
#include "node/os/child.hpp"
#include "node/os/files.hpp"
#include "node/os/unavailable.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

struct Pipe {
  File in;   ///< read from here
  File out;  ///< written to here
};

std::vector<Pipe> make_pipes(std::size_t count) {
  std::vector<Pipe> pipes(count);
  for (Pipe& pipe : pipes) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Unavailable("not enough pipes for so many processes (ulimit -n)", errno);
    }
    pipe = {File(ends[0]), File(ends[1])};
  }
  return pipes;
}

bool pass(int fd) noexcept {
  const int token = 0;
  return syscall(SYS_write, fd, &token, sizeof token) == sizeof token;
}

bool take(int fd) noexcept {
  int token = 0;
  return syscall(SYS_read, fd, &token, sizeof token) == sizeof token;
}

void touch(std::span<const std::uint64_t> words) noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t word : words) {
    sum += word;
  }
  keep(sum);
}

/// Keeps two ends of all pipes, so that each process sees when the one before it has ended.
void close_others(std::vector<Pipe>& pipes, std::size_t in, std::size_t out) noexcept {
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (i != in) {
      pipes[i].in.close();
    }
    if (i != out) {
      pipes[i].out.close();
    }
  }
}

/// The life of one process of the ring, but for the first; makes system calls alone.
int serve(std::vector<Pipe>& pipes, std::size_t own, std::size_t bytes, int cpu) noexcept {
  const std::size_t next = (own + 1) % pipes.size();
  close_others(pipes, own, next);
  void* memory = mmap(nullptr, std::max<std::size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!bind_to(cpu) || memory == MAP_FAILED) {
    return 1;
  }
  std::memset(memory, 1, bytes);
  const std::span<const std::uint64_t> words(static_cast<const std::uint64_t*>(memory),
                                             bytes / sizeof(std::uint64_t));
  while (take(pipes[own].in.fd())) {
    touch(words);
    if (!pass(pipes[next].out.fd())) {
      break;
    }
  }
  return 0;
}

/// Processes in a ring of pipes, through which a token goes; each adds up an array of its own when it has it.
/// The calling process is the first.
class Ring {
 public:
  Ring(std::vector<Pipe> pipes, const std::vector<int>& cpus, std::span<const std::uint64_t> words)
      : pipes_(std::move(pipes)), words_(words) {
    for (std::size_t i = 1; i < cpus.size(); ++i) {
      members_.emplace_back([&] { return serve(pipes_, i, words.size_bytes(), cpus[i]); });
    }
    close_others(pipes_, 0, 1);
    round();  // all are there, bound, and have touched their memory
  }

  /// Once around.
  void round() {
    if (!pass(pipes_[1].out.fd()) || !take(pipes_[0].in.fd())) {
      throw Unavailable("a process of the ring has ended before its time");
    }
    touch(words_);
  }

 private:
  std::vector<Pipe> pipes_;
  std::span<const std::uint64_t> words_;
  std::vector<Child> members_;
};

/// Seconds a hop of the same work by one process: the token through the same pipes, the array added up.
Samples time_alone(const std::vector<Pipe>& pipes, std::span<const std::uint64_t> words, double seconds) {
  std::size_t at = 0;
  return time_batches(
      [&](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
          if (!pass(pipes[at].out.fd()) || !take(pipes[at].in.fd())) {
            throw Unavailable("a token does not go through a pipe", errno);
          }
          touch(words);
          at = at + 1 < pipes.size() ? at + 1 : 0;
        }
      },
      seconds);
}

Samples time_ring(Ring& ring, std::size_t processes, double seconds) {
  return time_batches(
             [&](std::uint64_t count) {
               for (std::uint64_t i = 0; i < count; ++i) {
                 ring.round();
               }
             },
             seconds)
      .split(processes);
}

void check_memory_of(std::size_t processes, std::size_t bytes) {
  const std::size_t free = available_memory();
  if (bytes > free / processes) {
    throw Error("limit",
                std::to_string(processes) + " processes with " + std::to_string(bytes) + " B each take " +
                    std::to_string(processes * bytes) + " B, but " + std::to_string(free) +
                    " B of memory are available here",
                "bytes");
  }
}

/// lmbench's lat_ctx.
class ContextSwitch final : public HostProbe {
 public:
  ContextSwitch() : HostProbe("context-switch", "os", "from one process to the next in a ring of pipes") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMostProcesses = 256;
    constexpr int kMostBytes = 1 << 30;
    return {{"processes", ParamType::kInt, "1", 2, 2, kMostProcesses, "how many pass the token on"},
            {"bytes", ParamType::kInt, "B", 0, 0, kMostBytes, "the array that each adds up at every turn"},
            placement_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "one switch, less what one process alone needs for the same work"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto processes = params.at("processes").get<std::size_t>();
    const auto bytes = params.at("bytes").get<std::size_t>();
    const auto seconds = params.at("seconds").get<double>();
    check_memory_of(processes, bytes);
    const std::vector<int> cpus =
        place(params.at("placement").get<std::string>(), params.at("cpu").get<int>(), processes);
    private_files();
    const Pages memory(bytes, "default");
    const auto words = memory.as<const std::uint64_t>();
    std::vector<Pipe> pipes = make_pipes(processes);
    constexpr double kAlone = 0.25;  // of the time: it varies little
    const Samples alone = time_alone(pipes, words, seconds * kAlone);
    Ring ring(std::move(pipes), cpus, words);
    const Samples hops = time_ring(ring, processes, seconds * (1 - kAlone));
    return described(alone, hops, cpus);
  }

 private:
  [[nodiscard]] static Outcome described(const Samples& alone, const Samples& hops,
                                         const std::vector<int>& cpus) {
    const double work = alone.median();
    const bool above = hops.median() > work;
    return {.metrics = {{"latency", above ? hops.less(work).metric()
                                          : no_value("s",
                                                     "a turn of the ring was no slower than the same "
                                                     "work in one process, which is subtracted")}},
            .seconds = hops.spent(),
            .info = {{"turn", {{"unit", "s"}, {"value", hops.median()}}},
                     {"alone", {{"unit", "s"}, {"value", work}}},
                     {"cpus", cpus}}};
  }
};

const Registered<HostProbe> registered_context_switch{std::make_unique<ContextSwitch>()};

}  // namespace
}  // namespace wulf::node
