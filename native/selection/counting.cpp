#include "selection/counting.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "corpus/hashing.hpp"
#include "parsing/weight_table.hpp"

namespace espalier {

namespace {

constexpr std::int64_t kLargeSlab = 1 << 19, kSmallSlab = 1 << 15;  // records: from 4 MiB on there are large pages

std::string needs_text(std::int64_t needed, std::int64_t given, bool suffices) {
  return "Counting occurrences needs " + std::string(suffices ? "" : "more than ") + std::to_string(needed) +
         " bytes of memory, but the budget is " + std::to_string(given) + " bytes. Give more memory" +
         (suffices ? "." : " or a folder for temporary files.");
}

}  // namespace

CountingNeedsMemory::CountingNeedsMemory(std::int64_t needed_bytes, std::int64_t given_bytes, bool is_enough)
    : std::runtime_error(needs_text(needed_bytes, given_bytes, is_enough)),
      needed(needed_bytes),
      given(given_bytes),
      suffices(is_enough) {}

// Counts one partition: linear probing, at most five eighths full. The order of its places depends on a random seed,
// against input made to fill one place; what is kept is sorted, so no result does.
class alignas(64) OccurrenceCounter::Table {
 public:
  Table(std::int64_t memory, int n_threads)
      : memory_(memory), shares_(std::int64_t{kTablesPart} * n_threads), staged_(kStaged) {}

  // Partitions resemble each other, so a table begins as large as the last one had to be.
  void start(int partition, std::int64_t n_records) {
    partition_ = partition;
    n_records_ = n_records;
    resize(capacity_for(n_used_));
    if (std::ssize(entries_) < capacity_) entries_ = LargeVector<Entry>(capacity_);
    std::memset(static_cast<void*>(entries_.data()), 0, sizeof(Entry) * static_cast<std::size_t>(capacity_));
    n_used_ = 0;
    stamp_ = 0;
  }
  void start_worker() {
    tag_ = 0;
    stamp_ += kTag;
  }
  void add(const std::uint64_t* records, std::int64_t n_records) {
    std::uint64_t hashes[kBatch];
    for (std::int64_t first = 0; first < n_records; first += kBatch) {
      const int n = static_cast<int>(std::min<std::int64_t>(kBatch, n_records - first));
      if (n_used_ + n > room_) grow();
      Entry* const entries = entries_.data();
      for (int k = 0; k < n; ++k) {
        hashes[k] = hasher_(records[first + k] >> kTagAndSides);
        __builtin_prefetch(&entries[hashes[k] >> shift_], 1);
      }
      // In registers: the compiler cannot know that no entry is a member of this table.
      std::uint64_t stamp = stamp_, tag = tag_;
      std::int64_t n_used = n_used_;
      for (int k = 0; k < n; ++k) {
        const std::uint64_t record = records[first + k], sides = record & kSides;
        // Without a branch, because nobody can foresee when the example changes.
        stamp += (record & kLastTag) == tag ? 0 : kTag;
        tag = record & kLastTag;
        if (sides == 0) continue;
        Entry& entry = entries[place_of(record >> kTagAndSides, hashes[k])];
        const std::uint64_t seen = (entry.stamp ^ stamp) < kTag ? entry.stamp & kSides : 0;
        const Steps steps = kSteps[(record & (kTag - kSides - 1)) | (sides & ~seen)];
        n_used += entry.name == 0;
        entry.name = (record >> kTagAndSides) + 1;
        entry.stamp = stamp | seen | sides;
        entry.plus += steps.plus;
        entry.minus += steps.minus;
      }
      stamp_ = stamp;
      tag_ = tag;
      n_used_ = n_used;
    }
  }
  std::int64_t n_used() const { return n_used_; }
  std::uint64_t* staged() { return staged_.data(); }  // for records that are read from the file
  void keep(double threshold, std::span<const std::uint64_t> watched, std::vector<Kept>& kept) const {
    for (std::int64_t k = 0; k < capacity_; ++k) {
      const Entry& entry = entries_[k];
      // The counts come first: few keys pass, but which places are free nobody can foresee.
      if (std::max(entry.plus, entry.minus) > threshold && entry.name != 0) kept.push_back(kept_of(entry));
    }
    for (const std::uint64_t mixed : watched) {
      const std::uint64_t rest = mixed & kRestMask;
      Entry entry = entries_[place_of(rest, hasher_(rest))];
      const bool is_kept = entry.name != 0 && std::max(entry.plus, entry.minus) > threshold;
      entry.name = rest + 1;
      if (!is_kept) kept.push_back(kept_of(entry));
    }
    sort(kept);
  }

