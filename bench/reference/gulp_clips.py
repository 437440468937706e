"""What bench/gulp/gulp_clips.ts compares with: GulpIO2's GulpDirectory, OpenCV and NumPy, in processes.

  gulp_clips.py pool|torch DIRECTORY LENGTH STEP EDGE WORKERS PASSES

Each of WORKERS processes takes clips of random videos: every STEPth of LENGTH frames from a random one on, decoded,
cut to EDGE x EDGE at a random place, flipped or not, divided by 255, as float32 [C, T, H, W]. `pool`: it keeps them
to itself. `torch`: PyTorch's DataLoader hands them to the process that trains, in batches of 8. Prints how many clips
a second each pass made, but the first, as JSON.
"""

import json
import multiprocessing
import random
import sys
import time

import cv2
import numpy as np
from gulpio2 import GulpDirectory

directory = None


def decode(jpeg):
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def start(path):
    global directory
    cv2.setNumThreads(0)
    directory = GulpDirectory(path, jpeg_decoder=decode)


def make(task):
    name, count, length, step, edge = task
    first = random.randrange(count - (length - 1) * step)
    frames, meta = directory[name, slice(first, first + (length - 1) * step + 1, step)]
    height, width = frames[0].shape[:2]
    x, y = random.randint(0, width - edge), random.randint(0, height - edge)
    clip = np.stack([frame[y : y + edge, x : x + edge] for frame in frames])
    if random.random() < 0.5:
        clip = clip[:, :, ::-1]
    values = np.ascontiguousarray(clip.transpose(3, 0, 1, 2), np.float32)
    values *= 1 / 255
    assert values.shape == (3, length, edge, edge)
    return values, meta["idx"]


def make_and_keep(task):
    return make(task)[1]


class Clips:
    """A dataset for PyTorch's DataLoader."""

    def __init__(self, tasks):
        self.tasks = tasks

    def __len__(self):
        return len(self.tasks)

    def __getitem__(self, index):
        return make(self.tasks[index])


def in_pool(path, tasks, workers):
    with multiprocessing.Pool(workers, start, (path,)) as pool:
        while True:
            random.shuffle(tasks)
            yield sum(1 for _ in pool.imap_unordered(make_and_keep, tasks, 4))


def in_loader(path, tasks, workers):
    from torch.utils.data import DataLoader

    def begin(worker):
        random.seed()
        start(path)

    loader = DataLoader(
        Clips(tasks),
        batch_size=8,
        shuffle=True,
        num_workers=workers,
        persistent_workers=True,
        worker_init_fn=begin,
    )
    while True:
        yield sum(len(labels) for _, labels in loader)


def main():
    way, path = sys.argv[1:3]
    length, step, edge, workers, passes = map(int, sys.argv[3:])
    tasks = [
        (name, len(info["frame_info"]), length, step, edge)
        for chunk in GulpDirectory(path)
        for name, info in chunk.meta_dict.items()
    ]
    rates = []
    counts = {"pool": in_pool, "torch": in_loader}[way](path, tasks, workers)
    for _ in range(passes + 1):
        begin = time.perf_counter()
        done = next(counts)
        rates.append(done / (time.perf_counter() - begin))
    counts.close()
    print(json.dumps(rates[1:]))


if __name__ == "__main__":
    main()
