#include "corpus/vocabulary.hpp"

#include <stdexcept>

namespace espalier {

Vocabulary::Vocabulary(std::shared_ptr<const Vocabulary> base) {
  constexpr int deepest = 32;
  if (base->depth_ >= deepest) {
    for (std::int32_t id = 0; id < base->size(); ++id) add(base->label(id));
    return;
  }
  base_size_ = base->size();
  hasher_ = base->hasher_;  // looking up hashes once, for all bases
  if (base->base_ && base->labels_.empty()) base = base->base_;
  depth_ = base->depth_ + 1;
  base_ = std::move(base);
}

std::int32_t Vocabulary::find(std::string_view label, std::uint64_t hash) const {
  if (base_) {
    const std::int32_t id = base_->find(label, hash);
    if (id >= 0 && id < base_size_) return id;
  }
  if (slots_.empty()) return -1;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::int32_t here = slots_[slot];
    if (here < 0) return -1;
    if (hashes_[here] == static_cast<std::uint32_t>(hash) && labels_[here] == label) {
      return base_size_ + here;
    }
  }
}

std::int32_t Vocabulary::find(std::string_view label) const { return find(label, hasher_(label)); }

std::int32_t Vocabulary::add(std::string_view label) {
  const std::uint64_t hash = hasher_(label);
  const std::int32_t known = find(label, hash);
  if (known >= 0) return known;
  if (2 * (labels_.size() + 1) > slots_.size()) grow();
  const auto id = static_cast<std::int32_t>(labels_.size());
  hashes_.push_back(static_cast<std::uint32_t>(hash));
  try {
    labels_.emplace_back(label);
  } catch (...) {
    hashes_.pop_back();  // both or none: others go on with this vocabulary when memory ran out
    throw;
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] >= 0) slot = (slot + 1) & mask;
  slots_[slot] = id;
  return base_size_ + id;
}

void Vocabulary::grow() {
  slots_.assign(slots_.empty() ? 1024 : 2 * slots_.size(), -1);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t id = 0; id < labels_.size(); ++id) {
    std::size_t slot = hasher_(labels_[id]) & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::int32_t>(id);
  }
}

const std::string& Vocabulary::label(std::int32_t id) const {
  if (id < 0 || id >= size()) throw std::out_of_range("label id out of range");
  return id < base_size_ ? base_->label(id) : labels_[id - base_size_];
}

bool Vocabulary::extends(const Vocabulary& other) const {
  if (this == &other) return true;
  if (size() < other.size()) return false;
  if (base_ && base_size_ >= other.size() && base_->extends(other)) return true;
  // Not made from one another, as after loading from files: then only the labels tell.
  for (std::int32_t id = 0; id < other.size(); ++id) {
    if (label(id) != other.label(id)) return false;
  }
  return true;
}

}  // namespace espalier
