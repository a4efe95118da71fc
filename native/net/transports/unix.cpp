#include "net/channel/local.hpp"
#include "net/channel/stream.hpp"

namespace wulf::net {
namespace {

/// Two processes of one node over a stream socket of the family AF_UNIX.
class UnixTransport final : public Transport {
 public:
  UnixTransport()
      : Transport({.name = "unix",
                   .help = "AF_UNIX stream socket, within one node",
                   .max_bytes = 16 << 20,
                   .default_write = 128 << 10,
                   .datagrams = false,
                   .has_server = true,
                   .local = true,
                   .options = {"sndbuf", "rcvbuf", "waiting", "sending"}}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Opening& opening,
                                                 const ChannelOptions& options,
                                                 double /*timeout*/) const override {
    return channel(knock(server, name(), opening), options);
  }

  [[nodiscard]] std::unique_ptr<Intake> open_intake(const Address& address, Gate& gate) const override {
    const auto make = [](Socket socket, const std::vector<Socket>& /*files*/, const ChannelOptions& options) {
      return channel(std::move(socket), options);
    };
    return std::make_unique<LocalIntake>(local_address(address, name()), gate, make);
  }

 private:
  static std::shared_ptr<Channel> channel(Socket socket, const ChannelOptions& options) {
    options.apply(socket);
    return std::make_shared<StreamChannel>(std::move(socket), options);
  }
};

const Registered<Transport> registered_unix_transport{std::make_unique<UnixTransport>()};

}  // namespace
}  // namespace wulf::net
