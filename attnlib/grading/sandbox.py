"""A box round the student's kernel, and round nothing else: no network, no grade book, no sources, bounded means.

`install(folder)` writes a kernelspec `python3` that stands in front of the usual one, and returns the environment
in which Jupyter finds it. A kernel started there is `boxed_kernel.py`, run as a program, which starts ipykernel inside
of what `box.py` builds with bubblewrap.

Inside there are the system (read-only), Python, its packages and what an assignment gives out of `attnlib`; /tmp is the
box's own. Neither this repository nor the course nor a home is there, and no test ever comes in: the grader runs them
outside, and asks through a socket for what the student's functions return.

Nothing here needs Jupyter's configuration, a short path or a setting of nbgrader.
"""

import dataclasses
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from attnlib.grading import box, boxed_kernel
from attnlib.grading.boxed_kernel import Limits, filled

HOW = "Debian, Ubuntu: `sudo apt install bubblewrap`; Fedora: `sudo dnf install bubblewrap`."


@functools.cache
def unavailable() -> str | None:
    """Why no kernel can be boxed here, with what helps; None where one can. It has been tried, not guessed."""
    if sys.platform != "linux":
        return f"The sandbox needs Linux; this is {sys.platform}. Grade in a virtual machine or a container."
    if not shutil.which("bwrap"):
        return f"The sandbox needs bubblewrap, which is not installed. {HOW}"
    wanted = "import importlib.util as u; print([n for n in ('torch', 'ipykernel') if not u.find_spec(n)])"
    with tempfile.TemporaryDirectory() as run:
        try:
            done = subprocess.run(
                [*filled(box.command(Limits()), Path(run)), "-c", wanted],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
            )
        except subprocess.TimeoutExpired:
            return "The sandbox did not start within a minute."
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        return (
            f"bubblewrap is installed but cannot build a box here: {last}\n"
            "Ubuntu 24.04 forbids it at first: `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0` allows it. "
            "In Docker: `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN`."
        )
    if missing := done.stdout.strip().strip("[]"):
        return f"The box starts, but Python does not find {missing} inside. Are they installed for this user to read?"
    return None


def install(
    folder: Path, package: Path | None = None, door: Path | None = None, limits: Limits | None = None
) -> dict[str, str]:
    """Write the kernelspec of the box under `folder`, which the caller removes when the kernels have ended.

    Args:
        folder: Where to write.
        package: A folder with the part of `attnlib` that is inside.
        door: A folder with the grader's socket.
        limits: What each kernel may use.

    Returns:
        Environment variables: with them every `python3` kernel that Jupyter, nbclient or nbgrader starts is boxed.
    """
    folder = Path(folder).resolve()
    spec = folder / "kernels" / "python3"
    spec.mkdir(parents=True, exist_ok=True)
    limits = limits or Limits()
    settings = {"limits": dataclasses.asdict(limits), "command": box.command(limits, package, door)}
    (folder / "box.json").write_text(json.dumps(settings), "utf8")
    program = [sys.executable, "-I", str(Path(boxed_kernel.__file__).resolve()), str(folder), "{connection_file}"]
    # without "message" an interrupt is a signal to this program, and an endless loop inside goes on
    kernel = {"argv": program, "display_name": "boxed", "language": "python", "interrupt_mode": "message"}
    (spec / "kernel.json").write_text(json.dumps(kernel, indent=1), "utf8")
    paths = [str(folder), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    return {"JUPYTER_PATH": os.pathsep.join(paths)}
