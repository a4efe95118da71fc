#include "core/session/program.hpp"
#include "net/service.hpp"

int main(int argc, char** argv) {
  wulf::net::Service service;
  return wulf::run_program({.name = "wulf-net",
                            .help = "Measures the network between two hosts. Part of wulf.",
                            .describe = wulf::net::Service::describe,
                            .operations = service.operations()},
                           argc, argv);
}
