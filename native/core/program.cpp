#include "core/program.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "core/error.hpp"
#include "core/operations.hpp"

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
