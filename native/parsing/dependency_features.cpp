#include "parsing/dependency_features.hpp"

#include <initializer_list>
#include <unordered_map>

namespace espalier {
void SentenceKeys::set(const Token* token, std::int32_t n_words) {
  using features::joined;
  using features::salt;
  n_words_ = n_words;
  const std::int32_t n = n_words + 1;
  key_.assign(static_cast<std::size_t>(n + 1) * kRoles * kPieces, 0);
  between_.assign(n, 0);
  coarse_between_.assign(n, 0);
  same_before_.assign(n, -1);
  same_coarse_before_.assign(n, -1);
  std::unordered_map<std::int32_t, std::int32_t> last, last_coarse;
  // Stand for no sibling, and for what is before and after a sentence.
  constexpr Token kNone{-9, -9, -9, -9, -9, -9, -9}, kOutside{-4, -4, -4, -4, -4, -4, -4};
  for (std::int32_t i = 0; i <= n; ++i) {
    std::uint64_t piece[kPieces];
    for (int p = 0; p < kPieces; ++p) piece[p] = salt(1000 + p);
    const auto put = [&](std::initializer_list<Piece> pieces, std::int64_t value) {
      for (const Piece which : pieces) piece[which] = joined(piece[which], static_cast<std::uint64_t>(value));
    };
    const bool none = i == n;
    const auto at = [&](std::int32_t j) -> const Token& { return none || j < 0 || j >= n ? kOutside : token[j]; };
    const Token &own = none ? kNone : token[i], &before = at(i - 1), &after = at(i + 1);
    put({kWord, kWordTag, kWordAround}, own.word);
    put({kTag, kWordTag, kBoth, kTagBefore, kTagAfter, kTagAround, kTwoBefore, kTwoAfter, kWordBefore, kWordAfter},
        own.tag);
    put({kCoarse, kBoth, kCoarseBefore, kCoarseAfter, kCoarseAround}, own.coarse);
    put({kSuffix}, own.suffix);
    put({kEnding}, own.ending);
    put({kPrefix}, own.prefix);
    put({kShape}, own.shape);
    put({kTagBefore, kTagAround, kTwoBefore}, before.tag);
    put({kTwoBefore}, at(i - 2).tag);
    put({kTagAfter, kTagAround, kTwoAfter}, after.tag);
    put({kTwoAfter}, at(i + 2).tag);
    put({kCoarseBefore, kCoarseAround, kWordAround}, before.coarse);
    put({kCoarseAfter, kCoarseAround, kWordAround}, after.coarse);
    put({kWordBefore}, before.word);
    put({kWordAfter}, after.word);
    for (int role = 0; role < kRoles; ++role) {
      std::uint64_t* out = key_.data() + (static_cast<std::int64_t>(i) * kRoles + role) * kPieces;
      for (int p = 0; p < kPieces; ++p)
        out[p] = joined(piece[p], 7919 + static_cast<std::uint64_t>(role)) * 0xFF51AFD7ED558CCDULL;
    }
    if (none) continue;
    between_[i] = joined(salt(2000), static_cast<std::uint64_t>(own.tag)) * 0xFF51AFD7ED558CCDULL;
    coarse_between_[i] = joined(salt(2001), static_cast<std::uint64_t>(own.coarse)) * 0xFF51AFD7ED558CCDULL;
    const auto found = last.find(own.tag);
    if (found != last.end()) same_before_[i] = found->second;
    last[own.tag] = i;
    const auto coarse = last_coarse.find(own.coarse);
    if (coarse != last_coarse.end()) same_coarse_before_[i] = coarse->second;
    last_coarse[own.coarse] = i;
  }
}

}  // namespace espalier
