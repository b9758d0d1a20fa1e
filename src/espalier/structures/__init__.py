"""Structures: trees, dependency trees, tagged sequences, tables, and what reads them."""

from espalier.structures.tree import Tree
from espalier.structures.brackets import read_brackets, write_brackets
