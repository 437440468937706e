"""What bench/gulp/gulp_ingest.ts compares with: GulpIO2's ingest of a folder of images, as gulp2_image_folder runs it.

  gulp_ingest.py IMAGES OUT EDGE WORKERS

100 images a chunk, as is the default of both; images are loaded, resized by Pillow and encoded by GulpIO2.
"""

import os
import sys

from gulpio2.adapters import ImageFolderAdapter
from gulpio2.fileio import GulpIngestor

if __name__ == "__main__":
    images, out, edge, workers = sys.argv[1:]
    os.makedirs(out)
    # The folder is taken for the beginning of a pattern, so that it needs a slash.
    adapter = ImageFolderAdapter(f"{images}/", out, shuffle=False, img_size=int(edge))
    GulpIngestor(adapter, out, 100, int(workers))()
