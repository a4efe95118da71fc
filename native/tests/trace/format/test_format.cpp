// A rank's trace: what is written is read again, and what is damaged is named.

#include <array>
#include <random>
#include <sstream>

#include "tests/catch.hpp"
#include "trace/format/crc.hpp"
#include "trace/format/decode.hpp"
#include "trace/format/encode_record.hpp"

using namespace wulf::trace;

namespace {

using Random = std::mt19937_64;

/// Numbers of all lengths, small ones as often as large ones.
std::uint64_t any_number(Random& random, unsigned bits) {
  return random() >> (64 - bits + (random() % bits));
}

std::int32_t any_rank(Random& random) {
  return static_cast<std::int32_t>(any_number(random, 31)) + elsewhere;
}

std::int32_t any_id(Random& random) { return static_cast<std::int32_t>(any_number(random, 20)) - 1; }

Completion any_completion(Random& random) {
  Completion one;
  one.request = any_id(random);
  one.wildcard = random() % 2 == 0;
  one.shorter = random() % 2 == 0;
  one.cancelled = random() % 2 == 0;
  one.source = one.wildcard ? any_rank(random) : any;
  one.tag = one.wildcard ? any_id(random) : any;
  one.bytes = one.shorter ? any_number(random, 60) : 0;
  return one;
}

template <typename Entry, typename Make>
std::vector<Entry> some(Random& random, Make make) {
  std::vector<Entry> list;
  for (std::uint64_t left = random() % 9; left > 0; left--) {
    list.insert(list.end(), 1 + (random() % 3), make());
  }
  return list;
}

void fill_lists(Record& record, Random& random) {
  if (has(record.op, Field::requests)) {
    record.requests = some<std::int32_t>(random, [&] { return any_id(random); });
  }
  if (has(record.op, Field::completion)) {
    record.completions = {any_completion(random)};
  }
  if (has(record.op, Field::completions)) {
    record.completions = some<Completion>(random, [&] { return any_completion(random); });
  }
  if (has(record.op, Field::counts)) {
    record.counts = some<std::uint64_t>(random, [&] { return any_number(random, 62); });
  }
  if (has(record.op, Field::counts2)) {  // the same, as many, or not told
    record.counts2 = random() % 2 == 0 ? record.counts
                                       : some<std::uint64_t>(random, [&] { return any_number(random, 62); });
  }
  if (has(record.op, Field::members)) {
    record.members = some<std::int32_t>(random, [&] { return any_rank(random); });
  }
  if (has(record.op, Field::members2)) {
    record.members2 = some<std::int32_t>(random, [&] { return any_rank(random); });
  }
  if (has(record.op, Field::text)) {
    record.text = "program+0x" + std::to_string(random());
  }
}

void fill_source(Record& record, Random& random) {
  const bool exchange = has(record.op, Field::peer2);
  const std::int32_t from = exchange ? record.peer2 : record.peer;
  const std::int32_t tag = exchange ? record.tag2 : record.tag;
  const bool told = from == any || tag == any;
  record.source = told ? any_rank(random) : from;
  record.source_tag = told ? any_id(random) : tag;
}

template <typename Number>
void fill(const Record& record, Field field, Number& number, std::uint64_t value) {
  if (has(record.op, field)) {
    number = static_cast<Number>(value);
  }
}

void fill_ranks(Record& record, Random& random) {
  const auto rank = [&] { return static_cast<std::uint64_t>(any_rank(random)); };
  const auto id = [&] { return static_cast<std::uint64_t>(any_id(random)); };
  fill(record, Field::peer, record.peer, random() % 4 == 0 ? static_cast<std::uint64_t>(any) : rank());
  fill(record, Field::peer2, record.peer2, random() % 4 == 0 ? static_cast<std::uint64_t>(any) : rank());
  fill(record, Field::root, record.root, rank());
  fill(record, Field::tag, record.tag, id());
  fill(record, Field::tag2, record.tag2, id());
  fill(record, Field::comm, record.comm, any_number(random, 20));
  fill(record, Field::window, record.window, any_number(random, 20));
  fill(record, Field::newcomm, record.newcomm, id());
  fill(record, Field::newwin, record.newwin, id());
  fill(record, Field::request, record.request, id());
  fill(record, Field::thread, record.thread, any_number(random, 10));
  fill(record, Field::site, record.site, any_number(random, 10));
}

/// A record with something in each of its operation's fields.
Record any_record(Random& random) {
  Record record;
  do {
    record.op = static_cast<Op>(random() % 256);
  } while (shape_of(record.op).name == nullptr || record.op == Op::thread || record.op == Op::site ||
           record.op == Op::site_name);
  fill(record, Field::times, record.gap_ns, any_number(random, 64));
  fill(record, Field::times, record.call_ns, any_number(random, 64));
  fill_ranks(record, random);
  fill(record, Field::bytes, record.bytes, any_number(random, 64));
  fill(record, Field::bytes2, record.bytes2, any_number(random, 64));
  fill(record, Field::given, record.given, any_number(random, 20));
  fill(record, Field::count, record.count, any_number(random, 64));
  fill(record, Field::between, record.between_ns, any_number(random, 64));
  fill(record, Field::number, record.number, random());
  if (has(record.op, Field::actual)) {
    fill_source(record, random);
  }
  fill_lists(record, random);
  return record;
}

std::vector<Record> any_records(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Record> records;
  for (std::size_t i = 0; i < count; i++) {
    records.push_back(any_record(random));
    records.back().thread = static_cast<std::uint32_t>(random() % 3);
  }
  return records;
}

struct Read {
  std::string header;
  std::vector<Record> records;
  std::vector<Damage> damages;
  std::optional<Totals> totals;
};

Read read_all(const std::string& file) {
  std::istringstream stream(file);
  Reader reader(stream);
  Read result{reader.header(), {}, {}, {}};
  Record record;
  while (reader.next(record)) {
    result.records.push_back(record);
  }
  result.damages = reader.damages();
  result.totals = reader.totals();
  return result;
}

constexpr std::size_t per_chunk = 10;

/// Where each chunk of a file begins, "DONE" included.
std::vector<std::size_t> chunk_begins(const std::string& file, std::size_t header) {
  std::vector<std::size_t> begins;
  for (std::size_t at = file_head + header; at < file.size();) {
    begins.push_back(at);
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; i++) {
      length |= static_cast<std::size_t>(static_cast<std::uint8_t>(file[at + 4 + i])) << (8 * i);
    }
    at += chunk_head + length;
  }
  return begins;
}

}  // namespace

