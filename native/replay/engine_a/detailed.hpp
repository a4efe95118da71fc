#pragma once

#include "replay/engine_a/costs.hpp"
#include "replay/engine_a/workspace.hpp"
#include "replay/program/program.hpp"
#include "replay/run/network.hpp"
#include "replay/run/run.hpp"

namespace wulf::replay {

/// Engine A's pass over a program on one network, with every operation's time kept. The program has to stay.
struct Detailed {
  /// Throws bad-parameter where only engine B can replay it or it takes too long, and `deadlock`.
  Detailed(const Program& program, const Network& network)
      : classes(program, network.hosts), space(program, Workspace<Lanes1>::Keeps::kAll) {
    refuse_what_needs_b(program, {&network, 1});
    classes.check(network);
    const Network* const one = &network;
    space.run(classes, {&one, 1});
  }

  CostClasses classes;
  Workspace<Lanes1> space;
};

}  // namespace wulf::replay
