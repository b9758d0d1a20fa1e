#include "selection/slot_graphs.hpp"

namespace espalier {

SlotGraph SlotGraphs::operator[](std::int64_t item) const {
  const auto first = static_cast<std::size_t>(own_.start[item]);
  const auto n = static_cast<std::size_t>(own_.start[item + 1]) - first;
  const auto part = [&](const auto& array) {
    using T = typename std::remove_cvref_t<decltype(array)>::value_type;
    return array.empty() ? std::span<const T>() : std::span<const T>(array).subspan(first, n);
  };
  return {kind_,
          gap_,
          static_cast<std::int32_t>(n),
          own_.n_starts[item],
          own_.n_candidates[item],
          all_of(own_.n_candidates[item]),
          part(own_.slot),
          part(own_.atom),
          part(own_.mask),
          part(own_.first_child),
          part(own_.last_child),
          part(own_.last_sibling),
          part(own_.above)};
}

std::int64_t SlotGraphs::n_bytes() const {
  const auto bytes = [](const auto&... arrays) {
    return (std::int64_t{0} + ... + static_cast<std::int64_t>(arrays.capacity() * sizeof(arrays[0])));
  };
  return bytes(own_.start, own_.n_starts, own_.n_candidates, own_.slot, own_.atom, own_.mask, own_.first_child,
               own_.last_child, own_.last_sibling, own_.above);
}

}  // namespace espalier
