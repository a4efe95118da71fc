#include <algorithm>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
#include "node/cpu/team.hpp"
#include "node/memory/caches.hpp"
#include "node/memory/pages.hpp"
#include "node/memory/working_set.hpp"
#include "node/probe.hpp"
#include "node/stream/stream.hpp"

namespace wulf::node {
namespace {

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const StreamKernel& kernel : stream_kernels()) {
    names.push_back(kernel.name);
  }
  return names;
}

/// What one replicate does.
struct Setting {
  const StreamKernel& kernel;
  bool nontemporal;
  std::vector<int> cpus;
  StreamLayout layout;  ///< of a thread's share
  Pass pass;
  const char* isa;
};

StreamLayout plan(const StreamKernel& kernel, std::size_t bytes, std::size_t threads) {
  const StreamLayout layout = StreamLayout::plan(kernel, bytes / threads);
  if (layout.pieces == 0) {
    throw bad_parameter("bytes", "an array of " + std::to_string(bytes) + " B has no " +
                                     std::to_string(kGrain * sizeof(double)) + " B for each of " +
                                     std::to_string(threads) + " threads");
  }
  check_memory(layout.bytes * threads);
  return layout;
}

Setting setting_of(const Json& params) {
  const auto name = params.at("kernel").get<std::string>();
  const auto& kernels = stream_kernels();
  const auto& kernel = *std::find_if(kernels.begin(), kernels.end(), [&](auto& k) { return k.name == name; });
  const bool nontemporal = params.at("stores") == "nontemporal";
  const StreamPasses& passes = fastest_passes();
  const Pass pass = stream_pass(passes, kernel, nontemporal);
  if (nontemporal && (pass == nullptr || kernel.pass == kMemcpy)) {
    throw bad_parameter("stores", "kernel " + name + " has no stores to choose: leave stores at normal");
  }
  std::vector<int> cpus = team_cpus(params.at("threads").get<int>(), params.at("cpu").get<int>());
  const StreamLayout layout = plan(kernel, params.at("bytes").get<std::size_t>(), cpus.size());
  return {kernel, nontemporal, std::move(cpus),
          layout, pass,        kernel.pass == kMemcpy ? "the C library's" : passes.isa};
}

/// A thread's share of the arrays, and the pieces that it has gone through.
class Share {
 public:
  Share(const Setting& setting, const std::string& kind)
      : setting_(setting),
        // touched by the CPU that uses it, and those beside it where no thread works there
        set_(setting.layout.bytes, kind, Contents::kNormal,
             setting.cpus.size() == 1 ? helpers_of(setting.cpus.front()) : std::vector<int>{}) {}

  /// Goes on by `count` pieces.
  void operator()(std::uint64_t count) noexcept {
    const StreamLayout& layout = setting_.layout;
    const std::size_t length = layout.count / layout.pieces;
    double sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      sum += setting_.pass(array(0), array(first_), array(first_ + 1), kFactor, length);
      place_ = place_ + 1 == layout.pieces ? 0 : place_ + 1;
    }
    keep(sum);
    keep_memory();
  }

  [[nodiscard]] Json pages() const { return set_.info(); }

 private:
  static constexpr double kFactor = 0.42;
  [[nodiscard]] double* array(std::size_t i) const noexcept {
    const StreamLayout& layout = setting_.layout;
    const std::size_t start = layout.places[std::min<std::size_t>(i, layout.places.size() - 1)];
    return reinterpret_cast<double*>(set_.data() + start) + (place_ * (layout.count / layout.pieces));
  }

  const Setting& setting_;
  WorkingSet set_;
  std::size_t first_ = setting_.kernel.writes;  ///< of the arrays that are read
  std::size_t place_ = 0;
};

