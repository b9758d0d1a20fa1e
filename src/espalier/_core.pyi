from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy
from numpy.typing import NDArray

def set_patience(microseconds: int) -> int: ...

class BracketError(ValueError):
    pass

class Vocabulary:
    def __init__(self) -> None: ...
    def add(self, label: str) -> int: ...
    def find(self, label: str) -> int: ...
    def label(self, id: int) -> str: ...
    def extends(self, other: Vocabulary) -> bool: ...
    def __len__(self) -> int: ...

def set_hash_seed(seed: int) -> None: ...
def extend_vocabulary(base: Vocabulary) -> Vocabulary: ...
def parse_brackets(text: str) -> tuple[list[str], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]]: ...
def forest_fault(arrays: dict[str, NDArray[Any]], n_labels: int) -> str | None: ...

class Interner:
    def __init__(self, vocabulary: Vocabulary) -> None: ...
    def add_texts(self, texts: list[str]) -> None: ...
    def add_text(self, text: str) -> int: ...
    def add_missing(self) -> None: ...
    def add_subtrees(
        self, label: NDArray[numpy.int32], child_start: NDArray[numpy.int64], child: NDArray[numpy.int32]
    ) -> NDArray[numpy.int32]: ...
    def add_roots(self, roots: NDArray[numpy.int32]) -> None: ...
    def finish(self) -> dict[str, NDArray[Any]]: ...

class SubsetTreePlan:
    def __init__(
        self,
        a: dict[str, NDArray[Any]],
        b: dict[str, NDArray[Any]] | None,
        identity: bool,
        leaves: bool,
        per_tree: bool,
    ) -> None: ...
    @property
    def labels(self) -> list[int]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def n_pairs(self) -> int: ...
    @property
    def pattern_bytes(self) -> int: ...
    @property
    def n_buckets(self) -> int: ...
    def release(self) -> None: ...
    def matrix_bytes(self, max_depth: int) -> int: ...
    def pull_back_bytes(self, max_depth: int) -> int: ...
    def matrix(
        self,
        decay: NDArray[numpy.float64],
        frontier: NDArray[numpy.float64],
        max_depth: int,
        n_threads: int,
        progress: Callable[[float], object] | None,
        out: NDArray[numpy.float64],
    ) -> bool: ...
    def pull_back(
        self,
        decay: NDArray[numpy.float64],
        frontier: NDArray[numpy.float64],
        max_depth: int,
        cotangent: NDArray[numpy.float64],
        n_threads: int,
        progress: Callable[[float], object] | None,
        decay_bar: NDArray[numpy.float64],
        frontier_bar: NDArray[numpy.float64],
    ) -> None: ...

def subset_self(
    forest: dict[str, NDArray[Any]],
    decay: NDArray[numpy.float64],
    frontier: NDArray[numpy.float64],
    leaf: float,
    identity: bool,
    memory: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
    out: NDArray[numpy.float64],
) -> bool: ...

class PartialTreePlan:
    def __init__(self, a: dict[str, NDArray[Any]], b: dict[str, NDArray[Any]] | None, per_tree: bool) -> None: ...
    @property
    def labels(self) -> list[int]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def n_pairs(self) -> int: ...
    @property
    def pattern_bytes(self) -> int: ...
    @property
    def n_buckets(self) -> int: ...
    def release(self) -> None: ...
    def matrix_bytes(self) -> int: ...
    def pull_back_bytes(self) -> int: ...
    def matrix(
        self,
        decay: NDArray[numpy.float64],
        depth_decay: NDArray[numpy.float64],
        n_threads: int,
        progress: Callable[[float], object] | None,
        out: NDArray[numpy.float64],
    ) -> bool: ...
    def pull_back(
        self,
        decay: NDArray[numpy.float64],
        depth_decay: NDArray[numpy.float64],
        cotangent: NDArray[numpy.float64],
        n_threads: int,
        progress: Callable[[float], object] | None,
        decay_bar: NDArray[numpy.float64],
        depth_decay_bar: NDArray[numpy.float64],
    ) -> None: ...

