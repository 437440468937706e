"""Says as JSON what a dataset holds, by a reader that is not ours: read_mds.py DIRECTORY."""
import json
import math
import sys

import mds
import numpy as np


def shown(value):
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, list) and any(isinstance(one, bytes) for one in value):
        return [shown(one) for one in value]
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "shape": list(value.shape), "values": value.ravel().tolist()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (str, float, list, dict, bool, type(None))) else str(value)


samples = [
    {name: [encoding, shown(mds.decode(encoding, data))] for name, (encoding, data) in sample.items()}
    for sample in mds.read(sys.argv[1])
]
json.dump(samples, sys.stdout)
