#include <string>
#include <vector>

#include "node/noise/account.hpp"
#include "node/noise/attribution.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::node;

constexpr std::int64_t kLoop = 10;

Event change(Nanoseconds at, std::int64_t from, const std::string& leaving, std::int64_t to,
             const std::string& next, bool leaves_program = true) {
  return {.kind = Event::Kind::kSwitch,
          .at = at,
          .who = {.source = to == 0 ? Source::kIdle : Source::kTask, .name = next, .pid = to},
          .pid = from,
          .leaving = leaving,
          .in_user_task = leaves_program};
}

Event enter(Nanoseconds at, Source source, const std::string& name, std::uint64_t id,
            std::int64_t pid = kLoop) {
  return {
      .kind = Event::Kind::kEnter, .at = at, .who = {.source = source, .name = name}, .id = id, .pid = pid};
}

Event leave(Nanoseconds at, Source source, std::uint64_t id, std::int64_t pid = kLoop) {
  return {.kind = Event::Kind::kLeave, .at = at, .who = {.source = source, .name = ""}, .id = id, .pid = pid};
}

/// What follow() gives, as text: "100+20 irq nic; …", with a star where a culprit goes on.
std::string told(Culprits& culprits, const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    const Culprit& who = culprits.at(piece.who);
    text += (text.empty() ? "" : "; ") + std::to_string(piece.at) + "+" + std::to_string(piece.length) + " " +
            name_of(who.source) + (who.name.empty() ? "" : " " + who.name) + (piece.begins ? "" : "*");
  }
  return text;
}

TEST_CASE("an interrupt within a softirq within a task: each stretch is the innermost's") {
  Culprits culprits;
  Attribution attribution(culprits);
  const std::vector<Event> events{
      change(100, kLoop, "loop", 20, "make"),        enter(200, Source::kSoftirq, "NET_RX", 3, 20),
      enter(250, Source::kInterrupt, "nic", 38, 20), leave(260, Source::kInterrupt, 38, 20),
      leave(300, Source::kSoftirq, 3, 20),           change(400, 20, "make", kLoop, "loop"),
  };
  CHECK(told(culprits, attribution.follow(events)) ==
        "100+100 task make; 200+50 softirq NET_RX; 250+10 interrupt nic; 260+40 softirq NET_RX*; 300+100 "
        "task make*");
}

TEST_CASE("what interrupts the loop itself is told, and the loop's own time is nobody's") {
  Culprits culprits;
  Attribution attribution(culprits);
  const std::vector<Event> events{
      enter(100, Source::kInterrupt, "local_timer", 236),
      enter(110, Source::kTimer, "tick", 0xAB),
      leave(130, Source::kTimer, 0xAB),
      leave(140, Source::kInterrupt, 236),
      enter(500, Source::kSoftirq, "TIMER", 1),
      leave(520, Source::kSoftirq, 1),
  };
  CHECK(
      told(culprits, attribution.follow(events)) ==
      "100+10 interrupt local_timer; 110+20 timer tick; 130+10 interrupt local_timer*; 500+20 softirq TIMER");
}

TEST_CASE("a thread that is preempted in the midst of a softirq goes on with it") {
  Culprits culprits;
  Attribution attribution(culprits);
  const std::vector<Event> events{
      change(100, kLoop, "loop", 16, "ksoftirqd/1"),
      enter(110, Source::kSoftirq, "NET_RX", 3, 16),
      change(150, 16, "ksoftirqd/1", 30, "urgent", false),
      change(170, 30, "urgent", 16, "ksoftirqd/1"),
      leave(190, Source::kSoftirq, 3, 16),
      change(200, 16, "ksoftirqd/1", kLoop, "loop", false),
  };
  const auto pieces = attribution.follow(events);
  attribution.tell_kernel_threads();
  CHECK(told(culprits, pieces) ==
        "100+10 kernel_thread ksoftirqd/1; 110+40 softirq NET_RX; 150+20 task urgent; 170+20 softirq NET_RX; "
        "190+10 kernel_thread ksoftirqd/1*");
}

TEST_CASE("an identifier that is used again is another culprit") {
  Culprits culprits;
  Attribution attribution(culprits);
  const std::vector<Event> events{change(100, kLoop, "loop", 40, "sh"), change(200, 40, "sh", kLoop, "loop"),
                                  change(300, kLoop, "loop", 40, "kworker/1:2"),
                                  change(350, 40, "kworker/1:2", kLoop, "loop", false)};
  const auto pieces = attribution.follow(events);
  attribution.tell_kernel_threads();
  CHECK(told(culprits, pieces) == "100+100 task sh; 300+50 kernel_thread kworker/1:2");
}

