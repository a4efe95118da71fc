#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/json/json.hpp"

namespace wulf {

/// The texts of the kernel's counter files at one time. Reading is cheap, so that it can stand next to what
/// is measured; parsing comes afterwards.
class CounterTexts {
 public:
  /// Reads the files below `root` ("" = this machine). A file that is not there stands in "missing".
  static CounterTexts read(const std::string& root = "");

  /// {"cpu", "ctxt", "intr", "processes", "interrupts", "softirqs", "softnet", "snmp", "snmp6", "netstat",
  /// "nic", "missing"}: what each holds stands in core/host/proc_text.hpp. Counts are integers, CPU times are
  /// seconds.
  [[nodiscard]] Json parse() const;

  /// What changed from here to `later`: counters_delta of both, for which the lines that changed are parsed.
  /// A node of 128 CPUs has 200 interrupts of 128 figures each, and few of them at work.
  [[nodiscard]] Json delta(const CounterTexts& later) const;

 private:
  std::map<std::string, std::string, std::less<>> texts_;
};

/// What changed from one parsed snapshot to the next: later minus earlier, equal figures left out. "missing"
/// is kept.
[[nodiscard]] Json counters_delta(const Json& before, const Json& after);

}  // namespace wulf
