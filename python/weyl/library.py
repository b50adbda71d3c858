"""Where the library libweyl_potential and the program weyl are, and what the library's functions take (weyl.h)."""
import ctypes
import functools
import importlib.metadata
import json
import os
import shutil
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from .errors import Error, error

API_VERSION = 1  # WEYL_API_VERSION of the weyl.h that this file follows
NAME = "libweyl_potential.so"


class Atoms(ctypes.Structure):
    _fields_ = [("count", c_size_t), ("numbers", POINTER(c_int32)), ("positions", POINTER(c_double)),
                ("cell", POINTER(c_double)), ("pbc", POINTER(c_int32)), ("charge", c_double), ("spin", c_double)]


class Results(ctypes.Structure):
    _fields_ = [(name, POINTER(c_double))
                for name in ("energy", "forces", "stress", "energies", "virials", "energy_std", "forces_std")]


class Tensor(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_int), ("axes", c_size_t), ("shape", POINTER(c_int64)),
                ("data", c_void_p)]


SIGNATURES = {
    "weyl_last_error": (c_char_p,),
    "weyl_load": (c_int, POINTER(c_char_p), c_size_t, c_char_p, c_int, POINTER(c_void_p)),
    "weyl_free": (None, c_void_p),
    "weyl_info": (c_char_p, c_void_p),
    "weyl_compute_batch": (c_int, c_void_p, c_size_t, POINTER(Atoms), POINTER(Results)),
    "weyl_predict": (c_int, c_void_p, POINTER(Tensor), c_size_t, c_int, POINTER(c_void_p)),
    "weyl_tensors_count": (c_size_t, c_void_p),
    "weyl_tensors_get": (Tensor, c_void_p, c_size_t),
    "weyl_tensors_free": (None, c_void_p),
}


def named_library():
    return os.environ.get("WEYL_LIBRARY")


def prefixes():
    """Folders that may hold bin/weyl and lib/libweyl_potential.so, the likeliest first."""
    if named_library():
        yield from Path(named_library()).resolve().parents
    for folder in (Path(__file__).resolve().parent.parent, origin()):
        if folder is not None:
            yield folder.parent.parent.parent  # PREFIX/share/weyl/python
            yield folder.parent / "build" / "release"  # the checkout: python
    if shutil.which("weyl"):
        yield Path(shutil.which("weyl")).resolve().parent.parent


def origin():
    """The folder that `pip install FOLDER` copied this package from, as pip notes it; None where it is no such copy."""
    try:
        installed = importlib.metadata.distribution("weyl")
    except importlib.metadata.PackageNotFoundError:
        return None
    note = installed.read_text("direct_url.json")
    if note is None or Path(installed.locate_file("weyl")).resolve() != Path(__file__).resolve().parent:
        return None
    url = urlsplit(json.loads(note)["url"])
    return Path(url2pathname(url.path)) if url.scheme == "file" else None


def library_path():
    if named_library():
        return Path(named_library())
    for prefix in prefixes():
        for found in [*prefix.glob(f"lib*/{NAME}"), *prefix.glob(f"lib/*/{NAME}")]:
            return found
    raise Error(f"weyl: there is no {NAME} in the prefix or in build/release of the checkout that this package is in or "
                "was installed from, or beside a program weyl on PATH: set WEYL_LIBRARY to the file")


def program_path():
    for prefix in prefixes():
        if (prefix / "bin" / "weyl").is_file():
            return prefix / "bin" / "weyl"
    raise Error("weyl: there is no program weyl in the prefix or in build/release of the checkout that this package is in "
                "or was installed from, or on PATH: add its folder to PATH")


@functools.lru_cache(maxsize=None)
def library():
    """The library, opened when it is first needed."""
    path = library_path()
    try:
        opened = ctypes.CDLL(str(path))
        version = opened.weyl_api_version()
        for name, (result, *arguments) in SIGNATURES.items():
            function = getattr(opened, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as fault:
        raise Error(f"weyl: cannot open {path}: {fault}") from None
    if version != API_VERSION:
        raise Error(f"weyl: {path} must have the interface version {API_VERSION} of this package, got {version}")
    return opened


def call(name, *arguments):
    """Calls a function that returns a status; another one than WEYL_OK becomes an exception with the library's line."""
    status = getattr(library(), name)(*arguments)
    if status != 0:
        raise error(status, library().weyl_last_error().decode())
