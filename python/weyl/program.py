"""The program weyl: trainings, audits, drafts of configs, comparisons. Its messages go to sys.stderr, its JSON
(docs/cli.md) is returned. A failing call raises its line; Ctrl-C ends it in its own way: a training saves."""
import json
import os
import signal
import subprocess
import sys
import tempfile

from .errors import Error, UsageError, error
from .library import program_path

RESULT_FAILED = 1  # exit code: the audit failed, the runs cannot be compared; the JSON says so


def train(config=None, *, out=None, resume=None, threads=None, quiet=False, **overrides):
    """Trains as a config says: train("a.toml", out="runs/a", train={"epochs": 5}, **{"model.system": "gatr"}).

    resume: a run folder to go on with, in place of a config. Returns the keys of result.json."""
    if (config is None) == (resume is None):
        raise UsageError("weyl.train: a config or resume must be given, and not both")
    what = [config] if resume is None else ["--resume", resume]
    return run("train", *what, *keys_of(overrides), *flags(out=out, threads=threads), quiet=quiet)


def audit(model, *, data=None, samples=None, seed=None, threads=None, quiet=False):
    """Checks the symmetry that a run, a model file or a config claims; `passed` is the verdict."""
    return run("audit", model, *flags(data=data, samples=samples, seed=seed, threads=threads), quiet=quiet)


def config_new(data, *, task=None, system=None, out=None, quiet=False):
    """Drafts a config for a data file or folder: the text `config`, and the file `out` where it is named."""
    return run("config", "new", *flags(data=data, task=task, system=system, out=out), quiet=quiet)


def compare(*runs, out=None, quiet=False):
    """Sets runs beside one another; `same_test_data` says whether they can be compared."""
    return run("compare", *runs, *flags(out=out), quiet=quiet)


def run(*words, quiet=False):
    """Calls the program with --json; what it says is passed on as it comes, unless quiet."""
    words = [os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words]
    with tempfile.TemporaryFile() as answer:
        # A session of its own, so that a terminal's Ctrl-C reaches the child once, by us: the second ends it at once.
        with subprocess.Popen([program_path(), *words, "--json"], stdin=subprocess.DEVNULL, stdout=answer,
                              stderr=subprocess.PIPE, start_new_session=True) as child:
            line, interrupted = listen(child, quiet)
        if interrupted:
            raise KeyboardInterrupt(line)
        answer.seek(0)
        text = answer.read()
    if child.returncode not in (0, RESULT_FAILED) or not text:
        raise failure(words[0], child.returncode, line)
    return json.loads(text)


def failure(verb, code, line):
    """Of a program that ended with this exit code and this last line, which a signal leaves to be any."""
    if code < 0:
        return Error(f"weyl {verb}: ended by signal {-code}")
    return error(code, line or f"weyl {verb}: ended with exit code {code}")


def listen(child, quiet):
    """The child's last message, and whether it was interrupted."""
    last, interrupted = "", False
    while True:
        try:
            for message in child.stderr:
                last = message.decode(errors="replace").rstrip()
                if not quiet:
                    print(last, file=sys.stderr, flush=True)
            child.wait()
            return last, interrupted
        except KeyboardInterrupt:
            interrupted = True
            child.send_signal(signal.SIGINT)
        except BaseException:
            child.terminate()
            raise


def flags(**values):
    return [f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}"
            for name, value in values.items() if value is not None]


def keys_of(overrides, above=""):
    """key=value of a tree of dicts, {"train": {"epochs": 5}} or {"train.epochs": 5}."""
    for name, value in overrides.items():
        if isinstance(value, dict):
            yield from keys_of(value, f"{above}{name}.")
        else:
            yield f"{above}{name}={toml(f'{above}{name}', value)}"


def toml(key, value):
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(f'{key}.{name}', each)}" for name, each in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(key, each) for each in value) + "]"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (bool, int, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    raise UsageError(f"weyl.train: {key}: must be a bool, a number, a text, a path, or a list or dict of them, got "
                     f"{value!r}")
