#pragma once

#include "core/json/json.hpp"

namespace wulf::net {

/// What TCP_INFO says of a connection now: {"counts": {"segs_out": n, "rwnd_limited": s, …}, "gauges":
/// {"rtt": s, "cwnd": segments, "snd_wnd": B, …}}. Counts grow from the connection's start; times are in
/// seconds, rates in B/s. A field that the kernel does not know, or that has no value yet, is left out.
[[nodiscard]] Json tcp_state(int socket);

}  // namespace wulf::net
