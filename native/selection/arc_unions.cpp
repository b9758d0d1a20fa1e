#include "selection/arc_unions.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace espalier {

namespace {

struct View {  // of one sentence
  const std::int32_t *word, *tag;
  const std::int32_t* tagging;          // by candidate
  std::int32_t n;                       // tokens with ROOT
  const std::int32_t *head, *relation;  // the second may be null
  std::int32_t n_candidates;

  const std::int32_t* tags_of(std::int32_t which) const { return tag + static_cast<std::int64_t>(which) * n; }
  std::int32_t head_of(std::int32_t candidate, std::int32_t token) const {
    return head[static_cast<std::int64_t>(candidate) * (n - 1) + token - 1];
  }
  std::int32_t relation_of(std::int32_t candidate, std::int32_t token) const {
    return relation ? relation[static_cast<std::int64_t>(candidate) * (n - 1) + token - 1] : kUnknown;
  }
};

std::vector<std::int64_t> head_starts(const SentenceArrays& all) {
  std::vector<std::int64_t> out{0};
  for (std::size_t s = 0; s + 1 < all.start.size(); ++s) {
    const std::int64_t n_words = all.start[s + 1] - all.start[s] - 1;
    out.push_back(out.back() + n_words * (all.candidate_start[s + 1] - all.candidate_start[s]));
  }
  return out;
}

View view_of(const SentenceArrays& all, std::span<const std::int64_t> head_start, std::int64_t sentence) {
  const std::int64_t first = all.start[sentence];
  return {all.word.data() + first,
          all.tag.data() + all.tag_start[sentence],
          all.tagging.data() + all.candidate_start[sentence],
          static_cast<std::int32_t>(all.start[sentence + 1] - first),
          all.head.data() + head_start[sentence],
          all.relation.empty() ? nullptr : all.relation.data() + head_start[sentence],
          static_cast<std::int32_t>(all.candidate_start[sentence + 1] - all.candidate_start[sentence])};
}

std::uint64_t length_class(std::int32_t steps) {
  steps = std::abs(steps);
  return static_cast<std::uint64_t>(steps <= 5 ? steps - 1 : steps <= 10 ? 5 : 6);
}

struct Arc {
  std::int32_t head, modifier, relation, tagging;
  Mask mask;
};

// Tells `take` the codes of an arc. Words and tags that are unknown have none.
template <class Take>
void codes_of(const View& view, const Arc& arc, std::span<const ArcTemplate> templates,
              std::vector<std::int32_t>& between, const Take& take) {
  const std::int32_t head = arc.head, modifier = arc.modifier;
  const std::int32_t* tag = view.tags_of(arc.tagging);
  // The tag at a position; 1 before ROOT and behind the last word.
  const auto tag_at = [&](std::int32_t position) { return position < 0 || position >= view.n ? 1 : tag[position]; };
  between.clear();
  bool looked = false;
  const std::uint64_t direction = head < modifier, length = length_class(head - modifier);
  for (std::size_t t = 0; t < templates.size(); ++t) {
    std::uint64_t code = t << 56;
    if (templates[t].length) code |= (length + 1) << 53;  // 0: not told
    if (templates[t].direction) code |= direction << 52;
    std::uint64_t payload = 0;
    int tag_between = -1;  // where its bits are
    bool known = true;
    int shift = 0;
    for (const ArcPart part : templates[t].parts) {
      std::int32_t value = kUnknown;
      bool is_word = false;
      switch (part) {
        case ArcPart::kHeadWord:
        case ArcPart::kWord:
          value = view.word[part == ArcPart::kWord ? modifier : head];
          is_word = true;
          break;
        case ArcPart::kHeadTag:
          value = tag_at(head);
          break;
        case ArcPart::kHeadTagBefore:
          value = tag_at(head - 1);
          break;
        case ArcPart::kHeadTagAfter:
          value = tag_at(head + 1);
          break;
        case ArcPart::kTag:
          value = tag_at(modifier);
          break;
        case ArcPart::kTagBefore:
          value = tag_at(modifier - 1);
          break;
        case ArcPart::kTagAfter:
          value = tag_at(modifier + 1);
          break;
        case ArcPart::kRelation:
          value = arc.relation;
          break;
        case ArcPart::kBetweenTag:
          tag_between = shift;
          value = 1;
          break;
      }
      known = known && value != kUnknown;
      if (part != ArcPart::kBetweenTag) payload |= static_cast<std::uint64_t>(value) << shift;
      shift += is_word ? kWordBits : kTagBits;
    }
    if (!known) continue;
    if (tag_between < 0) {
      take(code | payload);
      continue;
    }
    if (!looked) {
      for (std::int32_t at = std::min(head, modifier) + 1; at < std::max(head, modifier); ++at) {
        if (tag[at] != kUnknown) between.push_back(tag[at]);
      }
      std::ranges::sort(between);
      between.erase(std::unique(between.begin(), between.end()), between.end());
      looked = true;
    }
    for (const std::int32_t own : between) take(code | payload | static_cast<std::uint64_t>(own) << tag_between);
  }
}

bool alike(const Arc& a, const Arc& b) {
  return a.head == b.head && a.modifier == b.modifier && a.relation == b.relation && a.tagging == b.tagging;
}

// The arcs of all candidates, sorted by head and modifier; those of different taggings are different arcs.
void union_of(const View& view, bool root, std::vector<Arc>& arcs) {
  arcs.clear();
  for (std::int32_t m = 1; m < view.n; ++m) {
    const std::size_t first = arcs.size();  // one modifier has few heads
    for (std::int32_t k = 0; k < view.n_candidates; ++k) {
      const Arc own{view.head_of(k, m), m, view.relation_of(k, m), view.tagging[k], 0};
      if (own.head == 0 && !root) continue;
      std::size_t at = first;
      while (at < arcs.size() && !alike(arcs[at], own)) ++at;
      if (at == arcs.size()) arcs.push_back(own);
      arcs[at].mask |= Mask{1} << k;
    }
  }
  std::ranges::stable_sort(arcs, [](const Arc& a, const Arc& b) { return a.head < b.head; });
}

}  // namespace

