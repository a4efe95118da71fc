#include "node/cpu/fft.hpp"

#include <bit>
#include <cmath>

#include "core/json/error.hpp"
#include "node/cpu/brown.hpp"
#include "node/memory/pages.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

/// Input, output, scratch and roots lie apart on one piece of memory.
struct Arrays {
  explicit Arrays(const Pages& pages, std::size_t n) {
    const auto all = pages.as<Complex>();
    in = all.subspan(0, n);
    out = all.subspan(n, n);
    other = all.subspan(2 * n, n);
    roots = all.subspan(3 * n, n);
    brown_reset(pages.as<double>().subspan(0, 2 * n));
    fft_roots(roots);
  }
  std::span<Complex> in;
  std::span<Complex> out;
  std::span<Complex> other;
  std::span<Complex> roots;
};

/// HPCC's local FFT: complex numbers of double precision.
class Fft final : public HostProbe {
 public:
  Fft() : HostProbe("fft", "cpu", "fast Fourier transform of complex numbers, 5 n log2(n) operations") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMost = std::int64_t{1} << 32U;
    return {{"points", ParamType::kInt, "1", 65536, 2, kMost, "how many numbers, a power of two"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rate", "flop/s", "higher", "5 n log2(n) over the time of a transform, as HPCC counts"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto n = params.at("points").get<std::size_t>();
    if (!std::has_single_bit(n)) {
      throw bad_parameter("points", "points is " + std::to_string(n) + ", which is no power of two; take " +
                                        std::to_string(std::bit_floor(n)));
    }
    const Pages pages(4 * n * sizeof(Complex), "default");
    const Arrays arrays(pages, n);
    const auto transform = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        fft(arrays.in, arrays.out, arrays.other, arrays.roots);
        keep_memory();
      }
    };
    const Samples samples = time_batches(transform, params.at("seconds").get<double>());
    const double operations = 5 * static_cast<double>(n) * std::log2(static_cast<double>(n));
    return {.metrics = {{"rate", samples.rate("flop/s", operations)}},
            .seconds = samples.spent(),
            .info = {{"implementation", "radix 4, portable"}, {"pages", pages.info()}}};
  }
};

const Registered<HostProbe> registered_fft{std::make_unique<Fft>()};

}  // namespace
}  // namespace wulf::node