TEST_CASE("the checksum is zlib's") {
  const std::string text = "123456789";
  const auto* data = reinterpret_cast<const std::uint8_t*>(text.data());
  REQUIRE(crc32(data, text.size()) == 0xCBF43926U);
  REQUIRE(crc32(data, 8) == 0x9AE0DAAFU);
  REQUIRE(crc32(data, 0) == 0);
}

TEST_CASE("random records of all operations are read as they were written") {
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    const std::vector<Record> records = any_records(200, seed);
    Totals totals;
    totals.calls = seed;
    const Read read = read_all(trace_file("{\"rank\": 0}", records, per_chunk, totals));
    REQUIRE(read.header == "{\"rank\": 0}");
    REQUIRE(read.damages.empty());
    REQUIRE(read.records == records);
    REQUIRE(read.totals->calls == seed);
  }
}

TEST_CASE("a record's bytes are those of the description") {
  Record record;
  record.op = Op::Isend;
  record.gap_ns = 300;
  record.call_ns = 5;
  record.peer = 4;
  record.tag = 0;
  record.comm = 0;
  record.bytes = 1000;
  record.request = 0;
  std::vector<std::uint8_t> bytes;
  encode(record, bytes);
  REQUIRE(bytes == std::vector<std::uint8_t>{14, 0xAC, 0x02, 5, 7, 1, 0, 0xE8, 0x07, 1});
}

TEST_CASE("a torn file gives all whole chunks and says where it ends") {
  const std::vector<Record> records = any_records(45, 7);
  const std::string file = trace_file("{}", records, per_chunk);
  const std::vector<std::size_t> begins = chunk_begins(file, 2);
  REQUIRE(begins.size() == 6);
  for (std::size_t length = file_head + 2; length < file.size(); length++) {
    const Read read = read_all(file.substr(0, length));
    std::size_t whole = 0;
    while (whole + 1 < begins.size() && begins[whole + 1] <= length) {
      whole++;
    }
    REQUIRE(read.records.size() == std::min(whole * per_chunk, records.size()));
    REQUIRE(read.damages.size() == 1);
    REQUIRE(read.damages[0].chunk == whole);
    REQUIRE(read.damages[0].offset == begins[whole]);
    REQUIRE_FALSE(read.totals.has_value());
  }
}

TEST_CASE("a damaged chunk is named, and the chunks around it are read") {
  const std::vector<Record> records = any_records(30, 9);
  std::string file = trace_file("{}", records, per_chunk);
  const std::vector<std::size_t> begins = chunk_begins(file, 2);
  const std::size_t victim = begins[1] + chunk_head + 3;
  file[victim] = static_cast<char>(file[victim] ^ 0x10);
  const Read read = read_all(file);
  REQUIRE(read.damages.size() == 1);
  REQUIRE(read.damages[0].chunk == 1);
  REQUIRE(read.damages[0].offset == begins[1]);
  REQUIRE(read.damages[0].what == "the checksum of a chunk differs");
  REQUIRE(read.records.size() == 20);
  REQUIRE(read.records[10] == records[20]);
  REQUIRE(read.totals.has_value());
}

TEST_CASE("what is no trace, or of another version, is refused with why") {
  REQUIRE(read_all("").damages[0].what == "it is no trace of a rank: it does not begin as one");
  std::string file = trace_file("{}", {}, per_chunk);
  file[8] = 9;
  REQUIRE(read_all(file).damages[0].what == "its version is 9, and 1 to 2 are read here");
}

