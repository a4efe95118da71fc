#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "core/stats/histogram.hpp"
#include "net/channel/lane.hpp"
#include "net/flow/buffer.hpp"

namespace wulf::net {

/// When a phase of round trips ends: whichever comes first.
struct Bounds {
  Nanoseconds span = 0;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
};

/// What a phase of round trips gave.
struct Tally {
  Histogram rtt;
  std::uint64_t lost = 0;
  std::uint64_t late = 0;  ///< echoes that came after they had been given up
  Nanoseconds elapsed = 0;
};

/// How long an answer over datagrams is waited for: eight times the slowest so far, and never less than 20
/// ms.
class Patience {
 public:
  /// `asked`: how long the server took to answer over the control connection, the first guess at a round
  /// trip; `most`: how long any answer may take; `loses`: whether the transport may lose one. Where it does
  /// not, as within a node, an answer that a stall of the machine holds up is late, and each is waited for so
  /// long.
  Patience(Nanoseconds asked, Nanoseconds most, bool loses) noexcept
      : most_(most),
        least_(loses ? std::min(kLeast, most) : most),
        span_(loses ? std::min(most, std::max(kSlack * asked, kFirst)) : most) {}

  [[nodiscard]] Nanoseconds span() const noexcept { return span_; }
  [[nodiscard]] Nanoseconds most() const noexcept { return most_; }

  /// An answer came after so long.
  void learn(Nanoseconds rtt) noexcept {
    if (rtt > slowest_) {
      slowest_ = rtt;
      span_ = std::clamp(kSlack * slowest_, least_, most_);
    }
  }

 private:
  static constexpr Nanoseconds kSlack = 8;
  static constexpr Nanoseconds kFirst = 200 * kMillisecond;
  static constexpr Nanoseconds kLeast = 20 * kMillisecond;
  Nanoseconds most_;
  Nanoseconds least_;
  Nanoseconds span_;
  Nanoseconds slowest_ = 0;
};

/// The client's side of round trips, one message at a time, over any transport.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  Exchange(Exchange&&) = delete;
  Exchange& operator=(Exchange&&) = delete;
  virtual ~Exchange() = default;

  /// Round trips until the bounds. Throws `peer-lost`.
  virtual void run(const Bounds& bounds, Tally& tally) = 0;

  /// `asked`: how long the server took to answer over the control connection, the first guess at a round
  /// trip. `timeout`: how long a datagram's echo may take at most.
  [[nodiscard]] static std::unique_ptr<Exchange> over(const Transport& transport, Lane& lane, Buffer& buffer,
                                                      std::size_t bytes, Nanoseconds asked,
                                                      Nanoseconds timeout);
};

/// {"unit": "s", "value": the median, "n", "mean", "min", "max", "quantiles"}, or null with the reason where
/// nothing was recorded.
[[nodiscard]] Json times_metric(const Histogram& times, const std::string& reason);

/// times_metric of the round trips, whose reason is how many were lost.
[[nodiscard]] Json rtt_metric(const Tally& tally);

}  // namespace wulf::net
