// Counting occurrences: against the definition, in little memory, with a full disk; and the filter against its twin.
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/feature_keys.hpp"
#include "selection/blocked_filter.hpp"
#include "selection/counting.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 28;

struct Occurrence {
  std::int64_t example;
  std::uint64_t key;
  unsigned sides;
};
using Occurrences = std::vector<Occurrence>;  // by example
using Counts = std::map<std::uint64_t, std::pair<int, int>>;

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "counting-tests-XXXXXX").string();
    CHECK(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  bool empty() const { return std::filesystem::is_empty(path); }
  std::string path;
};

// Few examples with many occurrences, few of them distinct, and keys of any size.
Occurrences drawn(unsigned seed, int n, int n_examples, unsigned n_keys) {
  std::mt19937 random(seed);
  Occurrences out;
  for (int k = 0; k < n; ++k) {
    const std::uint64_t number = random() % 3 == 0 ? random() % (n_keys / 10 + 1) : random() % n_keys;
    const std::uint64_t key = number % 2 ? number : features::salt(number) >> 2;
    out.push_back({std::int64_t{k} * n_examples / n, key, 1 + static_cast<unsigned>(random() % 3)});
  }
  return out;
}

// The definition.
Counts counted_slowly(const Occurrences& occurrences) {
  std::map<std::pair<std::uint64_t, std::int64_t>, unsigned> sides;
  for (const Occurrence& one : occurrences) sides[{one.key, one.example}] |= one.sides;
  Counts out;
  for (const auto& [where, present] : sides) {
    out[where.first].first += present & 1;
    out[where.first].second += present >> 1;
  }
  return out;
}

