"""A program that does what honest code does, run in a worker: what of it does not work.

`python -m tests.honest_calls FILE [WALL ...]` starts a worker with every wall that this machine can
give, but for those named, and writes what went wrong to FILE as JSON.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from grader.intake.staging import StagingArea
from grader.sandbox.confinement import available_walls
from grader.sandbox.policy import WorkerPolicy
from grader.sandbox.spawn import WarmSpawner
from tests.workers import FILE, ask, constant, sandbox_server

SOURCE = """
import asyncio, concurrent.futures, ctypes, errno, fcntl, hashlib, json, mmap, multiprocessing
import numpy, os, pathlib, pwd, queue, random, resource, select, selectors, shutil, signal, socket
import sqlite3, stat, subprocess, tarfile, tempfile, threading, time, torch, zipfile, faulthandler

HERE = pathlib.Path(os.environ["HOME"])
RAN, WRONG = [], []

def attempt(function):
    RAN.append(function.__name__)
    try:
        function()
    except BaseException as error:
        WRONG.append(f"{function.__name__}: {error!r}"[:300])

def refused(errors, call, *arguments):
    try:
        call(*arguments)
    except errors:
        return
    raise AssertionError(f"{call} was not refused")

@attempt
def temporary_files():
    with tempfile.TemporaryFile() as one, tempfile.NamedTemporaryFile() as two:
        one.write(b"x"), two.write(b"y"), two.flush(), os.fsync(two.fileno())
    with tempfile.TemporaryDirectory() as name:
        (pathlib.Path(name) / "a" / "b").mkdir(parents=True)
        (pathlib.Path(name) / "a" / "file").touch()
        (pathlib.Path(name) / "a" / "file").touch()
    with tempfile.SpooledTemporaryFile(10) as spooled:
        spooled.write(b"x" * 100)

@attempt
def copies():
    (HERE / "one").write_text("text")
    os.chmod(HERE / "one", 0o644)
    for number, copy in enumerate((shutil.copy, shutil.copy2, shutil.copyfile)):
        assert pathlib.Path(copy(HERE / "one", HERE / f"copy{number}")).read_text() == "text"
    os.makedirs(HERE / "tree" / "deep", exist_ok=True)
    shutil.copytree(HERE / "tree", HERE / "tree2")
    shutil.move(HERE / "tree2", HERE / "tree3")
    os.rename(HERE / "tree3", HERE / "tree4"), os.replace(HERE / "copy0", HERE / "copy1")
    os.symlink("one", HERE / "link"), os.readlink(HERE / "link"), os.path.realpath(HERE / "link")
    shutil.rmtree(HERE / "tree4"), os.unlink(HERE / "link")
    with open(HERE / "one", "r+") as stream:
        stream.truncate(2)
    assert os.path.getsize(HERE / "one") == 2
    os.listdir(HERE), list(os.walk(HERE)), shutil.disk_usage(HERE), list(HERE.rglob("*"))
    os.utime(HERE / "one"), os.access(HERE / "one", os.R_OK), os.umask(os.umask(0o077))

@attempt
def archives():
    with zipfile.ZipFile(HERE / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/b.txt", "text")
    with zipfile.ZipFile(HERE / "z.zip") as archive:
        archive.extractall(HERE / "unzipped")
    with tarfile.open(HERE / "t.tar.gz", "w:gz") as archive:
        archive.add(HERE / "unzipped", "unzipped")
    with tarfile.open(HERE / "t.tar.gz") as archive:
        archive.extractall(HERE / "untarred")
    assert (HERE / "untarred" / "unzipped" / "a" / "b.txt").read_text() == "text"

@attempt
def saved_tensors():
    torch.save({"x": torch.ones(3)}, HERE / "x.pt")
    assert torch.load(HERE / "x.pt", weights_only=True)["x"].sum() == 3
    torch.load(HERE / "x.pt", mmap=True, weights_only=True)
    numpy.save(HERE / "x.npy", numpy.ones(1000)), numpy.load(HERE / "x.npy", mmap_mode="r")
    kept = numpy.memmap(HERE / "m", dtype="f4", mode="w+", shape=(64,))
    kept[:] = 1
    kept.flush()
    assert numpy.fromfile(HERE / "m", dtype="f4").sum() == 64
    numpy.ones(3_000_000, dtype="f4").tofile(HERE / "large"), os.unlink(HERE / "large")
    with mmap.mmap(-1, 4096) as memory:
        memory[:4] = b"text"

@attempt
def databases():
    for place in (":memory:", str(HERE / "data.db")):
        with sqlite3.connect(place) as base:
            base.execute("create table t (x)"), base.execute("insert into t values (1)")
            base.commit()
            assert base.execute("select count(*) from t").fetchone() == (1,)
    with open(HERE / "lock", "w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX), fcntl.lockf(stream, fcntl.LOCK_UN)

@attempt
def threads():
    found = queue.Queue()
    started = [threading.Thread(target=found.put, args=(n,), name=f"t{n}") for n in range(8)]
    [thread.start() for thread in started], [thread.join() for thread in started]
    assert sorted(found.get() for _ in range(8)) == list(range(8))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda x: x * x, range(5))) == [0, 1, 4, 9, 16]
    assert not threading.Lock().acquire() is False
    assert not threading.Event().wait(0.001)
    timer = threading.Timer(0.001, found.put, (1,))
    timer.start(), found.get(timeout=30)
    torch.set_num_threads(2)
    assert (torch.ones(600, 600) @ torch.ones(600, 600)).sum() == 600 ** 3
    torch.set_num_threads(1)

