"""Grade a class on SLURM: python grade_on_slurm.py SUBMISSIONS [options of `grade`].

Starts one Dask worker on each of a few nodes, grades on them, and ends them.  Adapt the marked
lines to your cluster.  Needs `pip install dask-jobqueue` beside the grader's extra `cluster`.
"""

from __future__ import annotations

import subprocess
import sys

from dask_jobqueue import SLURMCluster

NODES = 4


def main() -> int:
    """Start the workers, run the command, and return its status."""
    cluster = SLURMCluster(
        queue="main",  # your partition
        account="teaching",  # your account; leave it out if your cluster has none
        walltime="01:00:00",
        cores=16,  # processors of one job, and so submissions that it examines at the same time
        processes=1,  # one process, and so one nursery, for each job
        memory="16GB",  # see docs/cluster.md
        local_directory="/tmp",  # a folder on the node itself
        job_script_prologue=["export TMPDIR=/tmp"],
        # A worker that takes no more work before its job ends is better than one that is killed.
        worker_extra_args=["--lifetime", "55m", "--lifetime-stagger", "3m"],
        scheduler_options={"dashboard": False},
    )
    with cluster:
        cluster.scale(jobs=NODES)
        cluster.wait_for_workers(1)  # as long as the queue takes; others join when they come
        command = [sys.executable, "-m", "grader", *sys.argv[1:]]
        command += ["--scheduler", cluster.scheduler_address]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
