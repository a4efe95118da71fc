#pragma once

#include <memory>

#include "net/client/run.hpp"
#include "net/flow/exchange.hpp"

namespace wulf::net {

/// Requests and answers with several on the way at once.
class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  Requests(Requests&&) = delete;
  Requests& operator=(Requests&&) = delete;
  virtual ~Requests() = default;

  /// Keeps the window full for the time, then takes the answers that are owed. Throws `peer-lost`.
  virtual void run(Nanoseconds span, Tally& tally) = 0;

  /// Over the run's first lane. `asked`: how long the server took to answer over the control connection.
  [[nodiscard]] static std::unique_ptr<Requests> over(ClientRun& run, Nanoseconds asked);
};

/// How many bytes of a request's number fit into both messages, as the run's parameters have them.
[[nodiscard]] std::size_t carried_bytes(const Json& params);

/// The server's side, until the channel closes.
void answer_requests(Lane& lane, const Json& params, bool datagrams);

}  // namespace wulf::net
