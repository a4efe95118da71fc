#include "net/server/run.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/host/affinity.hpp"
#include "core/host/threads.hpp"
#include "core/json/error.hpp"

namespace wulf::net {

ServerRun::ServerRun(const Pattern& pattern, const Transport& transport, Json params, Control control,
                     std::optional<int> cpu)
    : pattern_(pattern),
      transport_(transport),
      params_(std::move(params)),
      control_(std::move(control)),
      cpu_(cpu),
      lanes_(pattern.lanes(params_)) {
  for (std::uint32_t index = 0; Lane & lane : lanes_) {
    lane.index = index++;
  }
}

ServerRun::~ServerRun() {
  cancel();
  threads_.join();
}

void ServerRun::attend() noexcept {
  try {
    answer({{"op", "ready"}});
    pattern_.attend(*this);
  } catch (const Error& error) {
    if (error.code() != "peer-lost") {
      tell(error);
    }
  } catch (const std::exception& error) {  // a field that is missing or of another type; no memory
    tell(Error("internal", error.what()));
  }
}

void ServerRun::tell(const Error& error) noexcept {
  try {
    answer({{"error", to_json(error)}});
  } catch (const std::exception&) {
    return;  // the client has gone meanwhile: nobody is left to be told
  }
}

std::shared_ptr<Channel> ServerRun::join(std::uint32_t index, const Gate::Make& make) {
  const std::lock_guard lock(mutex_);
  if (index >= lanes_.size() || cancelled_) {
    return nullptr;
  }
  Lane& lane = lanes_[index];
  if (!lane.channel) {
    lane.channel = make(ChannelOptions::from(params_));
    if (!lane.channel) {
      return nullptr;
    }
    threads_.start([this, &lane] { serve_lane(lane); });
    ++joined_;
    joined_changed_.notify_all();
  }
  return lane.channel;
}

void ServerRun::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  control_.interrupt();
  for (const Lane& lane : lanes_) {
    if (lane.channel) {
      lane.channel->interrupt();
    }
  }
  joined_changed_.notify_all();
}

Json ServerRun::await(const std::string& op) {
  constexpr Nanoseconds kTick = 100 * kMillisecond;
  Stall stall(lanes_);
  while (true) {
    if (auto message = control_.poll()) {
      if (message->value("op", "") != op) {
        throw Error("internal",
                    "the client said " + message->dump() + " where the server waits for '" + op + "'");
      }
      return std::move(*message);
    }
    wait_for(control_.fd(), POLLIN, now() + kTick);
    const std::lock_guard lock(mutex_);  // lanes may still be joining
    if (stall.seconds() > timeout() + kGrace) {
      throw Error("timeout", "nothing moved at the server for " + Json(timeout() + kGrace).dump() + " s");
    }
  }
}

void ServerRun::await_lanes() {
  std::unique_lock lock(mutex_);
  const bool all = joined_changed_.wait_for(lock, std::chrono::duration<double>(timeout()),
                                            [this] { return cancelled_ || joined_ == lanes_.size(); });
  if (!all) {
    throw Error("timeout", "only " + std::to_string(joined_) + " of " + std::to_string(lanes_.size()) +
                               " data channels reached the server in time");
  }
}

void ServerRun::pause(Nanoseconds deadline, const std::function<bool()>& until, double patience) {
  constexpr double kBeatsPerTimeout = 5;
  constexpr Nanoseconds kTick = 500 * kMillisecond;
  const Nanoseconds beat = from_seconds(timeout() / kBeatsPerTimeout);
  const bool beats = transport_.spec().datagrams;
  Stall stall(lanes_);
  Nanoseconds next_beat = now() + beat;
  while (now() < deadline && !(until && until())) {
    Nanoseconds wake = std::min(deadline, now() + (until ? kMillisecond : kTick));
    wake = beats ? std::min(wake, next_beat) : wake;
    if (wait_for(control_.fd(), POLLIN, wake)) {
      // Only the end of the connection, which poll() throws, or a message out of turn can be readable here.
      if (const auto message = control_.poll()) {
        throw Error("internal", "the client said " + message->dump() + " out of turn");
      }
    }
    if (beats && now() >= next_beat) {
      answer({{"op", "alive"}});
      next_beat = now() + beat;
    }
    if (std::isfinite(patience) && stall.seconds() > patience + kGrace) {
      throw Error("timeout", "nothing arrived at the server for " + Json(patience + kGrace).dump() + " s");
    }
  }
}

void ServerRun::serve_lane(Lane& lane) noexcept {
  try {
    if (cpu_) {
      pin_to_cpu(*cpu_, "server_cpu");
    }
    own_files(lane.channel->files());
    pattern_.serve(lane, params_, transport_.spec().datagrams);
  } catch (const std::exception&) {
    lane.channel->interrupt();  // the client sees the channel close
  }
}

}  // namespace wulf::net
