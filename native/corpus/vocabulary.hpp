// Labels as integers. A vocabulary only grows; an extension sees its base as it was and grows alone.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/hashing.hpp"

namespace espalier {

class Vocabulary {
 public:
  Vocabulary() = default;
  explicit Vocabulary(std::shared_ptr<const Vocabulary> base);

  std::int32_t add(std::string_view label);
  std::int32_t find(std::string_view label) const;  // -1 where it is unknown
  const std::string& label(std::int32_t id) const;
  std::int32_t size() const { return base_size_ + static_cast<std::int32_t>(labels_.size()); }
  // True where every id of `other` means the same label here.
  bool extends(const Vocabulary& other) const;

 private:
  std::int32_t find(std::string_view label, std::uint64_t hash) const;
  void grow();

  Hasher hasher_;
  std::shared_ptr<const Vocabulary> base_;
  std::int32_t base_size_ = 0;
  int depth_ = 0;  // how many bases stand below: looking up walks down all of them
  std::deque<std::string> labels_;
  std::vector<std::uint32_t> hashes_;
  std::vector<std::int32_t> slots_;  // open addressing, -1 is free
};

}  // namespace espalier
