#include "net/wire/options.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "core/json/error.hpp"

namespace wulf::net {
namespace {

constexpr int kMostTos = 255;

/// Sets what a parameter asked for; the system's refusal is the parameter's fault.
template <typename Value>
void ask(const Socket& socket, int level, int name, const Value* value, socklen_t size,
         const std::string& field, const std::string& shown) {
  if (setsockopt(socket.fd(), level, name, value, size) != 0) {
    throw bad_parameter(field, "the system refuses " + field + " = " + shown + ": " + std::strerror(errno));
  }
}

void ask(const Socket& socket, int level, int name, int value, const std::string& field) {
  ask(socket, level, name, &value, sizeof(value), field, std::to_string(value));
}

/// The family of a socket's addresses, as the system knows it.
int family_of(const Socket& socket) { return socket.option(SOL_SOCKET, SO_DOMAIN); }

}  // namespace

ChannelOptions ChannelOptions::from(const Json& params) {
  ChannelOptions options;
  options.sndbuf = optional_value<int>(params, "sndbuf");
  options.rcvbuf = optional_value<int>(params, "rcvbuf");
  options.busy_poll = optional_value<double>(params, "busy_poll");
  options.mss = optional_value<int>(params, "mss");
  options.tos = optional_value<int>(params, "tos");
  options.congestion = optional_value<std::string>(params, "congestion").value_or("");
  options.nodelay = params.at("nodelay").get<bool>();
  options.cork = params.at("cork").get<bool>();
  const auto waiting = params.at("waiting").get<std::string>();
  options.waiting = waiting == "epoll"  ? Waiting::kEpoll
                    : waiting == "busy" ? Waiting::kBusy
                                        : Waiting::kBlock;
  const auto sending = params.at("sending").get<std::string>();
  options.sending = sending == "sendfile"   ? Sending::kSendfile
                    : sending == "zerocopy" ? Sending::kZeroCopy
                    : sending == "gso"      ? Sending::kSegments
                                            : Sending::kCopy;
  return options;
}

void ChannelOptions::apply(const Socket& socket) const {
  if (sndbuf) {
    socket.set_option(SOL_SOCKET, SO_SNDBUF, *sndbuf);
  }
  if (rcvbuf) {
    socket.set_option(SOL_SOCKET, SO_RCVBUF, *rcvbuf);
  }
  if (busy_poll) {
    ask(socket, SOL_SOCKET, SO_BUSY_POLL, static_cast<int>(from_seconds(*busy_poll) / kMicrosecond),
        "busy_poll");
  }
  if (tos && family_of(socket) == AF_INET6) {
    ask(socket, IPPROTO_IPV6, IPV6_TCLASS, *tos, "tos");
  } else if (tos && family_of(socket) == AF_INET) {
    ask(socket, IPPROTO_IP, IP_TOS, *tos, "tos");
  }
}

void ChannelOptions::apply_tcp(const Socket& socket) const {
  apply(socket);
  socket.set_option(IPPROTO_TCP, TCP_NODELAY, nodelay ? 1 : 0);
  if (mss) {
    ask(socket, IPPROTO_TCP, TCP_MAXSEG, *mss, "mss");
  }
  if (!congestion.empty()) {
    ask(socket, IPPROTO_TCP, TCP_CONGESTION, congestion.data(), static_cast<socklen_t>(congestion.size()),
        "congestion", congestion);
  }
}

std::vector<Param> channel_params(bool nodelay) {
  constexpr int kLargest = 1 << 30;
  constexpr int kLeastMss = 88;  // TCP_MIN_MSS of Linux
  constexpr int kMostMss = 32767;
  return {
      {"sndbuf", ParamType::kInt, "B", nullptr, 1, kLargest,
       "SO_SNDBUF of both ends (Linux doubles it, and cuts it at net.core.wmem_max); null = the system's"},
      {"rcvbuf", ParamType::kInt, "B", nullptr, 1, kLargest,
       "SO_RCVBUF of both ends (Linux doubles it, and cuts it at net.core.rmem_max); null = the system's"},
      {"nodelay", ParamType::kBool, "", nodelay, nullptr, nullptr,
       "TCP_NODELAY on both ends: small segments are not held back (Nagle's algorithm, RFC 896)"},
      {"cork", ParamType::kBool, "", false, nullptr, nullptr,
       "TCP_CORK around each message: its calls leave as full segments (tcp(7))"},
      {"mss", ParamType::kInt, "B", nullptr, kLeastMss, kMostMss,
       "TCP_MAXSEG of both ends; null = the path's"},
      {"congestion", ParamType::kStr, "", nullptr, nullptr, nullptr,
       "TCP congestion control of both ends, of those in net.ipv4.tcp_available_congestion_control; null = "
       "the "
       "system's"},
      {"tos", ParamType::kInt, "", nullptr, 0, kMostTos,
       "type of service, the byte of DSCP and ECN (RFC 2474), of both ends; null = 0"},
      {"waiting",
       ParamType::kStr,
       "",
       "block",
       nullptr,
       nullptr,
       "how both ends wait for a message: block in the call, in epoll_wait, or busy, calling again and again",
       {"block", "epoll", "busy"}},
      {"busy_poll", ParamType::kFloat, "s", nullptr, 0, 1,
       "SO_BUSY_POLL of both ends: how long the kernel polls the device for a blocked call (needs "
       "CAP_NET_ADMIN to "
       "be above net.core.busy_read); null = the system's"},
      {"sending",
       ParamType::kStr,
       "",
       "copy",
       nullptr,
       nullptr,
       "copy: send(2), or sendmmsg(2) for a batch; sendfile: sendfile(2) from a file in memory; zerocopy: "
       "send(2) "
       "with MSG_ZEROCOPY; gso: a batch of datagrams as one, which the kernel or the device cuts "
       "(UDP_SEGMENT)",
       {"copy", "sendfile", "zerocopy", "gso"}}};
}

}  // namespace wulf::net
