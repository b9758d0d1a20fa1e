// In how many examples a feature is present, on each of two sides, for more distinct features than memory can hold.
//
// Workers sort what they meet into partitions by key, and a small table then counts one partition after the other:
// one large table would miss the cache at every occurrence. What exceeds the memory is spilled to a file. The result
// has the same order for any memory and any number of workers and threads, because the partitions are always the same
// and keys are sorted inside them.
//
// Counts can also be kept and changed: a record then says whether an example was added, removed, or has another output.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "jobs/team.hpp"
#include "selection/feature_trie.hpp"
#include "selection/spill.hpp"
#include "selection/streaming.hpp"

namespace espalier {

struct CountingNeedsMemory : std::runtime_error {
  CountingNeedsMemory(std::int64_t needed_bytes, std::int64_t given_bytes, bool is_enough);
  std::int64_t needed, given;  // bytes
  bool suffices;               // whether `needed` is enough; else it is what was known to be too little so far
};

struct Counted {
  std::vector<std::uint64_t> key;
  std::vector<std::int32_t> plus, minus;  // in how many examples, by key
  std::int64_t n_occurrences = 0;         // calls of add
  std::int64_t n_distinct = 0;            // keys that were added
  std::int64_t n_spilled = 0;             // bytes
};

// What a record does to the counts of its key, by the sides on which an example has it. Of an example whose predicted
// output changed, the first side is the new one and the second the old one, and both are counted as minus.
enum class Change : std::uint8_t { kAdd, kRemove, kSwap };

class KeptCounts;

// What changes do: to features of a trie, by their numbers; and keys that were not in it and now pass the threshold.
struct CountChanges {
  std::vector<std::uint32_t> node;        // increasing inside of a partition only
  std::vector<std::int32_t> plus, minus;  // what is to be added to the counts of each
  std::vector<std::uint64_t> key;         // sorted as those of Counted
  std::vector<std::int32_t> key_plus, key_minus;
  std::int64_t n_kept = 0;                        // all other keys that an example has now
  std::int64_t n_occurrences = 0, n_spilled = 0;  // as for Counted
};

class OccurrenceCounter {
 public:
  static constexpr unsigned kPlus = 1, kMinus = 2;
  static constexpr int kKeyBits = 62, kPartitionBits = 12, kPartitions = 1 << kPartitionBits;

  // The budget is for records and tables; the result comes on top. With an empty folder nothing is spilled: all must
  // fit, or CountingNeedsMemory is thrown. After an error of any call, only the destructor may follow.
  OccurrenceCounter(int n_workers, std::int64_t memory, const std::string& folder);
  ~OccurrenceCounter();
  OccurrenceCounter(const OccurrenceCounter&) = delete;
  OccurrenceCounter& operator=(const OccurrenceCounter&) = delete;

  // Workers may call these at the same time; a worker begins an example before it adds, and no two workers share one.
  void begin(int worker, std::int64_t example) {
    Worker& own = *workers_[worker];
    if (example != own.example) own.turn_to(example, *this);
  }
  // A key that comes again in the same example counts once for each side; it must come with the same change.
  void add(int worker, std::uint64_t key, unsigned sides, Change change = Change::kAdd) {
    Worker& own = *workers_[worker];
    const std::uint64_t mixed = mix(key);
    const std::uint64_t low = own.tag | static_cast<unsigned>(change) << kSideBits | sides;
    own.put(static_cast<int>(mixed >> kRestBits), mixed << kTagAndSides | low, *this);
  }
  // Keys that are reported even if no example has them.
  void watch(std::span<const std::uint64_t> keys);
  static int partition_of(std::uint64_t key) { return static_cast<int>(mix(key) >> kRestBits); }
  // The keys with max(plus, minus) > threshold and those watched, by partition and then by key. It uses up what
  // was added: call it once.
  Counted count(Team& team, double threshold);
  // Changes what is kept of keys that are not in the trie, and says what becomes of the others. Call one of both.
  CountChanges change(Team& team, double threshold, const FeatureTrie& trie, KeptCounts& kept);