TEST_CASE("a file of version 1 has no counts of what is got") {
  Record exchange;
  exchange.op = Op::Alltoallv;
  exchange.comm = world;
  exchange.counts = {3, 4, 4};
  exchange.counts2 = {3, 4, 4};
  Record after;
  after.op = Op::Barrier;
  after.comm = world;
  // each field is a byte or two here: the one that says "the same" is the last
  std::vector<std::uint8_t> payload;
  encode(exchange, payload);
  payload.pop_back();
  encode(after, payload);
  Record read;
  const std::uint8_t* at = decode(payload.data(), payload.data() + payload.size(), read, oldest_version);
  REQUIRE(at != nullptr);
  CHECK(read.counts == exchange.counts);
  CHECK(read.counts2.empty());
  at = decode(at, payload.data() + payload.size(), read, oldest_version);
  CHECK(at == payload.data() + payload.size());
  CHECK(read.op == Op::Barrier);
}

TEST_CASE("an exchange of equal counts takes a byte for those that are got") {
  Record exchange;
  exchange.op = Op::Alltoallv;
  exchange.counts = {40, 40, 40, 40};
  std::vector<std::uint8_t> unknown;
  encode(exchange, unknown);
  exchange.counts2 = exchange.counts;
  std::vector<std::uint8_t> same;
  encode(exchange, same);
  CHECK(same.size() == unknown.size());
  exchange.counts2 = {0, 0, 0, 80};
  std::vector<std::uint8_t> other;
  encode(exchange, other);
  CHECK(other.size() == same.size() + 4);
}

TEST_CASE("a list of more than any machine has ranks is refused before it takes memory") {
  Record counts;
  counts.op = Op::Reduce_scatter;
  counts.counts.assign(most_ranks + 1, 7);  // a run of a few bytes
  Record members;
  members.op = Op::Comm_dup;
  members.newcomm = 2;
  for (std::uint64_t rank = 0; rank <= most_ranks; rank++) {
    members.members.push_back(static_cast<std::int32_t>(rank));
  }
  for (Record* const record : {&counts, &members}) {
    std::vector<std::uint8_t> payload;
    encode(*record, payload);
    CHECK(payload.size() < 32);
    Record read;
    CHECK(decode(payload.data(), payload.data() + payload.size(), read) == nullptr);
    CHECK(read.counts.size() + read.members.size() <= most_ranks);
    (record == &counts ? record->counts.pop_back() : record->members.pop_back());
    payload.clear();
    encode(*record, payload);
    CHECK(decode(payload.data(), payload.data() + payload.size(), read) != nullptr);
  }
}

TEST_CASE("counts are held against the ranks of a run, or the largest group that was named") {
  const auto counted = [](std::size_t count) {
    Record counts;
    counts.op = Op::Reduce_scatter;
    counts.counts.assign(count, 7);
    return counts;
  };
  const auto grouped = [](std::size_t count) {
    Record spawned;
    spawned.op = Op::Comm_spawn;
    spawned.newcomm = 2;
    spawned.members = {0, 1};
    spawned.members2.assign(count, elsewhere);
    return spawned;
  };
  const auto read_of_two = [](const std::vector<Record>& records) {
    std::istringstream stream(trace_file("{}", records, per_chunk));
    Reader reader(stream);
    reader.hold_to(2);
    Record record;
    std::size_t read = 0;
    while (reader.next(record)) {
      read++;
    }
    CHECK(reader.damages().empty() == (read == records.size()));
    return read;
  };
  CHECK(read_of_two({counted(2), counted(2)}) == 2);
  CHECK(read_of_two({counted(2), counted(3)}) == 1);
  CHECK(read_of_two({grouped(5), counted(5), counted(6)}) == 2);
  CHECK(read_of_two({grouped(2 + most_outside), counted(2 + most_outside)}) == 2);
  CHECK(read_of_two({grouped(3 + most_outside)}) == 0);
}

TEST_CASE("no damage of any byte makes the reader fail") {
  const std::string file = trace_file("{}", any_records(60, 11), per_chunk);
  for (std::size_t i = 0; i < file.size(); i++) {
    for (const unsigned change : {1U, 0x80U, 0xFFU}) {
      std::string other = file;
      other[i] = static_cast<char>(static_cast<unsigned char>(other[i]) ^ change);
      const Read read = read_all(other);
      REQUIRE((!read.damages.empty() || i < file_head + 2 || read.records.size() == 60));
    }
  }
}

TEST_CASE("bytes at random are no records, or short ones, and never beyond their end") {
  Random random(13);
  Record record;
  for (int round = 0; round < 20000; round++) {
    std::array<std::uint8_t, 24> bytes{};
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random() & (round % 2 == 0 ? 0x1FU : 0xFFU));
    }
    const std::uint8_t* end = bytes.data() + bytes.size();
    const std::uint8_t* after = decode(bytes.data(), end, record);
    REQUIRE((after == nullptr || (after > bytes.data() && after <= end)));
  }
}
