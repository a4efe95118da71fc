#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/json/error.hpp"
#include "node/os/files.hpp"
#include "node/os/unavailable.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr int kMostOfSelect = FD_SETSIZE - 24;  // some are taken by standard streams, and by ours

/// A TCP connection over loopback in which nobody ever says anything.
struct Connection {
  File listener{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  File client{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  File server;

  Connection() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* at = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    if (bind(listener.fd(), at, size) != 0 || listen(listener.fd(), 1) != 0 ||
        getsockname(listener.fd(), at, &size) != 0 || connect(client.fd(), at, size) != 0) {
      throw Unavailable("no TCP connection over loopback", errno);
    }
    server = File(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (server.fd() < 0) {
      throw Unavailable("no TCP connection over loopback", errno);
    }
  }
};

std::vector<File> duplicates(int fd, int count) {
  std::vector<File> files;
  files.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    files.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (files.back().fd() < 0) {
      throw Unavailable("only " + std::to_string(i) + " of " + std::to_string(count) +
                            " descriptors can be had (ulimit -n)",
                        errno);
    }
  }
  return files;
}

/// select(2) changes the set, so that every call gets a copy, as in any program.
Samples time_select(const std::vector<File>& files, double seconds) {
  fd_set watched;
  FD_ZERO(&watched);
  int last = 0;
  for (const File& file : files) {
    FD_SET(file.fd(), &watched);
    last = std::max(last, file.fd());
  }
  return time_batches(
      [&](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
          fd_set ready = watched;
          timeval none{};
          (void)select(last + 1, &ready, nullptr, nullptr, &none);
        }
      },
      seconds);
}

Samples time_poll(const std::vector<File>& files, double seconds) {
  std::vector<pollfd> watched;
  watched.reserve(files.size());
  for (const File& file : files) {
    watched.push_back({file.fd(), POLLIN, 0});
  }
  return time_batches(
      [&](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
          (void)poll(watched.data(), watched.size(), 0);
        }
      },
      seconds);
}

Samples time_epoll(const std::vector<File>& files, double seconds) {
  const File set(epoll_create1(EPOLL_CLOEXEC));
  for (const File& file : files) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(set.fd(), EPOLL_CTL_ADD, file.fd(), &event) != 0) {
      throw Unavailable("epoll does not take such a descriptor", errno);  // regular files: epoll_ctl(2)
    }
  }
  std::array<epoll_event, 64> ready{};
  return time_batches(
      [&](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
          (void)epoll_wait(set.fd(), ready.data(), static_cast<int>(ready.size()), 0);
        }
      },
      seconds);
}

/// lmbench's select on N descriptors: duplicates of one, whose state is asked for without waiting.
class Select final : public HostProbe {
 public:
  Select() : HostProbe("select", "os", "asks which of many descriptors can be read, without waiting") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMost = 100'000;
    return {{"via",
             ParamType::kStr,
             "",
             "select",
             nullptr,
             nullptr,
             "the call: select(2), poll(2), or epoll_wait(2) with the descriptors told once",
             {"select", "poll", "epoll"}},
            {"descriptors", ParamType::kInt, "1", 100, 1, kMost, "how many are watched"},
            {"kind",
             ParamType::kStr,
             "",
             "tcp",
             nullptr,
             nullptr,
             "a silent TCP connection, of which none can be read, or a file, of which all can",
             {"tcp", "file"}}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "one call"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto via = params.at("via").get<std::string>();
    const int count = params.at("descriptors").get<int>();
    if (via == "select" && count > kMostOfSelect) {
      throw bad_parameter("descriptors", "descriptors is " + std::to_string(count) +
                                             ", but select(2) knows " + std::to_string(kMostOfSelect) +
                                             " at most: via=poll or via=epoll");
    }
    private_files();
    if (params.at("kind") == "file") {
      return timed(via, open_file(ordinary_file(), O_RDONLY).fd(), params);
    }
    return timed(via, Connection().client.fd(), params);
  }

 private:
  [[nodiscard]] static Outcome timed(const std::string& via, int fd, const Json& params) {
    const std::vector<File> files = duplicates(fd, params.at("descriptors").get<int>());
    const auto seconds = params.at("seconds").get<double>();
    const Samples samples = via == "select" ? time_select(files, seconds)
                            : via == "poll" ? time_poll(files, seconds)
                                            : time_epoll(files, seconds);
    return {.metrics = {{"latency", samples.metric()}},
            .seconds = samples.spent(),
            .info = {{"watched", "duplicates of one descriptor"}}};
  }
};

const Registered<HostProbe> registered_select{std::make_unique<Select>()};

}  // namespace
}  // namespace wulf::node