class SmoothedTreePlan:
    def __init__(
        self, a: dict[str, NDArray[Any]], b: dict[str, NDArray[Any]] | None, per_tree: bool, soft_labels: bool
    ) -> None: ...
    @property
    def labels(self) -> list[int]: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def n_pairs(self) -> int: ...
    @property
    def pattern_bytes(self) -> int: ...
    @property
    def n_buckets(self) -> int: ...
    def release(self) -> None: ...
    @property
    def row_labels(self) -> list[int]: ...
    @property
    def column_labels(self) -> list[int]: ...
    @property
    def row_words(self) -> list[int]: ...
    @property
    def column_words(self) -> list[int]: ...
    @property
    def is_symmetric(self) -> bool: ...
    @property
    def table_bytes(self) -> int: ...
    def link(
        self, labels: NDArray[numpy.float64], word_labels: NDArray[numpy.float64], label_words: NDArray[numpy.float64]
    ) -> None: ...
    def matrix_bytes(self) -> int: ...
    def pull_back_bytes(self) -> int: ...
    def matrix(
        self,
        decay: NDArray[numpy.float64],
        depth_decay: NDArray[numpy.float64],
        mix: float,
        words: NDArray[numpy.float64],
        labels: NDArray[numpy.float64],
        word_labels: NDArray[numpy.float64],
        label_words: NDArray[numpy.float64],
        n_threads: int,
        progress: Callable[[float], object] | None,
        out: NDArray[numpy.float64],
    ) -> bool: ...
    def pull_back(
        self,
        decay: NDArray[numpy.float64],
        depth_decay: NDArray[numpy.float64],
        mix: float,
        words: NDArray[numpy.float64],
        labels: NDArray[numpy.float64],
        word_labels: NDArray[numpy.float64],
        label_words: NDArray[numpy.float64],
        cotangent: NDArray[numpy.float64],
        n_threads: int,
        progress: Callable[[float], object] | None,
        decay_bar: NDArray[numpy.float64],
        depth_decay_bar: NDArray[numpy.float64],
        mix_bar: NDArray[numpy.float64],
    ) -> None: ...

def subsequence_values(
    a_symbol: NDArray[numpy.int32],
    a_start: NDArray[numpy.int64],
    b_symbol: NDArray[numpy.int32],
    b_start: NDArray[numpy.int64],
    pairs: int,
    gap: NDArray[numpy.float64],
    match: NDArray[numpy.float64],
    order: NDArray[numpy.float64],
    mix: NDArray[numpy.float64],
    similar: dict[str, Any] | None,
    n_threads: int,
    progress: Callable[[float], object] | None,
    out: NDArray[numpy.float64],
) -> None: ...
def subsequence_pull_back(
    a_symbol: NDArray[numpy.int32],
    a_start: NDArray[numpy.int64],
    b_symbol: NDArray[numpy.int32],
    b_start: NDArray[numpy.int64],
    pairs: int,
    gap: NDArray[numpy.float64],
    match: NDArray[numpy.float64],
    order: NDArray[numpy.float64],
    mix: NDArray[numpy.float64],
    similar: dict[str, Any] | None,
    n_threads: int,
    progress: Callable[[float], object] | None,
    cotangent: NDArray[numpy.float64],
    gap_bar: NDArray[numpy.float64],
    match_bar: NDArray[numpy.float64],
    order_bar: NDArray[numpy.float64],
    mix_bar: NDArray[numpy.float64],
) -> None: ...
def tagging_values(
    a_tag: NDArray[numpy.int32],
    a_word: NDArray[numpy.int32],
    a_start: NDArray[numpy.int64],
    b_tag: NDArray[numpy.int32],
    b_word: NDArray[numpy.int32],
    b_start: NDArray[numpy.int64],
    pairs: int,
    decay: NDArray[numpy.float64],
    word_weight: NDArray[numpy.float64],
    gap: NDArray[numpy.float64],
    n_threads: int,
    progress: Callable[[float], object] | None,
    out: NDArray[numpy.float64],
) -> None: ...
def tagging_pull_back(
    a_tag: NDArray[numpy.int32],
    a_word: NDArray[numpy.int32],
    a_start: NDArray[numpy.int64],
    b_tag: NDArray[numpy.int32],
    b_word: NDArray[numpy.int32],
    b_start: NDArray[numpy.int64],
    pairs: int,
    decay: NDArray[numpy.float64],
    word_weight: NDArray[numpy.float64],
    gap: NDArray[numpy.float64],
    n_threads: int,
    progress: Callable[[float], object] | None,
    cotangent: NDArray[numpy.float64],
    decay_bar: NDArray[numpy.float64],
    word_bar: NDArray[numpy.float64],
    gap_bar: NDArray[numpy.float64],
) -> None: ...
def dependency_subtree_values(
    a: dict[str, NDArray[Any]],
    b: dict[str, NDArray[Any]],
    pairs: int,
    decay: float,
    weight: NDArray[numpy.float64],
    part: NDArray[numpy.int32],
    contiguous: bool,
    max_arcs: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
    out: NDArray[numpy.float64],
) -> None: ...
def dependency_subtree_pull_back(
    a: dict[str, NDArray[Any]],
    b: dict[str, NDArray[Any]],
    pairs: int,
    decay: float,
    weight: NDArray[numpy.float64],
    part: NDArray[numpy.int32],
    contiguous: bool,
    max_arcs: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
    cotangent: NDArray[numpy.float64],
    decay_bar: NDArray[numpy.float64],
    weight_bar: NDArray[numpy.float64],
) -> None: ...

