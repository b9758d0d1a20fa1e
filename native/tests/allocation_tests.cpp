// Memory that runs out anywhere: each allocation of the core fails once. The call ends in std::bad_alloc, what lives on
// works as if nothing had happened, and the address sanitizer sees that nothing leaks.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "corpus/intern.hpp"
#include "corpus/vocabulary.hpp"
#include "jobs/team.hpp"
#include "kernels/partial_tree.hpp"
#include "kernels/subset_tree.hpp"
#include "spaces/mined.hpp"
#include "spaces/subset_tree_mining.hpp"
#include "tests/checks.hpp"
#include "tests/listed_corpus.hpp"

namespace {

std::atomic<std::int64_t> n_before_failure{-1};  // none fails where it is negative

void* allocated(std::size_t n, std::size_t alignment = 0) {
  if (n_before_failure >= 0 && n_before_failure-- == 0) return nullptr;
  if (alignment == 0) return std::malloc(n ? n : 1);
  return std::aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment);
}

void* allocated_or_thrown(std::size_t n, std::size_t alignment = 0) {
  void* const memory = allocated(n, alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The compiler sees the free of a delete that it inlined, and not the malloc of its new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t n) { return allocated_or_thrown(n); }
void* operator new[](std::size_t n) { return allocated_or_thrown(n); }
void* operator new(std::size_t n, std::align_val_t to) { return allocated_or_thrown(n, static_cast<std::size_t>(to)); }
void* operator new[](std::size_t n, std::align_val_t to) {
  return allocated_or_thrown(n, static_cast<std::size_t>(to));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocated(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocated(n); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

using namespace espalier;
using namespace espalier::tests;

namespace {

// Whether the work ended although its allocation of this number failed or was never asked for; a failure that somebody
// can do without, such as the buffer of a stable sort, ends well.
bool done_without(std::int64_t allocation, const std::function<void()>& work, bool& was_asked_for) {
  bool is_done = false;
  n_before_failure = allocation;
  try {
    work();
    is_done = true;
  } catch (const std::bad_alloc&) {
  }
  was_asked_for = n_before_failure < 0;
  n_before_failure = -1;
  return is_done;
}

// Calls `work` with the first, the second, ... allocation failing, and `after` each time, until none is left to fail.
void fail_each(const std::function<void()>& work, const std::function<void()>& after) {
  std::int64_t n_failed_calls = 0;
  for (std::int64_t allocation = 0;; ++allocation) {
    bool was_asked_for = false;
    const bool is_done = done_without(allocation, work, was_asked_for);
    n_failed_calls += !is_done;
    after();
    if (!was_asked_for) {
      CHECK(is_done);
      break;
    }
  }
  CHECK(n_failed_calls > 0);
}

std::string printed(const ForestArrays& forest, const Vocabulary& vocabulary, std::int32_t u) {
  std::string text = vocabulary.label(forest.label[u]);
  if (forest.child_start[u] == forest.child_start[u + 1]) return text;
  for (std::int64_t k = forest.child_start[u]; k < forest.child_start[u + 1]; ++k) {
    text += " " + printed(forest, vocabulary, forest.child[k]);
  }
  return "(" + text + ")";
}

void test_a_vocabulary_goes_on() {
  // So many that the table grows on the way, and too long to be stored inside a string.
  std::vector<std::string> labels;
  for (int k = 0; k < 700; ++k) labels.push_back("a label of more than a few letters " + std::to_string(k));
  auto vocabulary = std::make_unique<Vocabulary>();
  fail_each(
      [&] {
        vocabulary = std::make_unique<Vocabulary>();
        for (const std::string& label : labels) vocabulary->add(label);
      },
      [&] {
        for (const std::string& label : labels) CHECK(vocabulary->label(vocabulary->add(label)) == label);
        CHECK(vocabulary->size() == std::ssize(labels));
        CHECK(vocabulary->find("another") == -1);
      });
}

void test_an_interner_goes_on() {
  const std::string before = "(S (NP first) (VP (V is) (A a)))", failing = "(S (NP it) (VP (V is) (NP it) (NP new)))";
  fail_each(
      [&] {
        Vocabulary own;
        Interner interner(own);
        interner.add_text(failing);
        interner.add_missing();
        interner.finish();
      },
      [] {});
  for (std::int64_t allocation = 0; allocation < 200; ++allocation) {
    Vocabulary vocabulary;
    Interner interner(vocabulary);
    interner.add_text(before);
    bool was_asked_for = false;
    const bool is_done = done_without(allocation, [&] { interner.add_text(failing); }, was_asked_for);
    CHECK(interner.add_text(failing + before) == 2);
    const ForestArrays forest = interner.finish();
    CHECK(forest.root.size() == (is_done ? 4 : 3) && forest.tree_start.size() == forest.root.size() + 1);
    CHECK(printed(forest, vocabulary, forest.root.front()) == "(S (NP first) (VP (V is) (A a)))");
    CHECK(printed(forest, vocabulary, forest.root[forest.root.size() - 2]) ==
          "(S (NP it) (VP (V is) (NP it) (NP new)))");
    CHECK(forest.root.back() == forest.root.front());
    std::int64_t n_nodes = 0;
    for (std::int64_t e = forest.tree_start[forest.root.size() - 2]; e < forest.tree_start[forest.root.size() - 1];
         ++e) {
      n_nodes += forest.tree_count[e];
    }
    CHECK(n_nodes == 10);
    if (!was_asked_for) break;
  }
}

// A plan that failed gives the same bits as one that never did.
template <class Plan, class Work>
void check_plan(Plan& plan, const Work& work, std::size_t n_values) {
  std::vector<double> expected(n_values), found(n_values);
  work(plan, expected.data());
  fail_each([&] { work(plan, found.data()); },
            [&] {
              found.assign(n_values, 0.0);  // pulling back adds
              work(plan, found.data());
              CHECK(found == expected);
            });
}

void test_plans_go_on() {
  Vocabulary vocabulary;
  const ForestArrays arrays = interned(random_trees(4, 6, 3), vocabulary);
  const ForestView forest = view_of(arrays);
  const std::size_t n = arrays.root.size();
  const std::size_t m = SubsetTreePlan(forest, nullptr, PatternOptions{}).n_slots();
  const std::vector<double> decay(m, 0.5), frontier(m, 0.25), ones(n * n, 1.0);
  fail_each([&] { SubsetTreePlan(forest, nullptr, PatternOptions{}); }, [] {});
  fail_each([&] { SubsetTreePlan(forest, &forest, PatternOptions{}); }, [] {});
  fail_each([&] { PartialTreePlan(forest, nullptr, false); }, [] {});
  for (const int n_threads : {1, 2}) {
    SubsetTreePlan subset(forest, nullptr, PatternOptions{});
    check_plan(
        subset,
        [&](SubsetTreePlan& plan, double* out) {
          plan.release();
          Team team(n_threads, {});
          plan.matrix(decay.data(), frontier.data(), 0, team, out);
          plan.pull_back(decay.data(), frontier.data(), 0, ones.data(), team, out + n * n, out + n * n + m);
        },
        n * n + 2 * m);
    PartialTreePlan partial(forest, nullptr, false);
    check_plan(
        partial,
        [&](PartialTreePlan& plan, double* out) {
          plan.release();
          Team team(n_threads, {});
          plan.matrix(decay.data(), frontier.data(), team, out);
          plan.pull_back(decay.data(), frontier.data(), ones.data(), team, out + n * n, out + n * n + m);
        },
        n * n + 2 * m);
  }
}

void test_mining_gives_all_memory_back() {
  const Corpus corpus({"(A (B b) (C c))", "(A (B b) (C (B b)))", "(C (A (B c) (C c)))"}, 1.0);
  Mined mined;
  const auto mine = [&] {
    Team team(2, {});
    MiningCounts counts;
    mined = mine_exact(corpus.search(0, 3), 20, MiningLimits{kNoLimit, kNoLimit}, counts, team);
  };
  mine();
  const std::vector<double> weight = mined.weight;
  fail_each(mine, [&] {
    mine();
    CHECK(mined.weight == weight);
  });
}

}  // namespace

int main() {
  return run_all("allocation_tests", {{"a vocabulary goes on", test_a_vocabulary_goes_on},
                                      {"an interner goes on", test_an_interner_goes_on},
                                      {"plans go on", test_plans_go_on},
                                      {"mining gives all memory back", test_mining_gives_all_memory_back}});
}
