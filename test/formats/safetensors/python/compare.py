"""Compares each array of a file with those in a directory: compare.py FILE DIRECTORY."""
import os
import sys

import numpy as np
from safetensors.numpy import load_file

expected = load_file(sys.argv[1])
found = [np.load(f"{sys.argv[2]}/{name}") for name in os.listdir(sys.argv[2]) if name.endswith(".npy")]
assert len(found) == len(expected), (len(found), len(expected))
for name, array in expected.items():
    alike = [one for one in found if one.dtype == array.dtype and one.shape == array.shape and one.tobytes() == array.tobytes()]
    assert alike, name