 private:
  friend class KeptCounts;
  // A record is what the partition leaves open of the mixed key, then the example's tag, the change and the sides. Tags
  // go from 1 to kLastTag and begin again; before they do, a record 0 in each partition keeps apart what has equal tags.
  static constexpr int kRestBits = kKeyBits - kPartitionBits, kTagAndSides = 64 - kRestBits;
  static constexpr int kSideBits = 2;
  static constexpr std::uint64_t kSides = 3, kTag = 16, kLastTag = (std::uint64_t{1} << kTagAndSides) - kTag;
  static constexpr std::int64_t kRecord = sizeof(std::uint64_t);
  static constexpr int kChunk = 128;       // records
  static constexpr int kGroups = 16;       // partitions of one group share slabs, which are freed together
  static constexpr int kStaged = 1 << 13;  // records that are written to the file, or read from it, at once
  static constexpr int kTablesPart = 8;    // one part in so many of the memory is for tables

  struct Free {
    void operator()(std::uint64_t* memory) const { std::free(memory); }
  };
  using Slab = std::unique_ptr<std::uint64_t, Free>;
  // Where the next line of a partition goes, in its last chunk.
  struct Tail {
    std::uint64_t *at = nullptr, *end = nullptr;
  };
  // The slabs of a group; chunks are cut from the last one.
  struct Shelf {
    std::vector<Slab> slabs;
    std::uint64_t *at = nullptr, *end = nullptr;
  };
  // What a worker wrote to the file at once: partition after partition.
  struct Spilled {
    std::int64_t offset;               // in bytes
    std::vector<std::int64_t> starts;  // in records
  };
  // What one worker has met. It is the only one to write here, and count reads it afterwards.
  struct alignas(64) Worker {
    alignas(64) std::array<std::uint64_t, static_cast<std::size_t>(kPartitions) * kLine> lines;
    std::array<std::uint8_t, kPartitions> filled{};
    std::array<Tail, kPartitions> tails{};
    std::array<std::vector<std::uint64_t*>, kPartitions> chunks;
    std::array<Shelf, kGroups> shelves;
    std::vector<Slab> spare;
    std::vector<Spilled> spilled;
    std::vector<std::uint64_t> staged;
    std::int64_t example = -1, n_examples = 0, n_slabs = 0, n_marks = 0;
    std::uint64_t tag = 0;

    void turn_to(std::int64_t next, OccurrenceCounter& counter) {
      if (tag == kLastTag) {
        for (int partition = 0; partition < kPartitions; ++partition) put(partition, 0, counter);
        n_marks += kPartitions;
        tag = 0;
      }
      tag += kTag;
      example = next;
      ++n_examples;
    }
    void put(int partition, std::uint64_t record, OccurrenceCounter& counter) {
      const unsigned n = filled[partition];
      lines[static_cast<std::size_t>(partition) * kLine + n] = record;
      filled[partition] = static_cast<std::uint8_t>(n + 1);
      if (n + 1 == kLine) write_line(partition, counter);
    }
    void write_line(int partition, OccurrenceCounter& counter) {
      filled[partition] = 0;  // first: whoever adds again after an error still writes inside the line
      Tail& tail = tails[partition];
      if (tail.at == tail.end) add_chunk(partition, counter);
      stream_line(tail.at, &lines[static_cast<std::size_t>(partition) * kLine]);
      tail.at += kLine;
    }
    void add_chunk(int partition, OccurrenceCounter& counter) {
      Shelf& shelf = shelves[partition / (kPartitions / kGroups)];
      if (shelf.at == shelf.end) {
        Slab slab = counter.slab_for(*this);
        shelf.slabs.push_back(std::move(slab));
        shelf.at = shelf.slabs.back().get();
        shelf.end = shelf.at + counter.slab_records_;
      }
      chunks[partition].push_back(shelf.at);
      tails[partition] = {shelf.at, shelf.at + kChunk};
      shelf.at += kChunk;
    }
    void spill(SpillFile& file);
    // The records of a chunk, and all in memory of a partition.
    std::int64_t n_in(int partition, std::size_t chunk) const {
      return chunk + 1 < chunks[partition].size() ? kChunk : tails[partition].at - chunks[partition][chunk];
    }
    std::int64_t n_written(int partition) const {
      const std::size_t n = chunks[partition].size();
      return n == 0 ? 0 : static_cast<std::int64_t>(n - 1) * kChunk + n_in(partition, n - 1);
    }
  };
  struct Kept {
    std::uint64_t key;
    std::int32_t plus, minus;
  };
  class Table;

