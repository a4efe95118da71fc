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
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "link/relay.hpp"
#include "link/setting.hpp"

namespace wulf::link {
namespace {

constexpr std::uint16_t kEtherType = 0x88B5;  // IEEE 802: for local experiments
constexpr std::size_t kFrame = 64;
constexpr Nanoseconds kPause = 200'000;  // after which the emulator sleeps, as on an idle link
constexpr std::int64_t kLeastSamples = 21;
constexpr std::int64_t kMostSamples = 10000;
constexpr std::int64_t kSamples = 501;
constexpr time_t kPatience = 1;  // seconds that a frame may take

Nanoseconds as_nanoseconds(const timespec& time) { return (time.tv_sec * kSecond) + time.tv_nsec; }

Nanoseconds time_of_day() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return as_nanoseconds(time);
}

File packet_socket(const char* device, std::uint16_t type) {
  File file(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(type)));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(type);
  address.sll_ifindex = static_cast<int>(if_nametoindex(device));
  const timeval patience{kPatience, 0};
  const int yes = 1;
  if (file.fd() < 0 || bind(file.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      setsockopt(file.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
      setsockopt(file.fd(), SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes) != 0) {
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

/// How long a frame took, from before it was sent.
struct Crossing {
  Nanoseconds arrived;   ///< until the kernel had it from the device, by its own stamp
  Nanoseconds received;  ///< until the thread that waited for it had it: its wake-up included
};

/// A way for frames, from one device to another.
class Path {
 public:
  Path(const char* from, const char* to)
      : sender_(packet_socket(from, 0)), receiver_(packet_socket(to, kEtherType)) {
    std::fill_n(frame_.begin(), 6, static_cast<unsigned char>(0xFF));  // to all
    frame_[12] = kEtherType >> 8U;
    frame_[13] = kEtherType & 0xFFU;
  }

  [[nodiscard]] Crossing cross() {
    const Nanoseconds sent_at = time_of_day();  // the kernel's stamps are of this clock
    const Nanoseconds start = now();
    if (send(sender_.fd(), frame_.data(), frame_.size(), 0) < 0) {
      throw system_error("internal", "a frame could not be sent while the emulator measured itself", errno);
    }
    const Nanoseconds arrived_at = receive();
    const Nanoseconds received = now() - start;
    return {arrived_at - sent_at, received};
  }

 private:
  /// Waits for the frame; when it arrived.
  Nanoseconds receive() {
    std::array<unsigned char, kFrame> frame{};
    alignas(cmsghdr) std::array<unsigned char, CMSG_SPACE(sizeof(timespec))> control{};
    iovec part{frame.data(), frame.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(receiver_.fd(), &message, 0) < 0) {
      throw system_error("internal", "a frame got lost while the emulator measured itself", errno);
    }
    const cmsghdr* const stamped = CMSG_FIRSTHDR(&message);
    if (stamped == nullptr || stamped->cmsg_type != SCM_TIMESTAMPNS) {
      throw Error("unsupported", "the kernel does not stamp frames with the time of their arrival");
    }
    timespec time{};
    std::memcpy(&time, CMSG_DATA(stamped), sizeof time);
    return as_nanoseconds(time);
  }

  File sender_;
  File receiver_;
  std::array<unsigned char, kFrame> frame_{};
};

void pause() {
  const timespec time{0, kPause};
  nanosleep(&time, nullptr);
}

/// A link of the emulator, and a loopback device, in a network namespace for which the calling thread leaves.
class Bench {
 public:
  Bench() {
    relay_.add(kLink, open_tap(netns_, "a"), open_tap(netns_, "b"), 0);
    const File any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    for (const char* device : {"lo", "a", "b"}) {
      raise_device(any.fd(), device);
    }
    emulated_ = std::make_unique<Path>("a", "b");
    loopback_ = std::make_unique<Path>("lo", "lo");
  }

  Crossing emulated(const Setting& setting) {
    relay_.set(kLink, Direction::kOut, setting);
    pause();
    return emulated_->cross();
  }

  Crossing loopback() {
    pause();
    return loopback_->cross();
  }

 private:
  static constexpr const char* kLink = "calibrate";

  static File leave() {
    if (unshare(CLONE_NEWNET) != 0) {
      throw system_error("unsupported", "can't make a network namespace", errno);
    }
    return File(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  }

  File space_ = leave();
  std::string netns_ = "/proc/self/fd/" + std::to_string(space_.fd());
  Relay relay_;
  std::unique_ptr<Path> emulated_;
  std::unique_ptr<Path> loopback_;
};

Json in_seconds(std::vector<Nanoseconds> values) {
  const auto count = values.size();
  const MedianInterval found = median_interval(std::move(values));
  return {{"value", to_seconds(found.value)},
          {"low", to_seconds(found.low)},
          {"high", to_seconds(found.high)},
          {"unit", "s"},
          {"samples", count}};
}

/// What the emulator adds at zero setting.
Json added(Bench& bench, std::int64_t samples) {
  std::vector<Nanoseconds> differences;
  for (std::int64_t i = 0; i < samples; ++i) {
    const Nanoseconds with = bench.emulated({}).received;
    differences.push_back(with - bench.loopback().received);
  }
  return in_seconds(std::move(differences));
}

/// By how much a delay differs from the one asked for: at the device, and as the thread saw it that waited.
Json delayed(Bench& bench, std::int64_t samples, const Setting& asked) {
  std::vector<Nanoseconds> arrived;
  std::vector<Nanoseconds> received;
  for (std::int64_t i = 0; i < samples; ++i) {
    const Crossing zero = bench.emulated({});
    const Crossing slow = bench.emulated(asked);
    arrived.push_back(slow.arrived - zero.arrived - asked.delay);
    received.push_back(slow.received - zero.received - asked.delay);
  }
  return {{"asked", to_seconds(asked.delay)},
          {"arrival", in_seconds(std::move(arrived))},
          {"receipt", in_seconds(std::move(received))}};
}

Json measure(std::int64_t samples, const Setting& asked) {
  Bench bench;
  Json answer{{"added", added(bench, samples)}};
  if (asked.delay > 0) {
    answer["delayed"] = delayed(bench, samples, asked);
  }
  return answer;
}

/// The delay to be tried; it must leave frames the time to arrive. Throws bad-parameter.
Setting asked_for(const Json& request) {
  if (!request.contains("delay")) {
    return {};
  }
  Setting setting = parse_setting({{"delay", request.at("delay")}});
  if (setting.delay >= kPatience * kSecond) {
    throw bad_parameter("delay", "delay must be below " + std::to_string(kPatience) + " s");
  }
  return setting;
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
  refuse_unknown_fields(request, {"id", "op", "samples", "delay"});
  const std::int64_t samples =
      request.contains("samples") ? int_field(request, "samples", kLeastSamples, kMostSamples) : kSamples;
  const Setting asked = asked_for(request);
  Json answer;
  std::exception_ptr trouble;
  std::thread([&] {  // it leaves for another network namespace
    try {
      answer = measure(samples, asked);
    } catch (...) {
      trouble = std::current_exception();
    }
  })
      .join();
  if (trouble) {
    std::rethrow_exception(trouble);
  }
  return answer;
}

}  // namespace wulf::link
