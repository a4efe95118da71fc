#include "core/host/affinity.hpp"
#include "node/cpu/team.hpp"
#include "node/memory/chase.hpp"
#include "node/memory/pages.hpp"
#include "node/probe.hpp"

namespace wulf::node {
namespace {

constexpr std::int64_t kMostDelay = 1'000'000;

/// Reads line after line, with `delay` turns of an empty loop between two.
class Reader {
 public:
  Reader(std::size_t bytes, const std::string& kind, std::size_t line, std::uint64_t delay)
      : pages_(bytes, kind), line_(line), delay_(delay) {}

  void operator()(std::uint64_t lines) noexcept {
    const auto* memory = reinterpret_cast<const volatile char*>(pages_.data());
    for (std::uint64_t i = 0; i < lines; ++i) {
      (void)memory[at_];
      at_ = at_ + (2 * line_) > pages_.size() ? 0 : at_ + line_;
      for (std::uint64_t turn = 0; turn < delay_; ++turn) {
        keep_memory();
      }
    }
  }

 private:
  Pages pages_;
  std::size_t line_;
  std::uint64_t delay_;
  std::size_t at_ = 0;
};

/// Latency under load, as Intel's MLC: one CPU chases, the others stream.
class LoadedLatency final : public HostProbe {
 public:
  LoadedLatency()
      : HostProbe("loaded-latency", "memory", "latency of dependent loads while other CPUs read memory") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMostBytes = 1LL << 38U;
    return {{"bytes", ParamType::kInt, "B", 1 << 26U, 4096, kMostBytes,
             "of the memory of the chase, and of each reader's own"},
            {"threads", ParamType::kInt, "1", 0, 0, 8192, "readers; 0 = one on every other CPU allowed"},
            {"delay", ParamType::kInt, "1", 0, 0, kMostDelay, "turns of an empty loop between two lines"},
            pages_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "a dependent load"},
            {"load", "B/s", "higher", "what the readers read meanwhile: whole lines"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    if (process_cpus().size() < 2) {
      const std::string reason = "this process may run on one CPU only: nobody is left to read";
      return {.metrics = {{"latency", no_value("s", reason)}, {"load", no_value("B/s", reason)}}};
    }
    const int readers = params.at("threads").get<int>();
    const std::vector<int> cpus = team_cpus(readers == 0 ? 0 : readers + 1, params.at("cpu").get<int>());
    check_memory(params.at("bytes").get<std::size_t>() * cpus.size());
    return measure_team(cpus, params);
  }

 private:
  static Outcome measure_team(const std::vector<int>& cpus, const Json& params) {
    const auto bytes = params.at("bytes").get<std::size_t>();
    const auto kind = params.at("pages").get<std::string>();
    const std::size_t line = line_bytes();
    std::vector<Track> tracks(cpus.size());
    Json pages;
    Window window(cpus.size(), params.at("seconds").get<double>());
    const auto chase = [&] {
      const Pages memory(bytes, kind);
      Random random;
      Chains chains = link_random(memory.as<std::byte>(), line, 1, random);
      auto body = [&](std::uint64_t steps) { walk(chains, steps); };
      tracks[0] = follow(window, body, calibrate(body));
      pages = memory.info();
    };
    const auto body = [&](std::size_t rank) {
      if (rank == 0) {
        chase();
      } else {
        Reader reader(bytes, kind, line, params.at("delay").get<std::uint64_t>());
        tracks[rank] = follow(window, reader, calibrate(reader));
      }
    };
    run_team(cpus, body, [&window] { window.abort(); });
    return outcome(tracks, line, cpus, pages);
  }

  static Outcome outcome(const std::vector<Track>& tracks, std::size_t line, const std::vector<int>& cpus,
                         const Json& pages) {
    const Samples latency = together({tracks.front()});
    const Samples load = together({tracks.begin() + 1, tracks.end()});
    const Json none = no_value("B/s", "the readers never ran at the same time: other work holds the CPUs");
    return {.metrics = {{"latency", latency.metric()},
                        {"load", load.empty() ? none : load.rate("B/s", static_cast<double>(line))}},
            .seconds = latency.spent(),
            .info = {{"pages", pages}, {"readers", cpus.size() - 1}, {"cpus", cpu_list(cpus)}}};
  }
};

const Registered<HostProbe> registered_loaded_latency{std::make_unique<LoadedLatency>()};

}  // namespace
}  // namespace wulf::node
