// Corpora: vocabularies, the parser of brackets and the interner.
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/intern.hpp"
#include "corpus/vocabulary.hpp"
#include "structures/brackets.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

void test_vocabulary() {
  auto base = std::make_shared<Vocabulary>();
  for (int k = 0; k < 5000; ++k) CHECK(base->add("label " + std::to_string(k)) == k);
  CHECK(base->find("label 4999") == 4999 && base->find("none") == -1);
  Vocabulary extension{std::shared_ptr<const Vocabulary>(base)};
  CHECK(extension.add("label 7") == 7 && extension.add("new") == 5000 && extension.label(5000) == "new");
  CHECK(extension.extends(*base) && !base->extends(extension) && base->find("new") == -1);
  CHECK(extension.add(std::string("\0\xff", 2)) == 5001);
  bool is_raised = false;
  try {
    extension.label(5002);
  } catch (const std::out_of_range&) {
    is_raised = true;
  }
  CHECK(is_raised);
}

void test_brackets() {
  for (const char* text : {"(", ")", "(A", "(A))", "a", "(A b) c", "(A \\", "\\"}) {
    Vocabulary vocabulary;
    bool is_raised = false;
    try {
      post_order(text, vocabulary);
    } catch (const BracketError& error) {
      is_raised = error.position <= std::string_view(text).size();
    }
    CHECK(is_raised);
  }
  Vocabulary vocabulary;
  const PostOrder escaped = post_order("(X \\( a\\ b c\\d \\\\)", vocabulary);
  CHECK(escaped.label.size() == 5 && vocabulary.find("a b") >= 0 && vocabulary.find("c\\d") >= 0);
  CHECK(vocabulary.find("(") >= 0 && vocabulary.find("\\") >= 0);
}

void test_interner() {
  Vocabulary vocabulary;
  Interner interner(vocabulary);
  CHECK(interner.add_text("(A (B b) (B b))\n(A (B b) (B b))") == 2);
  bool is_raised = false;
  try {
    interner.add_text("(A (B b) (C");
  } catch (const BracketError&) {
    is_raised = true;
  }
  CHECK(is_raised);
  // Text that failed leaves nothing behind.
  CHECK(interner.add_text("(C c)") == 1);
  interner.add_missing();
  const ForestArrays forest = interner.finish();
  CHECK(forest.root.size() == 4 && forest.root[0] == forest.root[1] && forest.root[3] == -1);
  CHECK(forest.tree_start[3] - forest.tree_start[2] == 2 && forest.tree_start[4] == forest.tree_start[3]);
  std::int64_t n_nodes = 0;
  for (std::int64_t e = 0; e < forest.tree_start[1]; ++e) n_nodes += forest.tree_count[e];
  CHECK(n_nodes == 5 && forest.tree_start[1] == 3);

  Interner other(vocabulary);
  const std::vector<std::int32_t> ids =
      other.add_subtrees(forest.label.data(), forest.child_start.data(), forest.child.data(),
                         static_cast<std::int64_t>(forest.label.size()));
  other.add_root(ids[forest.root[0]]);
  const ForestArrays again = other.finish();
  std::int64_t n_again = 0;
  for (std::int32_t count : again.tree_count) n_again += count;
  CHECK(n_again == 5);
}

void test_deep_and_wide() {
  Vocabulary vocabulary;
  const ForestArrays forest = interned({chain(100000), wide_tree(100000)}, vocabulary);
  CHECK(forest.root.size() == 2 && forest.height.back() == 100000);
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"vocabulary", test_vocabulary},
      {"brackets", test_brackets},
      {"interner", test_interner},
      {"deep and wide trees", test_deep_and_wide},
  };
  return run_all("corpus_tests", tests);
}