// Every worker is a thread and has every so manieth example.
void add(OccurrenceCounter& counter, const Occurrences& occurrences, int n_workers) {
  std::vector<std::thread> threads;
  for (int worker = 0; worker < n_workers; ++worker) {
    threads.emplace_back([&, worker] {
      for (const Occurrence& one : occurrences) {
        if (one.example % n_workers != worker) continue;
        counter.begin(worker, one.example);
        counter.add(worker, one.key, one.sides);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

bool same(const Counted& a, const Counted& b) {
  return a.key == b.key && a.plus == b.plus && a.minus == b.minus && a.n_occurrences == b.n_occurrences &&
         a.n_distinct == b.n_distinct;
}

void check(const Counted& counted, const Counts& expected, double threshold,
           const std::vector<std::uint64_t>& watched = {}) {
  Counts found;
  for (std::size_t k = 0; k < counted.key.size(); ++k) found[counted.key[k]] = {counted.plus[k], counted.minus[k]};
  CHECK(found.size() == counted.key.size());
  CHECK(counted.n_distinct == std::ssize(expected));
  Counts kept;
  for (const auto& [key, count] : expected) {
    if (std::max(count.first, count.second) > threshold) kept[key] = count;
  }
  for (const std::uint64_t key : watched) kept[key] = expected.contains(key) ? expected.at(key) : Counts::mapped_type();
  CHECK(found == kept);
  for (std::size_t k = 1; k < counted.key.size(); ++k) {
    const auto place = [&](std::size_t at) {
      return std::pair(OccurrenceCounter::partition_of(counted.key[at]), counted.key[at]);
    };
    CHECK(place(k - 1) < place(k));
  }
}

Counted counted(const Occurrences& occurrences, int n_workers, int n_threads, double threshold, std::int64_t memory,
                const std::string& folder, const std::vector<std::uint64_t>& watched = {}) {
  OccurrenceCounter counter(n_workers, memory, folder);
  counter.watch(watched);
  add(counter, occurrences, n_workers);
  Team team(n_threads, {});
  return counter.count(team, threshold);
}

void test_definition() {
  const std::pair<Occurrences, double> cases[] = {
      {drawn(1, 60'000, 100, 20'000), 3.0},  // hardly any partition has a chunk
      {drawn(2, 60'000, 3'000, 20), 100.5},  // few partitions have many chunks
      {drawn(3, 40'000, 7, 4'000), 0.0},     // most keys come again in an example
      {drawn(4, 30'000, 9'000, 300), -1.0},  // tags come again
      {{}, 0.0},
  };
  for (const auto& [occurrences, threshold] : cases) {
    const Counts expected = counted_slowly(occurrences);
    const Counted first = counted(occurrences, 1, 1, threshold, kPlenty, "");
    CHECK(first.n_occurrences == std::ssize(occurrences));
    CHECK(first.n_spilled == 0);
    check(first, expected, threshold);
    for (const int n_workers : {1, 2, 4}) {
      for (const int n_threads : {1, 3}) {
        CHECK(same(counted(occurrences, n_workers, n_threads, threshold, kPlenty, ""), first));
      }
    }
  }
}

// Examples between which nothing comes, so that only marks keep equal tags apart; and one that is begun twice.
void test_many_examples() {
  OccurrenceCounter counter(1, kPlenty, "");
  const std::uint64_t largest = (std::uint64_t{1} << OccurrenceCounter::kKeyBits) - 1;
  for (std::int64_t example = 0; example < 30'000; ++example) {
    counter.begin(0, example);
    if (example % 4095 == 17) counter.add(0, 0, 3);
    if (example % 4096 == 0) counter.add(0, 1, 1);
    counter.begin(0, example);
    if (example % 4095 == 17) counter.add(0, 0, 2);
    if (example % 4094 == 0) counter.add(0, largest, 2);
  }
  Team team(2, {});
  const Counted found = counter.count(team, 0);
  check(found, {{0, {8, 8}}, {1, {8, 0}}, {largest, {0, 8}}}, 0);
  CHECK(found.n_occurrences == 32);
}

void test_watched() {
  const Occurrences occurrences = drawn(5, 20'000, 50, 5'000);
  const Counts expected = counted_slowly(occurrences);
  std::vector<std::uint64_t> watched = {occurrences[3].key, occurrences[77].key, occurrences[78].key};
  for (std::uint64_t key = 1'000'000; key < 1'000'100; ++key) watched.push_back(key);
  for (const double threshold : {-1.0, 0.0, 5.0, 1e9}) {
    const Counted found = counted(occurrences, 2, 3, threshold, kPlenty, "", watched);
    check(found, expected, threshold, watched);
  }
  check(counted({}, 1, 1, 0, kPlenty, "", watched), {}, 0, watched);
}

// The least memory for so many workers, as the error says.
std::int64_t least_memory(int n_workers) {
  try {
    OccurrenceCounter(n_workers, 0, "");
  } catch (const CountingNeedsMemory& error) {
    CHECK(error.suffices && error.given == 0);
    return error.needed;
  }
  CHECK(false);
  return 0;
}

void test_spilled() {
  const Folder folder;
  const Occurrences occurrences = drawn(6, 2'500'000, 9'000, 150'000);
  const Counted expected = counted(occurrences, 1, 1, 3, kPlenty, "");
  CHECK(expected.key.size() > 1'000);
  for (const int n_workers : {1, 3}) {
    for (const int n_threads : {1, 3}) {
      const Counted found = counted(occurrences, n_workers, n_threads, 3, least_memory(n_workers), folder.path);
      CHECK(found.n_spilled > 8'000'000);
      CHECK(same(found, expected));
      CHECK(folder.empty());
    }
  }
  // Most in few partitions, which are longer than what is read at once.
  const Occurrences narrow = drawn(7, 1'500'000, 600'000, 30);
  const Counted spilled = counted(narrow, 1, 2, 3, least_memory(1), folder.path);
  CHECK(spilled.n_spilled > 0);
  CHECK(same(spilled, counted(narrow, 1, 1, 3, kPlenty, "")));
}

template <class Error, class Call>
std::string text_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void test_memory_errors() {
  const auto is_too_little = [](int n_workers, std::int64_t memory) {
    return !text_of<CountingNeedsMemory>([&] { OccurrenceCounter(n_workers, memory, ""); }).empty();
  };
  CHECK(is_too_little(3, least_memory(3) - 1'000) && !is_too_little(3, least_memory(3)));
  // Without a folder.
  std::int64_t n_added = 0;
  const Occurrences occurrences = drawn(8, 1'500'000, 100, 100'000);
  const std::string text = text_of<CountingNeedsMemory>([&] {
    OccurrenceCounter counter(1, least_memory(1), "");
    for (const Occurrence& one : occurrences) {
      counter.add(0, one.key, one.sides);
      ++n_added;
    }
  });
  CHECK(n_added * 8 < least_memory(1));
  CHECK(text.find("more than " + std::to_string(least_memory(1))) != std::string::npos);
  CHECK(text.find("or a folder") != std::string::npos);
  // A table: all keys in one partition, and many threads.
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 0; keys.size() < 3'000; ++key) {
    if (OccurrenceCounter::partition_of(key) == 5) keys.push_back(key);
  }
  std::int64_t memory = least_memory(1);
  const auto n_kept = [&] {
    OccurrenceCounter counter(1, memory, "");
    for (const std::uint64_t key : keys) counter.add(0, key, 1);
    Team team(64, {});
    return counter.count(team, 0).key.size();
  };
  try {
    n_kept();
    CHECK(false);
  } catch (const CountingNeedsMemory& error) {
    CHECK(error.suffices && error.given == memory && error.needed > memory);
    memory = error.needed;
  }
  CHECK(n_kept() == keys.size());
}

void test_spill_errors() {
  const auto missing = text_of<SpillError>([] { OccurrenceCounter(1, kPlenty, "/no/such/folder"); });
  CHECK(missing.find("'/no/such/folder'") != std::string::npos);
  CHECK(missing.find("No such file or directory. Give more memory or another folder.") != std::string::npos);
  // No file may grow beyond a million and some bytes: the write that crosses the limit is short, the next one fails.
  const Folder folder;
  const Occurrences occurrences = drawn(9, 1'500'000, 100, 100'000);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit narrow{1'000'003, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &narrow);
  const std::string full = text_of<SpillError>([&] {
    OccurrenceCounter counter(1, least_memory(1), folder.path);
    for (const Occurrence& one : occurrences) counter.add(0, one.key, one.sides);
  });
  const std::vector<std::uint64_t> many(200'000, 1);
  const std::string cut = text_of<SpillError>([&] { SpillFile(folder.path).write(many.data(), 1'600'000, 0); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(full.find("File too large. Give more memory") != std::string::npos);
  CHECK(cut == full);
  CHECK(folder.empty());
  // What was never written cannot be read.
  SpillFile file(folder.path);
  const std::uint64_t word = 7;
  std::uint64_t back[2] = {0, 0};
  file.write(&word, 8, file.reserve(8));
  file.read(back, 8, 0);
  CHECK(back[0] == word && file.size() == 8);
  CHECK(text_of<SpillError>([&] { file.read(back, 16, 0); }).find("read a temporary file") != std::string::npos);
}

// The filter with one number for each counter.
struct SlowFilter {
  explicit SlowFilter(std::size_t n_lines) : lines(n_lines, std::vector<int>(256, 0)) {}
  bool add(std::uint64_t key, int threshold) {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t hash = features::salt(key), product = hash * 0x9E3779B97F4A7C15ULL;
    std::vector<int>& line = lines[static_cast<std::size_t>(static_cast<Wide>(hash) * lines.size() >> 64)];
    std::vector<std::uint64_t> places;
    for (int k = 0; k < 5; ++k) places.push_back(product >> (24 + 8 * k) & 255);
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    int least = 3;
    for (const std::uint64_t place : places) least = std::min(least, line[place]);
    if (least >= threshold) return true;
    for (const std::uint64_t place : places) line[place] += line[place] == least;
    return false;
  }
  std::vector<std::vector<int>> lines;
};

void test_filter() {
  std::mt19937 random(10);
  std::vector<std::uint64_t> keys(20'000);
  for (std::uint64_t& key : keys) key = random() % 6'000;
  for (const int threshold : {0, 1, 2, 3}) {
    for (const std::int64_t memory : {64, 700, 8'000, 100'000}) {
      BlockedFilter filter(memory, threshold), batched(memory, threshold);
      CHECK(filter.n_bytes() == memory / 64 * 64);
      SlowFilter twin(static_cast<std::size_t>(memory / 64));
      std::vector<std::size_t> passed, passed_in_batch;
      std::map<std::uint64_t, int> times;
      int n_different = 0, n_missed = 0;
      for (std::size_t k = 0; k < keys.size(); ++k) {
        const bool passes = filter.add(keys[k]);
        if (passes) passed.push_back(k);
        n_different += passes != twin.add(keys[k], threshold);
        n_missed += times[keys[k]]++ >= threshold && !passes;
      }
      CHECK(n_different == 0);
      CHECK(n_missed == 0);
      batched.add_batch(keys, [&](std::size_t k) { passed_in_batch.push_back(k); });
      CHECK(passed_in_batch == passed);
      // With room for all there are hardly any mistakes: a key passes each time it comes but the first few.
      std::size_t n_due = 0;
      for (const auto& [key, n] : times) n_due += static_cast<std::size_t>(std::max(0, n - threshold));
      if (memory == 100'000) CHECK(passed.size() - n_due <= 20);
    }
  }
  const auto is_refused = [](std::int64_t memory, int threshold) {
    return !text_of<std::invalid_argument>([&] { BlockedFilter(memory, threshold); }).empty();
  };
  CHECK(is_refused(63, 1) && is_refused(64, 4) && is_refused(64, -1) && is_refused(-64, 1) && !is_refused(64, 3));
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"definition", test_definition}, {"many examples", test_many_examples}, {"watched", test_watched},
      {"spilled", test_spilled},       {"memory errors", test_memory_errors}, {"spill errors", test_spill_errors},
      {"filter", test_filter},
  };
  return run_all("counting_tests", tests);
}
