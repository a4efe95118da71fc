#pragma once

#include <functional>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "net/channel/transport.hpp"

namespace wulf::net {

/// Where the local intake of the server at `server` listens: a name that both ends derive from the address
/// and port at which it takes control connections by TCP. Names are of one network namespace, so no other
/// node of a lab hears them.
[[nodiscard]] Address local_address(const Address& server, const std::string& transport);

/// The client's side: a connection to the server's local intake, opened with the header, with which `files`
/// go over. Throws `connect` where nobody listens: the ends are on two nodes.
[[nodiscard]] Socket knock(const Address& server, const std::string& transport, const Opening& opening,
                           const std::vector<int>& files = {});

/// Takes in connections that carry a header, and files, in their first message. Without the key nothing is
/// ever answered.
class LocalIntake final : public Intake {
 public:
  /// Makes a channel of a connection and the files that came with it. Null refuses.
  using Make = std::function<std::shared_ptr<Channel>(Socket socket, std::vector<Socket> files,
                                                      const ChannelOptions& options)>;

  LocalIntake(const Address& address, Gate& gate, Make make);
  LocalIntake(const LocalIntake&) = delete;
  LocalIntake& operator=(const LocalIntake&) = delete;
  LocalIntake(LocalIntake&&) = delete;
  LocalIntake& operator=(LocalIntake&&) = delete;
  ~LocalIntake() override;

 private:
  static constexpr std::size_t kMostWaiting = 64;

  struct Waiter {
    Socket socket;
    Nanoseconds deadline;
  };

  void take_in();
  void accept_one();
  void take(Waiter& waiter);

  Socket listener_;
  Gate& gate_;
  Make make_;
  Socket stop_;  ///< an eventfd
  std::list<Waiter> waiting_;
  std::thread thread_;
};

}  // namespace wulf::net
