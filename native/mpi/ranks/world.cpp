#include "mpi/ranks/world.hpp"

#include <unistd.h>

#include <array>
#include <climits>
#include <numeric>

#include "core/host/affinity.hpp"
#include "mpi/ranks/patience.hpp"

namespace wulf::mpi {
namespace {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

World::World() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
  const Json mine = {{"host", host_name()}, {"pid", getpid()}, {"cpus", cpu_list(allowed_cpus())}};
  Json all = Json::array();
  for (const std::string& text : to_root(mine.dump())) {
    all.push_back(Json::parse(text));
  }
  for (const Json& place : Json::parse(from_root(all.dump()))) {
    places_.push_back({place.at("host").get<std::string>(), place.at("pid").get<pid_t>(),
                       place.at("cpus").get<std::string>()});
  }
}

World::~World() {
  MPI_Comm_free(&control_);
  MPI_Comm_free(&comm_);
}

std::string World::name_of(int rank) const {
  return "rank " + std::to_string(rank) + " on " + places_.at(static_cast<std::size_t>(rank)).host;
}

void World::agree(const Error* error) const {
  int first = error != nullptr ? rank_ : size_;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, control_);
  if (first == size_) {
    return;
  }
  std::string text = error != nullptr ? to_json(*error).dump() : "";
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, control_);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, control_);
  const Json json = Json::parse(text);
  throw AgreedError(json.at("code").get<std::string>(),
                    name_of(first) + ": " + json.at("message").get<std::string>(), json.value("field", ""));
}

void World::meet() const {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(control_, &request);
  sleep_until([&request] {
    int all_here = 0;
    MPI_Test(&request, &all_here, MPI_STATUS_IGNORE);
    return all_here != 0;
  });
}

Json World::hand_over(int from, const Json& json) const {
  constexpr int kTag = 2;
  if (rank_ == from && !root()) {
    const std::string text = json.dump();
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, kTag, control_);
  }
  if (!root()) {
    return nullptr;
  }
  return from == 0 ? json : Json::parse(receive_asleep(control_, from, kTag));
}

std::string World::from_root(const std::string& text) const {
  std::string received = text;
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, control_);
  received.resize(static_cast<std::size_t>(length));
  MPI_Bcast(received.data(), length, MPI_CHAR, 0, control_);
  return received;
}

std::vector<std::string> World::to_root(const std::string& text) const {
  const auto length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size_));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, control_);
  std::vector<int> starts(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), starts.begin(), 0);
  std::string joined(static_cast<std::size_t>(root() ? starts.back() + lengths.back() : 0), '\0');
  MPI_Gatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), starts.data(), MPI_CHAR, 0,
              control_);
  std::vector<std::string> texts;
  for (std::size_t i = 0; root() && i < lengths.size(); ++i) {
    texts.push_back(joined.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

}  // namespace wulf::mpi
