#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "node/os/files.hpp"
#include "node/os/unavailable.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

/// One call that can be measured, so many times. Made by number, since the C library's functions also ask
/// whether the thread is to be cancelled. `fd` is /dev/zero or /dev/null; `path` an ordinary file. Less than
/// 0: the last failed.
struct Call {
  const char* name;
  long (*make)(std::uint64_t count, int fd, const char* path);
};

/// The loop is beside the call, as in lmbench: where the kernel empties the predictor of returns, each
/// function that returns behind a system call costs 30 ns.
template <long (*kMake)(int, const char*)>
long repeat(std::uint64_t count, int fd, const char* path) {
  long result = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    result = kMake(fd, path);
  }
  return result;
}

/// getppid, since the C library remembers what getpid says.
long null_call(int, const char*) { return syscall(SYS_getppid); }

long read_byte(int fd, const char*) {
  char byte = 0;
  return syscall(SYS_read, fd, &byte, 1);
}

long write_byte(int fd, const char*) {
  const char byte = 0;
  return syscall(SYS_write, fd, &byte, 1);
}

long stat_file(int, const char* path) {
  struct stat status {};
  return syscall(SYS_newfstatat, AT_FDCWD, path, &status, 0);
}

long open_and_close(int, const char* path) {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
  return fd < 0 ? fd : syscall(SYS_close, fd);
}

constexpr std::array<Call, 5> kCalls{{{"null", repeat<null_call>},
                                      {"read", repeat<read_byte>},
                                      {"write", repeat<write_byte>},
                                      {"stat", repeat<stat_file>},
                                      {"open", repeat<open_and_close>}}};

const Call& call_named(const std::string& name) {
  return *std::find_if(kCalls.begin(), kCalls.end(), [&](const Call& call) { return call.name == name; });
}

/// lmbench's null call, null I/O, stat and open/close.
class Syscall final : public HostProbe {
 public:
  Syscall() : HostProbe("syscall", "os", "one system call") {}

  [[nodiscard]] std::vector<Param> params() const override {
    Param call{"call",
               ParamType::kStr,
               "",
               "null",
               nullptr,
               nullptr,
               "getppid(2); one byte from /dev/zero; one to /dev/null; stat of a file; its open and close"};
    for (const Call& each : kCalls) {
      call.choices.emplace_back(each.name);
    }
    return {call};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "one call"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const Call& call = call_named(params.at("call").get<std::string>());
    const std::string name = call.name;
    private_files();
    File device;
    std::string path;
    Outcome outcome;
    if (name == "read" || name == "write") {
      device = name == "read" ? open_file("/dev/zero", O_RDONLY) : open_file("/dev/null", O_WRONLY);
    } else if (name != "null") {
      path = ordinary_file();
      outcome.info["file"] = file_system_of(path);
    }
    if (call.make(1, device.fd(), path.c_str()) < 0) {
      throw Unavailable("the call " + name + " fails here", errno);
    }
    const Samples samples = time_batches(
        [&call, fd = device.fd(), &path](std::uint64_t count) { call.make(count, fd, path.c_str()); },
        params.at("seconds").get<double>());
    outcome.metrics["latency"] = samples.metric();
    outcome.seconds = samples.spent();
    return outcome;
  }
};

const Registered<HostProbe> registered_syscall{std::make_unique<Syscall>()};

}  // namespace
}  // namespace wulf::node
