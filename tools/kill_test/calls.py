"""System calls by strace: which ones touch a folder, and what happens when one of them fails or is the last."""

import collections
import re
import subprocess

TRACED = ("openat", "read", "pread64", "write", "writev", "pwrite64", "fsync", "fdatasync", "rename", "renameat", "renameat2",
          "ftruncate", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "link", "linkat", "flock", "close", "getdents64",
          "newfstatat", "statx", "access", "faccessat2", "lseek", "fallocate")
NO_SPACE = ("write", "writev", "pwrite64", "fsync", "fdatasync", "rename", "renameat2", "ftruncate", "mkdir", "mkdirat",
            "link", "linkat", "fallocate")

Call = collections.namedtuple("Call", "name number path error")


def strace(log, *filters):
    """The first thread alone: the others write no files, and every thread would be counted for itself. Not with
    --seccomp-bpf, which is faster but injects no signals."""
    return ["strace", "-y", "-qq", "-o", str(log), *filters]


def failing(call, log):
    return strace(log, "-e", f"trace={call.name}", "-e", f"inject={call.name}:error={call.error}:when={call.number}")


def fatal(call, log):
    """The process is killed as it enters the call."""
    return strace(log, "-e", f"trace={call.name}", "-e", f"inject={call.name}:signal=KILL:when={call.number}")


def calls_on(folder, log, command, **options):
    """The calls of a command's first thread on paths with `folder` in them, in their order: a Call for each error
    that each of them may have. `number` counts the calls of one name in that thread."""
    subprocess.run(strace(log, "-e", "trace=" + ",".join(TRACED)) + command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, **options)
    part = re.escape(folder)
    touches = re.compile(rf'\w+\((?:\w+(?:<[^>]*>)?, )?"[^"]*{part}(?:[/."]|$)|\w+\(\d+<[^>]*{part}[^>]*>')
    counts, calls = collections.Counter(), []
    for line in open(log, errors="replace"):
        name = re.match(r"(\w+)\(", line)
        if not name:
            continue
        counts[name[1]] += 1
        if not touches.match(line):
            continue
        path = re.search(rf'{part}[^">,]*', line)[0]
        errors = ["EIO"]
        if name[1] in NO_SPACE or "O_CREAT" in line:
            errors.append("ENOSPC")
        calls += [Call(name[1], counts[name[1]], path, error) for error in errors]
    return calls


def was_injected(log):
    """The path of the call that was disturbed, or None: the command did not come so far."""
    for line in open(log, errors="replace"):
        if "(INJECTED)" in line:
            found = re.search(r'"([^"]*)"|\d<([^>]*)>', line)
            return (found[1] or found[2]) if found else line.strip()
    return None
