#include "replay/program/first_messages.hpp"

#include <vector>

namespace wulf::replay {

std::uint64_t connect_first_messages(Program& program, Picoseconds connect) {
  const auto sizes = static_cast<std::uint32_t>(program.sizes.size());
  if (connect == 0 || program.messages.count() == 0) {
    return 0;
  }
  program.connect = connect;
  program.connecting = sizes;
  program.sizes.reserve(2 * std::size_t{sizes});
  for (std::uint32_t size = 0; size < sizes; ++size) {
    program.sizes.push_back(program.sizes[size]);
  }
  Messages& messages = program.messages;
  std::vector<std::uint32_t> known(program.ranks(), kNone);  // by peer: the last rank that knew it
  std::uint64_t first = 0;
  for (std::uint32_t rank = 0; rank < program.ranks(); ++rank) {
    known[rank] = rank;
    for (std::uint32_t op = program.first[rank]; op < program.first[rank + 1]; ++op) {
      const std::uint32_t message = program.arg[op];
      if (program.kind[op] == OpKind::kWaitRecv) {
        known[messages.from[message]] = rank;
      } else if (program.kind[op] == OpKind::kSend && known[messages.to[message]] != rank) {
        known[messages.to[message]] = rank;
        messages.size[message] += sizes;
        ++first;
      }
    }
  }
  return first;
}

}  // namespace wulf::replay
