#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/session/session.hpp"

namespace wulf {

/// A program that is a session: its name, what it says of itself, and its own operations.
/// `ping`, `describe`, `counters` and `clock` are added to these.
struct Program {
  std::string name;
  std::string help;
  std::function<Json()> describe;  ///< transports, patterns, …: what follows "ops"
  std::map<std::string, Operation> operations;
};

inline constexpr int kProtocol = 1;

/// Reads the command line, serves the session on stdin and stdout, and ends the process: no argument =
/// session,
/// `--describe`, `--version`, `--help`. Whatever still runs when stdin closes ends with it. Returns the exit
/// status.
int run_program(const Program& program, int argc, char** argv);

}  // namespace wulf
