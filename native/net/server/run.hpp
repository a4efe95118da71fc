#pragma once

#include <condition_variable>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "core/host/threads.hpp"
#include "core/json/error.hpp"
#include "core/json/json.hpp"
#include "net/channel/lane.hpp"
#include "net/run/control.hpp"
#include "net/run/pattern.hpp"

namespace wulf::net {

/// A run as its server sees it: the conversation, and the lanes, each served by a thread of its own.
class ServerRun {
 public:
  ServerRun(const Pattern& pattern, const Transport& transport, Json params, Control control,
            std::optional<int> cpu);
  ServerRun(const ServerRun&) = delete;
  ServerRun& operator=(const ServerRun&) = delete;
  ServerRun(ServerRun&&) = delete;
  ServerRun& operator=(ServerRun&&) = delete;
  ~ServerRun();

  /// For the server: talks with the client until the run is over. Errors are told to the client, who may have
  /// said what is none of this protocol.
  void attend() noexcept;

  /// For the server: the channel of that number, made by `make` unless it is there. Null for a wrong number
  /// or when the run is over.
  std::shared_ptr<Channel> join(std::uint32_t index, const Gate::Make& make);

  /// Ends the run from any thread: closes the conversation and all lanes.
  void cancel();

  // For patterns:

  [[nodiscard]] const Transport& transport() const { return transport_; }
  [[nodiscard]] const Json& params() const { return params_; }
  [[nodiscard]] const Lanes& lanes() const { return lanes_; }
  [[nodiscard]] double timeout() const { return params_.at("timeout").get<double>(); }

  /// The conversation's file, of whose address other listeners can be.
  [[nodiscard]] int control() const { return control_.fd(); }

  /// Waits for the client's next request, which must be `op`. Throws `peer-lost`, or `timeout` when nothing
  /// has moved on any lane for longer than the client itself would wait.
  Json await(const std::string& op);

  /// Throws `timeout` unless every lane has joined in time.
  void await_lanes();

  /// Sleeps until `deadline`, or until `until()` holds, asked every millisecond. Throws `peer-lost`
  /// meanwhile. Over datagrams, tells the client now and then that this side is alive, since nothing else
  /// does.
  /// Where data ought to flow, throws `timeout` when nothing has moved on any lane for longer than the
  /// client, who has `patience` seconds, would wait: he may be gone without a word.
  void pause(Nanoseconds deadline, const std::function<bool()>& until = {},
             double patience = std::numeric_limits<double>::infinity());

  void answer(const Json& message) { control_.send(message); }

 private:
  void serve_lane(Lane& lane) noexcept;
  void tell(const Error& error) noexcept;

  static constexpr double kGrace = 3;  ///< seconds: the client gives up first, and says why

  const Pattern& pattern_;
  const Transport& transport_;
  Json params_;
  Control control_;
  std::optional<int> cpu_;
  std::mutex mutex_;
  std::condition_variable joined_changed_;
  std::size_t joined_ = 0;
  bool cancelled_ = false;
  Lanes lanes_;
  Threads threads_;
};

}  // namespace wulf::net