@attempt
def training():
    data = torch.utils.data.TensorDataset(torch.randn(20, 3), torch.randn(20, 1))
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 1))
    optimiser = torch.optim.AdamW(model.parameters())
    for x, y in torch.utils.data.DataLoader(data, batch_size=5, shuffle=True, num_workers=0):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimiser.step()

@attempt
def events():
    async def work():
        await asyncio.sleep(0.001)
        return await asyncio.to_thread(sum, [1, 2])
    assert asyncio.run(work()) == 3
    one, two = socket.socketpair()
    one.sendall(b"hello"), one.setblocking(False)
    assert two.recv(5) == b"hello" and select.select([two], [], [], 0)[0] == []
    reader, writer = os.pipe()
    os.set_blocking(reader, False), os.write(writer, b"x")
    poller = select.poll()
    poller.register(reader, select.POLLIN)
    assert poller.poll(0) and selectors.DefaultSelector().select(0) == []
    here, there = multiprocessing.Pipe()
    here.send([1]), there.recv()

@attempt
def signals():
    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    signal.alarm(100), signal.alarm(0), signal.setitimer(signal.ITIMER_REAL, 0.001)
    while not rung:
        time.sleep(0.001)
    signal.signal(signal.SIGUSR1, lambda *_: rung.append(2))
    os.kill(os.getpid(), signal.SIGUSR1), signal.raise_signal(signal.SIGUSR1)
    signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
    signal.pthread_sigmask(signal.SIG_BLOCK, []), faulthandler.enable()
    assert rung == [1, 2, 2, 2]

@attempt
def questions():
    os.cpu_count(), os.sched_getaffinity(0), os.times(), os.uname(), os.getloadavg
    os.getpid(), os.getppid(), os.getuid(), os.getgroups(), os.getpgid(0), os.getsid(0)
    resource.getrusage(resource.RUSAGE_SELF), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0)), os.getpriority(os.PRIO_PROCESS, 0)
    time.time(), time.perf_counter(), time.process_time(), time.thread_time(), time.localtime()
    [time.get_clock_info(n) for n in ("time", "monotonic", "perf_counter", "process_time")]
    random.random(), os.urandom(8), hashlib.sha256(b"x").hexdigest(), json.dumps([1])
    os.isatty(1), os.fstat(1), os.get_inheritable(1), os.sysconf("SC_PHYS_PAGES")
    try:
        os.get_terminal_size()
    except OSError as error:
        assert error.errno == errno.ENOTTY
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        pass

@attempt
def refusals():
    refused(PermissionError, subprocess.run, ["/bin/true"])
    assert os.system("true") != 0
    refused(PermissionError, os.fork)
    refused(PermissionError, multiprocessing.Process(target=print).start)
    refused(PermissionError, socket.socket)
    refused(OSError, socket.create_connection, ("127.0.0.1", 9))
    refused(ChildProcessError, os.wait)
    refused(OSError, os.nice, 5)

@attempt
def callbacks():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: 0)
    ctypes.CDLL(None).qsort((ctypes.c_int * 3)(), 3, 4, compare)
"""

PARTS = re.findall(r"@attempt\ndef (\w+)", SOURCE)


def wrong_in_a_worker(*left_out: str) -> list[str]:
    """Run the program in a warm worker; a line for each part that did not work."""
    walls = tuple(wall for wall in available_walls() if wall not in left_out)
    with StagingArea() as staging, sandbox_server() as server:
        staged = str(staging.stage([(FILE, SOURCE.encode())]))
        policy = WorkerPolicy(staged, 1024, 60, walls=walls)
        worker = WarmSpawner(server.requests, 65_536).spawn(policy)
        try:
            reply, _ = ask(worker, "load", definitions_only=False)
            lines = [str(statement) for statement in reply.skipped]
            ran = constant(worker, "RAN")
            if ran != PARTS:
                lines.append(f"only {ran} ran")
            return [*lines, *constant(worker, "WRONG")]
        finally:
            worker.end()


def main() -> None:
    """Write what went wrong."""
    Path(sys.argv[1]).write_text(json.dumps(wrong_in_a_worker(*sys.argv[2:])))


if __name__ == "__main__":
    main()
