#include "net/wire/tcp_state.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace wulf::net {
namespace {

constexpr double kMicro = 1e6;

/// One figure of tcp_info. Offsets are numbers, since they are the kernel's ABI (include/uapi/linux/tcp.h,
/// which only grows at its end): fields newer than this machine's headers are read all the same.
struct Field {
  std::string_view name;
  std::size_t offset;
  std::size_t size;
  double divisor;
  std::uint64_t none = 0;  ///< the kernel's sign for "no value yet"; 0 = it has none
};

constexpr std::uint64_t kNoThreshold = 0x7fffffff;  // TCP_INFINITE_SSTHRESH: still in slow start
constexpr std::uint64_t kNoRtt = UINT32_MAX;
constexpr std::uint64_t kUnpaced = UINT64_MAX;

constexpr std::array<Field, 16> kCounts{{
    {"total_retrans", 100, 4, 1},
    {"bytes_acked", 120, 8, 1},
    {"bytes_received", 128, 8, 1},
    {"segs_out", 136, 4, 1},
    {"segs_in", 140, 4, 1},
    {"data_segs_in", 152, 4, 1},
    {"data_segs_out", 156, 4, 1},
    {"busy_time", 168, 8, kMicro},
    {"rwnd_limited", 176, 8, kMicro},
    {"sndbuf_limited", 184, 8, kMicro},
    {"delivered", 192, 4, 1},
    {"delivered_ce", 196, 4, 1},
    {"bytes_retrans", 208, 8, 1},
    {"dsack_dups", 216, 4, 1},
    {"reord_seen", 220, 4, 1},
    {"rcv_ooopack", 224, 4, 1},
}};

constexpr std::array<Field, 14> kGauges{{
    {"mss", 16, 4, 1},
    {"unacked", 24, 4, 1},
    {"lost", 32, 4, 1},
    {"pmtu", 60, 4, 1},
    {"rtt", 68, 4, kMicro},
    {"rttvar", 72, 4, kMicro},
    {"ssthresh", 76, 4, 1, kNoThreshold},
    {"cwnd", 80, 4, 1},
    {"rcv_space", 96, 4, 1},
    {"pacing_rate", 104, 8, 1, kUnpaced},
    {"notsent_bytes", 144, 4, 1},
    {"min_rtt", 148, 4, kMicro, kNoRtt},
    {"delivery_rate", 160, 8, 1},
    {"snd_wnd", 228, 4, 1},
}};

static_assert(offsetof(tcp_info, tcpi_rtt) == 68 && offsetof(tcp_info, tcpi_min_rtt) == 148 &&
              offsetof(tcp_info, tcpi_rwnd_limited) == 176);

using Answer = std::array<std::byte, 256>;

template <typename Fields>
Json values_of(const Fields& fields, const Answer& answer, std::size_t length) {
  Json json = Json::object();
  for (const Field& field : fields) {
    if (field.offset + field.size > length) {
      continue;
    }
    std::uint64_t value = 0;
    std::uint32_t narrow = 0;
    if (field.size == sizeof(narrow)) {
      std::memcpy(&narrow, &answer[field.offset], sizeof(narrow));
      value = narrow;
    } else {
      std::memcpy(&value, &answer[field.offset], sizeof(value));
    }
    if (field.none != 0 && value == field.none) {
      continue;
    }
    const std::string name(field.name);
    if (field.divisor == 1) {
      json[name] = value;
    } else {
      json[name] = static_cast<double>(value) / field.divisor;
    }
  }
  return json;
}

}  // namespace

Json tcp_state(int socket) {
  Answer answer{};
  socklen_t length = answer.size();
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, answer.data(), &length) != 0) {
    length = 0;
  }
  return {{"counts", values_of(kCounts, answer, length)}, {"gauges", values_of(kGauges, answer, length)}};
}

}  // namespace wulf::net
