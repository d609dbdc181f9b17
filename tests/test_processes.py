"""Worker processes for many small jobs: where they run, what becomes of errors, and that none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from fixtures.errors import InputError
from fixtures.populations.processes import run_jobs
from tests.conftest import ROOT


def remember(folder):
    return folder


def write(folder, job):
    if job == "bad":
        raise InputError("job: bad")
    time.sleep(0.05)
    (folder / str(job)).write_text(str(os.getpid()), encoding="utf-8")
    return 10 * job


def test_jobs_run_in_other_processes_on_one_thread_each(tmp_path):
    assert dict(run_jobs(remember, (tmp_path,), write, [1, 2, 3])) == {1: 10, 2: 20, 3: 30}
    writers = {path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert str(os.getpid()) not in writers
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2", "3"]


def test_what_a_job_raises_arrives_and_what_has_not_begun_is_dropped(tmp_path):
    with pytest.raises(InputError, match="job: bad"):
        list(run_jobs(remember, (tmp_path,), write, ["bad", *range(200)]))
    assert len(list(tmp_path.iterdir())) < 100


KILLED = """
import signal
from pathlib import Path
from fixtures.populations.processes import run_jobs
from tests.test_processes import remember, linger
if __name__ == "__main__":
    # A shell starts what it leaves in the background deaf to it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    list(run_jobs(remember, (Path({folder!r}),), linger, [1, 2, 3, 4]))
"""


def linger(folder, job):
    (folder / str(job)).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_do_not_outlive_a_parent_that_is_ended(tmp_path, how):
    script = tmp_path / "killed.py"
    folder = tmp_path / "pids"
    folder.mkdir()
    script.write_text(KILLED.format(folder=str(folder)), encoding="utf-8")
    parent = subprocess.Popen([sys.executable, script], cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)})
    wait_for(lambda: any(path.stat().st_size for path in folder.iterdir()))
    parent.send_signal(how)
    # Their jobs take a minute.
    assert parent.wait(timeout=30) != 0
    workers = [int(path.read_text(encoding="utf-8")) for path in folder.iterdir()]
    wait_for(lambda: not any(is_alive(worker) for worker in workers))


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
