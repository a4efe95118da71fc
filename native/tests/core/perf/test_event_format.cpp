#include <cstring>
#include <string>
#include <vector>

#include "core/perf/event_format.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

constexpr const char* kHandler = R"(name: irq_handler_entry
ID: 225
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int irq;	offset:8;	size:4;	signed:1;
	field:__data_loc char[] name;	offset:12;	size:4;	signed:0;

print fmt: "irq=%d name=%s", REC->irq, __get_str(name)
)";

constexpr const char* kSoftirq = R"(name: softirq_entry
ID: 223
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:unsigned int vec;	offset:8;	size:4;	signed:0;

print fmt: "vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 0x3, "NET_RX" }, { 9, "RCU" })
)";

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST_CASE("a tracepoint's format: name, number, fields in their places, names of numbers") {
  const auto handler = parse_event_format(kHandler);
  REQUIRE(handler);
  CHECK(handler->name == "irq_handler_entry");
  CHECK(handler->id == 225);
  REQUIRE(handler->fields.size() == 6);
  REQUIRE(handler->field("name") != nullptr);
  CHECK(handler->field("name")->elsewhere);
  CHECK(handler->field("irq")->is_signed);
  CHECK(handler->field("common_type")->size == 2);
  CHECK(handler->field("vec") == nullptr);
  CHECK(handler->symbols.empty());
  const auto softirq = parse_event_format(kSoftirq);
  REQUIRE(softirq);
  CHECK(softirq->symbols.at(3) == "NET_RX");
  CHECK(softirq->symbols.size() == 3);
}

TEST_CASE("arrays, pointers and plain fields have their names") {
  const auto format = parse_event_format(
      "name: x\nID: 1\nfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
      "field:void * function;\toffset:24;\tsize:8;\tsigned:0;\nfield:pid_t "
      "*p;\toffset:32;\tsize:8;\tsigned:0;\n");
  REQUIRE(format);
  CHECK(format->field("prev_comm") != nullptr);
  CHECK(format->field("function") != nullptr);
  CHECK(format->field("p") != nullptr);
}

TEST_CASE("what is no format is none") {
  CHECK_FALSE(parse_event_format(""));
  CHECK_FALSE(parse_event_format("name: x\nfield:int a; offset:0; size:4; signed:1;\n"));
  CHECK_FALSE(parse_event_format("name: x\nID: one\nfield:int a; offset:0; size:4; signed:1;\n"));
  CHECK_FALSE(parse_event_format("name: x\nID: 1\nfield:int a; offset:-4; size:4; signed:1;\n"));
  CHECK_FALSE(
      parse_event_format("name: x\nID: 1\nfield:int a; offset:0; size:99999999999999999999; signed:1;\n"));
}

TEST_CASE("fields are read within their record alone") {
  const std::string record(
      "\xFE\xFF\x01\x00\x04\x00\x03\x00"
      "abc",
      11);
  CHECK(number_at(bytes_of(record), {.name = "", .offset = 0, .size = 2, .is_signed = true}) == -2);
  CHECK(number_at(bytes_of(record), {.name = "", .offset = 0, .size = 2}) == 0xFFFE);
  CHECK_FALSE(number_at(bytes_of(record), {.name = "", .offset = 8, .size = 8}));
  CHECK_FALSE(number_at(bytes_of(record), {.name = "", .offset = 0, .size = 3}));
  CHECK_FALSE(number_at(bytes_of(record), {.name = "", .offset = 60000, .size = 4}));
  CHECK(text_at(bytes_of(record), {.name = "", .offset = 8, .size = 16}) == "abc");
  CHECK(text_at(bytes_of(record), {.name = "", .offset = 12, .size = 4}).empty());
  // four bytes that say where: from 4, 3 long
  CHECK(text_at(bytes_of(record), {.name = "", .offset = 4, .size = 4, .elsewhere = true}).size() <= 7);
  CHECK(text_at(bytes_of(record), {.name = "", .offset = 9, .size = 4, .elsewhere = true}).empty());
}

}  // namespace
