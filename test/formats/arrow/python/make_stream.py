"""Writes batches of 4 rows by pyarrow, as a stream and as a file: make_stream.py DIRECTORY BATCHES.

Prints where each batch ends in both, as JSON: of a stream, what is before such an offset is a stream of those batches.
"""
import json
import os
import sys

import pyarrow as pa

directory, count = sys.argv[1], int(sys.argv[2])
schema = pa.schema([("n", pa.int64()), ("word", pa.dictionary(pa.int8(), pa.string()))])
words = pa.array(["a", "b", "c"])
ends = {}
for kind, new in [("stream", pa.ipc.new_stream), ("file", pa.ipc.new_file)]:
    path = f"{directory}/{kind}.arrow"
    ends[kind] = []
    with pa.OSFile(path, "wb") as sink:
        with new(sink, schema) as writer:
            for batch in range(count):
                rows = range(4 * batch, 4 * batch + 4)
                indices = pa.array([row % 3 for row in rows], pa.int8())
                column = pa.DictionaryArray.from_arrays(indices, words)
                writer.write_batch(pa.record_batch([pa.array(rows, pa.int64()), column], schema))
                ends[kind].append(sink.tell())
print(json.dumps(ends))
