"""What is raised: one line that says where, what must hold and what was found."""


class Error(Exception):
    """Any failure of the library, of the program, or of this package."""


class UsageError(Error, ValueError):
    """The call cannot mean this model, or this program."""


class DataError(Error, ValueError):
    """A file, or the atoms, are not what they must be."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


BY_CODE = {2: UsageError, 3: DataError, 4: OutOfMemory}  # a weyl_status of weyl.h, or an exit code of the program


def error(code, line):
    return BY_CODE.get(code, Error)(line)