class Miner:
    @property
    def n_visited(self) -> int: ...
    @property
    def n_pruned(self) -> int: ...
    @property
    def n_kept(self) -> int: ...
    @property
    def threshold(self) -> float: ...

class FragmentTrie:
    def __init__(
        self,
        production_start: NDArray[numpy.int64],
        production_part: NDArray[numpy.int32],
        start: NDArray[numpy.int64],
        code: NDArray[numpy.int32],
    ) -> None: ...
    def match(
        self,
        forest: dict[str, NDArray[Any]],
        label_of: NDArray[numpy.int32],
        n_threads: int,
        progress: Callable[[float], object] | None,
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]: ...
    def score(
        self,
        forest: dict[str, NDArray[Any]],
        label_of: NDArray[numpy.int32],
        weight: NDArray[numpy.float64],
        n_threads: int,
        progress: Callable[[float], object] | None,
        out: NDArray[numpy.float64],
    ) -> None: ...

class PartialMiner(Miner):
    def __init__(self, forest: dict[str, NDArray[Any]]) -> None: ...
    def exact(
        self,
        mass: NDArray[numpy.float64],
        decay: NDArray[numpy.float64],
        depth_decay: NDArray[numpy.float64],
        max_size: int,
        n: int,
        max_visits: int,
        memory: int,
        n_threads: int,
        progress: Callable[[float], object] | None,
    ) -> dict[str, Any]: ...
    def local(
        self,
        mass: NDArray[numpy.float64],
        decay: NDArray[numpy.float64],
        depth_decay: NDArray[numpy.float64],
        max_size: int,
        count: NDArray[numpy.float64],
        n: int,
        max_visits: int,
        memory: int,
        n_threads: int,
    ) -> dict[str, Any]: ...

def match_partial(
    start: NDArray[numpy.int64],
    code: NDArray[numpy.int32],
    forest: dict[str, NDArray[Any]],
    label_of: NDArray[numpy.int32],
    decay: NDArray[numpy.float64],
    depth_decay: NDArray[numpy.float64],
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...
def hash_fragments(
    forest: dict[str, NDArray[Any]],
    label_hash: NDArray[numpy.uint64],
    decay: NDArray[numpy.float64],
    frontier: NDArray[numpy.float64],
    max_depth: int,
    max_size: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint64], NDArray[numpy.float64]]: ...
def code_parents(
    production_start: NDArray[numpy.int64],
    production_part: NDArray[numpy.int32],
    start: NDArray[numpy.int64],
    code: NDArray[numpy.int32],
) -> NDArray[numpy.int64]: ...

