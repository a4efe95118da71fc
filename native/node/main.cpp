#include "core/session/program.hpp"
#include "node/service.hpp"

int main(int argc, char** argv) {
  return wulf::run_program({.name = "wulf-node",
                            .help = "Measures one host: CPU, memory, operating system. Part of wulf.",
                            .describe = wulf::node::describe,
                            .operations = wulf::node::operations()},
                           argc, argv);
}
