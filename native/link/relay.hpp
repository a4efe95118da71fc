#pragma once

#include <sys/epoll.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/json/json.hpp"
#include "core/stats/histogram.hpp"
#include "core/time/clock.hpp"
#include "link/line.hpp"
#include "link/tap.hpp"
#include "link/urgency.hpp"

namespace wulf::link {

/// The directions of a link, as its node sees them.
enum class Direction : std::size_t { kOut, kIn };

/// Moves the frames of all links, in one thread, so that the emulator never takes more than one CPU.
///
/// The thread sleeps while nothing is due, until shortly before the next frame is; only then does it spin, so
/// that frames leave when they should, whatever a wake-up takes.
class Relay {
 public:
  Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  Relay(Relay&&) = delete;
  Relay& operator=(Relay&&) = delete;
  ~Relay();

  /// A link between two TAP devices, at zero setting. Throws bad-parameter where the name is taken.
  void add(const std::string& name, File node, File port, std::uint64_t seed);
  /// Both devices go. Throws bad-parameter where there is no such link; so do the others below.
  void remove(const std::string& name);
  void set(const std::string& name, Direction direction, const Setting& setting);
  /// {"links": settings and counts of every one, "late": by how much frames that were made to wait left too
  /// late}, in seconds.
  [[nodiscard]] Json status();

 private:
  static constexpr int kEvents = 64;
  struct Port;
  struct Link;
  /// A frame on its way.
  struct Flight {
    Nanoseconds arrival;
    std::uint64_t number;  ///< frames that arrive at once keep the order in which they came
    std::shared_ptr<Port> to;
    std::vector<char> frame;
    bool timed;                                  ///< it was made to wait
    bool operator<(const Flight& other) const {  // std::push_heap puts the largest first: the earliest here
      return arrival != other.arrival ? arrival > other.arrival : number > other.number;
    }
  };

  void call(const std::function<void()>& command);
  void run_commands();
  void loop();
  int wait(std::array<epoll_event, kEvents>& events) const;
  void receive(Port& port);
  void forward(Port& port, std::size_t bytes, Nanoseconds current);
  void launch(const std::shared_ptr<Port>& to, std::size_t bytes, Nanoseconds arrival, bool timed);
  void deliver_due();
  void watch(Port& port);
  [[nodiscard]] Link& find(const std::string& name);

  static constexpr Nanoseconds kLead = 60'000;       ///< a wake-up takes less, nearly always
  static constexpr Nanoseconds kShortLead = 20'000;  ///< and under a real-time policy, on a CPU that is awake
  static constexpr std::size_t kBatch = 16;          ///< frames taken from one device before the others' turn
  static constexpr std::size_t kMostFlights = 1U << 17U;
  static constexpr std::size_t kLongestFrame = 1U << 16U;

  File epoll_;
  File commanded_;  ///< an eventfd that is readable while commands wait
  std::mutex mutex_;
  std::deque<std::function<void()>> commands_;
  bool ended_ = false;

  // The rest belongs to the thread.
  std::map<std::string, std::unique_ptr<Link>> links_;
  std::vector<Flight> flights_;  ///< a heap, the earliest first
  std::vector<std::vector<char>> spare_;
  std::vector<char> scratch_;
  std::uint64_t launched_ = 0;
  Histogram late_;
  Urgency urgency_;
  std::thread thread_;
};

}  // namespace wulf::link
