#pragma once

#include <limits>

#include "core/host/counters.hpp"
#include "net/client/run.hpp"
#include "net/run/pattern.hpp"
#include "net/server/run.hpp"

namespace wulf::net {

/// A pattern whose client measures, while the server's lanes only answer: the conversation beside it, and the
/// counters of both ends over the measured time.
class ClientTimed : public Pattern {
 public:
  using Pattern::Pattern;

  void attend(ServerRun& run) const override;

 protected:
  /// What the server's side adds to the client's `info`.
  [[nodiscard]] virtual Json server_info() const { return Json::object(); }

  /// The conversation after the beginning, at the server.
  void converse(ServerRun& run) const;

  /// Tells the server to begin, and returns how long its answer took: the lanes are there.
  static Nanoseconds begin(ClientRun& run);

  /// Runs `body` for every lane in a thread of its own, and watches over them.
  static void work(ClientRun& run, const Crew::Body& body);

  /// How to watch over a crew of the run: until all have ended, or `done` is set.
  static Crew::Watch watch_of(ClientRun& run, const std::atomic<bool>* done = nullptr);

  /// Runs `measured` between two readings of both ends' counters. The outcome lacks the metrics and the time.
  static Outcome counted(ClientRun& run, const std::function<void()>& measured);

  /// `seconds` and `warmup_seconds`, which such a pattern has.
  [[nodiscard]] static std::vector<Param> time_params(double seconds, const std::string& what);
};

}  // namespace wulf::net
