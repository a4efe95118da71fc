#include <array>
#include <cstring>
#include <optional>

#include "core/host/affinity.hpp"
#include "node/cpu/fma_kernels.hpp"
#include "node/cpu/team.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

/// What goes into a kernel: a, b, c and the start, each in every lane.
struct alignas(kVectorStride) Operands4 {
  std::array<std::byte, 4 * kVectorStride> bytes{};

  template <typename T>
  void set(std::size_t vector, T value) {
    for (std::size_t i = 0; i < kVectorStride; i += sizeof(T)) {
      std::memcpy(&bytes[(vector * kVectorStride) + i], &value, sizeof(T));
    }
  }
};

/// A sum goes to and fro between two values, or to a limit where it is multiplied itself: none grows, none
/// becomes denormal, and the digits are those of ordinary numbers.
template <typename T>
Operands4 operands(const FmaKernel& kernel) {
  constexpr double kA = 0.87654321;
  constexpr double kB = 0.12345678;
  Operands4 in;
  in.set(0, static_cast<T>(kA));
  in.set(1, static_cast<T>(kB));
  in.set(2, static_cast<T>(kernel.fused ? -kB : kB));
  in.set(3, static_cast<T>(1.1));
  return in;
}

/// `rounds` of the kernel, in whichever thread calls.
class Work {
 public:
  explicit Work(const FmaKernel& kernel)
      : kernel_(kernel), in_(kernel.type == "float" ? operands<float>(kernel) : operands<double>(kernel)) {}

  void operator()(std::uint64_t rounds) const {
    alignas(kVectorStride) std::array<std::byte, kMostSums * kVectorStride> sums{};
    kernel_.run(in_.bytes.data(), sums.data(), rounds);
    keep_memory();
  }

  [[nodiscard]] double flops() const { return node::flops(kernel_); }

 private:
  const FmaKernel& kernel_;
  Operands4 in_;
};

/// The kernel asked for, or why there is none.
struct Chosen {
  const FmaKernel* kernel = nullptr;
  std::string reason;
};

Chosen choose(const std::string& isa, const std::string& type) {
  bool built = false;
  for (const FmaKernel& kernel : fma_kernels()) {
    if (kernel.type == type && (isa == "auto" || isa == kernel.isa)) {
      built = true;
      if (kernel.supported()) {
        return {&kernel, ""};
      }
    }
  }
  return {nullptr, built ? "this CPU, or its operating system, has no " + isa
                         : isa + " is of another architecture than this program's"};
}

/// The most floating-point operations a second that a core, or all, can do: what HPL is held against.
class Fma final : public HostProbe {
 public:
  Fma() : HostProbe("fma", "cpu", "peak rate of vector multiply-adds from registers") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {{"type", ParamType::kStr, "", "double", nullptr, nullptr, "", {"float", "double"}},
            {"isa",
             ParamType::kStr,
             "",
             "auto",
             nullptr,
             nullptr,
             "vector instructions: the widest that this CPU has; sse2 multiplies and adds apart",
             {"auto", "sse2", "avx2", "avx512", "neon"}},
            threads_param(1)};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rate", "flop/s", "higher", "additions and multiplications, of all threads together"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const Chosen choice = choose(params.at("isa").get<std::string>(), params.at("type").get<std::string>());
    const std::vector<int> cpus = team_cpus(params.at("threads").get<int>(), params.at("cpu").get<int>());
    if (choice.kernel == nullptr) {
      return {.metrics = {{"rate", no_value("flop/s", choice.reason)}}};
    }
    const FmaKernel& kernel = *choice.kernel;
    const Work work(kernel);
    Outcome outcome = measure_on(cpus, work, params.at("seconds").get<double>());
    outcome.info = {{"isa", kernel.isa},
                    {"lanes", lanes(kernel)},
                    {"sums", kernel.sums},
                    {"fused", kernel.fused},
                    {"cpus", cpu_list(cpus)}};
    return outcome;
  }

 private:
  static Outcome measure_on(const std::vector<int>& cpus, const Work& work, double seconds) {
    Window window(cpus.size(), seconds);
    std::vector<Track> tracks(cpus.size());
    const auto body = [&](std::size_t rank) {
      const std::uint64_t count = calibrate(work);
      tracks[rank] = follow(window, work, count);
    };
    run_team(cpus, body, [&window] { window.abort(); });
    const Samples samples = together(tracks);
    if (samples.empty()) {
      return {.metrics = {{"rate", no_value("flop/s", "the threads shared no time: the CPUs are busy")}}};
    }
    return {.metrics = {{"rate", samples.rate("flop/s", work.flops())}}, .seconds = samples.spent()};
  }
};

const Registered<HostProbe> registered_fma{std::make_unique<Fma>()};

}  // namespace
}  // namespace wulf::node
