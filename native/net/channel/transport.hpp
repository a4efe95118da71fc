#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/session/registry.hpp"
#include "net/wire/address.hpp"
#include "net/wire/header.hpp"
#include "net/wire/options.hpp"
#include "net/wire/socket.hpp"

namespace wulf::net {

/// How a call on a channel ended.
enum class Io : std::uint8_t {
  kDone,
  kNudged,  ///< a signal woke the call (Crew::nudge), or it waited long: look at the clock, then call again
  kClosed,  ///< the peer, the network or interrupt() ended the channel
};

/// One path for messages between a client and a server. A channel has one sender and one receiver at a time;
/// only interrupt() and the questions at the end may come from other threads.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  Channel(Channel&&) = delete;
  Channel& operator=(Channel&&) = delete;
  virtual ~Channel() = default;

  /// Sends the whole message, which is one datagram where the transport has datagrams.
  virtual Io send(std::span<const std::byte> message) noexcept = 0;

  /// Sends what lies one behind the other as messages of `each` bytes, with as few calls as the transport
  /// can.
  virtual Io send_many(std::span<const std::byte> messages, std::size_t each) noexcept {
    for (; !messages.empty(); messages = messages.subspan(each)) {
      if (const Io io = send(messages.first(each)); io != Io::kDone) {
        return io;
      }
    }
    return Io::kDone;
  }

  /// Byte streams: fills `message`. Datagrams: takes one. `got` is set with kDone alone.
  virtual Io receive(std::span<std::byte> message, std::size_t& got) noexcept = 0;

  /// As receive, but a byte stream gives what is there, at least one byte.
  virtual Io receive_some(std::span<std::byte> buffer, std::size_t& got) noexcept {
    return receive(buffer, got);
  }

  /// Byte streams: what is sent is held back until it fills segments (true), or goes at once (false).
  virtual void cork(bool /*held*/) noexcept {}

  /// Byte streams: from now on, receive_some may wait until so many bytes have arrived. Fewer wake-ups, which
  /// on fast links cost more than the copying.
  virtual void gather(std::size_t /*bytes*/) noexcept {}

  /// Bytes that have arrived, whether they have been read or not; nothing where only the reader knows.
  [[nodiscard]] virtual std::optional<std::uint64_t> arrived() const { return std::nullopt; }

  /// Ends every call in progress and to come with kClosed.
  virtual void interrupt() noexcept {}

  /// As interrupt, and drops what is still to be sent, so that it does not disturb the next measurement.
  virtual void discard() noexcept { interrupt(); }

  /// The files that the channel's calls go to.
  [[nodiscard]] virtual std::vector<int> files() const { return {}; }

  /// Grows while data moves, even within one message. A channel that cannot know says 0.
  [[nodiscard]] virtual std::uint64_t activity() const { return 0; }

  /// Segments sent again since the channel was opened; nothing where the transport has no such thing.
  [[nodiscard]] virtual std::optional<std::uint64_t> retransmits() const { return std::nullopt; }

  /// What the connection does now, as tcp_state; empty where the transport keeps no such account.
  [[nodiscard]] virtual Json state() const { return Json::object(); }

  /// The settings in effect: {"mss", "sndbuf", …}.
  [[nodiscard]] virtual Json info() const { return Json::object(); }
};

/// A server's side of the door, as transports see it that take their channels in by themselves.
class Gate {
 public:
  using Make = std::function<std::shared_ptr<Channel>(const ChannelOptions& options)>;

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  Gate(Gate&&) = delete;
  Gate& operator=(Gate&&) = delete;
  virtual ~Gate() = default;

  /// The header of a channel, if it is one and sealed with the key. Counts it otherwise.
  virtual std::optional<Header> admit(std::span<const std::byte> bytes) = 0;

  /// The channel that the header names: `make` is called unless it has joined before. Null where no run of
  /// that number is open.
  virtual std::shared_ptr<Channel> join(const Header& header, const Make& make) = 0;
};

/// Takes in channels for a server, until it is destroyed.
class Intake {
 public:
  Intake() = default;
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;
  Intake(Intake&&) = delete;
  Intake& operator=(Intake&&) = delete;
  virtual ~Intake() = default;
};

/// How messages travel. An addition is one file in transports/ that registers itself; `null` is the template.
class Transport {
 public:
  struct Spec {
    std::string name;
    std::string help;
    std::int64_t max_bytes;            ///< the longest message
    std::int64_t default_write;        ///< bytes a call of the pattern `stream`, unless asked otherwise
    bool datagrams;                    ///< messages keep their bounds, and may be lost
    bool has_server;                   ///< false: channels answer by themselves, within the client
    bool local;                        ///< both ends must be on one node
    std::vector<std::string> options;  ///< those of channel_params() that it has
  };

  explicit Transport(Spec spec) : spec_(std::move(spec)) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  Transport(Transport&&) = delete;
  Transport& operator=(Transport&&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] const Spec& spec() const { return spec_; }
  [[nodiscard]] const std::string& name() const { return spec_.name; }
  [[nodiscard]] Json describe() const {
    return {{"name", spec_.name},           {"help", spec_.help},   {"max_bytes", spec_.max_bytes},
            {"datagrams", spec_.datagrams}, {"local", spec_.local}, {"options", spec_.options}};
  }

  /// The client's end of a new channel, opened with `opening`. Throws `connect` or `timeout`.
  [[nodiscard]] virtual std::shared_ptr<Channel> connect(const Address& server, const Opening& opening,
                                                         const ChannelOptions& options,
                                                         double timeout) const = 0;

  /// The server's end of a channel that came over the server's TCP listener. Null = this transport has none
  /// such.
  [[nodiscard]] virtual std::shared_ptr<Channel> adopt(Socket& /*socket*/,
                                                       const ChannelOptions& /*options*/) const {
    return nullptr;
  }

  /// Takes channels in at `address`, where the server listens for control connections by TCP already. Null =
  /// none. Throws `address` where the port is taken.
  [[nodiscard]] virtual std::unique_ptr<Intake> open_intake(const Address& /*address*/,
                                                            Gate& /*gate*/) const {
    return nullptr;
  }

 private:
  Spec spec_;
};

}  // namespace wulf::net
