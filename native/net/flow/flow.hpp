#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "core/stats/histogram.hpp"
#include "net/channel/lane.hpp"
#include "net/flow/buffer.hpp"

namespace wulf::net {

/// The sending side of streams, at either end.
class Outflow {
 public:
  /// `params`: bytes, batch, rate, streams, cold and call_bytes count.
  Outflow(const Json& params, bool datagrams);

  /// Sends over one lane until `stop` is set or the channel closes: then false. From several threads at once,
  /// one a lane.
  bool send(Lane& lane, const std::atomic<bool>& stop);

  /// The times between the beginnings of two calls, where there is a rate; call when no thread sends any
  /// more.
  [[nodiscard]] const Histogram& gaps() const { return *gaps_; }

 private:
  /// One write, or one batch of datagrams, which `number` counts on.
  Io hand_over(Channel& channel, Buffer* own, std::uint64_t& number) const noexcept;

  /// The memory that one lane sends from: its own where it is written to, else one for all.
  [[nodiscard]] Buffer make_buffer() const;

  const Json& params_;
  bool datagrams_;
  std::size_t bytes_;
  std::size_t batch_;
  std::unique_ptr<Buffer> shared_;
  std::mutex mutex_;
  std::unique_ptr<Histogram> gaps_;
};

/// The receiving side of one lane: counts what comes until the channel closes.
void receive_flow(Lane& lane, const Json& params, bool datagrams);

/// The parameters of flows that every pattern with one has: streams, rate, batch.
[[nodiscard]] std::vector<Param> flow_params(std::int64_t most_streams);

}  // namespace wulf::net