TEST_CASE("a program that ends, or starts another, is still no kernel thread") {
  Culprits culprits;
  Attribution attribution(culprits);
  Event last = change(400, 40, "sh", kLoop, "loop");
  last.in_user_task = std::nullopt;  // its memory is gone
  Event within = enter(350, Source::kSoftirq, "RCU", 9, 40);
  within.in_user_task = false;  // it is on its way there
  const std::vector<Event> events{
      change(100, kLoop, "loop", 40, "sh"),    change(200, 40, "sh", kLoop, "loop"),
      change(300, kLoop, "loop", 40, "sh"),    within,
      leave(360, Source::kSoftirq, 9, 40),     last,
      change(500, kLoop, "loop", 41, "brief"), change(600, 41, "brief", kLoop, "loop")};
  const auto pieces = attribution.follow(events);
  attribution.tell_kernel_threads();
  CHECK(told(culprits, pieces) ==
        "100+100 task sh; 300+50 task sh; 350+10 softirq RCU; 360+40 task sh*; 500+100 task brief");
}

TEST_CASE("after lost records nothing is assumed, and who has the CPU is told by the next one") {
  Culprits culprits;
  Attribution attribution(culprits);
  const std::vector<Event> events{
      enter(100, Source::kInterrupt, "nic", 38),  {.kind = Event::Kind::kLost, .at = 900, .id = 12},
      enter(901, Source::kSoftirq, "RCU", 9, 50), leave(910, Source::kSoftirq, 9, 50),
      change(950, 50, "stranger", kLoop, "loop"), leave(960, Source::kInterrupt, 38),
  };
  CHECK(told(culprits, attribution.follow(events)) == "100+800 unknown; 901+9 softirq RCU; 910+40 task*");
  CHECK(attribution.lost() == 12);
}

TEST_CASE("events out of order, ends without a beginning, and an NMI that says how long it took") {
  Culprits culprits;
  Attribution attribution(culprits);
  const std::vector<Event> events{
      leave(50, Source::kSoftirq, 1),
      enter(100, Source::kInterrupt, "nic", 38),
      leave(90, Source::kInterrupt, 38),
      enter(200, Source::kInterrupt, "nic", 38),
      {.kind = Event::Kind::kSpan,
       .at = 240,
       .who = {.source = Source::kNmi, .name = "perf"},
       .length = 15,
       .pid = kLoop},
      leave(260, Source::kInterrupt, 38),
      {.kind = Event::Kind::kSpan,
       .at = 300,
       .who = {.source = Source::kNmi, .name = "perf"},
       .length = 900,
       .pid = kLoop},
  };
  CHECK(told(culprits, attribution.follow(events)) ==
        "200+25 interrupt nic; 225+15 nmi perf; 240+20 interrupt nic*; 260+40 nmi perf");
}

TEST_CASE("an absence: who was there, what lies between, and what nobody explains") {
  const std::vector<Piece> pieces{{100, 50, 7, true}, {160, 40, 8, true}, {1000, 10, 7, true}};
  constexpr Nanoseconds kEdge = 20;
  const auto whole = split({90, 130}, pieces, kEdge);
  CHECK(whole == std::vector<Piece>{{90, 10, Culprits::kEntry, true},
                                    {100, 50, 7, true},
                                    {150, 10, Culprits::kEntry, true},
                                    {160, 40, 8, true},
                                    {200, 20, Culprits::kEntry, true}});
  // longer than entering takes: the hypervisor had the CPU, and the interrupt came when it gave it back
  const auto stolen = split({900, 115}, pieces, kEdge);
  CHECK(stolen == std::vector<Piece>{{900, 100, Culprits::kUnexplained, true},
                                     {1000, 10, 7, true},
                                     {1010, 5, Culprits::kEntry, true}});
  CHECK(split({300, 5}, pieces, kEdge) == std::vector<Piece>{{300, 5, Culprits::kUnexplained, true}});
  CHECK(split({120, 10}, pieces, kEdge) == std::vector<Piece>{{120, 10, 7, true}});
}

TEST_CASE("the account: a table by culprit, sums by class, the worst in full") {
  Culprits culprits;
  const std::size_t tick = culprits.number({.source = Source::kTimer, .name = "", .address = 1});
  const std::size_t other = culprits.number({.source = Source::kTimer, .name = "", .address = 2});
  const std::size_t make = culprits.number({.source = Source::kTask, .name = "make", .pid = 20});
  culprits.at(tick).name = culprits.at(other).name = "tick";  // one function's name for two addresses
  NoiseAccount account(1);
  account.add({1000, 100}, {{1000, 60, tick, true}, {1060, 40, other, true}});
  account.add({5000, 3000}, {{5000, 2000, make, true}, {7000, 5, tick, true}, {7005, 995, make, false}});
  CHECK(account.absences() == 2);
  CHECK(account.total() == 3100);
  const Json table = account.table(culprits);
  REQUIRE(table.size() == 2);
  CHECK(table[0].dump() ==
        R"({"class":"task","name":"make","pid":20,"count":1,"total":2.995e-06,"longest":2e-06})");
  CHECK(table[1].at("count").get<int>() == 3);
  CHECK(account.by_source(culprits).at(static_cast<std::size_t>(Source::kTimer)) == 105);
  const Json worst = account.worst(culprits, 1000);
  REQUIRE(worst.size() == 1);
  CHECK(worst[0].at("pieces").size() == 3);
  CHECK(worst[0].at("more").get<int>() == 0);
}

}  // namespace
