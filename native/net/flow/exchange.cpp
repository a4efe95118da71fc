#include "net/flow/exchange.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/json/error.hpp"

namespace wulf::net {
namespace {

/// Over a byte stream: send, receive, one reading of the clock. Each reading ends one round trip and begins
/// the next, so that no time falls between them.
class StreamExchange final : public Exchange {
 public:
  StreamExchange(Lane& lane, Buffer& buffer, std::size_t bytes)
      : lane_(lane), buffer_(buffer), bytes_(bytes) {}

  void run(const Bounds& bounds, Tally& tally) override {
    Channel& channel = *lane_.channel;
    const Nanoseconds start = now();
    Nanoseconds before = start;
    while (true) {
      if (send_message(channel, buffer_.next(), bytes_) != Io::kDone ||
          receive_message(channel, buffer_.span(), bytes_) != Io::kDone) {
        throw Error("peer-lost", "the connection closed in the middle of the run");
      }
      const Nanoseconds after = now();
      tally.rtt.record(after - before);
      lane_.count(bytes_);
      if (after - start >= bounds.span || tally.rtt.count() == bounds.count) {
        tally.elapsed = after - start;
        return;
      }
      before = after;
    }
  }

 private:
  Lane& lane_;
  Buffer& buffer_;
  std::size_t bytes_;
};

/// The same over datagrams, which may be lost. A number in the first bytes tells an echo from one that comes
/// late: with messages shorter than eight bytes it wraps early, which is harmless, since echoes are late by
/// few numbers.
class DatagramExchange final : public Exchange {
 public:
  DatagramExchange(Lane& lane, Buffer& buffer, const Patience& patience)
      : lane_(lane), channel_(*lane.channel), buffer_(buffer), message_(buffer.span()), patience_(patience) {}

  void run(const Bounds& bounds, Tally& tally) override {
    const Nanoseconds start = now();
    Nanoseconds answered = start;
    Nanoseconds before = start;
    while (true) {
      const bool echoed = round_trip(before, tally);
      const Nanoseconds after = now();
      if (echoed) {
        tally.rtt.record(after - before);
        lane_.count(message_.size());
        answered = after;
        patience_.learn(after - before);
      } else {
        ++tally.lost;
      }
      const bool enough = tally.rtt.count() + tally.lost == bounds.count;
      if (after - start >= bounds.span || enough || after - answered >= patience_.most()) {
        tally.elapsed = after - start;
        return;
      }
      before = after;
    }
  }

 private:
  /// False when no echo came in time.
  bool round_trip(Nanoseconds sent_at, Tally& tally) {
    ++number_;
    message_ = buffer_.next();
    std::memcpy(message_.data(), &number_, std::min(sizeof(number_), message_.size()));
    bool sent = false;
    while (true) {
      std::size_t got = 0;
      const Io io = sent ? channel_.receive(message_, got) : channel_.send(message_);
      if (io == Io::kClosed) {
        throw Error("peer-lost", "the server's socket is gone: its process has ended or was stopped");
      }
      if (io == Io::kNudged) {
        if (now() - sent_at >= patience_.span()) {
          return false;
        }
      } else if (!sent) {
        sent = true;
      } else if (got == message_.size() && is_current()) {
        return true;
      } else {
        ++tally.late;
      }
    }
  }

  [[nodiscard]] bool is_current() const {
    return std::memcmp(message_.data(), &number_, std::min(sizeof(number_), message_.size())) == 0;
  }

  Lane& lane_;
  Channel& channel_;
  Buffer& buffer_;
  std::span<std::byte> message_;
  Patience patience_;
  std::uint64_t number_ = 0;
};

constexpr auto kQuantiles = std::to_array<std::pair<const char*, double>>({{"0.25", 0.25},
                                                                           {"0.5", 0.5},
                                                                           {"0.75", 0.75},
                                                                           {"0.9", 0.9},
                                                                           {"0.99", 0.99},
                                                                           {"0.999", 0.999},
                                                                           {"0.9999", 0.9999},
                                                                           {"0.99999", 0.99999}});

/// Quantiles farther out are told only where a sample lies beyond them: else they would be the maximum.
constexpr double kAlways = 0.999;

}  // namespace

std::unique_ptr<Exchange> Exchange::over(const Transport& transport, Lane& lane, Buffer& buffer,
                                         std::size_t bytes, Nanoseconds asked, Nanoseconds timeout) {
  if (!transport.spec().datagrams) {
    return std::make_unique<StreamExchange>(lane, buffer, bytes);
  }
  return std::make_unique<DatagramExchange>(lane, buffer, Patience(asked, timeout, !transport.spec().local));
}

Json times_metric(const Histogram& times, const std::string& reason) {
  if (times.count() == 0) {
    return {{"unit", "s"}, {"value", nullptr}, {"reason", reason}};
  }
  constexpr double kNano = 1e-9;
  Json quantiles = Json::object();
  for (const auto& [name, q] : kQuantiles) {
    if (q <= kAlways || static_cast<double>(times.count()) * (1 - q) >= 1) {
      quantiles[name] = times.quantile(q) * kNano;
    }
  }
  Json peaks = Json::array();
  for (const Histogram::Peak& peak : times.peaks()) {
    peaks.push_back({{"at", peak.at * kNano}, {"share", peak.share}});
  }
  return {{"unit", "s"},
          {"value", quantiles["0.5"]},
          {"n", times.count()},
          {"mean", times.mean() * kNano},
          {"deviation", times.deviation() * kNano},
          {"min", static_cast<double>(times.least()) * kNano},
          {"max", static_cast<double>(times.greatest()) * kNano},
          {"peaks", peaks},
          {"quantiles", quantiles}};
}

Json rtt_metric(const Tally& tally) {
  return times_metric(tally.rtt,
                      "all " + std::to_string(tally.lost) + " datagrams were lost: none came back in time");
}

}  // namespace wulf::net
