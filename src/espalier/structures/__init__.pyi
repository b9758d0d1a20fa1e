"""The public names of this room, each with its module; ``__init__.py`` loads what is used."""

from espalier.structures.arc_drawing import dependency_svg as dependency_svg
from espalier.structures.brackets import read_brackets as read_brackets
from espalier.structures.brackets import write_brackets as write_brackets
from espalier.structures.conllu import read_conllu as read_conllu
from espalier.structures.conllu import read_conllu_documents as read_conllu_documents
from espalier.structures.dependency import DependencyTree as DependencyTree
from espalier.structures.drawing import side_by_side as side_by_side
from espalier.structures.drawing import tree_svg as tree_svg
from espalier.structures.drawing import tree_text as tree_text
from espalier.structures.fragment import Fragment as Fragment
from espalier.structures.graph import Graph as Graph
from espalier.structures.group import Group as Group
from espalier.structures.groups import read_groups as read_groups
from espalier.structures.groups import write_groups as write_groups
from espalier.structures.interop import as_dependency_tree as as_dependency_tree
from espalier.structures.interop import as_tree as as_tree
from espalier.structures.klp import read_klp as read_klp
from espalier.structures.limits import ReadLimits as ReadLimits
from espalier.structures.sequence import TaggedSequence as TaggedSequence
from espalier.structures.table import Table as Table
from espalier.structures.table import as_table as as_table
from espalier.structures.table_files import read_table as read_table
from espalier.structures.tree import Tree as Tree

__all__: list[str]  # every name of this file: __init__.py collects them
from espalier.structures.files import read_text as read_text
from espalier.structures.files import write_text as write_text
from espalier.structures.notation import escape_label as escape_label
from espalier.structures.plot_svg import themed_svg as themed_svg
