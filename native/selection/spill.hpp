// One temporary file for what memory cannot hold. It has no name once it is open, so that nothing is left behind when
// the process ends, however it ends. Threads may write and read different parts of it at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier {

struct SpillError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class SpillFile {
 public:
  explicit SpillFile(std::string folder);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // A part of the file that nobody else gets; returns where it begins.
  std::int64_t reserve(std::int64_t n_bytes) { return size_.fetch_add(n_bytes, std::memory_order_relaxed); }
  void write(const void* from, std::int64_t n_bytes, std::int64_t offset);
  void read(void* to, std::int64_t n_bytes, std::int64_t offset) const;
  // How many bytes were reserved.
  std::int64_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  std::string folder_;
  int file_ = -1;
  std::atomic<std::int64_t> size_{0};
};

// Writes a part of the file from its beginning to its end, in pieces as large as the memory that was reserved for them.
class SpillWriter {
 public:
  SpillWriter(SpillFile& file, std::int64_t offset, std::vector<std::uint64_t>& staged)
      : file_(file), offset_(offset), staged_(staged) {
    staged_.clear();
  }
  void add(std::span<const std::uint64_t> records) {
    if (staged_.size() + records.size() > staged_.capacity()) finish();
    staged_.insert(staged_.end(), records.begin(), records.end());
  }
  void finish() {
    const auto n_bytes = static_cast<std::int64_t>(staged_.size() * sizeof(std::uint64_t));
    file_.write(staged_.data(), n_bytes, offset_);
    offset_ += n_bytes;
    staged_.clear();
  }

 private:
  SpillFile& file_;
  std::int64_t offset_;
  std::vector<std::uint64_t>& staged_;
};

}  // namespace espalier
