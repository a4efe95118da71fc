#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/host/threads.hpp"
#include "core/json/error.hpp"
#include "net/channel/local.hpp"

namespace wulf::net {
namespace {

/// Two pipes, one a direction. A pipe knows no shutdown(2), so calls are ended by a signal.
class PipeChannel final : public Channel {
 public:
  PipeChannel(Socket in, Socket out) : in_(std::move(in)), out_(std::move(out)) {}

  Io send(std::span<const std::byte> message) noexcept override {
    while (!message.empty()) {
      const ssize_t wrote =
          guarded(sender_, [&] { return write(out_.fd(), message.data(), message.size()); });
      if (wrote <= 0) {
        return Io::kClosed;
      }
      message = message.subspan(static_cast<std::size_t>(wrote));
    }
    return Io::kDone;
  }

  Io receive(std::span<std::byte> message, std::size_t& got) noexcept override {
    got = message.size();
    while (!message.empty()) {
      std::size_t some = 0;
      if (receive_some(message, some) != Io::kDone) {
        return Io::kClosed;
      }
      message = message.subspan(some);
    }
    return Io::kDone;
  }

  Io receive_some(std::span<std::byte> buffer, std::size_t& got) noexcept override {
    const ssize_t count = guarded(receiver_, [&] { return read(in_.fd(), buffer.data(), buffer.size()); });
    if (count <= 0) {
      return Io::kClosed;
    }
    got = static_cast<std::size_t>(count);
    return Io::kDone;
  }

  void interrupt() noexcept override {
    sender_.interrupt();
    receiver_.interrupt();
  }

  [[nodiscard]] std::vector<int> files() const override { return {in_.fd(), out_.fd()}; }

  [[nodiscard]] Json info() const override { return {{"sndbuf", fcntl(out_.fd(), F_GETPIPE_SZ)}}; }

 private:
  /// Calls until it is not merely a nudge that ended the call.
  template <typename Call>
  static ssize_t guarded(Interruptible& guard, const Call& call) noexcept {
    ssize_t result = -1;
    do {
      result = guard.enter() ? call() : 0;
      guard.leave();
    } while (result < 0 && errno == EINTR);
    return result;
  }

  Socket in_;
  Socket out_;
  Interruptible sender_;
  Interruptible receiver_;
};

struct Pipe {
  Socket read;
  Socket write;

  explicit Pipe(const std::optional<int>& size) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw system_error("limit", "cannot make a pipe", errno);
    }
    read = Socket(ends[0]);
    write = Socket(ends[1]);
    if (size && fcntl(write.fd(), F_SETPIPE_SZ, *size) < 0) {
      throw bad_parameter("sndbuf", "the system refuses a pipe of " + std::to_string(*size) +
                                        " B: the limit is /proc/sys/fs/pipe-max-size");
    }
  }
};

/// Two processes of one node over pipes; a local socket only hands over their ends.
class PipeTransport final : public Transport {
 public:
  PipeTransport()
      : Transport({.name = "pipe",
                   .help = "a pipe each way, within one node",
                   .max_bytes = 16 << 20,
                   .default_write = 64 << 10,
                   .datagrams = false,
                   .has_server = true,
                   .local = true,
                   .options = {"sndbuf"}}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Opening& opening,
                                                 const ChannelOptions& options,
                                                 double /*timeout*/) const override {
    Pipe there(options.sndbuf);
    Pipe back(options.sndbuf);
    (void)knock(server, name(), opening, {there.read.fd(), back.write.fd()});
    return std::make_shared<PipeChannel>(std::move(back.read), std::move(there.write));
  }

  [[nodiscard]] std::unique_ptr<Intake> open_intake(const Address& address, Gate& gate) const override {
    const auto make = [](const Socket& /*socket*/, std::vector<Socket> files,
                         const ChannelOptions& /*options*/) -> std::shared_ptr<Channel> {
      return files.size() == 2 ? std::make_shared<PipeChannel>(std::move(files[0]), std::move(files[1]))
                               : nullptr;
    };
    return std::make_unique<LocalIntake>(local_address(address, name()), gate, make);
  }
};

const Registered<Transport> registered_pipe_transport{std::make_unique<PipeTransport>()};

}  // namespace
}  // namespace wulf::net
