# SPDX-License-Identifier: Apache-2.0
"""The processes that compare.py and operations.py time: each works on request, a line each way."""
import contextlib
import os
import re
import select
import subprocess
import tempfile
import time

AGAIN = 3  # times that a disturbed block is played again
DISTURBED = 0.02  # of a block's time that its threads waited for a core longer than they ever do
LOSSES = 8  # steps whose losses must agree; later the roundings of one sum lead apart
# Settings of the shell that would change a peer.
FOREIGN = re.compile(r"^(OPENBLAS|MKL|OMP|BLIS|GOTO|KMP|ATEN|TORCH|PYTORCH|JAX|XLA|NVIDIA_TF32)")


class Gone(Exception):
    """A peer that did not start, or ended, or does not answer."""


def environment(cores):
    env = {k: v for k, v in os.environ.items() if not FOREIGN.match(k)}
    for variable in ("TERN", "OMP", "MKL", "OPENBLAS", "BLIS"):
        env[variable + "_NUM_THREADS"] = str(len(cores))
    env["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the device is for everybody
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return env


class Peer:
    patience = 240  # seconds; the longest answer is a compilation

    def __init__(self, name, command, cores):
        self.name, self.command, self.cores = name, command, cores
        self.complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.steps = 1
        self.ready = 0.0  # seconds that starting, compiling and warming up took
        self.seconds = []  # of one step, by round
        self.calm = float("inf")  # the least share of a block that its threads waited for a core
        self.disturbed = 0  # blocks that were played again

    def start(self):
        """The first answer comes when the libraries are there."""
        begun = time.perf_counter()
        pinned = ["taskset", "-c", ",".join(str(core) for core in self.cores), *self.command]
        self.process = subprocess.Popen(
            pinned, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.complaints,
            text=True, env=environment(self.cores))
        self.versions = self.ask("versions")
        self.ready = time.perf_counter() - begun

    def warm_up(self, block):
        begun = time.perf_counter()
        self.probe = float(self.ask("probe"))
        self.losses = [float(word) for word in self.ask(f"losses {LOSSES}").split()]
        self.calibrate(block)
        self.ready += time.perf_counter() - begun
        self.info = self.ask("info")

    def ask(self, request):
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
            if not select.select([self.process.stdout], [], [], self.patience)[0]:
                raise self.gone(f"no answer to '{request}' within {self.patience:g} s")
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise self.gone(self.last_word())
        return answer

    def gone(self, reason):
        self.end(patience=0)
        return Gone(f"{self.name} ({self.command[0]}): {reason}")

    def last_word(self):
        """Why it ended, in its own words if there are any."""
        status = self.process.wait()
        self.complaints.seek(0)
        words = [line.strip() for line in self.complaints if line.strip()]
        if status < 0:
            return f"ended by signal {-status}"
        return words[-1] if words else f"ended with status {status}"

    def step_time(self):
        """Each block trains from the start: nobody works on a net that has learned it all."""
        self.ask("reset")
        return float(self.ask(f"run {self.steps}")) / self.steps

    def waiting(self):
        """For how many seconds its threads were ready and had no core, as far as Linux tells."""
        folder, total = f"/proc/{self.process.pid}/task", 0
        with contextlib.suppress(OSError):
            for task in os.listdir(folder):
                with contextlib.suppress(OSError), open(f"{folder}/{task}/schedstat") as file:
                    total += int(file.read().split()[1])
        return total * 1e-9

    def block(self):
        """The seconds of a step in a block, played again where other processes had the cores."""
        for again in range(AGAIN + 1):
            before = self.waiting()
            step = self.step_time()
            share = (self.waiting() - before) / (step * self.steps)
            self.calm = min(self.calm, share)
            if again == AGAIN or share <= self.calm + DISTURBED:
                return step
            self.disturbed += 1

    def calibrate(self, block):
        """As many steps as fill a block. The first run of a number of steps may compile."""
        while True:
            self.step_time()
            took = self.step_time() * self.steps
            if took >= block:
                return
            wanted = int(1.1 * block / took * self.steps)
            self.steps = max(self.steps + 1, min(10 * self.steps, wanted))

    def memory(self):
        """The most memory that it had, in MiB."""
        return float(self.ask("memory"))

    def libraries(self):
        """Who computes the products, as the process itself has mapped it."""
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as maps:
            files = {os.path.basename(line.split()[-1]) for line in maps if "/" in line}
        known = re.compile(r"(?<!cu)(?<!scipy_open)blas|mkl|dnnl|blis")
        return ", ".join(sorted(f for f in files if known.search(f) and ".so" in f))

    def end(self, patience=20):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def keep(peers, action, over=map):
    """Those with whom `action` went well. tern has to be among them; of another one it is said why
    it is not."""
    def attempt(peer):
        try:
            return action(peer)
        except Gone as gone:
            return gone

    answers = list(over(attempt, peers))
    for peer, answer in zip(peers, answers):
        if isinstance(answer, Gone) and peer.name.startswith("tern"):
            raise SystemExit(str(answer))
        if isinstance(answer, Gone):
            print(f"left out: {answer}", flush=True)
    return [peer for peer, answer in zip(peers, answers) if not isinstance(answer, Gone)]