  struct Moved {
    std::uint32_t node;
    std::int32_t plus, minus;
  };
  // Adds the counts to those that are stored of keys which are not in the trie. Keys that now pass the threshold leave
  // what is stored. The table is used up.
  void change(double threshold, const FeatureTrie& trie, std::vector<std::uint64_t>& stored, std::vector<Moved>& moved,
              std::vector<Kept>& passed) {
    move_known(trie, moved);
    const auto settle = [&](std::uint64_t rest, std::int32_t plus, std::int32_t minus, const auto& keep) {
      if (std::max(plus, minus) > threshold) {
        passed.push_back(kept_of({rest + 1, 0, plus, minus}));
      } else if (plus != 0 || minus != 0) {
        keep(rest << kTagAndSides | static_cast<std::uint64_t>(plus) << KeptCounts::kCountBits |
             static_cast<std::uint64_t>(minus));
      }
    };
    constexpr std::uint64_t kCount = (std::uint64_t{1} << KeptCounts::kCountBits) - 1;
    std::size_t n = 0;
    for (const std::uint64_t record : stored) {
      const std::uint64_t rest = record >> kTagAndSides;
      Entry& entry = entries_[place_of(rest, hasher_(rest))];
      if (entry.name == 0) {
        stored[n++] = record;
        continue;
      }
      settle(rest, entry.plus + static_cast<std::int32_t>(record >> KeptCounts::kCountBits & kCount),
             entry.minus + static_cast<std::int32_t>(record & kCount), [&](std::uint64_t own) { stored[n++] = own; });
      entry.plus = entry.minus = 0;
    }
    stored.resize(n);
    std::size_t n_new = 0;
    for (std::int64_t k = 0; k < capacity_; ++k) n_new += entries_[k].plus != 0 || entries_[k].minus != 0;
    if (stored.capacity() < n + n_new) stored.reserve(n + n_new);
    for (std::int64_t k = 0; k < capacity_; ++k) {
      const Entry& entry = entries_[k];
      if (entry.name == 0) continue;
      settle(entry.name - 1, entry.plus, entry.minus, [&](std::uint64_t own) { stored.push_back(own); });
    }
    sort(passed);
  }

 private:
  static constexpr int kBatch = 16;  // misses of the cache that overlap
  struct Steps {
    std::int8_t plus, minus;
  };
  // By change and by sides that are new in their example.
  static constexpr std::array<Steps, 16> kSteps{{{0, 0},
                                                 {1, 0},
                                                 {0, 1},
                                                 {1, 1},
                                                 {0, 0},
                                                 {-1, 0},
                                                 {0, -1},
                                                 {-1, -1},
                                                 {0, 0},
                                                 {0, 1},
                                                 {0, -1},
                                                 {0, 0},
                                                 {0, 0},
                                                 {0, 0},
                                                 {0, 0},
                                                 {0, 0}}};
  static constexpr std::uint64_t kRestMask = (std::uint64_t{1} << kRestBits) - 1;
  struct Entry {
    std::uint64_t name;   // the rest of the mixed key, plus 1; 0 is a free place
    std::uint64_t stamp;  // of the last example that has it, and the sides on which it does
    std::int32_t plus, minus;
  };

