#include "link/calibrate.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include "core/error.hpp"
#include "core/params.hpp"
#include "link/relay.hpp"

namespace wulf::link {
namespace {

constexpr std::uint16_t kEtherType = 0x88B5;  // IEEE 802: for local experiments
constexpr std::size_t kFrame = 64;
constexpr Nanoseconds kPause = 200'000;  // after which the emulator sleeps, as on an idle link
constexpr std::int64_t kLeastSamples = 21;
constexpr std::int64_t kMostSamples = 10000;
constexpr std::int64_t kSamples = 501;

File packet_socket(const char* device, std::uint16_t type) {
  File file(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(type)));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(type);
  address.sll_ifindex = static_cast<int>(if_nametoindex(device));
  const timeval patience{1, 0};
  if (file.get() < 0 || bind(file.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      setsockopt(file.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
    throw system_error("unsupported", std::string("can't open a packet socket on ") + device, errno);
  }
  return file;
}

void raise_device(int socket, const char* device) {
  ifreq request{};
  std::strncpy(&request.ifr_name[0], device, IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP;
  if (ioctl(socket, SIOCSIFFLAGS, &request) != 0) {
    throw system_error("unsupported", std::string("can't raise ") + device, errno);
  }
}

/// A way for frames, from one device to another.
class Path {
 public:
  Path(const char* from, const char* to)
      : sender_(packet_socket(from, 0)), receiver_(packet_socket(to, kEtherType)) {
    std::fill_n(frame_.begin(), 6, static_cast<unsigned char>(0xFF));  // to all
    frame_[12] = kEtherType >> 8U;
    frame_[13] = kEtherType & 0xFFU;
  }

  /// From before the frame is sent until it is received.
  [[nodiscard]] Nanoseconds cross() {
    std::array<unsigned char, kFrame> received{};
    const Nanoseconds start = now();
    if (send(sender_.get(), frame_.data(), frame_.size(), 0) < 0 ||
        recv(receiver_.get(), received.data(), received.size(), 0) < 0) {
      throw system_error("internal", "a frame got lost while the emulator measured itself", errno);
    }
    return now() - start;
  }

 private:
  File sender_;
  File receiver_;
  std::array<unsigned char, kFrame> frame_{};
};

void pause() {
  const timespec time{0, kPause};
  nanosleep(&time, nullptr);
}

/// In a thread of its own, which leaves for a new network namespace.
std::vector<Nanoseconds> measure(std::int64_t samples) {
  if (unshare(CLONE_NEWNET) != 0) {
    throw system_error("unsupported", "can't make a network namespace", errno);
  }
  const File space(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  const std::string netns = "/proc/self/fd/" + std::to_string(space.get());
  Relay relay;
  relay.add("calibrate", open_tap(netns, "a"), open_tap(netns, "b"), 0);
  const File any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (const char* device : {"lo", "a", "b"}) {
    raise_device(any.get(), device);
  }
  Path emulated("a", "b");
  Path loopback("lo", "lo");
  std::vector<Nanoseconds> differences;
  for (std::int64_t i = 0; i < samples; ++i) {
    pause();
    const Nanoseconds with = emulated.cross();
    pause();
    differences.push_back(with - loopback.cross());
  }
  return differences;
}

}  // namespace

MedianInterval median_interval(std::vector<Nanoseconds> values) {
  constexpr double kHalfWidth = 0.98;  // 1.96 standard deviations of the binomial, which are half a root of n
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const double reach = kHalfWidth * std::sqrt(count);
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor((count / 2) - reach) - 1));
  const auto high = static_cast<std::size_t>(std::min(count - 1, std::ceil((count / 2) + reach)));
  return {values[values.size() / 2], values[low], values[high]};
}

Json calibrate(const Json& request) {
  refuse_unknown_fields(request, {"id", "op", "samples"});
  const std::int64_t samples =
      request.contains("samples") ? int_field(request, "samples", kLeastSamples, kMostSamples) : kSamples;
  std::vector<Nanoseconds> differences;
  std::exception_ptr trouble;
  std::thread([&] {
    try {
      differences = measure(samples);
    } catch (...) {
      trouble = std::current_exception();
    }
  }).join();
  if (trouble) {
    std::rethrow_exception(trouble);
  }
  const MedianInterval added = median_interval(std::move(differences));
  return {{"added",
           {{"value", to_seconds(added.value)},
            {"low", to_seconds(added.low)},
            {"high", to_seconds(added.high)},
            {"unit", "s"},
            {"samples", samples}}}};
}

}  // namespace wulf::link
