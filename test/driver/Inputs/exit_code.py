"""exit_code.py N COMMAND...: runs it; fails unless it exits with N."""
import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
sys.exit(0 if code == int(sys.argv[1]) else f"exit code {code}, expected {sys.argv[1]}")
