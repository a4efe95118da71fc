#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "replay/lower/collectives.hpp"
#include "replay/program/source.hpp"
#include "trace/format/record.hpp"

namespace wulf::replay {

/// A message between two ranks, as a call names it.
struct NamedMessage {
  std::int32_t peer = trace::nobody;  ///< in the world
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  bool sends = false;
  bool wildcard = false;
  std::uint32_t comm = 0;  ///< id, which a wildcard's tag is of
};

/// What waits behind a request's number until it completes.
struct Request {
  std::vector<std::uint32_t> slots;  ///< waited for in this order
  std::unique_ptr<PendingCollective> collective;
  std::optional<KeptCall> kept;            ///< a collective that stays a call, where it completes
  std::optional<NamedMessage> persistent;  ///< what its start posts
  bool active = false;
  bool buffered = false;  ///< its bytes are copied: nobody waits for it

  /// Completes it; a persistent one is inactive then.
  void complete(Emitter& emitter);
};

}  // namespace wulf::replay
