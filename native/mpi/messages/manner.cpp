#include "mpi/messages/manner.hpp"

#include <algorithm>

namespace wulf::mpi {
namespace {

/// The part of a list that `without` does not name.
std::vector<Param> rest_of(std::vector<Param> params, const std::vector<std::string>& without) {
  params.erase(std::remove_if(params.begin(), params.end(),
                              [&](const Param& param) {
                                return std::find(without.begin(), without.end(), param.name) != without.end();
                              }),
               params.end());
  return params;
}

Manner::Mode mode_of(const std::string& name) {
  if (name == "blocking") {
    return Manner::Mode::kBlocking;
  }
  return name == "persistent" ? Manner::Mode::kPersistent : Manner::Mode::kNonblocking;
}

void check_together(const Manner& manner) {
  const bool blocking = manner.mode == Manner::Mode::kBlocking;
  if (blocking && manner.send == "ready") {
    throw bad_parameter("send",
                        "a ready send needs a receive that is posted already: choose mode "
                        "nonblocking or persistent");
  }
  if (blocking && manner.test) {
    throw bad_parameter("wait",
                        "blocking calls have no request to test: choose mode nonblocking or persistent");
  }
  if (manner.cold && manner.mode == Manner::Mode::kPersistent) {
    throw bad_parameter("buffers",
                        "a persistent request has one buffer for good, which gets warm: choose mode "
                        "blocking or nonblocking");
  }
}

}  // namespace

Manner Manner::of(const Json& params) {
  Manner manner;
  manner.mode = mode_of(params.value("mode", "blocking"));
  manner.send = params.value("send", "standard");
  manner.any = params.value("source", "given") == "any";
  manner.test = params.value("wait", "block") == "test";
  manner.cold = params.value("buffers", "warm") == "cold";
  check_together(manner);
  return manner;
}

SendCalls send_calls(const std::string& kind) {
  if (kind == "synchronous") {
    return {MPI_Ssend, MPI_Issend, MPI_Ssend_init};
  }
  if (kind == "buffered") {
    return {MPI_Bsend, MPI_Ibsend, MPI_Bsend_init};
  }
  if (kind == "ready") {
    return {MPI_Rsend, MPI_Irsend, MPI_Rsend_init};
  }
  return {MPI_Send, MPI_Isend, MPI_Send_init};
}

std::vector<Param> manner_params(const std::string& mode, const std::vector<std::string>& without) {
  return rest_of({{"mode",
                   ParamType::kStr,
                   "",
                   mode,
                   nullptr,
                   nullptr,
                   "MPI_Send and MPI_Recv; MPI_Isend and MPI_Irecv; or requests made once",
                   {"blocking", "nonblocking", "persistent"}},
                  {"send",
                   ParamType::kStr,
                   "",
                   "standard",
                   nullptr,
                   nullptr,
                   "kind of send: MPI_Send, Ssend, "
                   "Bsend or Rsend",
                   {"standard", "synchronous", "buffered", "ready"}},
                  {"source",
                   ParamType::kStr,
                   "",
                   "given",
                   nullptr,
                   nullptr,
                   "receive from the one rank, or with MPI_ANY_SOURCE",
                   {"given", "any"}},
                  {"wait",
                   ParamType::kStr,
                   "",
                   "block",
                   nullptr,
                   nullptr,
                   "for requests: MPI_Wait, or MPI_Test again and again",
                   {"block", "test"}},
                  {"buffers",
                   ParamType::kStr,
                   "",
                   "warm",
                   nullptr,
                   nullptr,
                   "warm: one, used again and again; cold: many, so that none is in a cache",
                   {"warm", "cold"}}},
                 without);
}

std::vector<Param> length_params(const std::string& operation) {
  constexpr int kMost = 1'000'000'000;
  return {{"iterations", ParamType::kInt, "1", nullptr, 1, kMost,
           "exactly so many " + operation + ", timed as a whole; chosen: as many as fit into seconds"},
          {"warmup", ParamType::kInt, "1", 0, 0, kMost, operation + " before, if iterations are given"}};
}

Length length_of(const Json& params) {
  Length length;
  length.seconds = params.at("seconds").get<double>();
  length.warmup = params.value("warmup", 0);
  if (params.contains("iterations")) {
    length.iterations = optional_value<std::int64_t>(params, "iterations");
  }
  return length;
}

std::vector<Param> joined(std::vector<std::vector<Param>> lists) {
  std::vector<Param> all;
  for (std::vector<Param>& list : lists) {
    std::move(list.begin(), list.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace wulf::mpi
