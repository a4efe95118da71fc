#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <sstream>
#include <thread>

#include "core/json/error.hpp"
#include "core/session/session.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

struct Pipe {
  Pipe() { REQUIRE(pipe(ends.data()) == 0); }
  std::array<int, 2> ends{};
};

/// Runs a session over `input` to its end and returns its answers, one JSON a line.
std::vector<Json> converse(const std::string& input, std::map<std::string, Operation> operations) {
  const Pipe in;
  const Pipe out;
  REQUIRE(write_all(in.ends[1], input));
  close(in.ends[1]);
  std::string text;
  std::thread reader([&] {
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = read(out.ends[0], buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  });
  {
    Session session(std::move(operations), in.ends[0], out.ends[1]);
    session.serve();
  }
  close(out.ends[1]);
  reader.join();
  close(in.ends[0]);
  close(out.ends[0]);
  std::vector<Json> answers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    answers.push_back(Json::parse(line));
  }
  return answers;
}

std::map<std::string, Operation> example_operations() {
  return {{"ping", {[](const Json&) { return Json::object(); }}},
          {"echo", {[](const Json& request) {
             return Json{{"text", request.at("text")}};
           }}},
          {"fail", {[](const Json&) -> Json { throw bad_parameter("bytes", "bytes is 0"); }}},
          {"break", {[](const Json&) -> Json { throw std::runtime_error("no more memory"); }}}};
}

TEST_CASE("requests are answered in order, with their ids") {
  const auto answers =
      converse("{\"id\": 5, \"op\": \"ping\"}\n\n  \n{\"id\": -6, \"op\": \"echo\", \"text\": \"a\\nb\"}\n",
               example_operations());
  REQUIRE(answers.size() == 2);
  CHECK(answers[0] == Json({{"id", 5}, {"ok", true}}));
  CHECK(answers[1] == Json({{"id", -6}, {"ok", true}, {"text", "a\nb"}}));
}

TEST_CASE("what goes wrong is answered with a code") {
  const auto answers = converse(
      "not json\n[1]\n{\"op\": \"ping\"}\n{\"id\": 1.5, \"op\": \"ping\"}\n{\"id\": 1}\n{\"id\": 2, \"op\": "
      "\"fly\"}\n"
      "{\"id\": 3, \"op\": \"fail\"}\n{\"id\": 4, \"op\": \"break\"}\n{\"id\": 5, \"op\": 7}\n",
      example_operations());
  REQUIRE(answers.size() == 9);
  const std::vector<std::pair<Json, std::string>> expected{
      {nullptr, "bad-json"},      {nullptr, "bad-json"}, {nullptr, "bad-parameter"},
      {nullptr, "bad-parameter"}, {1, "unknown-op"},     {2, "unknown-op"},
      {3, "bad-parameter"},       {4, "internal"},       {5, "unknown-op"}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(answers[i].dump());
    CHECK(answers[i]["id"] == expected[i].first);
    CHECK(answers[i]["ok"] == false);
    CHECK(answers[i]["error"]["code"] == expected[i].second);
  }
  CHECK(answers[6]["error"]["field"] == "bytes");
  CHECK_FALSE(answers[7]["error"].contains("field"));
}

TEST_CASE("a line beyond the limit is refused, and the next one served") {
  std::string text(60000, 'x');
  text += "\n{\"id\": 1, \"op\": \"ping\"}\n";
  const auto answers = converse(text, example_operations());
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["error"]["code"] == "bad-json");
  LineSplitter lines(8);
  lines.feed("123456789");
  CHECK_FALSE(lines.next());
  lines.feed("0\nok\n123456789\n");
  CHECK(lines.next()->too_long);
  CHECK(lines.next()->text == "ok");
  CHECK(lines.next()->too_long);
  CHECK_FALSE(lines.next());
}

TEST_CASE("bytes that are no UTF-8 do not break the answer") {
  const auto answers =
      converse("{\"id\": 1, \"op\": \"\xff\"}\n{\"id\": 2, \"op\": \"ping\"}\n", example_operations());
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["ok"] == false);
  CHECK(answers[1]["ok"] == true);
}

TEST_CASE("lengthy requests run at the same time, are overtaken, and their lines stay whole") {
  constexpr int kRequests = 32;
  std::atomic<int> present{0};
  std::map<std::string, Operation> operations = example_operations();
  operations["meet"] = {[&present](const Json&) {
                          // Ends only when all are in progress together.
                          ++present;
                          while (present < kRequests) {
                            std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          }
                          return Json{{"text", std::string(3000, 'm')}};
                        },
                        /*lengthy=*/true};
  std::string input;
  for (int id = 1; id <= kRequests; ++id) {
    input += "{\"id\": " + std::to_string(id) + ", \"op\": \"meet\"}\n";
  }
  const auto answers = converse(input, operations);
  std::set<int> ids;
  for (const Json& answer : answers) {
    CHECK(answer["ok"] == true);
    ids.insert(answer["id"].get<int>());
  }
  CHECK(ids.size() == kRequests);
}

TEST_CASE("more lengthy requests than the limit are refused") {
  std::atomic<bool> release{false};
  std::map<std::string, Operation> operations;
  operations["hold"] = {[&release](const Json&) {
                          while (!release) {
                            std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          }
                          return Json::object();
                        },
                        /*lengthy=*/true};
  operations["release"] = {[&release](const Json&) {
    release = true;
    return Json::object();
  }};
  std::string input;
  for (std::size_t id = 1; id <= Session::kMostLengthy + 1; ++id) {
    input += "{\"id\": " + std::to_string(id) + ", \"op\": \"hold\"}\n";
  }
  const auto answers = converse(input + "{\"id\": 0, \"op\": \"release\"}\n", operations);
  REQUIRE(answers.size() == Session::kMostLengthy + 2);
  CHECK(answers[0]["id"] == Session::kMostLengthy + 1);
  CHECK(answers[0]["error"]["code"] == "limit");
}

}  // namespace