  static void sort(std::vector<Kept>& kept) {
    std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.key < b.key; });
  }
  // Takes out what the trie has.
  void move_known(const FeatureTrie& trie, std::vector<Moved>& moved) {
    struct Likely {
      Entry* entry;
      std::uint64_t key, hash;
    };
    std::array<Likely, kBatch> batch;
    int n = 0;
    const auto look = [&] {
      int n_likely = 0;
      for (int k = 0; k < n; ++k) {
        if (!trie.may_have(batch[k].hash)) continue;
        trie.prefetch_slot(batch[k].hash);
        batch[n_likely++] = batch[k];
      }
      for (int k = 0; k < n_likely; ++k) {
        const std::uint32_t node = trie.find(batch[k].key, batch[k].hash);
        if (node == kNoFeature) continue;
        Entry& entry = *batch[k].entry;
        if (entry.plus != 0 || entry.minus != 0) moved.push_back({node, entry.plus, entry.minus});
        entry.plus = entry.minus = 0;
      }
      n = 0;
    };
    for (std::int64_t k = 0; k < capacity_; ++k) {
      Entry& entry = entries_[k];
      if (entry.name == 0) continue;
      const std::uint64_t key = kept_of(entry).key, hash = FeatureTrie::hash_of(key);
      trie.prefetch_bits(hash);
      batch[n++] = {&entry, key, hash};
      if (n == kBatch) look();
    }
    look();
    std::sort(moved.begin(), moved.end(), [](const Moved& a, const Moved& b) { return a.node < b.node; });
  }

  static std::int64_t capacity_for(std::int64_t n) {
    std::int64_t out = 1 << 10;
    while (out / 8 * 5 < n) out *= 2;
    return out;
  }
  void resize(std::int64_t capacity) {
    capacity_ = capacity;
    room_ = capacity / 8 * 5;
    shift_ = 64 - std::countr_zero(static_cast<std::uint64_t>(capacity));
  }
  std::size_t place_of(std::uint64_t rest, std::uint64_t hash) const {
    const Entry* const entries = entries_.data();
    const std::uint64_t last = static_cast<std::uint64_t>(capacity_) - 1;
    std::uint64_t place = hash >> shift_;
    while (entries[place].name != 0 && entries[place].name != rest + 1) place = (place + 1) & last;
    return place;
  }
  void grow() {
    // Two tables of the new size must fit: another partition may have left one that is as large as this one becomes.
    const auto memory_for = [&](std::int64_t capacity) {
      return shares_ * (2 * capacity * std::int64_t{sizeof(Entry)} + kStaged * kRecord);
    };
    if (memory_for(2 * capacity_) > memory_) {
      throw CountingNeedsMemory(memory_for(capacity_for(n_records_ + kBatch)), memory_, true);
    }
    LargeVector<Entry> old(2 * capacity_);
    old.swap(entries_);
    const std::int64_t n_old = capacity_;
    resize(2 * capacity_);
    for (std::int64_t k = 0; k < n_old; ++k) {
      if (old[k].name != 0) entries_[place_of(old[k].name - 1, hasher_(old[k].name - 1))] = old[k];
    }
  }
  Kept kept_of(const Entry& entry) const {
    return {unmix(static_cast<std::uint64_t>(partition_) << kRestBits | (entry.name - 1)), entry.plus, entry.minus};
  }

  Hasher hasher_;
  LargeVector<Entry> entries_;
  const std::int64_t memory_, shares_;
  std::vector<std::uint64_t> staged_;
  std::int64_t capacity_ = 0, room_ = 0, n_used_ = 0, n_records_ = 0;
  int partition_ = 0, shift_ = 0;
  std::uint64_t stamp_ = 0, tag_ = 0;
};

OccurrenceCounter::OccurrenceCounter(int n_workers, std::int64_t memory, const std::string& folder) : memory_(memory) {
  if (n_workers < 1) throw std::invalid_argument("Counting needs at least one worker.");
  // A chunk costs its records and its place in a list that may be half empty.
  const auto cost = [](std::int64_t slab) { return slab * kRecord + slab / kChunk * 2 * std::int64_t{sizeof(void*)}; };
  const std::int64_t fixed = sizeof(Worker) + kStaged * kRecord;
  const std::int64_t least = (n_workers * (fixed + kGroups * cost(kSmallSlab)) / (kTablesPart - 1) + 1) * kTablesPart;
  if (memory < least) throw CountingNeedsMemory(least, memory, true);
  const std::int64_t for_slabs = memory / kTablesPart * (kTablesPart - 1) - n_workers * fixed;
  // Large pages are worth it only if each group fills several slabs.
  slab_records_ = for_slabs / n_workers < 2 * kGroups * cost(kLargeSlab) ? kSmallSlab : kLargeSlab;
  most_slabs_ = for_slabs / cost(slab_records_);
  if (!folder.empty()) {
    most_slabs_ /= n_workers;
    file_ = std::make_unique<SpillFile>(folder);
  }
  for (int worker = 0; worker < n_workers; ++worker) {
    workers_.push_back(std::make_unique<Worker>());
    if (file_) workers_.back()->staged.reserve(kStaged);
  }
}

