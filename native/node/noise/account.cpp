#include "node/noise/account.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace wulf::node {
namespace {

constexpr std::size_t kMostPieces = 24;  // of an absence, as it is told

}  // namespace

Json to_json(const Culprit& culprit) {
  Json json{{"class", name_of(culprit.source)}, {"name", culprit.name}};
  if (culprit.pid != 0) {
    json["pid"] = culprit.pid;
  }
  return json;
}

void NoiseAccount::add(const Absence& absence, std::vector<Piece> pieces) {
  ++absences_;
  total_ += absence.length;
  for (const Piece& piece : pieces) {
    Share& share = shares_[piece.who];
    share.count += piece.begins ? 1 : 0;
    share.total += piece.length;
    share.longest = std::max(share.longest, piece.length);
  }
  const auto place = std::find_if(worst_.begin(), worst_.end(),
                                  [&](const Detour& one) { return one.absence.length < absence.length; });
  if (place == worst_.end() && worst_.size() >= most_) {
    return;
  }
  worst_.insert(place, {absence, std::move(pieces)});
  worst_.resize(std::min(worst_.size(), most_));
}

std::array<Nanoseconds, kSources> NoiseAccount::by_source(const Culprits& culprits) const {
  std::array<Nanoseconds, kSources> sums{};
  for (const auto& [number, share] : shares_) {
    sums.at(static_cast<std::size_t>(culprits.at(number).source)) += share.total;
  }
  return sums;
}

Json NoiseAccount::table(const Culprits& culprits) const {
  std::map<Culprit, Share> merged;
  for (const auto& [number, share] : shares_) {
    Culprit who = culprits.at(number);
    who.address = 0;
    Share& sum = merged[who];
    sum.count += share.count;
    sum.total += share.total;
    sum.longest = std::max(sum.longest, share.longest);
  }
  std::vector<std::pair<Culprit, Share>> sorted(merged.begin(), merged.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(b.second.total, a.first) < std::tie(a.second.total, b.first);
  });
  Json list = Json::array();
  for (const auto& [who, share] : sorted) {
    Json row = to_json(who);
    row["count"] = share.count;
    row["total"] = to_seconds(share.total);
    row["longest"] = to_seconds(share.longest);
    list.push_back(std::move(row));
  }
  return list;
}

Json NoiseAccount::worst(const Culprits& culprits, Nanoseconds start) const {
  Json list = Json::array();
  for (const Detour& detour : worst_) {
    std::vector<Piece> told = detour.pieces;
    std::sort(told.begin(), told.end(), [](const Piece& a, const Piece& b) {
      return std::tie(b.length, a.at) < std::tie(a.length, b.at);
    });
    const std::size_t more = told.size() - std::min(told.size(), kMostPieces);
    told.resize(told.size() - more);
    std::sort(told.begin(), told.end(), [](const Piece& a, const Piece& b) { return a.at < b.at; });
    Json pieces = Json::array();
    for (const Piece& piece : told) {
      Json one = to_json(culprits.at(piece.who));
      one["at"] = to_seconds(piece.at - detour.absence.at);
      one["length"] = to_seconds(piece.length);
      pieces.push_back(std::move(one));
    }
    list.push_back({{"at", to_seconds(detour.absence.at - start)},
                    {"length", to_seconds(detour.absence.length)},
                    {"pieces", std::move(pieces)},
                    {"more", more}});
  }
  return list;
}

}  // namespace wulf::node
