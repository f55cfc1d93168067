"""terminal.py COMMAND...: runs it with stderr on a terminal and prints what came there, control characters as \\x.., then the exit code."""
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
print(text.decode().replace("\r", "\\r").replace("\033", "\\e").replace("\\r\n", "\n"))
print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
