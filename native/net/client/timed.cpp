#include "net/client/timed.hpp"

#include "net/run/during.hpp"

namespace wulf::net {

Nanoseconds ClientTimed::begin(ClientRun& run) {
  const Nanoseconds asked_at = now();
  (void)run.peer().ask({{"op", "begin"}});
  return now() - asked_at;
}

void ClientTimed::work(ClientRun& run, const Crew::Body& body) {
  Crew crew(run.lanes(), run.cpu(), body);
  crew.watch(run.peer(), watch_of(run));
}

Crew::Watch ClientTimed::watch_of(ClientRun& run, const std::atomic<bool>* done) {
  const bool datagrams = run.transport().spec().datagrams;  // their loops watch the time by themselves
  return {.until = std::numeric_limits<Nanoseconds>::max(),
          .patience = datagrams ? std::numeric_limits<double>::infinity() : run.timeout(),
          .done = done,
          .nudge = datagrams};
}

Outcome ClientTimed::counted(ClientRun& run, const std::function<void()>& measured) {
  (void)run.peer().ask({{"op", "start"}});
  During during(run.lanes());
  const CounterTexts before = CounterTexts::read();
  measured();
  const CounterTexts after = CounterTexts::read();
  Json seen = during.end();
  Json finished = run.peer().ask({{"op", "finish"}});
  Outcome outcome;
  outcome.counters["client"] = before.delta(after);
  if (const Json* counters = finished.find("counters")) {
    outcome.counters["server"] = *counters;
  }
  outcome.info = run.lanes().front().channel->info();
  outcome.during["client"] = std::move(seen);
  if (finished.contains("info")) {
    outcome.info["server"] = finished["info"];
    outcome.during["server"] = finished.value("during", Json(nullptr));
  }
  return outcome;
}

void ClientTimed::attend(ServerRun& run) const {
  (void)run.await("begin");
  run.await_lanes();
  run.answer({{"op", "begun"}});
  converse(run);
}

void ClientTimed::converse(ServerRun& run) const {
  (void)run.await("start");
  During during(run.lanes());
  const CounterTexts before = CounterTexts::read();
  run.answer({{"op", "started"}});
  (void)run.await("finish");
  const CounterTexts after = CounterTexts::read();
  Json seen = during.end();
  Json info = run.lanes().front().channel->info();
  info.update(server_info());
  run.answer(
      {{"op", "finished"}, {"during", std::move(seen)}, {"counters", before.delta(after)}, {"info", info}});
}

std::vector<Param> ClientTimed::time_params(double seconds, const std::string& what) {
  constexpr double kWarmup = 0.01;
  constexpr double kLongest = 3600;
  return {
      {"seconds", ParamType::kFloat, "s", seconds, 0, kLongest,
       "measured time; at least one " + what + " is made"},
      {"warmup_seconds", ParamType::kFloat, "s", kWarmup, 0, kLongest, what + "s before the measured ones"}};
}

}  // namespace wulf::net
