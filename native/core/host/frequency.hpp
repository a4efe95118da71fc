#pragma once

#include <string>

#include "core/json/json.hpp"

namespace wulf {

/// The frequency of every CPU now: {"unit": "Hz", "source": "cpufreq", "value": {"0": 3.2e9, …}}, or
/// {"value": null, "reason": …}. "cpufreq" is what the kernel last set or measured; "cpuinfo", where there is
/// no cpufreq, is in a virtual machine mostly the nominal one. Reads below `root` ("" = this machine); some
/// kernels ask every CPU, so that this never belongs into measured time.
[[nodiscard]] Json cpu_frequency(const std::string& root = "");

}  // namespace wulf
