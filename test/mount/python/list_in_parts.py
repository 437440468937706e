"""Lists a directory, waiting for a line of standard input after the first entry. Prints the number of names and errno.

Arguments: the directory.
"""

import os
import sys

names = []
try:
    with os.scandir(sys.argv[1]) as entries:
        for entry in entries:
            if not names:
                print("begun", flush=True)
                sys.stdin.readline()
            names.append(entry.name)
    print(len(names), 0)
except OSError as error:
    print(len(names), error.errno)