  // One to one, so that a partition and the rest of a mixed key give the key back.
  static constexpr std::uint64_t kFirst = 0x9E3779B97F4A7C15ULL, kSecond = 0xBF58476D1CE4E5B9ULL;
  static constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << kKeyBits) - 1;
  static std::uint64_t mix(std::uint64_t key) {
    key = key * kFirst & kKeyMask;
    return (key ^ key >> kKeyBits / 2) * kSecond & kKeyMask;
  }
  static std::uint64_t unmix(std::uint64_t mixed) {
    const std::uint64_t key = mixed * inverse(kSecond) & kKeyMask;
    return (key ^ key >> kKeyBits / 2) * inverse(kFirst) & kKeyMask;
  }
  // Of an odd number, modulo any power of two up to 2^64: each step doubles the bits that are right.
  static constexpr std::uint64_t inverse(std::uint64_t number) {
    std::uint64_t out = number;
    for (int step = 0; step < 6; ++step) out *= 2 - number * out;
    return out;
  }

  Slab slab_for(Worker& worker);
  std::int64_t n_records(int partition) const;
  // Counts a partition in a table, which must be started; and the keys of it that are watched.
  void fill(int partition, Table& table) const;
  static void prefetch_chunk(const std::uint64_t* chunk);
  std::span<const std::uint64_t> watched(int partition) const;
  // Returns how many records were added, and how many bytes spilled; frees what is not needed to count.
  std::pair<std::int64_t, std::int64_t> finish_adding();
  void release(int partition);
  // The parts one after the other.
  static void hand_over(std::vector<std::vector<Kept>>& parts, std::vector<std::uint64_t>& key,
                        std::vector<std::int32_t>& plus, std::vector<std::int32_t>& minus);

  std::int64_t memory_;
  std::int64_t slab_records_ = 0, most_slabs_ = 0;  // of a worker if there is a file, else of all
  std::atomic<std::int64_t> n_slabs_{0};
  std::unique_ptr<SpillFile> file_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint64_t> watched_;  // mixed keys
  std::array<std::atomic<int>, kGroups> n_counted_{};
};

// Counts of keys that are at most a threshold on both sides, in eight bytes each, from one change to the next.
class KeptCounts {
 public:
  static constexpr int kCountBits = 7;
  static constexpr double kMostThreshold = (1 << kCountBits) - 1;

  // If it would take more bytes than this, nothing is kept any more: `is_full`.
  explicit KeptCounts(std::int64_t most_bytes)
      : most_(most_bytes / kBytes / OccurrenceCounter::kPartitions), parts_(OccurrenceCounter::kPartitions) {}
  bool is_full() const { return is_full_; }
  std::int64_t size() const {
    std::int64_t out = 0;
    for (const auto& part : parts_) out += std::ssize(part);
    return out;
  }
  std::int64_t n_bytes() const {
    std::int64_t out = 0;
    for (const auto& part : parts_) out += static_cast<std::int64_t>(part.capacity()) * kBytes;
    return out;
  }

 private:
  friend class OccurrenceCounter;
  static constexpr std::int64_t kBytes = sizeof(std::uint64_t);
  static_assert(2 * kCountBits + OccurrenceCounter::kRestBits == 64);

  std::int64_t most_;                              // of each partition
  std::vector<std::vector<std::uint64_t>> parts_;  // the rest of the mixed key, plus, minus
  std::atomic<bool> is_full_{false};
};

}  // namespace espalier
