#pragma once

#include <optional>
#include <string>

#include "core/json/json.hpp"
#include "core/json/lines.hpp"
#include "core/time/clock.hpp"
#include "net/wire/socket.hpp"

namespace wulf::net {

/// A run's conversation between client and server: JSON Lines over a TCP connection of its own. It carries no
/// measured data, so that it is quiet while a run lasts, and its end tells at once that the peer is gone.
class Control {
 public:
  /// `send_timeout`: seconds that the peer may take to make room for a message.
  explicit Control(Socket socket, double send_timeout = kSendTimeout);

  /// Throws `peer-lost`, also when the peer has made no room for send_timeout seconds.
  void send(const Json& message);

  /// The next message if it is there already. Throws `peer-lost` at the end of the connection.
  std::optional<Json> poll();

  /// The next message. Throws `peer-lost`, or `timeout` after the deadline.
  Json receive(Nanoseconds deadline);

  /// Ends the connection from any thread.
  void interrupt() const;

  [[nodiscard]] int fd() const { return socket_.fd(); }

  static constexpr double kSendTimeout = 5;  ///< seconds

 private:
  Socket socket_;
  double send_timeout_;
  LineSplitter lines_;
};

/// The client's view of the other side, whichever transport is used.
class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  Peer(Peer&&) = delete;
  Peer& operator=(Peer&&) = delete;
  virtual ~Peer() = default;

  /// Sends a request and returns its answer. Throws what the server answered with, `peer-lost` or `timeout`.
  virtual Json ask(const Json& request) = 0;

  /// The next message, which the server owes. Throws as ask.
  virtual Json await() = 0;

  /// What the server says unasked, if it has. Throws as ask.
  virtual std::optional<Json> poll() = 0;

  /// Becomes readable when the server speaks or is gone; -1 = never.
  [[nodiscard]] virtual int fd() const = 0;
};

/// The peer of a transport without a server: agrees to everything.
class NullPeer final : public Peer {
 public:
  Json ask(const Json& /*request*/) override { return Json::object(); }
  Json await() override { return Json::object(); }
  std::optional<Json> poll() override { return std::nullopt; }
  [[nodiscard]] int fd() const override { return -1; }
};

/// A server behind a control connection.
class ServerPeer final : public Peer {
 public:
  /// `timeout`: seconds that an answer may take.
  ServerPeer(Control control, double timeout) : control_(std::move(control)), timeout_(timeout) {}
  Json ask(const Json& request) override;
  Json await() override;
  std::optional<Json> poll() override;
  [[nodiscard]] int fd() const override { return control_.fd(); }

  /// {"op": "alive"}: answers nothing, and only says that the server lives.
  [[nodiscard]] static bool is_sign_of_life(const Json& message);

 private:
  Control control_;
  double timeout_;
};

}  // namespace wulf::net
