"""Constituency trees as dependency trees: a rule for each label says which child is the head of a constituent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from espalier.errors import InputError
from espalier.structures.dependency import DependencyTree
from espalier.structures.notation import check_size
from espalier.structures.tree import Tree

Rule = Sequence[tuple[bool, frozenset[str]]]  # whether to look from the right, and for which labels; none: any label

# The rules of Yamada and Matsumoto (2003), in the notation of Nivre's program Penn2Malt.
YAMADA_MATSUMOTO: Mapping[str, str] = {
    "ADJP": "r NNS;r QP;r NN;r $;r ADVP;r JJ;r VBN;r VBG;r ADJP;r JJR;r NP;r JJS;r DT;r FW;r RBR;r RBS;r SBAR;r RB;r",
    "ADVP": "l RB;l RBR;l RBS;l FW;l ADVP;l TO;l CD;l JJR;l JJ;l IN;l NP;l JJS;l NN;l",
    "CONJP": "l CC;l RB;l IN;l",
    "FRAG": "l",
    "INTJ": "r",
    "LST": "l LS;l :;l",
    "NAC": "r NN|NNS|NNP|NNPS;r NP;r NAC;r EX;r $;r CD;r QP;r PRP;r VBG;r JJ;r JJS;r JJR;r ADJP;r FW;r",
    "NP": "r POS|NN|NNP|NNPS|NNS;r NX;r JJR;r CD;r JJ;r JJS;r RB;r QP;r NP;r",
    "NX": "r POS|NN|NNP|NNPS|NNS;r NX;r JJR;r CD;r JJ;r JJS;r RB;r QP;r NP;r",
    "PP": "l IN;l TO;l VBG;l VBN;l RP;l FW;l",
    "PRN": "r",
    "PRT": "l RP;l",
    "QP": "r $;r IN;r NNS;r NN;r JJ;r RB;r DT;r CD;r NCD;r QP;r JJR;r JJS;r",
    "RRC": "l VP;l NP;l ADVP;l ADJP;l PP;l",
    "S": "r TO;r IN;r VP;r S;r SBAR;r ADJP;r UCP;r NP;r",
    "SBAR": "r WHNP;r WHPP;r WHADVP;r WHADJP;r IN;r DT;r S;r SQ;r SINV;r SBAR;r FRAG;r",
    "SBARQ": "r SQ;r S;r SINV;r SBARQ;r FRAG;r",
    "SINV": "r VBZ;r VBD;r VBP;r VB;r MD;r VP;r S;r SINV;r ADJP;r NP;r",
    "SQ": "r VBZ;r VBD;r VBP;r VB;r MD;r VP;r SQ;r",
    "UCP": "l",
    "VP": "l VBD;l VBN;l MD;l VBZ;l TO;l VB;l VP;l VBG;l VBP;l ADJP;l NN;l NNS;l NP;l",
    "WHADJP": "r CC;r WRB;r JJ;r ADJP;r",
    "WHADVP": "l CC;l WRB;l",
    "WHNP": "r WDT;r WP;r WP$;r WHADJP;r WHPP;r WHNP;r",
    "WHPP": "l IN;l TO;l FW;l",
    "*": "r",
}


def to_dependencies(tree: Tree, head_rules: Mapping[str, str] = YAMADA_MATSUMOTO) -> DependencyTree:
    """Return the dependency tree of a constituency tree.

    The head word of a constituent is that of its head child, and the head words of the other children depend on it.
    The relation of a word is the label of the largest constituent that it heads, and ``root`` for the root.

    Parameters
    ----------
    tree
        A tree with a tag above each word. Remove traces, function tags and an outer label
        first: ``espalier.parsing.plain(tree)`` does so.
    head_rules
        By label, where to look for the head child: ``"r NN|NNS;l NP;r"`` looks from the right for a child with one of
        two labels, then from the left for an ``NP``, and then takes the rightmost child. The rule for ``*`` is
        used for all other labels.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (NNS dogs))))")
    >>> found = to_dependencies(tree)
    >>> found.heads, found.relations
    ((2, 3, 0, 3), ('DT', 'NP', 'root', 'NP'))
    """
    rules = {label: _rule(label, text) for label, text in head_rules.items()}
    words: list[str] = []
    tags: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    head_word: dict[int, int] = {}  # of each node, by its number
    nodes, children = _numbered(tree)
    for number, node in enumerate(nodes):
        if node.is_preterminal:
            words.append(node.children[0].label)
            tags.append(node.label)
            heads.append(0)
            relations.append("root")
            head_word[number] = len(words)
        elif node.is_leaf:
            raise InputError(f"The word {node.label!r} has no tag above it, and a dependency tree needs tags.")
    for number in reversed(range(len(nodes))):
        if not children[number]:
            continue
        rule = rules.get(nodes[number].label, rules.get("*"))
        if rule is None:
            raise InputError(
                f"No rule says which child is the head of a constituent {nodes[number].label!r}. Add a rule for this "
                "label, or one for '*', which serves all labels without a rule."
            )
        place = _head_child([nodes[child].label for child in children[number]], rule)
        own = head_word[number] = head_word[children[number][place]]
        for child in children[number]:
            word = head_word[child]
            if word != own:
                heads[word - 1], relations[word - 1] = own, nodes[child].label
    return DependencyTree(words, tags, heads, relations)


def _numbered(tree: Tree) -> tuple[list[Tree], list[list[int]]]:
    """The nodes down to tags, from left to right, each before its children; and the numbers of their children."""
    check_size(tree)
    nodes: list[Tree] = []
    children: list[list[int]] = []
    stack = [(tree, -1)]
    while stack:
        node, parent = stack.pop()
        if parent >= 0:
            children[parent].append(len(nodes))
        if not node.is_preterminal:
            stack.extend((child, len(nodes)) for child in reversed(node.children))
        nodes.append(node)
        children.append([])
    return nodes, children


def _head_child(labels: Sequence[str], rule: Rule) -> int:
    """The place of the head among children with these labels; the last where no part of the rule applies."""
    places = range(len(labels))
    for from_right, wanted in rule:
        for place in reversed(places) if from_right else places:
            if not wanted or labels[place] in wanted:
                return place
    return len(labels) - 1


def _rule(label: str, text: str) -> Rule:
    if not isinstance(text, str):
        raise TypeError(f"The rule for {label!r} must be a text such as 'r NN|NNS;r', got {text!r}.")
    parts = [part.split(" ") for part in text.split(";")]
    for part in parts:
        if part[0] not in ("l", "r") or len(part) > 2:
            raise InputError(
                f"The rule for {label!r} contains {' '.join(part)!r}. A part is l or r, and perhaps labels, as in "
                "'r NN|NNS'; parts are separated by semicolons."
            )
    return [(part[0] == "r", frozenset(part[1].split("|") if len(part) == 2 else ())) for part in parts]
