#include <spawn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <system_error>
#include <thread>

#include "node/child.hpp"
#include "node/files.hpp"
#include "node/probe.hpp"
#include "node/timing.hpp"
#include "node/unavailable.hpp"

namespace wulf::node {
namespace {

constexpr const char* kNothing = "--nothing";  // node/nothing.cpp
constexpr const char* kShell = "/bin/sh";
constexpr int kNotStarted = 127;

/// The arguments of a program, as the kernel wants them.
using Words = std::array<const char*, 4>;

char* const* as_argv(const Words& words) { return const_cast<char* const*>(words.data()); }

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return result + "'";
}

void check_status(int status, const std::string& program) {
  if (status != 0) {
    throw Unavailable(program + " could not be run: it ended with " +
                      (WIFEXITED(status) ? "status " + std::to_string(WEXITSTATUS(status))
                                         : "signal " + std::to_string(WTERMSIG(status))));
  }
}

void fork_once() {
  Child child([] { return 0; });
  check_status(child.wait(), "a forked process");
}

void exec_once(const Words& words) {
  Child child([&] {
    execve(words[0], as_argv(words), environ);
    return kNotStarted;
  });
  check_status(child.wait(), words[0]);
}

void spawn_once(const Words& words) {
  pid_t child = 0;
  const int failed = posix_spawn(&child, words[0], nullptr, nullptr, as_argv(words), environ);
  if (failed != 0) {
    throw Unavailable(std::string("cannot spawn ") + words[0], failed);
  }
  check_status(wait_for(child), words[0]);
}

void thread_once() {
  try {
    std::thread([] {}).join();
  } catch (const std::system_error& error) {
    throw Unavailable("no thread can be made", error.code().value());
  }
}

template <typename Once>
Samples time_each(Once once, double seconds) {
  return time_batches(
      [&](std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
          once();
        }
      },
      seconds);
}

Json program_info(const std::string& path) {
  struct stat status {};
  (void)stat(path.c_str(), &status);
  return {{"bytes", status.st_size}, {"static", getauxval(AT_BASE) == 0}};  // the loader's address, if any
}

/// lmbench's fork, exec and sh. The program is this one, which ends before it does anything; the child runs
/// on the CPU of its maker, which waits for it.
class Process final : public Probe {
 public:
  Process() : Probe("process", "os", "makes a process or a thread, and waits for its end") {}

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
    const Samples samples = how == "fork"     ? time_each(fork_once, seconds)
                            : how == "thread" ? time_each(thread_once, seconds)
                                              : time_program(how, seconds, outcome.info);
    outcome.metrics["latency"] = samples.metric();
    outcome.seconds = samples.spent();
    return outcome;
  }

 private:
  [[nodiscard]] static Samples time_program(const std::string& how, double seconds, Json& info) {
    const std::string program = own_program();
    info["program"] = program_info(program);
    const Words direct{program.c_str(), kNothing, nullptr, nullptr};
    if (how == "spawn") {
      return time_each([&] { spawn_once(direct); }, seconds);
    }
    if (how == "exec") {
      return time_each([&] { exec_once(direct); }, seconds);
    }
    info["shell"] = behind(kShell);
    const std::string command = quoted(program) + " " + kNothing;
    const Words by_shell{kShell, "-c", command.c_str(), nullptr};
    return time_each([&] { exec_once(by_shell); }, seconds);
  }
};

const Registered<Probe> registered{std::make_unique<Process>()};

}  // namespace
}  // namespace wulf::node
