#include "core/program.hpp"

#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "core/clock.hpp"
#include "core/counters.hpp"
#include "core/error.hpp"
#include "core/frequency.hpp"

namespace wulf {
namespace {

/// A pool of memory per thread is glibc's default; two pools keep a server of many threads small.
void keep_memory_small() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
#endif
}

/// The second safety, beside the end of stdin: ends this process when its parent has died. The kernel signals
/// when the parent's *thread* ends (prctl(2), PR_SET_PDEATHSIG), so only a changed parent counts.
void end_with_parent() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // inherited by every thread: none is ever interrupted
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
  std::thread([signals, parent] {
    while (true) {
      int received = 0;
      sigwait(&signals, &received);
      if (getppid() != parent) {
        std::_Exit(0);
      }
    }
  }).detach();
}

Json greeting(const Program& program) {
  utsname system{};
  uname(&system);
  return {{"hello", program.name},       {"version", WULF_VERSION},    {"protocol", kProtocol},
          {"host", &system.nodename[0]}, {"arch", &system.machine[0]}, {"pid", getpid()}};
}

std::map<std::string, Operation> all_operations(const Program& program);

/// What --describe prints.
Json description(const Program& program) {
  Json json{{"program", program.name}, {"version", WULF_VERSION}, {"protocol", kProtocol}};
  json["ops"] = Json::array();
  for (const auto& [name, operation] : all_operations(program)) {
    json["ops"].push_back(name);
  }
  json.update(program.describe());
  return json;
}

Json host_counters() {
  return {{"at", std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()},
          {"counters", CounterTexts::read().parse()},
          {"frequency", cpu_frequency()}};
}

std::map<std::string, Operation> all_operations(const Program& program) {
  std::map<std::string, Operation> operations = program.operations;
  operations["ping"] = {[](const Json&) { return Json::object(); }};
  operations["describe"] = {[&program](const Json&) { return Json{{"describe", description(program)}}; }};
  operations["counters"] = {[](const Json&) { return host_counters(); }};
  operations["clock"] = {[](const Json&) { return describe_clock(); }};
  return operations;
}

[[noreturn]] void serve_session(const Program& program) {
  (void)std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of write(2), not a death
  keep_memory_small();
  end_with_parent();
  Session session(all_operations(program), STDIN_FILENO, STDOUT_FILENO);
  session.print(greeting(program));
  session.serve();
  // The kernel ends all threads and closes all sockets, whichever call they are blocked in; nothing gentler
  // is sure to.
  std::_Exit(0);
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  CLI::App app{program.help +
                   "\n\nWithout arguments: a session. Requests are JSON Lines on stdin, such as\n"
                   "{\"id\": 1, \"op\": \"describe\"}; it ends when stdin closes.",
               program.name};
  bool describe = false;
  app.add_flag("--describe", describe, "Print what this program can do, as one JSON object");
  app.set_version_flag("--version", program.name + " " + WULF_VERSION);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!describe) {
      serve_session(program);
    }
    std::cout << description(program).dump() << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << program.name << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace wulf
