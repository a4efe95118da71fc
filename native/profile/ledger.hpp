#pragma once

#include <cstddef>
#include <cstdint>

namespace wulf::profile {

/// Where the partner of a call is: on this host, on another one, or not told (any source, requests, windows).
enum class Place : std::uint8_t { same, other, open };

inline constexpr std::size_t places = 3;
inline constexpr std::size_t sizes = 65;

/// What was summed of one of MPI's calls.
struct Entry {
  std::uint64_t calls = 0;
  std::uint64_t ticks[places] = {};
  std::uint64_t bytes = 0;
};

/// Messages sent of one size class: those of 2^(i-1) to 2^i - 1 bytes in class i, empty ones in class 0.
struct SizeClass {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// The class of a message of so many bytes.
constexpr std::size_t size_class(std::uint64_t bytes) {
  return bytes == 0 ? 0 : 64U - static_cast<std::size_t>(__builtin_clzll(bytes));
}

/// All that a rank sums up; allocated before the first call, never again.
struct Ledger {
  Entry* entries = nullptr;  ///< by the table's row
  SizeClass sent[places][sizes] = {};

  void message(Place place, std::uint64_t bytes) {
    SizeClass& of = sent[static_cast<std::size_t>(place)][size_class(bytes)];
    of.messages++;
    of.bytes += bytes;
  }
};

}  // namespace wulf::profile
