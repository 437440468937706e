"""What bench/data/known_loaders.ts compares with: loaders of training pictures that people know, each used as its own
documents show it.

  known_loaders.py missing PEER               # the packages that are not here, as JSON
  known_loaders.py write FOLDER OUT           # the JPEGs of FOLDER as chunks of LitData
  known_loaders.py PEER LOCATION WORKERS PASSES

PEER is `pillow` (torch's DataLoader, Pillow, torchvision's transforms: a FOLDER), `torchvision` (its own JPEG decoder
and transforms on tensors: a FOLDER), `streaming` (MosaicML's StreamingDataset: MDS), `litdata` (its StreamingDataset
and StreamingDataLoader: chunks of LitData), or `webdataset` (WebDataset and WebLoader: a pattern of tars). Each
shuffles. A batch is 32 x 3 x 224 x 224 numbers of 32 bits from 0 to 1: of each picture the short edge becomes 256, and
the middle is cut out. Prints JSON: how many pictures a second each pass made, but the first, which sums up the values;
of each pass, the batches' number of pictures and of bytes; the mean value; and the versions of all that took part.
"""

import glob
import json
import os
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version

BATCH, SHORT, EDGE = 32, 256, 224


def on_pillow():
    """Pictures of Pillow to tensors."""
    from torchvision import transforms

    steps = [transforms.Resize(SHORT), transforms.CenterCrop(EDGE), transforms.ToTensor()]
    chain = transforms.Compose(steps)
    return lambda image: chain(image.convert("RGB"))


def on_tensors():
    """Pixels in tensors to those of batches, by the transforms that its documents recommend: v2, where there is one."""
    import torch

    try:
        from torchvision.transforms import v2 as transforms

        to_floats = transforms.ToDtype(torch.float32, scale=True)
    except ImportError:
        from torchvision import transforms

        to_floats = transforms.ConvertImageDtype(torch.float32)
    # As it resizes by default: before torchvision 0.17, without averaging, which is less work.
    return transforms.Compose([transforms.Resize(SHORT), transforms.CenterCrop(EDGE), to_floats])


def files_of(folder):
    return sorted(glob.glob(os.path.join(folder, "*.jpg")))


def file_loader(folder, options, read):
    from torch.utils.data import DataLoader, Dataset

    paths = files_of(folder)

    class Pictures(Dataset):
        def __len__(self):
            return len(paths)

        def __getitem__(self, index):
            return read(paths[index])

    return DataLoader(Pictures(), batch_size=BATCH, shuffle=True, **options)


def pillow(folder, options):
    from PIL import Image

    transform = on_pillow()
    return file_loader(folder, options, lambda path: transform(Image.open(path)))


def torchvision(folder, options):
    from torchvision.io import ImageReadMode, decode_jpeg, read_file

    transform = on_tensors()
    return file_loader(folder, options, lambda path: transform(decode_jpeg(read_file(path), ImageReadMode.RGB)))


def streaming(directory, options):
    from streaming import StreamingDataset
    from torch.utils.data import DataLoader

    transform = on_pillow()

    class Pictures(StreamingDataset):
        def __getitem__(self, index):
            return transform(super().__getitem__(index)["image"])

    dataset = Pictures(local=directory, batch_size=BATCH, shuffle=True)
    return DataLoader(dataset, batch_size=BATCH, **options)


def litdata(directory, options):
    from litdata import StreamingDataLoader, StreamingDataset

    transform = on_tensors()

    class Pictures(StreamingDataset):
        def __getitem__(self, index):
            return transform(super().__getitem__(index)["image"])

    return StreamingDataLoader(Pictures(directory, shuffle=True), batch_size=BATCH, **options)


def webdataset(pattern, options):
    from webdataset import WebDataset, WebLoader

    dataset = WebDataset(pattern, shardshuffle=100).shuffle(1000).decode("pil")
    dataset = dataset.to_tuple("jpg").map_tuple(on_pillow()).batched(BATCH)
    return WebLoader(dataset, batch_size=None, **options)


# Each with the packages of Python that it takes.
PEERS = {
    "pillow": (pillow, ["torch", "torchvision", "pillow"]),
    "torchvision": (torchvision, ["torch", "torchvision"]),
    "streaming": (streaming, ["mosaicml-streaming", "torch", "torchvision", "pillow"]),
    "litdata": (litdata, ["litdata", "torch", "torchvision"]),
    "webdataset": (webdataset, ["webdataset", "torch", "torchvision", "pillow"]),
}


def is_here(package):
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def passes(loader, count):
    """Takes all batches so many times, and once more before."""
    rates, totals, mean = [], [], 0.0
    for turn in range(count + 1):
        pictures = size = 0
        start = time.perf_counter()
        for batch in loader:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            if batch.shape[1:] != (3, EDGE, EDGE):
                sys.exit(f"a batch has the shape {tuple(batch.shape)}")
            pictures += len(batch)
            size += batch.numel() * batch.element_size()
            if turn == 0:
                mean += float(batch.double().mean()) * len(batch)
        seconds = time.perf_counter() - start
        totals.append([pictures, size])
        if turn == 0:
            mean /= max(1, pictures)
        else:
            rates.append(pictures / seconds)
    return {"rates": rates, "totals": totals, "mean": mean}


def picture_of(path):
    from PIL import Image

    return {"image": Image.open(path)}


def main():
    warnings.simplefilter("ignore")
    if sys.argv[1] == "write":
        from litdata import optimize

        _, _, folder, out = sys.argv
        optimize(fn=picture_of, inputs=files_of(folder), output_dir=out, num_workers=1, chunk_bytes="64MB")
        return
    if sys.argv[1] == "missing":
        _, packages = PEERS[sys.argv[2]]
        print(json.dumps([package for package in packages if not is_here(package)]))
        return
    import torch

    torch.set_num_threads(1)
    peer, location, workers, count = sys.argv[1:]
    make, packages = PEERS[peer]
    options = {"num_workers": int(workers), "persistent_workers": True}
    result = passes(make(location, options), int(count))
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    print(json.dumps({**result, "versions": versions}))


if __name__ == "__main__":
    main()
