#include "core/session/operations.hpp"

#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/host/counters.hpp"
#include "core/host/frequency.hpp"
#include "core/time/clock.hpp"

namespace wulf {
namespace {

Json host_counters() {
  return {{"at", std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()},
          {"counters", CounterTexts::read().parse()},
          {"frequency", cpu_frequency()}};
}

}  // namespace

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

Json description(const Program& program) {
  Json json{{"program", program.name}, {"version", WULF_VERSION}, {"protocol", kProtocol}};
  json["ops"] = Json::array();
  for (const auto& [name, operation] : all_operations(program)) {
    json["ops"].push_back(name);
  }
  json.update(program.describe());
  return json;
}

std::map<std::string, Operation> all_operations(const Program& program) {
  std::map<std::string, Operation> operations = program.operations;
  operations["ping"] = {[](const Json&) { return Json::object(); }};
  operations["describe"] = {[&program](const Json&) { return Json{{"describe", description(program)}}; }};
  operations["counters"] = {[](const Json&) { return host_counters(); }};
  operations["clock"] = {[](const Json&) { return describe_clock(); }};
  return operations;
}

}  // namespace wulf
