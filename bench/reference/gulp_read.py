"""What bench/gulp_read.ts compares with: GulpIO2's way to read frames, without decoding them.

  gulp_read.py loop DIRECTORY REQUESTS      the same calls of the system, with the meta in memory
  gulp_read.py library DIRECTORY REQUESTS   gulpio2 itself, its decoder replaced

REQUESTS is a JSON file: a list of [id, index of a frame or null for all]. They are read once to warm
up and once by the clock; prints the seconds of the second pass and how many bytes came, as JSON.
"""

import collections
import glob
import json
import os
import re
import sys
import time


Place = collections.namedtuple("Place", ["offset", "padding", "length"])


class Loop:
    """Opens the chunk's data file for each request, and seeks to and reads each frame."""

    def __init__(self, directory):
        self.videos = {}
        self.places = {}
        for meta_path in sorted(glob.glob(os.path.join(directory, "meta*.gmeta"))):
            number = re.findall(r"\d+", os.path.basename(meta_path))[0]
            data_path = os.path.join(directory, f"data_{number}.gulp")
            with open(meta_path) as file:
                meta = json.load(file, object_pairs_hook=collections.OrderedDict)
            for name, video in meta.items():
                self.videos[name] = (data_path, video)

    def read(self, name, selection):
        data_path, video = self.videos[name]
        if name not in self.places:
            self.places[name] = [Place(*place) for place in video["frame_info"]]
        with open(data_path, "rb") as file:
            frames = [self.read_frame(file, place) for place in self.places[name][selection]]
        return frames, dict(video["meta_data"][0])

    @staticmethod
    def read_frame(file, place):
        file.seek(place.offset)
        record = file.read(place.length)
        return record[: len(record) - place.padding]


class Library:
    def __init__(self, directory):
        import gulpio2

        self.directory = gulpio2.GulpDirectory(directory, jpeg_decoder=lambda jpeg: jpeg)

    def read(self, name, selection):
        return self.directory[name, selection]


def read_all(reader, requests):
    size = 0
    for name, selection in requests:
        frames, _ = reader.read(name, selection)
        for frame in frames:
            assert frame[0] == 0xFF
            size += len(frame)
    return size


if __name__ == "__main__":
    way, directory, requests_path = sys.argv[1:]
    reader = {"loop": Loop, "library": Library}[way](directory)
    with open(requests_path) as file:
        requests = [
            (name, slice(None) if frame is None else slice(frame, frame + 1))
            for name, frame in json.load(file)
        ]
    read_all(reader, requests)
    start = time.perf_counter()
    size = read_all(reader, requests)
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": size}))
