#include "interpose/ticks.hpp"

#include <cstdio>
#include <cstring>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace wulf::interpose {

#ifdef __x86_64__
namespace {

/// CPUID leaf 0x80000007, EDX bit 8: the time stamp counter is invariant (Intel SDM 3B, 18.17.1).
bool is_invariant() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8U)) != 0;
}

/// A kernel that found the counters of two sockets apart takes "tsc" from its list. No list: nobody objects.
bool is_trusted() {
  const char* list = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
  std::FILE* file = std::fopen(list, "re");
  if (file == nullptr) {
    return true;
  }
  char text[256] = {};
  const std::size_t got = std::fread(text, 1, sizeof(text) - 1, file);
  (void)std::fclose(file);
  return got == 0 || std::strstr(text, "tsc") != nullptr || std::strstr(text, "kvm-clock") != nullptr;
}

}  // namespace

bool has_steady_counter() { return is_invariant() && is_trusted(); }
#elif defined(__aarch64__)
bool has_steady_counter() { return true; }  // the generic timer, at one rate by the architecture
#else
bool has_steady_counter() { return false; }
#endif

}  // namespace wulf::interpose