/// All threads' tracks; `pages` gets what the first one's memory lies on.
std::vector<Track> measure_team(const Setting& setting, const Json& params, Json& pages) {
  std::vector<Track> tracks(setting.cpus.size());
  Window window(setting.cpus.size(), params.at("seconds").get<double>());
  const auto body = [&](std::size_t rank) {
    Share share(setting, params.at("pages").get<std::string>());
    const std::uint64_t count = calibrate(share);
    tracks[rank] = follow(window, share, count);
    if (rank == 0) {
      pages = share.pages();
    }
  };
  run_team(setting.cpus, body, [&window] { window.abort(); });
  return tracks;
}

/// Throughput of arrays much as STREAM measures it, with the stores' kind and the true traffic said.
class Bandwidth final : public HostProbe {
 public:
  Bandwidth() : HostProbe("bandwidth", "memory", "throughput of loops over arrays of doubles, as STREAM") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMostBytes = 1LL << 44U;
    return {{"bytes", ParamType::kInt, "B", 1 << 25U, 512, kMostBytes,
             "of each array; the threads divide it among them"},
            {"kernel", ParamType::kStr, "", "triad", nullptr, nullptr,
             "read (sum), write (fill), STREAM's copy, scale, add and triad, or the C library's memcpy",
             kernel_names()},
            {"stores",
             ParamType::kStr,
             "",
             "normal",
             nullptr,
             nullptr,
             "through the caches, or past them",
             {"normal", "nontemporal"}},
            threads_param(1),
            pages_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"throughput", "B/s", "higher", "as STREAM counts: each array once"},
            {"traffic", "B/s", "higher", "with what is read before it is written (write-allocate)"}};
  }

  [[nodiscard]] bool shares_set(const Json& params) const override { return params.at("threads") == 1; }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const Setting setting = setting_of(params);
    Json pages;
    const Samples samples = together(measure_team(setting, params, pages));
    const auto [metrics, cached] = metrics_of(setting, samples);
    return {.metrics = metrics, .seconds = samples.spent(), .info = info_of(setting, pages, cached)};
  }

 private:
  static std::pair<Json, bool> metrics_of(const Setting& setting, const Samples& samples) {
    if (samples.empty()) {
      const Json none = no_value("B/s", "the threads never ran at the same time: other work holds the CPUs");
      return {{{"throughput", none}, {"traffic", none}}, false};
    }
    const std::size_t all = setting.layout.count * sizeof(double) * setting.kernel.arrays();
    const bool cached = all * setting.cpus.size() <= last_caches(setting.cpus);
    const std::size_t piece = setting.layout.count / setting.layout.pieces;
    const auto length = static_cast<double>(piece);
    const auto traffic = traffic_bytes(setting.kernel, setting.nontemporal, cached);
    return {
        {{"throughput", samples.rate("B/s", length * counted_bytes(setting.kernel))},
         {"traffic", traffic ? samples.rate("B/s", length * *traffic)
                             : no_value("B/s",
                                        "the C library chooses between stores through the caches and past "
                                        "them, and does not say which")}},
        cached};
  }

  static Json info_of(const Setting& setting, const Json& pages, bool cached) {
    Json write_allocate = !setting.nontemporal && !cached && setting.kernel.writes > 0;
    if (setting.kernel.pass == kMemcpy) {
      write_allocate = nullptr;  // the C library does not say
    }
    return {
        {"pages", pages},
        {"isa", setting.isa},
        {"isa_rule", "the one whose triad is the fastest here within the first cache"},
        {"threads", setting.cpus.size()},
        {"cpus", cpu_list(setting.cpus)},
        {"share", {{"unit", "B"}, {"value", setting.layout.count * sizeof(double)}}},
        {"write_allocate", std::move(write_allocate)},
        {"traffic_rule",
         "normal stores read each line before they write it where the arrays together are larger than the "
         "last caches of the CPUs that are used, or these are not known"}};
  }
};

const Registered<HostProbe> registered_bandwidth{std::make_unique<Bandwidth>()};

}  // namespace
}  // namespace wulf::node
