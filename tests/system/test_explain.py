"""`muster explain` reads a log that any program wrote. The messages are those of the real programs."""

import pytest

TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n'
OF_ONE = "RuntimeError: DataLoader worker (pid 24827) is killed by signal: Killed. \n"
OF_PEERS = ("RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:561] Connection closed by peer [127.0.0.1]:40363. "
            "This is typically caused by a remote worker crashing.\n")


def prefixed(name, text):
    return "".join(f"{name} | {line}\n" for line in text.splitlines())


def explain(muster, text, code=0):
    return muster("explain", input=text, code=code)


@pytest.mark.parametrize("error,advice", [
    (OF_ONE, "use fewer workers of the DataLoader"),
    ("RuntimeError: DataLoader worker (pid 25139) exited unexpectedly with exit code 3. Details are lost due to multiprocessing.\n",
     "run once with num_workers=0"),
    ("RuntimeError: DataLoader worker (pid 25294) is killed by signal: Bus error. It is possible that dataloader's workers are "
     "out of shared memory. Please try to raise your shared memory limit.\n", "docker run --shm-size=8g"),
    ("RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n", "nvidia-smi"),
    ("ValueError: Default process group has not been initialized, please make sure to call init_process_group.\n", "init_process_group()"),
    ("RuntimeError: Error(s) in loading state_dict for Linear:\n\tMissing key(s) in state_dict: \"weight\".\n", "save model.module"),
    ("RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory.\n", "the checkpoint is incomplete"),
    ("_pickle.UnpicklingError: Weights only load failed. This file can still be loaded\n", "weights_only=False"),
    ("RuntimeError: Too many open files. Communication with the workers is no longer possible.\n", "ulimit -n 65536"),
    ("OSError: [Errno 28] No space left on device\n", "df -h"),
    ("torch.distributed.DistStoreError: wait timeout after 3000ms, keys: /default_pg/0//cpu//0/0\n", "not all ranks have called"),
    ("RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(\n",
     "the ranks called different collectives"),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n", "use smaller batches"),
    ("RuntimeError: NCCL error in: ../torch/csrc/NCCLUtils.hpp:219, unhandled system error (run with NCCL_DEBUG=INFO for details)\n",
     "NCCL_SOCKET_IFNAME"),
    ("torch.AcceleratorError: CUDA error: device-side assert triggered\n", "CUDA_LAUNCH_BLOCKING=1"),
    ("RuntimeError: No CUDA GPUs are available\n", "muster run --gpu all"),
    (OF_PEERS, "another rank ended first"),
])
def test_the_failures_that_people_meet(muster, error, advice):
    said = explain(muster, f"epoch 1\n{TRACEBACK}{error}").stdout.splitlines()
    assert said[0] == "standard input"
    assert said[1].startswith("  error         " + error.split("\n")[0])
    assert said[2].startswith("  advice        ") and advice in said[2]
    assert said[3] == "  last output   | epoch 1"


def test_the_replica_with_an_error_of_its_own_is_the_one(muster):
    text = prefixed("worker-0", TRACEBACK + OF_PEERS) + prefixed("worker-11", TRACEBACK + OF_ONE)
    said = explain(muster, text).stdout
    assert said.startswith("standard input: worker-11\n  error         RuntimeError: DataLoader worker (pid 24827)")
    assert "gloo" not in said
    assert explain(muster, prefixed("digits/worker-0", TRACEBACK + OF_PEERS)).stdout.startswith("standard input: digits/worker-0\n")
    text = "".join(f"[pod/digits-worker-0/tensorflow] {line}\n" for line in (TRACEBACK + OF_ONE).splitlines())
    assert explain(muster, text).stdout.startswith("standard input: [pod/digits-worker-0/tensorflow]\n  error ")


def test_an_abort_after_an_exception_is_not_the_error(muster):
    text = TRACEBACK + "ValueError: shape\nterminate called without an active exception\nFatal Python error: Aborted\n\n<no Python frame>\n"
    assert "  error         ValueError: shape\n" in explain(muster, text).stdout
    said = explain(muster, text[text.index("terminate"):]).stdout
    assert "destroy_process_group() at the end" in said


def test_the_reason_that_nccl_gives_belongs_to_the_error(muster):
    text = prefixed("worker-0", TRACEBACK + """torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:93, invalid usage, NCCL version 2.28.9
ncclInvalidUsage: This usually reflects invalid usage of NCCL library.
Last error:
Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60
""")
    said = explain(muster, text).stdout
    assert "NCCL version 2.28.9; Last error: Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60\n" in said
    assert "  advice        NCCL takes one process for each GPU" in said


def test_files(muster):
    (muster.folder / "good.log").write_text("loss 0.3\n")
    (muster.folder / "bad.log").write_text(TRACEBACK + OF_ONE)
    done = muster("explain", "good.log", "bad.log", code=1)
    assert done.stdout.startswith("bad.log\n  error ")
    assert done.stderr == "muster: good.log: no error found\n"
    assert muster("explain", "no.log", code=2).stderr == "muster: cannot read 'no.log': No such file or directory\n"
    assert muster("explain", ".", code=2).stderr == "muster: .: cannot read: Is a directory\n"


@pytest.mark.parametrize("text", [b"", b"\n", b"\0\0\n", b"\xff\xfe\x1b[31m\n", b" | \n| \n-1 | \nworker- | \n[pod/\n[pod/] \n", b"a" * 100_000])
def test_what_is_no_log_has_no_error(muster, text):
    (muster.folder / "log").write_bytes(text)
    assert muster("explain", "log", code=1).stdout == ""


def test_of_a_large_log_the_end_is_read(muster):
    with open(muster.folder / "log", "w") as log:
        log.write(TRACEBACK + "KeyError: 'old'\n" + 400_000 * "step 1, loss 0.3, and some more words\n" + TRACEBACK + OF_ONE)
    assert "DataLoader worker" in muster("explain", "log", code=0).stdout
    with open(muster.folder / "log") as log:
        assert "DataLoader worker" in muster("explain", "-", code=0, stdin=log).stdout


def test_what_it_prints_is_safe_for_a_terminal(muster):
    assert "\x1b" not in explain(muster, TRACEBACK + "ValueError: \x1b]0;title\x07\x1b[2Jx\n").stdout


def test_the_name_of_a_file_is_one_line(muster):
    """Another user may have named it."""
    path = muster.folder / "a.out\nmuster: the log was deleted\x1b[2J.out"
    path.write_text("ValueError: x\n")
    said = muster("explain", str(path), code=0).stdout
    assert "a.out muster: the log was deleted?[2J.out\n" in said and "\nmuster:" not in said and "\x1b" not in said
