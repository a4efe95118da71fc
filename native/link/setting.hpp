#pragma once

#include <cstdint>
#include <vector>

#include "core/json/json.hpp"
#include "core/json/params.hpp"
#include "core/time/clock.hpp"

namespace wulf::link {

/// What one direction of a link does to frames. The defaults do nothing.
struct Setting {
  Nanoseconds delay = 0;      ///< between a frame's last bit and its arrival
  Nanoseconds jitter = 0;     ///< the delay is drawn evenly from delay ± jitter; frames keep their order
  double rate = 0;            ///< bit/s at which frames are sent, one after another; 0: at once
  std::int64_t overhead = 0;  ///< bytes a frame takes on the line beside its own (24 on real Ethernet)
  std::int64_t queue = 1000;  ///< frames that may wait for their turn at the rate; the next one is dropped
  double loss = 0;            ///< share of frames that are lost on the way
  double duplicate = 0;       ///< share of frames that arrive twice
  double reorder = 0;         ///< share of frames that skip the delay, and so overtake those on the way
  std::int64_t mtu =
      65521;  ///< bytes that a frame may carry behind its Ethernet header; a longer one is dropped
  Nanoseconds moderate = 0;  ///< frames that arrive within this time of the first are handed over together
};

/// The parameters as sessions know them, in SI units.
[[nodiscard]] const std::vector<Param>& setting_params();

/// A Setting from a request's object; what it does not name has its default. Throws bad-parameter.
[[nodiscard]] Setting parse_setting(const Json& given);

/// The object that parse_setting would read.
[[nodiscard]] Json describe_setting(const Setting& setting);

}  // namespace wulf::link
