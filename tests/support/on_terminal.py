# SPDX-License-Identifier: Apache-2.0
"""What a program shows on a terminal."""
import fcntl
import os
import pty
import struct
import subprocess
import termios


def run(command, columns, streams, on_output=None, **more):
    """What the program shows on a terminal of so many columns, which `streams` of it are ("stderr",
    ..), what comes by a pipe of `more` for its stdout, and its exit status. on_output(program,
    seen) is called as it shows more."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    program = subprocess.Popen(command, **dict.fromkeys(streams, slave), **more)
    os.close(slave)
    seen = b""
    while True:
        try:
            chunk = os.read(master, 4096)
        except OSError:  # the last one closed it
            break
        if not chunk:
            break
        seen += chunk
        if on_output:
            on_output(program, seen)
    told = program.communicate()[0]
    os.close(master)
    return seen.decode(), told, program.returncode
