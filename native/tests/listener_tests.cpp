// Plans listen while they are made.
#include <string>
#include <utility>
#include <vector>

#include "corpus/vocabulary.hpp"
#include "jobs/listener.hpp"
#include "jobs/team.hpp"
#include "kernels/partial_tree.hpp"
#include "kernels/smoothed_partial_tree.hpp"
#include "kernels/subset_tree.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

// A plan of many subtrees asks several times while it is made whether to go on, and ends where it should.
void test_plans_listen() {
  std::vector<std::string> texts;
  for (int k = 0; k < 100'000; ++k) texts.push_back("(S (A a" + std::to_string(k) + ") (B b))");
  Vocabulary vocabulary;
  const ForestArrays forest = interned(texts, vocabulary);
  const ForestView view = view_of(forest);
  const auto check = [&](const auto& make) {
    int n_asked = 0;
    make(Listener([&] { ++n_asked; }));
    CHECK(n_asked >= 2);
    for (int last = 1; last <= n_asked; ++last) {
      int left = last;
      bool is_ended = false;
      try {
        make(Listener([&] {
          if (--left == 0) throw Interrupted();
        }));
      } catch (const Interrupted&) {
        is_ended = true;
      }
      CHECK(is_ended);
    }
  };
  check([&](Listener listener) { SubsetTreePlan(view, nullptr, PatternOptions{}, std::move(listener)); });
  check([&](Listener listener) { PartialTreePlan(view, nullptr, false, std::move(listener)); });
  check([&](Listener listener) { SmoothedTreePlan(view, nullptr, false, false, std::move(listener)); });
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"plans listen", test_plans_listen},
  };
  return run_all("listener_tests", tests);
}
