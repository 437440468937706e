"""What bench/pictures.ts compares with: how people load pictures for training in Python.

  pictures.py PEER FOLDER CHAIN TIMES WORKERS PASSES

PEER is `pillow` (WORKERS processes, which keep what they make), `opencv` (the same), or `torch` (torchvision's
transforms on Pillow, through a DataLoader of WORKERS processes, in batches of 32). CHAIN is `center` (short edge
256, the middle 224 x 224, divided by 255) or `random` (RandomResizedCrop(224), flipped or not, normalized). Each
file is taken TIMES times a pass. WORKERS 0 is this process alone. Prints how many pictures a second each pass made, but the first, as JSON.
"""

import glob
import json
import multiprocessing
import os
import random
import sys
import time

import numpy as np

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)
EDGE, SHORT = 224, 256


def random_part(width, height):
    """RandomResizedCrop.get_params, without its last resort, which these pictures do not come to."""
    while True:
        area = width * height * random.uniform(0.08, 1)
        aspect = np.exp(random.uniform(np.log(3 / 4), np.log(4 / 3)))
        w, h = round((area * aspect) ** 0.5), round((area / aspect) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, width - w), random.randint(0, height - h), w, h


def pillow(path, chain):
    from PIL import Image

    image = Image.open(path).convert("RGB")
    width, height = image.size
    if chain == "random":
        x, y, w, h = random_part(width, height)
        image = image.resize((EDGE, EDGE), Image.BILINEAR, box=(x, y, x + w, y + h))
        if random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        values = (np.asarray(image, np.float32) / 255 - MEAN) / STD
    else:
        short = min(width, height)
        width, height = width * SHORT // short, height * SHORT // short
        x, y = (width - EDGE) // 2, (height - EDGE) // 2
        image = image.resize((width, height), Image.BILINEAR).crop((x, y, x + EDGE, y + EDGE))
        values = np.asarray(image, np.float32) / 255
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def opencv(path, chain):
    import cv2

    cv2.setNumThreads(0)
    image = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
    height, width = image.shape[:2]
    if chain == "random":
        x, y, w, h = random_part(width, height)
        image = cv2.resize(image[y : y + h, x : x + w], (EDGE, EDGE))
        if random.random() < 0.5:
            image = cv2.flip(image, 1)
        values = (image.astype(np.float32) / 255 - MEAN) / STD
    else:
        short = min(width, height)
        width, height = width * SHORT // short, height * SHORT // short
        x, y = (width - EDGE) // 2, (height - EDGE) // 2
        values = cv2.resize(image, (width, height))[y : y + EDGE, x : x + EDGE].astype(np.float32) / 255
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def make(task):
    peer, path, chain = task
    {"pillow": pillow, "opencv": opencv}[peer](path, chain)


def torch_passes(paths, chain, workers, passes):
    import torch
    from PIL import Image
    from torchvision import transforms

    torch.set_num_threads(1)
    steps = [transforms.Resize(SHORT), transforms.CenterCrop(EDGE), transforms.ToTensor()]
    if chain == "random":
        steps = [
            transforms.RandomResizedCrop(EDGE),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(MEAN.tolist(), STD.tolist()),
        ]
    transform = transforms.Compose(steps)

    class Pictures(torch.utils.data.Dataset):
        def __len__(self):
            return len(paths)

        def __getitem__(self, index):
            return transform(Image.open(paths[index]).convert("RGB"))

    loader = torch.utils.data.DataLoader(
        Pictures(), batch_size=32, num_workers=workers, persistent_workers=workers > 0
    )
    for _ in range(passes):
        start = time.perf_counter()
        count = sum(len(batch) for batch in loader)
        yield count / (time.perf_counter() - start)


def process_passes(peer, paths, chain, workers, passes):
    tasks = [(peer, path, chain) for path in paths]
    pool = multiprocessing.Pool(workers) if workers > 0 else None
    for _ in range(passes):
        start = time.perf_counter()
        done = map(make, tasks) if pool is None else pool.imap_unordered(make, tasks, 16)
        count = sum(1 for _ in done)
        yield count / (time.perf_counter() - start)


def main():
    peer, folder, chain, times, workers, passes = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(folder, "*.jpg"))) * int(times)
    arguments = (paths, chain, int(workers), int(passes) + 1)
    rates = torch_passes(*arguments) if peer == "torch" else process_passes(peer, *arguments)
    print(json.dumps(list(rates)[1:]))


if __name__ == "__main__":
    main()