AtomTable::AtomTable(std::vector<std::uint64_t> codes)
    : codes_(std::move(codes)), slots_(std::bit_ceil(2 * codes_.size() + 1), kNoFeature) {
  for (std::uint32_t number = 0; number < codes_.size(); ++number) {
    std::size_t slot = home(codes_[number]);
    while (slots_[slot] != kNoFeature) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = number;
  }
}

ArcUnions::ArcUnions(const SentenceArrays& all, std::span<const ArcTemplate> templates, bool root,
                     const AtomTable& atoms, Team& team)
    : sentences_(all.start.size() - 1) {
  const std::vector<std::int64_t> head_start = head_starts(all);
  struct Workspace {
    std::vector<Arc> arcs;
    std::vector<std::int32_t> between;
    std::vector<std::uint32_t> keys;
  };
  std::vector<Workspace> spaces(static_cast<std::size_t>(team.size()));
  team.run(size(), [&](std::int64_t s, int worker) {
    auto& [arcs, between, keys] = spaces[worker];
    Sentence& own = sentences_[s];
    const View view = view_of(all, head_start, s);
    own.n_candidates = view.n_candidates;
    union_of(view, root, arcs);
    own.first_of_head.assign(static_cast<std::size_t>(view.n) + 1, 0);
    own.atom_start.push_back(0);
    std::int64_t first = 0;  // of those between the same two words
    for (std::size_t k = 0; k < arcs.size(); ++k) {
      const Arc& arc = arcs[k];
      if (k > 0 && (arc.head != arcs[k - 1].head || arc.modifier != arcs[k - 1].modifier)) first = std::ssize(own.mask);
      keys.clear();
      codes_of(view, arc, templates, between, [&](std::uint64_t code) {
        if (const std::uint32_t number = atoms.find(code); number != kNoFeature) keys.push_back(number);
      });
      // Arcs with the same atoms are one: most taggings differ elsewhere.
      std::int64_t same = first;
      while (same < std::ssize(own.mask) && !std::ranges::equal(atoms_of(own, same), keys)) ++same;
      if (same < std::ssize(own.mask)) {
        own.mask[same] |= arc.mask;
        continue;
      }
      ++own.first_of_head[arc.head + 1];
      own.modifier.push_back(arc.modifier);
      own.mask.push_back(arc.mask);
      own.atom.insert(own.atom.end(), keys.begin(), keys.end());
      own.atom_start.push_back(std::ssize(own.atom));
    }
    for (std::int32_t h = 0; h < view.n; ++h) own.first_of_head[h + 1] += own.first_of_head[h];
    // Next siblings: arcs of one head whose modifiers follow each other in some candidate.
    own.next_start.push_back(0);
    for (std::int32_t h = 0; h < view.n; ++h) {
      const std::int32_t begin = own.first_of_head[h], end = own.first_of_head[h + 1];
      for (std::int32_t a = begin; a < end; ++a) {
        Mask open = own.mask[a];  // candidates in which no next sibling was met yet
        for (std::int32_t b = a + 1; b < end && open; ++b) {
          if (const Mask both = open & own.mask[b]) {
            own.next_arc.push_back(b);
            own.next_mask.push_back(both);
            open &= ~both;
          }
        }
        own.next_start.push_back(std::ssize(own.next_arc));
      }
    }
  });
}

