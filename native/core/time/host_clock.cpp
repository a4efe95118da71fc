#include "core/time/host_clock.hpp"

#include <sys/timex.h>

#include <ctime>
#include <fstream>
#include <string>

namespace wulf {

Nanoseconds time_of_day() noexcept {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return (time.tv_sec * kSecond) + time.tv_nsec;
}

Json describe_host_clock() {
  constexpr double kMicro = 1e-6;
  std::string boot_id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot_id);
  timex state{};  // modes = 0: only asks
  const int status = adjtimex(&state);
  const bool synchronised = status >= 0 && status != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  return {
      {"boot_id", boot_id.empty() ? Json(nullptr) : Json(boot_id)},
      {"synchronised", synchronised},
      {"max_error", synchronised ? Json(static_cast<double>(state.maxerror) * kMicro) : Json(nullptr)},
      {"estimated_error", synchronised ? Json(static_cast<double>(state.esterror) * kMicro) : Json(nullptr)}};
}

}  // namespace wulf
