#include "node/noise/attribution.hpp"

#include <algorithm>

namespace wulf::node {

Culprits::Culprits() {
  for (const Source source : {Source::kEntry, Source::kUnexplained, Source::kUnknown}) {
    (void)number({.source = source, .name = ""});
  }
}

std::size_t Culprits::number(const Culprit& culprit) {
  const auto [found, is_new] = numbers_.try_emplace(culprit, list_.size());
  if (is_new) {
    list_.push_back(culprit);
  }
  return found->second;
}

void Attribution::restart() {
  current_ = watcher_;
  last_ = 0;
  fresh_ = false;
  frames_.clear();
}

void Attribution::emit(Nanoseconds until, std::size_t who, std::vector<Piece>& pieces) {
  if (who != kNobody && until > last_ && last_ > 0) {
    pieces.push_back({.at = last_,
                      .length = until - last_,
                      .who = who,
                      .begins = fresh_,
                      .task = std::max<std::int64_t>(current_, 0)});
    fresh_ = false;
  }
  last_ = std::max(last_, until);
}

std::size_t Attribution::owner() {
  if (const auto frames = frames_.find(current_); frames != frames_.end()) {
    return frames->second.back().who;
  }
  if (current_ == watcher_ || current_ == kNotKnown) {
    return kNobody;
  }
  const auto name = names_.find(current_);
  return culprits_.number({.source = current_ == 0 ? Source::kIdle : Source::kTask,
                           .name = name == names_.end() ? "" : name->second,
                           .pid = current_});
}

/// Every event says who has the CPU: who does so unexpectedly came while records were lost.
void Attribution::settle(const Event& event) {
  if (watcher_ == kNotKnown) {
    watcher_ = event.pid;
  }
  if (event.kind == Event::Kind::kSwitch) {
    names_[event.pid] = event.leaving;
  }
  if (const auto name = names_.find(event.pid); event.in_user_task && name != names_.end()) {
    bool& is_kernel = is_kernel_.try_emplace({event.pid, name->second}, true).first->second;
    is_kernel = is_kernel && !*event.in_user_task;  // who ever had memory of its own is a program
  }
  current_ = event.pid;
}

void Attribution::enter(const Event& event) {
  frames_[event.pid].push_back({event.who.source, event.id, culprits_.number(event.who)});
  fresh_ = true;
}

void Attribution::leave(const Event& event) {
  const auto of_task = frames_.find(event.pid);
  if (of_task == frames_.end()) {
    return;  // it began before we looked
  }
  std::vector<Frame>& frames = of_task->second;
  const auto found = std::find_if(frames.rbegin(), frames.rend(), [&](const Frame& one) {
    return one.source == event.who.source && one.id == event.id;
  });
  if (found != frames.rend()) {
    frames.erase(std::prev(found.base()), frames.end());
  }
  if (frames.empty()) {
    frames_.erase(of_task);
  }
  fresh_ = false;
}

void Attribution::change(const Event& event) {
  names_[event.who.pid] = event.who.name;
  current_ = event.who.pid;
  fresh_ = true;
}

std::vector<Piece> Attribution::follow(std::span<const Event> events) {
  std::vector<Piece> pieces;
  for (const Event& event : events) {
    if (event.kind == Event::Kind::kLost) {
      lost_ += event.id;
      fresh_ = true;
      emit(event.at, Culprits::kLost, pieces);
      frames_.clear();
      continue;
    }
    if (event.kind == Event::Kind::kSpan) {
      emit(event.at - event.length, owner(), pieces);
      fresh_ = true;
      emit(event.at, culprits_.number(event.who), pieces);
      continue;
    }
    emit(event.at, owner(), pieces);
    settle(event);
    switch (event.kind) {
      case Event::Kind::kEnter:
        enter(event);
        break;
      case Event::Kind::kLeave:
        leave(event);
        break;
      default:
        change(event);
        break;
    }
  }
  return pieces;
}

void Attribution::tell_kernel_threads() {
  for (std::size_t number = 0; number < culprits_.size(); ++number) {
    Culprit& one = culprits_.at(number);
    const auto known = is_kernel_.find({one.pid, one.name});
    if (one.source == Source::kTask && known != is_kernel_.end() && known->second) {
      one.source = Source::kKernelThread;
    }
  }
}

std::vector<Piece> split(const Absence& absence, std::span<const Piece> pieces, Nanoseconds edge) {
  const Nanoseconds end = absence.at + absence.length;
  std::vector<Piece> found;
  const auto uncovered = [&](Nanoseconds from, Nanoseconds until) {
    if (until > from) {
      found.push_back({.at = from, .length = until - from, .who = Culprits::kUnexplained, .begins = true});
    }
  };
  auto piece = std::partition_point(pieces.begin(), pieces.end(),
                                    [&](const Piece& one) { return one.at + one.length <= absence.at; });
  Nanoseconds at = absence.at;
  bool is_explained = false;
  for (; piece != pieces.end() && piece->at < end; ++piece) {
    const Nanoseconds from = std::max(piece->at, at);
    const Nanoseconds until = std::min(piece->at + piece->length, end);
    uncovered(at, from);
    found.push_back({.at = from, .length = until - from, .who = piece->who, .begins = piece->begins});
    at = until;
    is_explained = true;
  }
  uncovered(at, end);
  for (Piece& one : found) {
    if (is_explained && one.who == Culprits::kUnexplained && one.length <= edge) {
      one.who = Culprits::kEntry;
    }
  }
  return found;
}

}  // namespace wulf::node
