"""The command ``espalier``: what a terminal offers of the library."""