OccurrenceCounter::~OccurrenceCounter() = default;

void OccurrenceCounter::watch(std::span<const std::uint64_t> keys) {
  for (const std::uint64_t key : keys) watched_.push_back(mix(key));
  std::sort(watched_.begin(), watched_.end());
  watched_.erase(std::unique(watched_.begin(), watched_.end()), watched_.end());
}

OccurrenceCounter::Slab OccurrenceCounter::slab_for(Worker& worker) {
  if (file_ && worker.spare.empty() && worker.n_slabs == most_slabs_) worker.spill(*file_);
  if (!worker.spare.empty()) {
    Slab out = std::move(worker.spare.back());
    worker.spare.pop_back();
    return out;
  }
  if (!file_ && n_slabs_.fetch_add(1, std::memory_order_relaxed) >= most_slabs_) {
    throw CountingNeedsMemory(memory_, memory_, false);
  }
  Slab out(LargePages<std::uint64_t>().allocate(static_cast<std::size_t>(slab_records_)));
  ++worker.n_slabs;
  return out;
}

void OccurrenceCounter::Worker::spill(SpillFile& file) {
  Spilled part{0, std::vector<std::int64_t>(kPartitions + 1, 0)};
  for (int k = 0; k < kPartitions; ++k) part.starts[k + 1] = part.starts[k] + n_written(k);
  part.offset = file.reserve(part.starts.back() * kRecord);
  SpillWriter writer(file, part.offset, staged);
  for (int k = 0; k < kPartitions; ++k) {
    for (std::size_t chunk = 0; chunk < chunks[k].size(); ++chunk) {
      writer.add({chunks[k][chunk], static_cast<std::size_t>(n_in(k, chunk))});
    }
  }
  writer.finish();
  spilled.push_back(std::move(part));
  for (auto& own : chunks) own.clear();
  tails.fill({});
  for (Shelf& shelf : shelves) {
    std::move(shelf.slabs.begin(), shelf.slabs.end(), std::back_inserter(spare));
    shelf = {};
  }
}

std::int64_t OccurrenceCounter::n_records(int partition) const {
  std::int64_t out = 0;
  for (const auto& worker : workers_) {
    out += worker->n_written(partition) + worker->filled[partition];
    for (const Spilled& part : worker->spilled) out += part.starts[partition + 1] - part.starts[partition];
  }
  return out;
}

std::span<const std::uint64_t> OccurrenceCounter::watched(int partition) const {
  const auto begins = [](int k) { return static_cast<std::uint64_t>(k) << kRestBits; };
  const auto from = std::lower_bound(watched_.begin(), watched_.end(), begins(partition));
  return {from, std::lower_bound(from, watched_.end(), begins(partition + 1))};
}

// Chunks of a partition lie anywhere in memory.
void OccurrenceCounter::prefetch_chunk(const std::uint64_t* chunk) {
  for (int record = 0; record < kChunk; record += kLine) __builtin_prefetch(chunk + record);
}

void OccurrenceCounter::fill(int partition, Table& table) const {
  for (const auto& worker : workers_) {
    table.start_worker();
    for (const Spilled& part : worker->spilled) {
      const std::int64_t last = part.starts[partition + 1];
      for (std::int64_t at = part.starts[partition]; at < last; at += kStaged) {
        const std::int64_t n = std::min<std::int64_t>(kStaged, last - at);
        file_->read(table.staged(), n * kRecord, part.offset + at * kRecord);
        table.add(table.staged(), n);
      }
    }
    const auto& chunks = worker->chunks[partition];
    for (std::size_t k = 0; k < chunks.size(); ++k) {
      if (k + 1 < chunks.size()) prefetch_chunk(chunks[k + 1]);
      table.add(chunks[k], worker->n_in(partition, k));
    }
    table.add(&worker->lines[static_cast<std::size_t>(partition) * kLine], worker->filled[partition]);
  }
}

void OccurrenceCounter::hand_over(std::vector<std::vector<Kept>>& parts, std::vector<std::uint64_t>& key,
                                  std::vector<std::int32_t>& plus, std::vector<std::int32_t>& minus) {
  std::size_t n = 0;
  for (const auto& part : parts) n += part.size();
  key.reserve(n);
  plus.reserve(n);
  minus.reserve(n);
  for (auto& part : parts) {
    for (const Kept& one : part) {
      key.push_back(one.key);
      plus.push_back(one.plus);
      minus.push_back(one.minus);
    }
    std::vector<Kept>().swap(part);
  }
}

