#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "trace/format/crc.hpp"
#include "trace/format/decode.hpp"

namespace wulf::trace {

namespace {

constexpr std::uint64_t header_most = std::uint64_t{1} << 24U;
/// A length that a torn file claims is not believed.
constexpr std::size_t read_step = std::size_t{1} << 20U;

std::uint64_t little(const std::uint8_t* at, std::size_t length) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < length; i++) {
    value |= static_cast<std::uint64_t>(at[i]) << (8U * i);
  }
  return value;
}

}  // namespace

Reader::Reader(std::istream& from) : _from(from), _over(!read_header()) {}

bool Reader::read(void* into, std::size_t length) {
  _from.read(static_cast<char*>(into), static_cast<std::streamsize>(length));
  const auto got = static_cast<std::uint64_t>(_from.gcount());
  _offset += got;
  return got == length;
}

void Reader::damage(const std::string& what) { _damages.push_back({_chunks, _begin, what}); }

bool Reader::stop(const std::string& what) {
  damage(what);
  _over = true;
  return false;
}

bool Reader::read_header() {
  std::array<std::uint8_t, file_head> head{};
  if (!read(head.data(), head.size()) || std::memcmp(head.data(), file_magic, sizeof(file_magic)) != 0) {
    return stop("it is no trace of a rank: it does not begin as one");
  }
  _version = static_cast<std::uint16_t>(little(head.data() + sizeof(file_magic), 2));
  if (_version < oldest_version || _version > file_version) {
    return stop("its version is " + std::to_string(_version) + ", and " + std::to_string(oldest_version) +
                " to " + std::to_string(file_version) + " are read here");
  }
  const std::uint64_t length = little(head.data() + sizeof(file_magic) + 2, 4);
  if (length > header_most) {
    return stop("its header has no plausible length");
  }
  _header.resize(length);
  if (!read(_header.data(), length)) {
    _header.clear();
    return stop("it ends within its header");
  }
  return true;
}

/// A chunk whose head was read: false where the file ends.
bool Reader::take_chunk(const std::uint8_t* head) {
  std::uint64_t length = little(head + 4, 4);
  _payload.clear();
  while (length > 0) {
    const std::size_t step = std::min<std::uint64_t>(length, read_step);
    const std::size_t before = _payload.size();
    _payload.resize(before + step);
    if (!read(_payload.data() + before, step)) {
      return stop("it ends within a chunk");
    }
    length -= step;
  }
  const std::uint64_t records = little(head + 8, 4);
  _at = _payload.data();
  _left = records;
  _thread = 0;
  _site = 0;
  if (crc32(_payload.data(), _payload.size()) != little(head + 12, 4)) {
    damage("the checksum of a chunk differs");
    _left = 0;
    _at = nullptr;
  }
  return true;
}

bool Reader::next_chunk() {
  _begin = _offset;
  std::array<std::uint8_t, chunk_head> head{};
  if (!read(head.data(), head.size())) {
    return stop(_offset == _begin ? "it ends without DONE: the rank was killed, or still runs"
                                  : "it ends within a chunk's head");
  }
  const bool done = std::memcmp(head.data(), done_magic, sizeof(done_magic)) == 0;
  if (!done && std::memcmp(head.data(), chunk_magic, sizeof(chunk_magic)) != 0) {
    return stop("no chunk begins where one should");
  }
  const std::size_t damaged = _damages.size();
  if (!take_chunk(head.data())) {
    return false;
  }
  _chunk = _chunks++;
  if (!done) {
    return true;
  }
  _over = true;
  _left = 0;
  _at = nullptr;
  if (_damages.size() == damaged) {
    std::array<std::uint64_t, sizeof(Totals) / sizeof(std::uint64_t)> values{};
    for (std::size_t i = 0; i < std::min(values.size(), _payload.size() / 8); i++) {
      values[i] = little(_payload.data() + (8 * i), 8);
    }
    _totals = std::bit_cast<Totals>(values);
  }
  return false;
}

bool Reader::decoded(Record& record) {
  _at = decode(_at, _payload.data() + _payload.size(), record, _version, _limits);
  _left--;
  if (_at == nullptr) {
    _damages.push_back(
        {_chunk, _begin,
         "a record of a chunk can't be understood: it is cut, or names more processes than there are"});
    _left = 0;
    return false;
  }
  _limits.take(record);
  if (record.op == Op::thread) {
    _thread = record.thread;
    return false;
  }
  if (record.op == Op::site) {
    _site = record.site;
    return false;
  }
  record.thread = _thread;
  if (record.op != Op::site_name) {
    record.site = _site;
    _site = 0;
  }
  return true;
}

bool Reader::next(Record& record) {
  for (;;) {
    while (_left > 0) {
      if (decoded(record)) {
        return true;
      }
    }
    if (_at != nullptr && _at != _payload.data() + _payload.size()) {
      _damages.push_back({_chunk, _begin, "a chunk holds more than its records"});
    }
    _at = nullptr;
    if (_over || !next_chunk()) {
      return false;
    }
  }
}

}  // namespace wulf::trace
