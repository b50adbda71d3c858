"""Trained models: named arrays in, named arrays out; energies and forces of atoms."""
import ctypes
import glob
import json
import os
import warnings
import weakref

import numpy as np

from . import library
from .errors import DataError, UsageError

WANTED = ("energy", "forces", "stress", "energies", "virials")
TENSOR_TYPES = (np.float32, np.float64, np.int64, np.bool_)  # in the order of weyl_dtype
FIELDS = {  # the tensors of carriers, docs/cli.md
    "points": ("positions", "offsets", "types", "scalars", "vectors", "multivectors", "pairs", "object_offsets", "cell",
               "pbc"),
    "poses": ("elements", "offsets", "scalars"),
    "grid": ("values", "spacing"),
}


def load(paths, dtype=None, threads=1):
    """A trained model: a run folder or a model file, or a pattern or a list of them, which is a committee. What is a Model
    already is given back.

    dtype: "float32" or "float64", in which the model computes; None for that of its file. threads: how many threads
    LibTorch computes with, in the whole process and from now on (that of an imported torch too); 0 leaves it as it is. A
    child of fork() computes with one."""
    if not isinstance(paths, Model):
        return Model(found(paths), dtype, threads)
    if dtype not in (None, paths.info["dtype"]):
        raise UsageError(f"weyl.load: dtype must be {paths.info['dtype']}, in which the loaded model computes, got {dtype}")
    if threads not in (1, paths.threads):
        raise UsageError(f"weyl.load: threads must be {paths.threads}, with which the model was loaded, got {threads}")
    return paths


def found(paths):
    """The files and folders that a path, a pattern or a list of them means."""
    if not isinstance(paths, (str, os.PathLike)):
        if not hasattr(paths, "__iter__"):
            raise UsageError(f"weyl.load: a path, a pattern or a list of them must be given, got {paths!r}")
        return [path for each in paths for path in found(each)]
    path = os.fspath(paths)
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    matches = sorted(glob.glob(path))
    if not matches:
        raise DataError(f"weyl: {path} must match a run or a model, matches none")
    return matches


