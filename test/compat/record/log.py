"""Prints the statements of a server's JSON log, from a line on: python3 log.py LOG [LINE]. Parameters stand below theirs."""
import json
import sys

start = int(sys.argv[2]) if len(sys.argv) > 2 else 0
with open(sys.argv[1]) as log:
    for number, line in enumerate(log):
        entry = json.loads(line)
        message = entry.get("message", "")
        if number >= start and message.startswith(("statement: ", "execute ")):
            print(">>", message.split(": ", 1)[1])
            if entry.get("detail"):
                print("   ", entry["detail"])
        elif number >= start and entry["error_severity"] in ("ERROR", "FATAL"):
            print("!!", message)