class SubsetMiner(Miner):
    def __init__(self, forest: dict[str, NDArray[Any]]) -> None: ...
    @property
    def production_start(self) -> list[int]: ...
    @property
    def production_part(self) -> list[int]: ...
    def exact(
        self,
        mass: NDArray[numpy.float64],
        decay: NDArray[numpy.float64],
        frontier: NDArray[numpy.float64],
        max_depth: int,
        max_size: int,
        n: int,
        max_visits: int,
        memory: int,
        n_threads: int,
        progress: Callable[[float], object] | None,
    ) -> dict[str, Any]: ...
    def local(
        self,
        mass: NDArray[numpy.float64],
        decay: NDArray[numpy.float64],
        frontier: NDArray[numpy.float64],
        max_depth: int,
        max_size: int,
        count: NDArray[numpy.float64],
        n: int,
        max_visits: int,
        memory: int,
    ) -> dict[str, Any]: ...
    def attribute(
        self,
        mass: NDArray[numpy.float64],
        decay: NDArray[numpy.float64],
        frontier: NDArray[numpy.float64],
        root: int,
        point: Sequence[float],
        weight: Sequence[float],
    ) -> NDArray[numpy.float64]: ...
    def greedy(
        self,
        mass: NDArray[numpy.float64],
        decay: NDArray[numpy.float64],
        frontier: NDArray[numpy.float64],
        max_depth: int,
        max_size: int,
        n: int,
        max_expansions: int,
        progress: Callable[[float], object] | None,
    ) -> dict[str, Any]: ...

def factorize_tiled(functions: dict[str, Any], matrix: NDArray[numpy.float64], n_threads: int) -> int: ...
def invert_factor_tiled(functions: dict[str, Any], matrix: NDArray[numpy.float64], n_threads: int) -> int: ...
def invert_tiled(functions: dict[str, Any], matrix: NDArray[numpy.float64], n_threads: int) -> int: ...
def parse_sentences(
    grammar: dict[str, Any],
    sentence_start: NDArray[numpy.int64],
    word_start: NDArray[numpy.int64],
    tag: NDArray[numpy.int32],
    weight: NDArray[numpy.float64],
    beam: float,
    prior: NDArray[numpy.float64],
    margin: float,
    coarse: dict[str, Any] | None,
    memory: int,
    most: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, NDArray[Any]]: ...
def tag_sentences(
    trigrams: NDArray[numpy.float64],
    n_tags: int,
    sentence_start: NDArray[numpy.int64],
    word_start: NDArray[numpy.int64],
    tag: NDArray[numpy.int32],
    weight: NDArray[numpy.float64],
    most: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, NDArray[Any]]: ...

N_ATTRIBUTES: int = 12

def text_keys(texts: list[bytes], kind: int) -> NDArray[numpy.uint64]: ...

class SparseClassifier:
    def __init__(
        self,
        key: NDArray[numpy.uint64],
        start: NDArray[numpy.int64],
        of_class: NDArray[numpy.int32],
        weight: NDArray[numpy.float32],
    ) -> None: ...

def train_tagger(
    start: NDArray[numpy.int64],
    word: NDArray[numpy.int32],
    attribute: NDArray[numpy.uint64],
    tag: NDArray[numpy.int32],
    n_tags: int,
    epochs: int,
    width: int,
    seed: int,
    progress: Callable[[float], object] | None,
) -> dict[str, NDArray[Any]]: ...
def tag_by_beam(
    model: SparseClassifier,
    start: NDArray[numpy.int64],
    word: NDArray[numpy.int32],
    attribute: NDArray[numpy.uint64],
    n_tags: int,
    width: int,
    most: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, NDArray[Any]]: ...

N_TOKEN_FIELDS: int = 7

def train_pruner(
    start: NDArray[numpy.int64],
    token: NDArray[numpy.int32],
    head: NDArray[numpy.int32],
    rows: NDArray[numpy.int64],
    bits: int,
    epochs: int,
    step: float,
    seed: int,
    progress: Callable[[float], object] | None,
) -> NDArray[numpy.float32]: ...
def train_dependencies(
    start: NDArray[numpy.int64],
    token: NDArray[numpy.int32],
    head: NDArray[numpy.int32],
    pruners: list[NDArray[numpy.float32]],
    part: NDArray[numpy.int32],
    bits: int,
    epochs: int,
    order: int,
    mira: bool,
    step: float,
    margin: float,
    rivals: int,
    several_roots: bool,
    ratio: float,
    most: int,
    seed: int,
    progress: Callable[[float], object] | None,
) -> NDArray[numpy.float32]: ...
def train_labels(
    start: NDArray[numpy.int64],
    token: NDArray[numpy.int32],
    head: NDArray[numpy.int32],
    label: NDArray[numpy.int32],
    n_labels: int,
    epochs: int,
    seed: int,
    progress: Callable[[float], object] | None,
) -> dict[str, NDArray[Any]]: ...
def parse_dependencies(
    pruner: NDArray[numpy.float32],
    parser: NDArray[numpy.float32],
    labels: SparseClassifier,
    n_labels: int,
    order: int,
    several_roots: bool,
    ratio: float,
    most_heads: int,
    start: NDArray[numpy.int64],
    token: NDArray[numpy.int32],
    most: int,
    memory: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, NDArray[Any]]: ...
