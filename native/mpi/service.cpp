#include "mpi/service.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "core/host/affinity.hpp"
#include "core/host/counters.hpp"
#include "core/session/operations.hpp"
#include "mpi/probe.hpp"
#include "mpi/ranks/commands.hpp"
#include "mpi/ranks/jobs.hpp"

namespace wulf::mpi {
namespace {

struct Request {
  const RankProbe* probe = nullptr;
  Json params;
};

/// The same on every rank, since all have the same text and the same program.
Request read_request(int ranks, const Json& json) {
  refuse_unknown_fields(json, {"id", "op", "probe", "params"});
  const RankProbe& probe = Registry<RankProbe>::named_in(json, "probe");
  return {&probe, probe.settle(json.value("params", Json::object()), ranks)};
}

/// What `work` threw on this rank, as an Error; nothing where it went well. What all have thrown goes on.
template <typename Work>
std::optional<Error> error_of(Work work) {
  try {
    work();
    return std::nullopt;
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error("limit", "not enough memory for this request: ask for fewer bytes or ranks");
  } catch (const std::exception& error) {
    return Error("internal", error.what());
  }
}

void agree(const World& world, const std::optional<Error>& error) { world.agree(error ? &*error : nullptr); }

/// What the hosts of the run's two ends counted meanwhile, on rank 0.
Json counters_at_ends(const World& world, const std::vector<int>& ends, const Json& mine) {
  constexpr std::array<const char*, 2> kNames{"client", "server"};
  bool is_end = false;
  for (const int rank : ends) {
    is_end = is_end || rank == world.rank();
  }
  const std::vector<std::string> all = world.to_root(is_end ? mine.dump() : "");
  Json counters = Json::object();
  for (std::size_t i = 0; world.root() && i < ends.size() && i < kNames.size(); ++i) {
    counters[kNames.at(i)] = Json::parse(all.at(static_cast<std::size_t>(ends[i])));
  }
  return counters;
}

/// One replicate, on every rank; the answer on rank 0. Throws on every rank or on none.
Json run(const World& world, const Json& json) {
  Request request;
  std::unique_ptr<Replicate> replicate;
  agree(world, error_of([&] {
          request = read_request(world.size(), json);
          replicate = request.probe->prepare(world, request.params);
        }));
  const CounterTexts before = CounterTexts::read();
  MPI_Barrier(world.comm());
  Outcome outcome;
  const std::optional<Error> error = error_of([&] { outcome = replicate->measure(); });
  const CounterTexts after = CounterTexts::read();
  world.meet();
  agree(world, error);
  const std::vector<int> ends = request.probe->ends(world, request.params);
  outcome.counters = counters_at_ends(world, ends, before.delta(after));
  return outcome.answer();
}

/// Each rank stays on its CPU from now on, by rank. Throws on every rank or on none.
Json bind(const World& world, const Json& json) {
  agree(world, error_of([&] { pin_to_cpu(cpu_of(json, world.rank(), world.size()), "cpus"); }));
  return Json::object();
}

/// What all ranks do together.
Json together(const World& world, const Json& json) {
  return json.value("op", "") == "bind" ? bind(world, json) : run(world, json);
}

Json ranks(const World& world) {
  Json list = Json::array();
  for (int rank = 0; rank < world.size(); ++rank) {
    const RankPlace& place = world.places()[static_cast<std::size_t>(rank)];
    list.push_back({{"rank", rank}, {"host", place.host}, {"pid", place.pid}, {"cpus", place.cpus}});
  }
  return {{"ranks", std::move(list)}};
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data(), static_cast<std::size_t>(length));
  while (!version.empty() && (version.back() == '\n' || version.back() == '\0')) {
    version.pop_back();
  }
  return version;
}

Json probes_and_mpi() { return {{"mpi", library_version()}, {"probes", Registry<RankProbe>::describe()}}; }

/// The program with these operations; without ranks they are only described.
Program program_of(const std::function<Json(const Json&)>& all,
                   const std::function<Json(const Json&)>& ranks) {
  return {.name = "wulf-mpi",
          .help = "Measures MPI between its ranks. Part of wulf.",
          .describe = probes_and_mpi,
          .operations = {{"run", {all, /*lengthy=*/true}}, {"bind", {all, true}}, {"ranks", {ranks}}}};
}

}  // namespace

Json describe() { return description(program_of(nullptr, nullptr)); }

void check_run(const Json& json, int ranks) { (void)read_request(ranks, json); }

int cpu_of(const Json& json, int rank, int ranks) {
  refuse_unknown_fields(json, {"id", "op", "cpus"});
  const Json cpus = json.value("cpus", Json::array());
  if (!cpus.is_array() || cpus.size() != static_cast<std::size_t>(ranks)) {
    throw bad_parameter("cpus", "a list of one CPU for each of the " + std::to_string(ranks) + " ranks");
  }
  const Json& mine = cpus.at(static_cast<std::size_t>(rank));
  if (!mine.is_integer()) {
    throw bad_parameter("cpus", "not the number of a CPU: " + mine.dump());
  }
  return mine.get<int>();
}

void serve_root(const World& world) {
  constexpr auto kPatience = std::chrono::milliseconds(1000);
  Jobs jobs;
  const auto on_all = [&](const Json& request) {
    return jobs.ask([&] {
      send_command(world, request.dump());
      return together(world, request);
    });
  };
  const Program program = program_of(on_all, [&world](const Json&) { return ranks(world); });
  Session session(all_operations(program), STDIN_FILENO, STDOUT_FILENO);
  session.print(greeting(program));
  std::thread reader([&] {
    session.serve();
    if (!jobs.close(kPatience)) {
      // Messages may be under way that nobody will ever wait for again: the launcher ends the other ranks, as
      // it does when a rank dies.
      std::_Exit(1);
    }
  });
  jobs.serve();
  reader.join();
  send_command(world, kQuit);
}

void serve_follower(const World& world) {
  while (true) {
    const std::string text = next_command(world);
    if (text == kQuit) {
      return;
    }
    try {
      (void)together(world, Json::parse(text));
    } catch (const AgreedError&) {
      continue;  // rank 0 answers with the same
    }
  }
}

}  // namespace wulf::mpi
