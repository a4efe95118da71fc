#include "replay/lower/requests.hpp"

namespace wulf::replay {

void Request::complete(Emitter& emitter) {
  for (const std::uint32_t slot : slots) {
    emitter.wait(slot);
  }
  slots.clear();
  if (collective) {
    collective->finish(emitter);
    collective.reset();
  }
  active = false;
}

}  // namespace wulf::replay
