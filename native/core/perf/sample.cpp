#include "core/perf/sample.hpp"

#include <linux/perf_event.h>

#include <cstring>
#include <utility>

namespace wulf {
namespace {

/// Takes values off a record's front, as long as there are any.
class Reader {
 public:
  explicit Reader(Bytes left) noexcept : left_(left) {}

  template <typename T>
  [[nodiscard]] std::optional<T> take() noexcept {
    const auto bytes = take(sizeof(T));
    if (!bytes) {
      return std::nullopt;
    }
    T value{};
    std::memcpy(&value, bytes->data(), sizeof(T));
    return value;
  }

  [[nodiscard]] std::optional<Bytes> take(std::size_t size) noexcept {
    if (left_.size() < size) {
      return std::nullopt;
    }
    const Bytes taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }

 private:
  Bytes left_;
};

std::optional<PerfRecord> sample(Reader reader) noexcept {
  const auto process = reader.take<std::uint32_t>();
  const auto thread = reader.take<std::uint32_t>();
  const auto at = reader.take<std::uint64_t>();
  const auto size = reader.take<std::uint32_t>();
  const auto raw = size ? reader.take(*size) : std::nullopt;
  const auto registers = reader.take<std::uint64_t>();
  if (!process || !thread || !at || !std::in_range<Nanoseconds>(*at) || !raw || !registers) {
    return std::nullopt;
  }
  return PerfRecord{.kind = PerfRecord::Kind::kSample,
                    .at = static_cast<Nanoseconds>(*at),
                    .raw = *raw,
                    .in_user_task = *registers != PERF_SAMPLE_REGS_ABI_NONE,
                    .thread = static_cast<std::int32_t>(*thread)};
}

std::optional<PerfRecord> lost(Reader reader) noexcept {
  const auto event = reader.take<std::uint64_t>();
  const auto count = reader.take<std::uint64_t>();
  const auto thread = reader.take<std::uint64_t>();  // with its process: who wrote this
  const auto at = reader.take<std::uint64_t>();
  if (!thread || !event || !count || !at || !std::in_range<Nanoseconds>(*at)) {
    return std::nullopt;
  }
  return PerfRecord{
      .kind = PerfRecord::Kind::kLost, .at = static_cast<Nanoseconds>(*at), .raw = {}, .lost = *count};
}

}  // namespace

std::optional<PerfRecord> parse_perf_record(Bytes record) noexcept {
  Reader reader(record);
  const auto header = reader.take<perf_event_header>();
  if (!header) {
    return std::nullopt;
  }
  switch (header->type) {
    case PERF_RECORD_SAMPLE:
      return sample(reader);
    case PERF_RECORD_LOST:
      return lost(reader);
    default:
      return std::nullopt;
  }
}

}  // namespace wulf