def score_dependencies(
    parser: NDArray[numpy.float32],
    order: int,
    start: NDArray[numpy.int64],
    token: NDArray[numpy.int32],
    head: NDArray[numpy.int32],
    n_threads: int,
) -> NDArray[numpy.float64]: ...
def label_dependencies(
    labels: SparseClassifier,
    n_labels: int,
    start: NDArray[numpy.int64],
    token: NDArray[numpy.int32],
    head: NDArray[numpy.int32],
    n_threads: int,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
def kept_arcs(
    pruner: NDArray[numpy.float32],
    ratio: float,
    most_heads: int,
    start: NDArray[numpy.int64],
    token: NDArray[numpy.int32],
    n_threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32]]: ...
def in_large_pages(array: NDArray[numpy.float32]) -> NDArray[numpy.float32]: ...

class CompressedTrees:
    def __init__(
        self, decay: NDArray[numpy.float64], frontier: NDArray[numpy.float64], leaf: float, max_depth: int
    ) -> None: ...
    def add(self, forest: dict[str, NDArray[Any]], tree: int, coefficient: float) -> None: ...
    def scores(self, forest: dict[str, NDArray[Any]], first: int, last: int, out: NDArray[numpy.float64]) -> None: ...
    def set_labels(self, decay: NDArray[numpy.float64], frontier: NDArray[numpy.float64]) -> None: ...
    @property
    def n_subtrees(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def n_bytes_in_all(self) -> int: ...

MOST_ATOMS: int = 16777216

MOST_CANDIDATES: int = 64

MOST_ORDER: int = 8

def frequent_codes(
    arrays: dict[str, NDArray[Any]],
    templates: list[Any],
    root: bool,
    threshold: float,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> NDArray[numpy.uint64]: ...

class AtomTable:
    def __init__(self, codes: NDArray[numpy.uint64]) -> None: ...

class ArcUnions:
    def __init__(
        self,
        arrays: dict[str, NDArray[Any]],
        templates: list[Any],
        root: bool,
        atoms: AtomTable,
        n_threads: int,
        progress: Callable[[float], object] | None,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...

class FeatureTrie:
    def __init__(self, n_roots: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    def keys(self) -> NDArray[numpy.uint64]: ...
    def insert(self, keys: NDArray[numpy.uint64]) -> NDArray[numpy.uint32]: ...
    def find(self, keys: NDArray[numpy.uint64]) -> NDArray[numpy.uint32]: ...

class KeptCounts:
    def __init__(self, most_bytes: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def is_full(self) -> bool: ...

MOST_KEPT_THRESHOLD: float = 127.0

class SlotGraphs:
    def __init__(self, kind: int, gap: int, arrays: dict[str, NDArray[Any]]) -> None: ...
    def __len__(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...

def arc_sets(sentences: ArcUnions, n_threads: int) -> SlotGraphs: ...
def count_occurrences(
    keys: NDArray[numpy.uint64], start: NDArray[numpy.int64], threshold: float, memory: int, folder: str, n_threads: int
) -> dict[str, Any]: ...
def filter_occurrences(keys: NDArray[numpy.uint64], threshold: int, memory: int) -> NDArray[numpy.uint8]: ...
def open_parts(
    trie: FeatureTrie, kind: int, top: NDArray[numpy.uint32], needed: NDArray[numpy.uint8], n_threads: int
) -> tuple[NDArray[numpy.uint8], int]: ...
def first_features(trie: FeatureTrie, n_atoms: int, open: NDArray[numpy.uint8]) -> NDArray[numpy.uint32]: ...

class RankedFeatures:
    @overload
    @staticmethod
    def extracted(
        graphs: ArcUnions,
        trie: FeatureTrie,
        n_atoms: int,
        first: NDArray[numpy.uint32],
        open: NDArray[numpy.uint8],
        index: NDArray[numpy.int32],
        value: NDArray[numpy.float32],
        order: int,
        memory: int,
        n_threads: int,
        progress: Callable[[float], object] | None,
    ) -> RankedFeatures: ...
    @overload
    @staticmethod
    def extracted(
        graphs: SlotGraphs,
        trie: FeatureTrie,
        n_atoms: int,
        first: NDArray[numpy.uint32],
        open: NDArray[numpy.uint8],
        index: NDArray[numpy.int32],
        value: NDArray[numpy.float32],
        order: int,
        memory: int,
        n_threads: int,
        progress: Callable[[float], object] | None,
    ) -> RankedFeatures: ...
    def __len__(self) -> int: ...
    @property
    def is_whole(self) -> bool: ...
    @property
    def n_bytes(self) -> NDArray[numpy.int64]: ...
    @property
    def n_features(self) -> int: ...
    def scores(self, weight: NDArray[numpy.float32], n_threads: int) -> NDArray[numpy.float64]: ...

class RankingLearner:
    def __init__(self, n_features: int, loss: int, margin: float, step: float, l1: float, l2: float) -> None: ...
    def run_pass(
        self,
        features: RankedFeatures,
        order: NDArray[numpy.int64],
        start: NDArray[numpy.int64],
        target: NDArray[numpy.int32],
        base: NDArray[numpy.float64],
        cost: NDArray[numpy.float64],
        progress: Callable[[float], object] | None,
    ) -> int: ...
    def weights(self) -> NDArray[numpy.float32]: ...
    def averaged(self) -> NDArray[numpy.float32]: ...

@overload
def count_features(
    graphs: ArcUnions,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    right: NDArray[numpy.int32],
    predicted: NDArray[numpy.int32],
    root_of: NDArray[numpy.int32],
    watched: NDArray[numpy.uint64],
    order: int,
    threshold: float,
    memory: int,
    folder: str,
    filter_memory: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
@overload
def count_features(
    graphs: SlotGraphs,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    right: NDArray[numpy.int32],
    predicted: NDArray[numpy.int32],
    root_of: NDArray[numpy.int32],
    watched: NDArray[numpy.uint64],
    order: int,
    threshold: float,
    memory: int,
    folder: str,
    filter_memory: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
@overload
def count_changes(
    graphs: ArcUnions,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    right: NDArray[numpy.int32],
    predicted: NDArray[numpy.int32],
    before: NDArray[numpy.int32],
    root_of: NDArray[numpy.int32],
    kept: KeptCounts,
    order: int,
    threshold: float,
    memory: int,
    folder: str,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
@overload
def count_changes(
    graphs: SlotGraphs,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    right: NDArray[numpy.int32],
    predicted: NDArray[numpy.int32],
    before: NDArray[numpy.int32],
    root_of: NDArray[numpy.int32],
    kept: KeptCounts,
    order: int,
    threshold: float,
    memory: int,
    folder: str,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
@overload
def count_frequent(
    graphs: ArcUnions,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    order: int,
    threshold: float,
    memory: int,
    folder: str,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
@overload
def count_frequent(
    graphs: SlotGraphs,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    order: int,
    threshold: float,
    memory: int,
    folder: str,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
@overload
def feature_scores(
    graphs: ArcUnions,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    weight: NDArray[numpy.float64],
    root_of: NDArray[numpy.int32],
    order: int,
    presence: bool,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> NDArray[numpy.float64]: ...
@overload
def feature_scores(
    graphs: SlotGraphs,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    weight: NDArray[numpy.float64],
    root_of: NDArray[numpy.int32],
    order: int,
    presence: bool,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> NDArray[numpy.float64]: ...
@overload
def feature_rows(
    graphs: ArcUnions,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    wanted: NDArray[numpy.uint8],
    order: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
@overload
def feature_rows(
    graphs: SlotGraphs,
    trie: FeatureTrie,
    n_atoms: int,
    first: NDArray[numpy.uint32],
    open: NDArray[numpy.uint8],
    wanted: NDArray[numpy.uint8],
    order: int,
    n_threads: int,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]: ...