class Model:
    """What weyl.load gives. Any number of threads may use it at once. Copies are the model itself; a pickle holds the
    paths, so the files must be there where it is opened."""

    def __init__(self, paths, dtype=None, threads=1):
        #: how many LibTorch was told to compute with
        self.threads = number_of_threads(threads)
        self._arguments = ([os.path.abspath(path) for path in paths], dtype, self.threads)
        names = (ctypes.c_char_p * len(paths))(*[os.fsencode(path) for path in paths])
        handle = ctypes.c_void_p()
        library.call("weyl_load", names, len(paths), None if dtype is None else str(dtype).encode(),
                     self.threads, ctypes.byref(handle))
        self._handle = handle
        weakref.finalize(self, library.library().weyl_free, handle).atexit = False  # other threads may still compute then
        #: what weyl_info of weyl.h tells
        self.info = json.loads(library.library().weyl_info(handle).decode())

    @property
    def interface(self):
        """carrier; inputs and outputs, each with name, level, kind, channels and unit; elements; length_unit."""
        return {key: self.info[key] for key in ("carrier", "inputs", "outputs", "elements", "length_unit")}

    @property
    def units(self):
        """The units of inputs and outputs by name, and that of lengths as `length`."""
        named = {quantity["name"]: quantity["unit"] for quantity in self.info["inputs"] + self.info["outputs"]}
        return {"length": self.info["length_unit"], **named}

    @property
    def symmetry(self):
        """The symmetries that the model has exactly."""
        return self.info["exact"]

    def predict(self, *, gradient=False, **arrays):
        """Predicts from the tensors of docs/cli.md, by name: predict(positions=..., offsets=..., types=...). Labels of what
        the model predicts may be among them and are passed over; other names are refused.

        Returns arrays by name; lengths and energies are in the model's own units. Integers become int64 and float16
        becomes float32; what would lose digits is refused. gradient: also the derivatives of the model's own scalars of
        graphs by positions, as `gradient`."""
        named = [*FIELDS[self.info["carrier"]], *[q["name"] for q in self.info["inputs"]]]
        labels = [q["name"] for q in self.info["outputs"]]
        for name in arrays:
            if name not in named + labels:
                raise UsageError(f"weyl.predict: a tensor must be one of {', '.join(named)}, got {name!r}")
        given = {name: tensor_array(name, values) for name, values in arrays.items()}
        inputs = (library.Tensor * len(given))()
        shapes = []  # alive until the call is over
        for tensor, (name, array) in zip(inputs, given.items()):
            shapes.append((ctypes.c_int64 * array.ndim)(*array.shape))
            tensor.name, tensor.dtype, tensor.axes = name.encode(), TENSOR_TYPES.index(array.dtype.type), array.ndim
            tensor.shape, tensor.data = shapes[-1], array.ctypes.data
        outputs = ctypes.c_void_p()
        library.call("weyl_predict", self._handle, inputs, len(given), int(gradient), ctypes.byref(outputs))
        lib = library.library()
        try:
            tensors = [lib.weyl_tensors_get(outputs, index) for index in range(lib.weyl_tensors_count(outputs))]
            return {tensor.name.decode(): copied(tensor) for tensor in tensors}
        finally:
            lib.weyl_tensors_free(outputs)

    def compute(self, numbers, positions, cell=None, pbc=None, charge=None, spin=None, want=("energy", "forces")):
        """Energies and forces of atoms, in eV and Angstrom, as a dict.

        numbers (N) atomic numbers; positions (N, 3); cell (3, 3), rows are lattice vectors; pbc (3), along which of them
        the atoms repeat, by default all; charge and spin of the whole, which a model must be told if it has learned
        with them. want: of energy, forces (N, 3), stress (3, 3), positive under tension and NaN where the atoms do not
        fill space, energies (N) and virials (N, 3, 3) of atoms. Of a committee these are means, and there are
        energy_std and forces_std beside energy and forces."""
        sample = {"numbers": numbers, "positions": positions, "cell": cell, "pbc": pbc, "charge": charge, "spin": spin}
        return self.compute_batch([sample], want)[0]

    def compute_batch(self, samples, want=("energy", "forces")):
        """The same of several samples, which go through the model together: a dict of the arguments of compute each."""
        want = [want] if isinstance(want, str) else list(want)
        unknown = [name for name in want if name not in WANTED]
        if unknown:
            raise UsageError(f"weyl: want must be of {', '.join(WANTED)}, got {unknown[0]!r}")
        deviations = [f"{name}_std" for name in ("energy", "forces") if name in want and len(self.info["models"]) > 1]
        given = [self._sample(**sample) for sample in samples]
        results = []
        for sample in given:
            n = len(sample["numbers"])
            shapes = {"energy": (), "energy_std": (), "stress": (3, 3), "energies": (n,), "virials": (n, 3, 3)}
            results.append({name: np.empty(shapes.get(name, (n, 3))) for name in [*want, *deviations]})
        atoms = (library.Atoms * len(given))(*[library.Atoms(
            len(s["numbers"]), pointer(s["numbers"], ctypes.c_int32), *[pointer(s[key]) for key in ("positions", "cell")],
            pointer(s["pbc"], ctypes.c_int32), s["charge"], s["spin"]) for s in given])
        rooms = (library.Results * len(given))(*[library.Results(
            **{name: pointer(array) for name, array in result.items()}) for result in results])
        library.call("weyl_compute_batch", self._handle, len(given), atoms, rooms)
        return [{name: array if array.ndim else float(array) for name, array in result.items()} for result in results]

    def reads(self, name):
        """Whether the model has an input of this name, such as charge."""
        return any(quantity["name"] == name for quantity in self.info["inputs"])

    def states(self, charge, spin):
        """Charge and spin as numbers; refused where the model must be told them and is not. Where it reads none, a warning
        says that they change nothing."""
        result = {}
        for name, value in (("charge", charge), ("spin", spin)):
            if self.reads(name) and value is None:
                raise UsageError(f"weyl: {name} must be given: the model reads it")
            result[name] = 0.0 if value is None else number(name, value)
            if value is not None and not self.reads(name):
                warn_of_no_effect(name, result[name])
        return result

    def _sample(self, numbers, positions, cell=None, pbc=None, charge=None, spin=None):
        states = self.states(charge, spin)
        numbers = whole_numbers("numbers", numbers)
        result = {"numbers": numbers, "positions": reals("positions", positions, (len(numbers), 3)),
                  "cell": None if cell is None else reals("cell", cell, (3, 3)),
                  "pbc": None if pbc is None else truths("pbc", pbc)}
        return {**result, **states}

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    def __reduce__(self):
        return Model, self._arguments

    def __repr__(self):
        return f"<weyl.Model {self.info['system']}, {self.info['dtype']}, of {', '.join(self.info['models'])}>"


