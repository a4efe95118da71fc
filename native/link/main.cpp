#include "core/session/program.hpp"
#include "link/service.hpp"

int main(int argc, char** argv) {
  wulf::link::Service service;
  return wulf::run_program({.name = "wulf-link",
                            .help = "Emulates links between TAP devices. Part of wulf.",
                            .describe = wulf::link::Service::describe,
                            .operations = service.operations()},
                           argc, argv);
}
