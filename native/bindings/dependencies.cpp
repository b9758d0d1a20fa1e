// Bindings of the perceptron tagger and of the dependency parser.
#include <bit>
#include <string_view>

#include "bindings/bindings.hpp"
#include "parsing/dependency_parser.hpp"
#include "parsing/dependency_training.hpp"
#include "parsing/perceptron_tagger.hpp"

namespace espalier {

using namespace nb::literals;

Arrays arrays_of(const std::vector<std::vector<TagSequence>>& found);  // parsing.cpp

namespace {

// FNV-1a over the bytes, then mixed. The same on every machine: models hold such keys.
std::uint64_t text_key(std::string_view text, std::uint64_t kind) {
  std::uint64_t key = 0xCBF29CE484222325ULL ^ features::salt(kind);
  for (const char byte : text) key = (key ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  return features::salt(key);
}

TaggerView tagged_view(const In<std::int64_t>& start, const In<std::int32_t>& word, const In<std::uint64_t>& attribute,
                       const In<std::int32_t>* tag) {
  return {static_cast<std::int64_t>(start.size()) - 1, start.data(), word.data(), attribute.data(),
          tag ? tag->data() : nullptr};
}

DependencyView dependency_view(const In<std::int64_t>& start, const In<std::int32_t>& token,
                               const In<std::int32_t>* head) {
  static_assert(sizeof(Token) % sizeof(std::int32_t) == 0);
  return {static_cast<std::int64_t>(start.size()) - 1, start.data(), reinterpret_cast<const Token*>(token.data()),
          head ? head->data() : nullptr};
}

WeightView weight_view(const In<float>& weight) { return {weight.data(), std::countr_zero(weight.size())}; }

void append(const LabelledTree& tree, std::vector<std::int32_t>& label, std::vector<double>& score) {
  label.insert(label.end(), tree.label.begin() + 1, tree.label.end());
  score.push_back(tree.score);
}

// All trees of all sentences in one set of arrays, without the root.
Arrays arrays_of(const std::vector<SentenceTrees>& found) {
  std::vector<std::int64_t> sentence_start{0}, n_arcs;
  std::vector<std::int32_t> head, label;
  std::vector<double> score, label_score;
  std::vector<std::int8_t> narrowed;
  for (const SentenceTrees& sentence : found) {
    for (std::size_t k = 0; k < sentence.best.size(); ++k) {
      score.push_back(sentence.best[k].score);
      head.insert(head.end(), sentence.best[k].head.begin() + 1, sentence.best[k].head.end());
      append(sentence.labelled[k], label, label_score);
    }
    sentence_start.push_back(static_cast<std::int64_t>(score.size()));
    n_arcs.push_back(sentence.n_arcs);
    narrowed.push_back(sentence.narrowed);
  }
  Arrays out;
  out["sentence_start"] = to_numpy(std::move(sentence_start));
  out["head"] = to_numpy(std::move(head));
  out["label"] = to_numpy(std::move(label));
  out["score"] = to_numpy(std::move(score));
  out["label_score"] = to_numpy(std::move(label_score));
  out["n_arcs"] = to_numpy(std::move(n_arcs));
  out["narrowed"] = to_numpy(std::move(narrowed));
  return out;
}

template <class T>
std::vector<T> copied(const In<T>& array) {
  return {array.data(), array.data() + array.size()};
}

Arrays arrays_of(ClassifierArrays&& found) {
  Arrays out;
  out["key"] = to_numpy(std::move(found.key));
  out["start"] = to_numpy(std::move(found.start));
  out["of_class"] = to_numpy(std::move(found.of_class));
  out["weight"] = to_numpy(std::move(found.weight));
  return out;
}

}  // namespace

void bind_dependencies(nb::module_& m) {
  m.attr("N_ATTRIBUTES") = static_cast<int>(kAttributes);
  m.def(
      "text_keys",
      [](List<nb::bytes> texts, std::uint64_t kind) {
        std::vector<std::uint64_t> out;
        out.reserve(nb::len(texts));
        for (nb::handle text : texts) {
          const auto bytes = nb::cast<nb::bytes>(text);
          out.push_back(text_key({bytes.c_str(), bytes.size()}, kind));
        }
        return to_numpy(std::move(out));
      },
      "texts"_a, "kind"_a,
      "A key for each text, given as bytes; equal texts of one kind have equal keys, on every machine.");
  nb::class_<SparseClassifier>(m, "SparseClassifier")
      .def(
          "__init__",
          [](SparseClassifier* self, In<std::uint64_t> key, In<std::int64_t> start, In<std::int32_t> of_class,
             In<float> weight) {
            new (self) SparseClassifier({copied(key), copied(start), copied(of_class), copied(weight)});
          },
          "key"_a, "start"_a, "of_class"_a, "weight"_a);
  m.def(
      "train_tagger",
      [](In<std::int64_t> start, In<std::int32_t> word, In<std::uint64_t> attribute, In<std::int32_t> tag,
         std::int32_t n_tags, int epochs, std::int32_t width, std::uint64_t seed, Progress progress) {
        const TaggerView view = tagged_view(start, word, attribute, &tag);
        ClassifierArrays found;
        Gate gate;
        run_released(gate, 1, progress,
                     [&](Team& team) { found = train_tagger(view, {n_tags, epochs, width, seed}, team); });
        return arrays_of(std::move(found));
      },
      "start"_a, "word"_a, "attribute"_a, "tag"_a, "n_tags"_a, "epochs"_a, "width"_a, "seed"_a, "progress"_a);
  m.def(
      "tag_by_beam",
      [](const SparseClassifier& model, In<std::int64_t> start, In<std::int32_t> word, In<std::uint64_t> attribute,
         std::int32_t n_tags, std::int32_t width, std::int64_t most, int n_threads, Progress progress) {
        const TaggerView view = tagged_view(start, word, attribute, nullptr);
        std::vector<std::vector<TagSequence>> found;
        Gate gate;
        run_released(gate, n_threads, progress,
                     [&](Team& team) { found = tag_by_beam(model, view, n_tags, width, most, team); });
        return arrays_of(found);
      },
      "model"_a, "start"_a, "word"_a, "attribute"_a, "n_tags"_a, "width"_a, "most"_a, "n_threads"_a, "progress"_a);
  m.attr("N_TOKEN_FIELDS") = static_cast<int>(sizeof(Token) / sizeof(std::int32_t));
  m.def(
      "train_pruner",
      [](In<std::int64_t> start, In<std::int32_t> token, In<std::int32_t> head, In<std::int64_t> rows, int bits,
         int epochs, double step, std::uint64_t seed, Progress progress) {
        const DependencyView view = dependency_view(start, token, &head);
        LargeVector<float> found;
        Gate gate;
        run_released(gate, 1, progress,
                     [&](Team& team) { found = train_pruner(view, copied(rows), {bits, epochs, step, seed}, team); });
        return to_numpy(std::move(found));
      },
      "start"_a, "token"_a, "head"_a, "rows"_a, "bits"_a, "epochs"_a, "step"_a, "seed"_a, "progress"_a);
  m.def(
      "train_dependencies",
      [](In<std::int64_t> start, In<std::int32_t> token, In<std::int32_t> head, List<In<float>> pruners,
         In<std::int32_t> part, int bits, int epochs, int order, bool mira, double step, double margin, int rivals,
         bool several_roots, double ratio, std::int32_t most, std::uint64_t seed, Progress progress) {
        const DependencyView view = dependency_view(start, token, &head);
        std::vector<In<float>> kept;
        std::vector<WeightView> views;
        for (nb::handle one : pruners) {
          kept.push_back(nb::cast<In<float>>(one));
          views.push_back(weight_view(kept.back()));
        }
        LargeVector<float> found;
        Gate gate;
        run_released(gate, 1, progress, [&](Team& team) {
          const auto learning = mira ? Learning::kMira : Learning::kSoftmaxMargin;
          const ParserTraining settings{bits,   epochs, order,         learning,      step,
                                        margin, rivals, several_roots, {ratio, most}, seed};
          found = train_parser(view, views, part.data(), settings, team);
        });
        return to_numpy(std::move(found));
      },
      "start"_a, "token"_a, "head"_a, "pruners"_a, "part"_a, "bits"_a, "epochs"_a, "order"_a, "mira"_a, "step"_a,
      "margin"_a, "rivals"_a, "several_roots"_a, "ratio"_a, "most"_a, "seed"_a, "progress"_a);
  m.def(
      "train_labels",
      [](In<std::int64_t> start, In<std::int32_t> token, In<std::int32_t> head, In<std::int32_t> label,
         std::int32_t n_labels, int epochs, std::uint64_t seed, Progress progress) {
        const DependencyView view = dependency_view(start, token, &head);
        ClassifierArrays found;
        Gate gate;
        run_released(gate, 1, progress,
                     [&](Team& team) { found = train_labels(view, label.data(), {n_labels, epochs, seed}, team); });
        return arrays_of(std::move(found));
      },
      "start"_a, "token"_a, "head"_a, "label"_a, "n_labels"_a, "epochs"_a, "seed"_a, "progress"_a);
  m.def(
      "parse_dependencies",
      [](In<float> pruner, In<float> parser, const SparseClassifier& labels, std::int32_t n_labels, int order,
         bool several_roots, double ratio, std::int32_t most_heads, In<std::int64_t> start, In<std::int32_t> token,
         std::int64_t most, std::int64_t memory, int n_threads, Progress progress) {
        const DependencyView view = dependency_view(start, token, nullptr);
        const DependencyModel model{weight_view(pruner), weight_view(parser), &labels, n_labels, order,
                                    several_roots,       {ratio, most_heads}};
        std::vector<SentenceTrees> found;
        Gate gate;
        run_released(gate, n_threads, progress,
                     [&](Team& team) { found = parse_dependencies(model, view, most, memory, team); });
        return arrays_of(found);
      },
      "pruner"_a, "parser"_a, "labels"_a, "n_labels"_a, "order"_a, "several_roots"_a, "ratio"_a, "most_heads"_a,
      "start"_a, "token"_a, "most"_a, "memory"_a, "n_threads"_a, "progress"_a);
  m.def(
      "score_dependencies",
      [](In<float> parser, int order, In<std::int64_t> start, In<std::int32_t> token, In<std::int32_t> head,
         int n_threads) {
        const DependencyView view = dependency_view(start, token, &head);
        std::vector<double> found;
        Gate gate;
        run_released(gate, n_threads, std::nullopt,
                     [&](Team& team) { found = score_trees(weight_view(parser), order, view, team); });
        return to_numpy(std::move(found));
      },
      "parser"_a, "order"_a, "start"_a, "token"_a, "head"_a, "n_threads"_a);
  m.def(
      "label_dependencies",
      [](const SparseClassifier& labels, std::int32_t n_labels, In<std::int64_t> start, In<std::int32_t> token,
         In<std::int32_t> head, int n_threads) {
        const DependencyView view = dependency_view(start, token, &head);
        std::vector<LabelledTree> found;
        Gate gate;
        run_released(gate, n_threads, std::nullopt,
                     [&](Team& team) { found = label_trees(labels, n_labels, view, team); });
        std::vector<std::int32_t> label;
        std::vector<double> score;
        for (const LabelledTree& tree : found) append(tree, label, score);
        return to_tuple(std::move(label), std::move(score));
      },
      "labels"_a, "n_labels"_a, "start"_a, "token"_a, "head"_a, "n_threads"_a);
  m.def(
      "kept_arcs",
      [](In<float> pruner, double ratio, std::int32_t most_heads, In<std::int64_t> start, In<std::int32_t> token,
         int n_threads) {
        const DependencyView view = dependency_view(start, token, nullptr);
        std::vector<std::vector<ArcGraph::Arc>> found;
        Gate gate;
        run_released(gate, n_threads, std::nullopt,
                     [&](Team& team) { found = kept_arcs(weight_view(pruner), {ratio, most_heads}, view, team); });
        std::vector<std::int64_t> sentence_start{0};
        std::vector<std::int32_t> head, modifier;
        for (const auto& arcs : found) {
          for (const ArcGraph::Arc& arc : arcs) {
            head.push_back(arc.head);
            modifier.push_back(arc.modifier);
          }
          sentence_start.push_back(static_cast<std::int64_t>(head.size()));
        }
        return to_tuple(std::move(sentence_start), std::move(head), std::move(modifier));
      },
      "pruner"_a, "ratio"_a, "most_heads"_a, "start"_a, "token"_a, "n_threads"_a);
  m.def(
      "in_large_pages",
      [](In<float> array) { return to_numpy(LargeVector<float>(array.data(), array.data() + array.size())); },
      "array"_a, "A copy that is quick to read at random.");
}

}  // namespace espalier
