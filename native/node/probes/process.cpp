#include <sys/auxv.h>
#include <sys/stat.h>

#include <string>
#include <system_error>
#include <thread>

#include "node/os/files.hpp"
#include "node/os/process_maker.hpp"
#include "node/os/unavailable.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr const char* kShell = "/bin/sh";

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return result + "'";
}

void thread_once() {
  try {
    std::thread([] {}).join();
  } catch (const std::system_error& error) {
    throw Unavailable("no thread can be made", error.code().value());
  }
}

Samples time_threads(double seconds) {
  return time_batches(
      [](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
          thread_once();
        }
      },
      seconds);
}

/// The maker reads the clock itself, so that the way of its orders is not measured.
Samples time_processes(ProcessMaker maker, double seconds) {
  auto untimed = [&](std::uint64_t count) { (void)maker.make(count); };
  const std::uint64_t count = calibrate(untimed);
  constexpr std::size_t kLeast = 3;
  Samples samples;
  const Nanoseconds end = now() + from_seconds(seconds);
  while (samples.size() < kLeast || now() < end) {
    samples.add(to_seconds(maker.make(count)) / static_cast<double>(count), count);
  }
  return samples;
}

Json program_info(const std::string& path) {
  struct stat status {};
  (void)stat(path.c_str(), &status);
  return {{"bytes", status.st_size}, {"static", getauxval(AT_BASE) == 0}};  // the loader's address, if any
}

/// lmbench's fork, exec and sh. The program is this one, which ends before it does anything. All are on one
/// CPU, the process that makes them, too.
class Process final : public HostProbe {
 public:
  Process() : HostProbe("process", "os", "makes a process or a thread, and waits for its end") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {{"how",
             ParamType::kStr,
             "",
             "fork",
             nullptr,
             nullptr,
             "fork alone; and exec of a static program that ends at once; the same by /bin/sh -c, by "
             "posix_spawn(3); or a thread",
             {"fork", "exec", "sh", "spawn", "thread"}}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "from before it is made until it has been waited for"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto how = params.at("how").get<std::string>();
    const auto seconds = params.at("seconds").get<double>();
    private_files();
    Outcome outcome;
    const Samples samples =
        how == "thread" ? time_threads(seconds) : time_processes(maker(how, outcome.info), seconds);
    outcome.metrics["latency"] = samples.metric();
    outcome.seconds = samples.spent();
    return outcome;
  }

 private:
  [[nodiscard]] static ProcessMaker maker(const std::string& how, Json& info) {
    if (how == "fork") {
      return {how, {}};
    }
    const std::string program = own_program();
    info["program"] = program_info(program);
    if (how != "sh") {
      return {how, {program, kNothing}};
    }
    info["shell"] = behind(kShell);
    return {"exec", {kShell, "-c", quoted(program) + " " + kNothing}};
  }
};

const Registered<HostProbe> registered_process{std::make_unique<Process>()};

}  // namespace
}  // namespace wulf::node
