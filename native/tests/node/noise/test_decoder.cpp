#include <cstring>
#include <sstream>
#include <string>

#include "core/perf/event_format.hpp"
#include "node/noise/decoder.hpp"
#include "node/noise/symbols.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::node;

std::string format(const std::string& name, int id, const std::string& fields,
                   const std::string& print = "\"\"") {
  return "name: " + name + "\nID: " + std::to_string(id) +
         "\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
         "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" +
         fields + "\nprint fmt: " + print + "\n";
}

std::string field(const std::string& declared, int offset, int size) {
  return "\tfield:" + declared + ";\toffset:" + std::to_string(offset) + ";\tsize:" + std::to_string(size) +
         ";\tsigned:0;\n";
}

/// A tracepoint's record of 64 bytes: its number, who has the CPU, and what else is put in.
class Raw {
 public:
  Raw(std::uint16_t type, std::int32_t pid) : bytes_(64, '\0') {
    put(0, type);
    put(4, pid);
  }
  template <typename T>
  Raw& put(std::size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  Raw& text(std::size_t at, const std::string& value) {
    bytes_.replace(at, value.size(), value);
    return *this;
  }
  [[nodiscard]] PerfRecord record(Nanoseconds at) const {
    return {.kind = PerfRecord::Kind::kSample, .at = at, .raw = std::as_bytes(std::span(bytes_))};
  }

 private:
  std::string bytes_;
};

TEST_CASE("a switch's record, by its format: who leaves, who comes") {
  EventDecoder decoder;
  // elsewhere than on x86 with 16 bytes a name, so that no offset is assumed
  const auto known =
      parse_event_format(format("sched_switch", 372,
                                field("char prev_comm[16]", 12, 16) + field("char next_comm[16]", 28, 16) +
                                    field("pid_t next_pid", 48, 4) + field("long prev_state", 56, 8)));
  REQUIRE(known);
  REQUIRE(decoder.add_switch(*known));
  const Raw raw = Raw(372, 10).text(12, "loop").text(28, "kworker/1:2").put(48, std::int32_t{77});
  const auto event = decoder.decode(raw.record(5));
  REQUIRE(event);
  CHECK(event->kind == Event::Kind::kSwitch);
  CHECK(event->pid == 10);
  CHECK(event->leaving == "loop");
  CHECK(event->who.name == "kworker/1:2");
  CHECK(event->who.pid == 77);
  const Raw idle = Raw(372, 10).text(28, "swapper/1");
  CHECK(decoder.decode(idle.record(6))->who.source == Source::kIdle);
  CHECK(event->in_user_task);
  const Raw ending = Raw(372, 10).put(56, std::int64_t{0x20});
  CHECK_FALSE(decoder.decode(ending.record(6))->in_user_task.has_value());
  const Raw strange(999, 10);
  CHECK_FALSE(decoder.decode(strange.record(7)));
}

TEST_CASE("brackets: named by a text, by a number's name, by a function, or by themselves") {
  EventDecoder decoder;
  const Bracket handler{"irq", "", "", Source::kInterrupt, "irq", Naming::kText, "name"};
  const auto enter = parse_event_format(
      format("irq_handler_entry", 1, field("int irq", 8, 4) + field("__data_loc char[] name", 12, 4)));
  const auto leave = parse_event_format(format("irq_handler_exit", 2, field("int irq", 8, 4)));
  REQUIRE(decoder.add_bracket(handler, *enter, *leave));
  const Raw nic =
      Raw(1, 10).put(8, std::int32_t{38}).put(12, std::uint32_t{(5U << 16U) | 20U}).text(20, "nic0");
  const auto begun = decoder.decode(nic.record(1));
  REQUIRE(begun);
  CHECK(begun->who.name == "nic0");
  CHECK(begun->id == 38);
  const Raw done = Raw(2, 10).put(8, std::int32_t{38});
  CHECK(decoder.decode(done.record(2))->kind == Event::Kind::kLeave);

  const Bracket softirq{"irq", "", "", Source::kSoftirq, "vec", Naming::kSymbol, "vec"};
  const auto soft = parse_event_format(format("softirq_entry", 3, field("unsigned int vec", 8, 4),
                                              R"("", __print_symbolic(REC->vec, { 3, "NET_RX" }))"));
  const auto soft_end = parse_event_format(format("softirq_exit", 4, field("unsigned int vec", 8, 4)));
  REQUIRE(decoder.add_bracket(softirq, *soft, *soft_end));
  const Raw receive = Raw(3, 10).put(8, 3U);
  CHECK(decoder.decode(receive.record(3))->who.name == "NET_RX");
  const Raw unnamed = Raw(3, 10).put(8, 11U);
  CHECK(decoder.decode(unnamed.record(4))->who.name == "number 11");

  const Bracket timer{"timer", "", "", Source::kTimer, "hrtimer", Naming::kFunction, "function"};
  const auto expire = parse_event_format(
      format("hrtimer_expire_entry", 5, field("void * hrtimer", 8, 8) + field("void * function", 16, 8)));
  const auto expired = parse_event_format(format("hrtimer_expire_exit", 6, field("void * hrtimer", 8, 8)));
  REQUIRE(decoder.add_bracket(timer, *expire, *expired));
  const Raw tick = Raw(5, 10).put(8, std::uint64_t{99}).put(16, std::uint64_t{0xffffffff81000010});
  CHECK(decoder.decode(tick.record(5))->who.address == 0xffffffff81000010);

  const Bracket lacking{"irq", "", "", Source::kTimer, "no_such_field", Naming::kFixed, "x"};
  CHECK_FALSE(decoder.add_bracket(lacking, *expire, *expired));
}

TEST_CASE("an NMI says how long it took, and no longer than there has been time") {
  EventDecoder decoder;
  const auto known = parse_event_format(
      format("nmi_handler", 9, field("void * handler", 8, 8) + field("s64 delta_ns", 16, 8)));
  REQUIRE(decoder.add_nmi(*known));
  const Raw usual = Raw(9, 10).put(16, std::int64_t{700});
  CHECK(decoder.decode(usual.record(1000))->length == 700);
  const Raw longer = Raw(9, 10).put(16, std::int64_t{5000});
  CHECK(decoder.decode(longer.record(1000))->length == 1000);
  const Raw negative = Raw(9, 10).put(16, std::int64_t{-5});
  CHECK(decoder.decode(negative.record(1000))->length == 0);
}

TEST_CASE("functions get the kernel's names, of modules too") {
  std::istringstream kallsyms(
      "ffffffff81000000 T _stext\nffffffff81000010 t tick_nohz_handler\nffffffffc0000000 t "
      "watch\t[e1000e]\nnonsense\n");
  const auto names = function_names(kallsyms, {0xffffffff81000010, 0xffffffffc0000000, 1});
  CHECK(names.size() == 2);
  CHECK(names.at(0xffffffff81000010) == "tick_nohz_handler");
  CHECK(names.at(0xffffffffc0000000) == "watch");
}

}  // namespace