std::span<const std::uint32_t> ArcUnions::atoms_of(const Sentence& own, std::int64_t arc) {
  return {own.atom.data() + own.atom_start[arc], own.atom.data() + own.atom_start[arc + 1]};
}

ArcUnion ArcUnions::operator[](std::int64_t sentence) const {
  const Sentence& own = sentences_[sentence];
  return {static_cast<std::int32_t>(own.modifier.size()),
          own.n_candidates,
          all_of(own.n_candidates),
          own.modifier,
          own.mask,
          own.first_of_head,
          own.atom_start,
          own.atom.data(),
          own.next_start,
          own.next_arc.data(),
          own.next_mask.data()};
}

std::int64_t ArcUnions::n_bytes() const {
  std::size_t out = sentences_.capacity() * sizeof(Sentence);
  for (const Sentence& own : sentences_) {
    out += 4 * (own.modifier.capacity() + own.first_of_head.capacity() + own.next_arc.capacity() + own.atom.capacity());
    out += 8 * (own.mask.capacity() + own.next_mask.capacity() + own.atom_start.capacity() + own.next_start.capacity());
  }
  return static_cast<std::int64_t>(out);
}

std::vector<std::uint64_t> frequent_codes(const SentenceArrays& all, std::span<const ArcTemplate> templates, bool root,
                                          double threshold, Team& team) {
  const std::vector<std::int64_t> head_start = head_starts(all);
  const auto n = static_cast<std::int64_t>(all.start.size()) - 1;
  constexpr std::int64_t kRun = 64;  // sentences of a task
  constexpr int kParts = 64;
  // By part of the codes and worker, the codes of all sentences, each once a sentence.
  std::vector<std::vector<std::vector<std::uint64_t>>> found(static_cast<std::size_t>(team.size()),
                                                             std::vector<std::vector<std::uint64_t>>(kParts));
  team.run((n + kRun - 1) / kRun, [&](std::int64_t task, int worker) {
    std::vector<Arc> arcs;
    std::vector<std::int32_t> between;
    std::vector<std::uint64_t> codes;
    for (std::int64_t s = task * kRun; s < std::min(n, (task + 1) * kRun); ++s) {
      const View view = view_of(all, head_start, s);
      union_of(view, root, arcs);
      codes.clear();
      for (const Arc& arc : arcs) {
        codes_of(view, arc, templates, between, [&](std::uint64_t code) { codes.push_back(code); });
      }
      std::ranges::sort(codes);
      codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
      for (const std::uint64_t code : codes) found[worker][features::salt(code) % kParts].push_back(code);
    }
  });
  std::vector<std::vector<std::uint64_t>> kept(kParts);
  team.run(kParts, [&](std::int64_t part, int) {
    std::vector<std::uint64_t> own;
    for (auto& of_worker : found) {
      own.insert(own.end(), of_worker[part].begin(), of_worker[part].end());
      std::vector<std::uint64_t>().swap(of_worker[part]);
    }
    std::ranges::sort(own);
    for (std::size_t at = 0; at < own.size();) {
      std::size_t end = at;
      while (end < own.size() && own[end] == own[at]) ++end;
      if (static_cast<double>(end - at) > threshold) kept[part].push_back(own[at]);
      at = end;
    }
  });
  std::vector<std::uint64_t> out;
  for (const auto& own : kept) out.insert(out.end(), own.begin(), own.end());
  std::ranges::sort(out);
  return out;
}

}  // namespace espalier
