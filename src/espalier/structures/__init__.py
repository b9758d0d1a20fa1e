"""Structures: trees, dependency trees, tagged sequences and tables, and what reads them.

This folder turns text, files and objects of other libraries into values; ``corpus`` interns them.
"""

from typing import TYPE_CHECKING

from espalier._lazy import load_on_use
from espalier.structures.brackets import read_brackets, write_brackets
from espalier.structures.dependency import DependencyTree
from espalier.structures.graph import Graph
from espalier.structures.group import Group
from espalier.structures.interop import as_dependency_tree, as_tree
from espalier.structures.limits import ReadLimits
from espalier.structures.sequence import TaggedSequence
from espalier.structures.table import Table, as_table
from espalier.structures.tree import Tree

if TYPE_CHECKING:
    from espalier.structures.conllu import read_conllu
    from espalier.structures.drawing import side_by_side, tree_svg, tree_text
    from espalier.structures.fragment import Fragment
    from espalier.structures.groups import read_groups, write_groups
    from espalier.structures.klp import read_klp
    from espalier.structures.table_files import read_table

__all__ = [
    "DependencyTree",
    "Fragment",
    "Graph",
    "Group",
    "ReadLimits",
    "Table",
    "TaggedSequence",
    "Tree",
    "as_dependency_tree",
    "as_table",
    "as_tree",
    "read_brackets",
    "read_conllu",
    "read_groups",
    "read_klp",
    "read_table",
    "side_by_side",
    "tree_svg",
    "tree_text",
    "write_brackets",
    "write_groups",
]

__getattr__ = load_on_use(
    __name__,
    {
        "Fragment": "espalier.structures.fragment",
        "read_conllu": "espalier.structures.conllu",
        "read_groups": "espalier.structures.groups",
        "read_klp": "espalier.structures.klp",
        "read_table": "espalier.structures.table_files",
        "side_by_side": "espalier.structures.drawing",
        "tree_svg": "espalier.structures.drawing",
        "tree_text": "espalier.structures.drawing",
        "write_groups": "espalier.structures.groups",
    },
)
