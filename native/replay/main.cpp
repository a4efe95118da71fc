#include "core/session/program.hpp"
#include "replay/service.hpp"

int main(int argc, char** argv) {
  wulf::replay::Service service;
  return wulf::run_program(
      {.name = "wulf-replay",
       .help = "Replays traced MPI programs on networks that are only described. Part of wulf.",
       .describe = wulf::replay::Service::describe,
       .operations = service.operations()},
      argc, argv);
}
