"""What were the baselines of a git revision?  Unpacked beside, the working tree is not touched."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

from stagebench.errors import MachineError, UsageError


def unpack_baselines(project: Path, baselines: Path, ref: str, into: Path) -> None:
    """Put the folder ``baselines`` as ``ref`` has it below ``into``, under its own name.

    Nothing is there afterwards where the revision has no such folder.  Raises `UsageError` outside
    of git, for an unknown revision, and for a folder outside of the repository.
    """
    top = Path(_git(project, "rev-parse", "--show-toplevel", ref=ref).strip()).resolve()
    try:
        inside = baselines.resolve().relative_to(top).as_posix()
    except ValueError as exc:
        raise UsageError(
            f"{baselines} is outside of the repository {top}, so no revision holds it"
        ) from exc
    if ref.startswith("-"):
        raise UsageError(f"no git revision {ref!r}")
    commit = _git(project, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ref=ref).strip()
    listed = _git(project, "ls-tree", "-d", "--name-only", commit, "--", inside, ref=ref, cwd=top)
    if not listed.strip():
        return
    done = _run(["git", "archive", "--format=tar", f"{commit}:{inside}"], top)
    if done.returncode:
        raise UsageError(f"git archive {ref}: {done.stderr.decode(errors='replace').strip()}")
    try:
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(into / baselines.name, filter="data")
            else:  # Python before 3.10.12; git wrote the archive, from paths of a tree
                archive.extractall(into / baselines.name)  # noqa: S202 - as said above
    except tarfile.TarError as exc:  # a link that leads out of the folder, most likely
        raise UsageError(f"the baselines of {ref} can't be unpacked: {exc}") from exc


def _git(project: Path, *arguments: str, ref: str, cwd: Path | None = None) -> str:
    done = _run(["git", *arguments], cwd or project)
    if done.returncode == 0:
        return done.stdout.decode(errors="replace")
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if any("not a git repository" in line for line in said):
        raise UsageError(
            f"--against {ref}: {project} is in no git repository",
            hint="--against-run DIR compares with a folder of dumps",
        )
    if "--verify" in arguments:
        raise UsageError(
            f"--against {ref}: git knows no such revision here",
            hint="`git fetch` it first (CI checks out one commit only), or see `git log --oneline`",
        )
    raise UsageError(f"git {arguments[0]}: {said[-1] if said else 'failed'}")


def _run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    except FileNotFoundError as exc:
        raise MachineError("git is not installed, and --against needs it") from exc
