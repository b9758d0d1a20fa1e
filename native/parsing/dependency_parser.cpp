#include "parsing/dependency_parser.hpp"

#include "parsing/dependency_workspace.hpp"

namespace espalier {

std::vector<SentenceTrees> parse_dependencies(const DependencyModel& model, const DependencyView& sentences,
                                              std::int64_t most, std::int64_t memory, Team& team) {
  std::vector<SentenceTrees> out(sentences.n_sentences);
  std::vector<Workspace> workspaces(team.size());
  team.run(sentences.n_sentences, [&](std::int64_t s, int worker) {
    Pace pace(team, worker);
    Workspace& work = workspaces[worker];
    const std::int32_t n = sentences.n_words(s);
    if (n == 0) return;
    work.keys.set(sentences.tokens(s), n);
    HeadPruning pruning = model.pruning;
    while (pruning.most > 1 && DependencyChart::bytes(n, (pruning.most + 1) * std::int64_t{n}) > memory) {
      pruning.most /= 2;
      out[s].narrowed = true;
    }
    work.graph.set(n, work.kept(model.pruner, pruning, pace), model.several_roots);
    work.score_parts(model.parser, model.order, pace);
    work.chart.fill(work.graph, work.scores, pace);
    out[s].best = work.chart.best(most, pace);
    TreeLabeller labels(*model.labels, work.keys, model.n_labels);
    for (const DependencyParse& parse : out[s].best) out[s].labelled.push_back(labels(parse.head.data()));
    out[s].n_arcs = work.graph.n_arcs();
  });
  return out;
}

std::vector<double> score_trees(const WeightView& parser, int order, const DependencyView& trees, Team& team) {
  std::vector<double> out(trees.n_sentences);
  team.run(trees.n_sentences, [&](std::int64_t s, int) {
    SentenceKeys keys;
    keys.set(trees.tokens(s), trees.n_words(s));
    out[s] = tree_score(parser, keys, trees.heads(s), order);
  });
  return out;
}

std::vector<LabelledTree> label_trees(const SparseClassifier& labels, std::int32_t n_labels,
                                      const DependencyView& trees, Team& team) {
  std::vector<LabelledTree> out(trees.n_sentences);
  team.run(trees.n_sentences, [&](std::int64_t s, int) {
    SentenceKeys keys;
    keys.set(trees.tokens(s), trees.n_words(s));
    out[s] = TreeLabeller(labels, keys, n_labels)(trees.heads(s));
  });
  return out;
}

std::vector<std::vector<ArcGraph::Arc>> kept_arcs(const WeightView& pruner, const HeadPruning& pruning,
                                                  const DependencyView& sentences, Team& team) {
  std::vector<std::vector<ArcGraph::Arc>> out(sentences.n_sentences);
  team.run(sentences.n_sentences, [&](std::int64_t s, int worker) {
    Pace pace(team, worker);
    Workspace work;
    work.keys.set(sentences.tokens(s), sentences.n_words(s));
    out[s] = work.kept(pruner, pruning, pace);
  });
  return out;
}

}  // namespace espalier
