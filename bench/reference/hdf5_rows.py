"""Rows of HDF5 by h5py: hdf5_rows.py write FILE ROWS SIDE FILTER | read FILE. Prints the seconds of a pass."""
import sys
import time

import h5py
import numpy as np

what, path, *numbers = sys.argv[1:]
if what == "write":
    rows, side = map(int, numbers[:2])
    options = {"compression": "gzip", "compression_opts": 4} if numbers[2] == "gzip" else {}
    with h5py.File(path, "w") as file:
        # Gradients with noise, as pictures have them: deflate makes about half of them.
        noise = np.random.default_rng(7).integers(0, 16, (rows, side, side, 3))
        images = (noise + np.arange(side)[:, None] * 2).astype("u1")
        chunks = (16, side, side, 3) if options else None
        file.create_dataset("images", data=images, chunks=chunks, **options)
        file["labels"] = np.arange(rows)
else:
    start = time.perf_counter()
    with h5py.File(path) as file:
        images, labels = file["images"], file["labels"]
        total = 0
        for i in range(len(labels)):
            total += int(labels[i]) + int(images[i][0, 0, 0])
    print(time.perf_counter() - start)