def warn_of_no_effect(name, value):
    if value != 0:
        warnings.warn(f"weyl: {name} is {value:g}, but the model reads none: it changes nothing", stacklevel=3)


def pointer(array, kind=ctypes.c_double):
    return None if array is None else array.ctypes.data_as(ctypes.POINTER(kind))


def one_thread():
    """LibTorch's other threads are not in a child of fork(), which would wait for them for ever."""
    if library.library.cache_info().currsize:  # it is open
        nowhere = (ctypes.c_char_p * 1)(b"")
        library.library().weyl_load(nowhere, 1, None, 1, ctypes.byref(ctypes.c_void_p()))  # sets their number first


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_thread)


def array_of(name, values):
    try:
        return np.asarray(values)
    except ValueError:
        raise UsageError(f"weyl: {name} must be an array, got rows of several lengths") from None


def number_of_threads(value):
    if not isinstance(value, (int, np.integer)) or not 0 <= value < 2**31:
        raise UsageError(f"weyl.load: threads must be a whole number, 0 or more, got {value!r}")
    return int(value)


def number(name, value):
    array = array_of(name, value)
    if array.shape != () or array.dtype.kind not in "iuf":
        raise UsageError(f"weyl: {name} must be a number, got {array.dtype} of shape {array.shape}")
    return float(array)


def truths(name, values):
    array = array_of(name, values)
    if array.shape not in ((), (3,)) or array.dtype.kind not in "biu":
        raise UsageError(f"weyl: {name} must be one or (3) bools, got {array.dtype} of shape {array.shape}")
    return np.ascontiguousarray(np.broadcast_to(array != 0, 3), np.int32)


def whole_numbers(name, values):
    array = array_of(name, values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise UsageError(f"weyl: {name} must be (N) integers, got {array.dtype} of shape {array.shape}")
    return np.ascontiguousarray(np.clip(array, -1, 2**31 - 1), np.int32)  # what is no element, the library refuses


def reals(name, values, shape):
    array = array_of(name, values)
    if array.shape != shape or array.dtype.kind not in "iuf":
        raise UsageError(f"weyl: {name} must be {shape} numbers, got {array.dtype} of shape {array.shape}")
    return np.ascontiguousarray(array, np.float64)


def tensor_array(name, values):
    """The array in the first type of tensors that holds its numbers without loss."""
    array = array_of(name, values)
    for kind in (np.bool_, np.int64, np.float32, np.float64):
        if np.can_cast(array.dtype, kind) and not (kind in (np.float32, np.float64) and array.dtype.kind in "iu"):
            return np.asarray(array, kind, order="C")
    raise UsageError(f"weyl_predict: {name}: must be of float64, float32, int64 or bool, or become it without loss, "
                     f"got {array.dtype}")


def copied(tensor):
    shape, kind = tensor.shape[:tensor.axes], np.dtype(TENSOR_TYPES[tensor.dtype])
    size = int(np.prod(shape)) * kind.itemsize
    return np.frombuffer(ctypes.string_at(tensor.data, size) if size else b"", kind).reshape(shape).copy()