void OccurrenceCounter::release(int partition) {
  for (const auto& worker : workers_) std::vector<std::uint64_t*>().swap(worker->chunks[partition]);
  const int n = kPartitions / kGroups, group = partition / n;
  if (n_counted_[group].fetch_add(1, std::memory_order_acq_rel) + 1 < n) return;
  for (const auto& worker : workers_) worker->shelves[group] = {};
}

std::pair<std::int64_t, std::int64_t> OccurrenceCounter::finish_adding() {
  std::int64_t n_examples = 0, n_occurrences = 0;
  for (const auto& worker : workers_) {
    n_examples += worker->n_examples;
    n_occurrences -= worker->n_marks;
    for (const Spilled& part : worker->spilled) n_occurrences += part.starts.back();
    for (int k = 0; k < kPartitions; ++k) n_occurrences += worker->n_written(k) + worker->filled[k];
    worker->spare.clear();
  }
  if (n_examples > std::numeric_limits<std::int32_t>::max()) {
    throw std::overflow_error("Occurrences are counted in at most 2147483647 examples.");
  }
  return {n_occurrences, file_ ? file_->size() : 0};
}

Counted OccurrenceCounter::count(Team& team, double threshold) {
  Counted out;
  std::tie(out.n_occurrences, out.n_spilled) = finish_adding();
  std::vector<Table> tables;
  for (int k = 0; k < team.size(); ++k) tables.emplace_back(memory_, team.size());
  std::vector<std::vector<Kept>> kept(kPartitions);
  std::atomic<std::int64_t> n_distinct{0};
  team.run(kPartitions, [&](std::int64_t task, int worker) {
    const int partition = static_cast<int>(task);
    const std::int64_t n = n_records(partition);
    if (const auto own = watched(partition); n != 0 || !own.empty()) {
      Table& table = tables[worker];
      table.start(partition, n);
      fill(partition, table);
      table.keep(threshold, own, kept[partition]);
      n_distinct.fetch_add(table.n_used(), std::memory_order_relaxed);
    }
    release(partition);
  });
  out.n_distinct = n_distinct;
  hand_over(kept, out.key, out.plus, out.minus);
  return out;
}

CountChanges OccurrenceCounter::change(Team& team, double threshold, const FeatureTrie& trie, KeptCounts& kept) {
  CountChanges out;
  std::tie(out.n_occurrences, out.n_spilled) = finish_adding();
  std::vector<Table> tables;
  for (int k = 0; k < team.size(); ++k) tables.emplace_back(memory_, team.size());
  std::vector<std::vector<Kept>> passed(kPartitions);
  std::vector<std::vector<Table::Moved>> moved(kPartitions);
  std::atomic<std::int64_t> n_kept{0};
  team.run(kPartitions, [&](std::int64_t task, int worker) {
    const int partition = static_cast<int>(task);
    auto& stored = kept.parts_[partition];
    if (const std::int64_t n = n_records(partition)) {
      Table& table = tables[worker];
      table.start(partition, n);
      fill(partition, table);
      table.change(threshold, trie, stored, moved[partition], passed[partition]);
    }
    n_kept.fetch_add(std::ssize(stored), std::memory_order_relaxed);
    if (std::ssize(stored) > kept.most_) kept.is_full_.store(true, std::memory_order_relaxed);
    if (kept.is_full()) std::vector<std::uint64_t>().swap(stored);
    release(partition);
  });
  out.n_kept = n_kept;
  if (kept.is_full()) std::vector<std::vector<std::uint64_t>>(kPartitions).swap(kept.parts_);
  hand_over(passed, out.key, out.key_plus, out.key_minus);
  std::size_t n_moved = 0;
  for (const auto& part : moved) n_moved += part.size();
  out.node.reserve(n_moved);
  out.plus.reserve(n_moved);
  out.minus.reserve(n_moved);
  for (auto& part : moved) {
    for (const auto& one : part) {
      out.node.push_back(one.node);
      out.plus.push_back(one.plus);
      out.minus.push_back(one.minus);
    }
    std::vector<Table::Moved>().swap(part);
  }
  return out;
}

}  // namespace espalier
