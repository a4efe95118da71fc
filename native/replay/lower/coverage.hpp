#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay/program/source.hpp"

namespace wulf::replay {

/// Counts what of a trace a program does not hold.
class Coverage {
 public:
  /// A call whose time is kept as it was recorded.
  void leave_out(const std::string& what, std::uint64_t ns, const std::string& why);
  /// Tests and probes without a result: their time is waiting.
  void add_polls(std::uint64_t count, std::uint64_t ns);
  /// All of a rank's time.
  void add_total(std::uint64_t ns) { total_ns_ += ns; }
  void note(const std::string& text) { notes_.push_back(text); }
  void note_once(const std::string& text);

  /// Share, list and notes; the calls with most seconds first.
  void tell(Loaded& loaded) const;

 private:
  struct Sum {
    std::uint64_t calls = 0;
    std::uint64_t ns = 0;
    std::string why;
  };
  std::map<std::string, Sum> left_out_;
  std::uint64_t total_ns_ = 0;
  std::uint64_t polls_ = 0;
  std::uint64_t poll_ns_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace wulf::replay
