#pragma once

#include <cstdint>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// Lets the senders of the first messages between two ranks be busy for so much longer, between hosts and on
/// any network: MPIs connect ranks as they first send to each other, which goes by their own clocks and the
/// kernel's more than by the network's.
///
/// Both ranks' first are, unless a rank has taken a message from the other before it sends one. What a rank
/// with wildcards has taken is not known beforehand. Answers how many messages that are.
std::uint64_t connect_first_messages(Program& program, Picoseconds connect);

}  // namespace wulf::replay
