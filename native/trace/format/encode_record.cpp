#include "trace/format/encode_record.hpp"

#include <algorithm>

#include "trace/format/crc.hpp"
#include "trace/format/encode.hpp"

namespace wulf::trace {

namespace {

/// Room for each field without its list.
constexpr std::size_t plain_room = 4 * varint_most;

/// Room for all fields: each list is that of one of them, so that it counts once.
std::size_t room_for(const Record& record) {
  return (most_fields * plain_room) +
         (varint_most * (record.requests.size() + record.counts.size() + record.counts2.size())) +
         record.text.size() + (completion_most * (1 + record.completions.size())) +
         (2 * varint_most * (record.members.size() + record.members2.size()));
}

std::uint8_t* put(std::uint8_t* at, const Completion& one) {
  const std::uint64_t flags =
      (one.wildcard ? told_source : 0) | (one.shorter ? told_bytes : 0) | (one.cancelled ? was_cancelled : 0);
  return put_completion(at, one.request, flags, one.source, one.tag, one.bytes);
}

std::uint8_t* put_requests(std::uint8_t* at, const std::vector<std::int32_t>& requests) {
  at = put_varint(at, requests.size());
  for (const std::int32_t request : requests) {
    at = put_tag(at, request);
  }
  return at;
}

std::uint8_t* put_completions(std::uint8_t* at, const std::vector<Completion>& completions) {
  at = put_varint(at, completions.size());
  for (const Completion& one : completions) {
    at = put(at, one);
  }
  return at;
}

std::uint8_t* put_text(std::uint8_t* at, const std::string& text) {
  at = put_varint(at, text.size());
  return std::copy(text.begin(), text.end(), at);
}

std::uint8_t* put_actual(std::uint8_t* at, const Record& record) {
  const bool exchange = has(record.op, Field::peer2);
  const std::int32_t from = exchange ? record.peer2 : record.peer;
  const std::int32_t tag = exchange ? record.tag2 : record.tag;
  return from == any || tag == any ? put_tag(put_peer(at, record.source), record.source_tag) : at;
}

std::uint8_t* put_list(std::uint8_t* at, const Record& record, Field field) {
  switch (field) {
    case Field::requests:
      return put_requests(at, record.requests);
    case Field::completion:
      return put(at, record.completions.empty() ? Completion{} : record.completions.front());
    case Field::completions:
      return put_completions(at, record.completions);
    case Field::counts:
      return put_counts(at, record.counts.size(), [&](std::size_t i) { return record.counts[i]; });
    case Field::counts2:
      return put_counts2(at, record.counts2 == record.counts, record.counts2.size(),
                         [&](std::size_t i) { return record.counts2[i]; });
    case Field::members:
      return put_members(at, record.members.data(), record.members.size());
    case Field::members2:
      return put_members(at, record.members2.data(), record.members2.size());
    default:
      return put_text(at, record.text);
  }
}

std::uint8_t* put_number(std::uint8_t* at, const Record& record, Field field) {
  switch (field) {
    case Field::comm:
      return put_varint(at, static_cast<std::uint64_t>(std::max(record.comm, 0)));
    case Field::window:
      return put_varint(at, static_cast<std::uint64_t>(std::max(record.window, 0)));
    case Field::bytes:
      return put_varint(at, record.bytes);
    case Field::bytes2:
      return put_varint(at, record.bytes2);
    case Field::given:
      return put_varint(at, record.given);
    case Field::count:
      return put_varint(at, record.count);
    case Field::between:
      return put_varint(at, record.between_ns);
    case Field::number:
      return put_varint(at, zigzag(record.number));
    case Field::thread:
      return put_varint(at, record.thread);
    case Field::site:
      return put_varint(at, record.site);
    default:
      return put_list(at, record, field);
  }
}

std::uint8_t* put_field(std::uint8_t* at, const Record& record, Field field) {
  switch (field) {
    case Field::times:
      return put_times(at, record.gap_ns, record.call_ns);
    case Field::peer:
      return put_peer(at, record.peer);
    case Field::peer2:
      return put_peer(at, record.peer2);
    case Field::root:
      return put_peer(at, record.root);
    case Field::tag:
      return put_tag(at, record.tag);
    case Field::tag2:
      return put_tag(at, record.tag2);
    case Field::newcomm:
      return put_tag(at, record.newcomm);
    case Field::newwin:
      return put_tag(at, record.newwin);
    case Field::request:
      return put_tag(at, record.request);
    case Field::actual:
      return put_actual(at, record);
    default:
      return put_number(at, record, field);
  }
}

void append(std::string& file, const char (&magic)[4], const std::vector<std::uint8_t>& payload,
            std::size_t records) {
  std::uint8_t head[chunk_head];
  put_chunk_head(head, magic, static_cast<std::uint32_t>(payload.size()), static_cast<std::uint32_t>(records),
                 crc32(payload.data(), payload.size()));
  file.append(head, head + chunk_head);
  file.append(payload.begin(), payload.end());
}

/// The chunk of these records; counts the notes that it adds.
std::size_t encode_chunk(const Record* first, const Record* last, std::vector<std::uint8_t>& out) {
  std::size_t written = 0;
  std::uint32_t thread = 0;
  for (; first != last; first++, written++) {
    if (first->thread != thread && first->op != Op::thread) {
      Record note;
      note.op = Op::thread;
      note.thread = first->thread;
      encode(note, out);
      written++;
    }
    thread = first->thread;
    encode(*first, out);
  }
  return written;
}

}  // namespace

void encode(const Record& record, std::vector<std::uint8_t>& out) {
  const std::size_t before = out.size();
  out.resize(before + 1 + room_for(record));
  std::uint8_t* at = out.data() + before;
  *at++ = static_cast<std::uint8_t>(record.op);
  for (const Field field : shape_of(record.op).fields) {
    if (field != Field::end) {
      at = put_field(at, record, field);
    }
  }
  out.resize(static_cast<std::size_t>(at - out.data()));
}

std::string trace_file(const std::string& header, const std::vector<Record>& records, std::size_t per_chunk,
                       Totals totals) {
  std::string file(file_magic, sizeof(file_magic));
  std::uint8_t head[6];
  put_little(put_little(head, file_version), static_cast<std::uint32_t>(header.size()));
  file.append(head, head + sizeof(head));
  file += header;
  totals.records = 0;
  for (std::size_t begin = 0; begin < records.size(); begin += per_chunk) {
    const std::size_t end = std::min(begin + per_chunk, records.size());
    std::vector<std::uint8_t> payload;
    const std::size_t written = encode_chunk(records.data() + begin, records.data() + end, payload);
    append(file, chunk_magic, payload, written);
    totals.records += written;
  }
  totals.bytes = file.size();
  std::vector<std::uint8_t> last(sizeof(Totals));
  put_totals(last.data(), totals);
  append(file, done_magic, last, 0);
  return file;
}

}  // namespace wulf::trace
