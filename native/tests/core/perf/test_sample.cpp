#include <linux/perf_event.h>

#include <cstring>
#include <string>

#include "core/perf/sample.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

template <typename T>
void append(std::string& record, T value) {
  record.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string with_header(std::uint32_t type, const std::string& body) {
  std::string record;
  append(record,
         perf_event_header{type, 0, static_cast<std::uint16_t>(sizeof(perf_event_header) + body.size())});
  return record + body;
}

std::string sample(std::uint64_t at, const std::string& raw, std::uint64_t registers) {
  std::string body;
  append(body, std::uint32_t{70});  // the process
  append(body, std::uint32_t{71});  // the thread
  append(body, at);
  append(body, static_cast<std::uint32_t>(raw.size()));
  body += raw;
  append(body, registers);
  return with_header(PERF_RECORD_SAMPLE, body);
}

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST_CASE("a sample: its time, the tracepoint's record, and whether the task is a program's") {
  const std::string record = sample(1234, "rawrawrawraw", PERF_SAMPLE_REGS_ABI_64);
  const auto parsed = parse_perf_record(bytes_of(record));
  REQUIRE(parsed);
  CHECK(parsed->at == 1234);
  CHECK(parsed->raw.size() == 12);
  CHECK(parsed->in_user_task);
  CHECK(parsed->thread == 71);
  const std::string of_kernel = sample(1, "raw.", PERF_SAMPLE_REGS_ABI_NONE);
  CHECK_FALSE(parse_perf_record(bytes_of(of_kernel))->in_user_task);
}

TEST_CASE("lost records are counted") {
  std::string body;
  append(body, std::uint64_t{7});
  append(body, std::uint64_t{42});
  append(body, std::uint64_t{71});
  append(body, std::uint64_t{99});
  const std::string record = with_header(PERF_RECORD_LOST, body);
  const auto parsed = parse_perf_record(bytes_of(record));
  REQUIRE(parsed);
  CHECK(parsed->kind == PerfRecord::Kind::kLost);
  CHECK(parsed->lost == 42);
  CHECK(parsed->at == 99);
}

TEST_CASE("a record that is cut short anywhere, of another kind, or of no time is none") {
  const std::string record = sample(1234, "rawrawrawraw", PERF_SAMPLE_REGS_ABI_64);
  for (std::size_t size = 0; size < record.size(); ++size) {
    CHECK_FALSE(parse_perf_record(bytes_of(record).first(size)));
  }
  const std::string other = with_header(PERF_RECORD_COMM, "12345678");
  CHECK_FALSE(parse_perf_record(bytes_of(other)));
  const std::string negative = sample(~0ULL, "raw.", PERF_SAMPLE_REGS_ABI_64);
  CHECK_FALSE(parse_perf_record(bytes_of(negative)));
}

}  // namespace
