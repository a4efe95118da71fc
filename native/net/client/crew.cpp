#include "net/client/crew.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "core/host/affinity.hpp"
#include "core/host/threads.hpp"
#include "core/json/error.hpp"

namespace wulf::net {
namespace {

constexpr Nanoseconds kTick = 100 * kMillisecond;
constexpr Nanoseconds kNudgeTick = 10 * kMillisecond;  // half of the shortest wait for a lost datagram

}  // namespace

Crew::Crew(Lanes& lanes, std::optional<int> cpu, const Body& body, Files files)
    : lanes_(lanes), ended_(Socket::event()), working_(lanes.size()), workers_(lanes.size()) {
  accept_nudges();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    try {
      workers_[i].thread = std::thread([this, i, cpu, body, files] { work(i, cpu, body, files); });
    } catch (const std::system_error& error) {
      end_all();
      throw Error("limit", std::string("the system gives no more threads: ") + error.what());
    }
  }
}

Crew::~Crew() { end_all(); }

void Crew::work(std::size_t index, std::optional<int> cpu, const Body& body, Files files) noexcept {
  try {
    if (cpu) {
      pin_to_cpu(*cpu, "cpu");
    }
    if (files == Files::kOwn) {
      std::vector<int> kept = lanes_[index].channel->files();
      kept.push_back(ended_.fd());
      own_files(std::move(kept));
    }
    body(lanes_[index]);
  } catch (...) {
    workers_[index].failure = std::current_exception();
  }
  if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    eventfd_write(ended_.fd(), 1);
  }
}

void Crew::end_all() {
  if (!ended()) {
    for (const Lane& lane : lanes_) {
      lane.channel->interrupt();
    }
  }
  for (Worker& worker : workers_) {
    if (worker.thread.joinable()) {
      worker.thread.join();
    }
  }
}

std::optional<Json> Crew::watch(Peer& peer, const Watch& watch) {
  Stall stall(lanes_);
  std::array<pollfd, 2> watched{{{ended_.fd(), POLLIN, 0}, {peer.fd(), POLLIN, 0}}};
  while (!ended()) {
    const Nanoseconds left = watch.until - now();
    if (left <= 0 || (watch.done != nullptr && watch.done->load())) {
      return std::nullopt;
    }
    const Nanoseconds pause = std::min(left, watch.nudge || watch.done != nullptr ? kNudgeTick : kTick);
    poll(watched.data(), watched.size(), static_cast<int>((pause + kMillisecond - 1) / kMillisecond));
    if (watched[1].revents != 0) {
      if (auto message = peer.poll()) {
        return message;
      }
    }
    if (watch.nudge) {
      nudge();
    }
    if (stall.seconds() > watch.patience) {
      throw Error("timeout", "nothing moved for " + Json(watch.patience).dump() +
                                 " s, though the connection is open: is the peer, or the path to it, down?");
    }
  }
  join();
  return std::nullopt;
}

void Crew::join() {
  for (Worker& worker : workers_) {
    if (worker.thread.joinable()) {
      worker.thread.join();
    }
  }
  for (const Worker& worker : workers_) {
    if (worker.failure) {
      std::rethrow_exception(worker.failure);
    }
  }
}

void Crew::nudge() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const std::uint64_t messages = lanes_[i].messages.load(std::memory_order_relaxed);
    if (messages == workers_[i].seen) {
      pthread_kill(workers_[i].thread.native_handle(), kNudgeSignal);
    }
    workers_[i].seen = messages;
  }
}

}  // namespace wulf::net
