#include "link/tap.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>

#include "core/json/error.hpp"

namespace wulf::link {
namespace {

constexpr const char* kTun = "/dev/net/tun";

/// As open_tap, in the network namespace of the calling thread, which it changes.
File open_within(const std::string& netns, const std::string& device) {
  const File space(open(netns.c_str(), O_RDONLY | O_CLOEXEC));
  if (space.fd() < 0 || setns(space.fd(), CLONE_NEWNET) != 0) {
    throw system_error("unsupported", "can't enter the network namespace " + netns, errno);
  }
  File tap(open(kTun, O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (tap.fd() < 0) {
    throw system_error("unsupported", std::string("can't open ") + kTun + ", which TAP devices need", errno);
  }
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::copy(device.begin(), device.end(), &request.ifr_name[0]);
  if (ioctl(tap.fd(), TUNSETIFF, &request) != 0) {
    throw system_error("unsupported", "can't make the TAP device " + device, errno);
  }
  return tap;
}

}  // namespace

File open_tap(const std::string& netns, const std::string& device) {
  if (device.empty() || device.size() >= IFNAMSIZ) {
    throw bad_parameter("device", "a device's name has 1 to 15 bytes, not '" + device + "'");
  }
  File tap;
  std::exception_ptr trouble;
  std::thread([&] {  // setns(2) changes one thread, and this one ends
    try {
      tap = open_within(netns, device);
    } catch (...) {
      trouble = std::current_exception();
    }
  })
      .join();
  if (trouble) {
    std::rethrow_exception(trouble);
  }
  return tap;
}

}  // namespace wulf::link
