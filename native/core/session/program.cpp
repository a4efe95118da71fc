#include "core/session/program.hpp"

#include <getopt.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "core/json/error.hpp"
#include "core/session/operations.hpp"

namespace wulf {
namespace {

/// A pool of memory per thread is glibc's default; two pools keep a server of many threads small.
void keep_memory_small() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 2);
#endif
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

constexpr int kUsageError = 2;

std::string usage(const Program& program) {
  return program.help + "\nUsage: " + program.name +
         " [OPTION]\n\n"
         "Without an option: a session. Requests are JSON Lines on stdin, such as\n"
         "{\"id\": 1, \"op\": \"describe\"}; it ends when stdin closes.\n\n"
         "  --describe  print what this program can do, as one JSON object\n"
         "  --version   print name and version\n"
         "  --help      print this\n";
}

int print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0;
}

/// What the command line asks for; returns the exit status.
int obey(const Program& program, int argc, char** argv) {
  constexpr std::array<option, 4> kOptions{{{"describe", no_argument, nullptr, 'd'},
                                            {"version", no_argument, nullptr, 'v'},
                                            {"help", no_argument, nullptr, 'h'},
                                            {nullptr, 0, nullptr, 0}}};
  const int chosen = getopt_long(argc, argv, "h", kOptions.data(), nullptr);
  const bool more = optind < argc;
  if (chosen == -1 && !more) {
    serve_session(program);
  }
  if (chosen == 'h') {
    return print(usage(program));
  }
  if (chosen == 'v' && !more) {
    return print(program.name + " " + WULF_VERSION + "\n");
  }
  if (chosen == 'd' && !more) {
    return print(description(program).dump() + "\n");
  }
  if (more) {
    (void)std::fprintf(stderr, "%s: there is no argument '%s' here\n", program.name.c_str(), argv[optind]);
  }
  (void)std::fputs(usage(program).c_str(), stderr);
  return kUsageError;
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  try {
    return obey(program, argc, argv);
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "%s: %s\n", program.name.c_str(), error.what());
    return 1;
  }
}

}  // namespace wulf
