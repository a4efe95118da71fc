#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "core/host/threads.hpp"
#include "net/channel/transport.hpp"
#include "net/server/run.hpp"
#include "net/wire/key.hpp"

namespace wulf::net {

/// Serves runs over one transport at one address, to whoever shows that he has the key.
///
/// It listens by TCP at an ephemeral port: for control connections, and for the data connections of
/// transports that take theirs from there. A transport with an intake of its own (UDP) takes channels in at
/// the same port.
class Server final : public Gate {
 public:
  /// Throws `address` where it cannot be bound to, or would be every address of the host.
  Server(const Transport& transport, const Address& address, const Key& key, std::optional<int> cpu);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;
  /// Ends all its runs.
  ~Server() override;

  [[nodiscard]] const Address& address() const { return address_; }

  /// {"accepted": runs, "wrong_key": openings, "replayed": openings of a run that has been opened before,
  /// "malformed": openings that were none, "turned_away": beyond limits}.
  [[nodiscard]] Json counts() const;

  std::optional<Header> admit(std::span<const std::byte> bytes) override;
  std::shared_ptr<Channel> join(const Header& header, const Make& make) override;

  static constexpr double kHeaderTimeout = 5;  ///< seconds, for header and parameters together
  /// Connections that have not shown that they have the key yet; beyond, the one that has been silent longest
  /// is closed, so that strangers keep nobody out. Several runs of 128 streams may open at the same moment.
  static constexpr std::size_t kMostOpenings = 512;
  static constexpr std::size_t kMostRuns = 64;     ///< at the same time
  static constexpr std::size_t kMostLanes = 1024;  ///< of all runs together
  /// In a server's life, each of which is remembered: five hours of the shortest, one after another.
  static constexpr std::size_t kMostRunsEver = std::size_t{1} << 20U;

 private:
  void listen();
  void accept_clients();
  void take_in(Socket socket);
  /// Makes room for another client. Under mutex_.
  void close_longest_silent();
  void welcome(Socket socket);
  void open_run(Socket socket, const Header& header, const Json& params);
  /// Takes `control` on success alone.
  std::shared_ptr<ServerRun> make_run(Control& control, const Header& header, const Json& params);
  /// Whether no run of this number has been opened yet; it has been, from now on.
  bool is_first_of(std::uint64_t run);

  const Transport& transport_;
  Address address_;
  Key key_;
  std::optional<int> cpu_;
  Socket listener_;
  Socket stop_;
  std::unique_ptr<Intake> intake_;

  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> wrong_key_{0};
  std::atomic<std::uint64_t> replayed_{0};
  std::atomic<std::uint64_t> malformed_{0};
  std::atomic<std::uint64_t> turned_away_{0};

  std::mutex mutex_;
  bool stopping_ = false;
  std::vector<int> openings_;  ///< sockets from which no sealed header has come yet, the longest silent first
  std::map<std::uint64_t, std::shared_ptr<ServerRun>> runs_;
  std::unordered_set<std::uint64_t> seen_;  ///< numbers of all runs that were opened
  Threads threads_;
};

}  // namespace wulf::net
