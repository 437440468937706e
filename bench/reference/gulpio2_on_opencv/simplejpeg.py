"""What GulpIO2 takes of the package `simplejpeg`, by OpenCV and Pillow, which Debian has and simplejpeg not.

All are libjpeg-turbo. GulpIO2 asks for the fast DCT and upsampling, which OpenCV does not offer; in that library
they gain nothing where there is SIMD. Pillow encodes: simplejpeg does not subsample colours, and Debian's OpenCV
always does.
"""

import io

import cv2
import numpy as np
from PIL import Image

cv2.setNumThreads(0)  # as many processes as there are to be, of a thread each


def decode_jpeg_header(data):
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_8)
    return image.shape[0] * 8, image.shape[1] * 8, "YCbCr", ""


def decode_jpeg(data, colorspace="RGB", fastdct=False, fastupsample=False):
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def encode_jpeg(image, quality=85, colorspace="RGB"):
    pixels = image if colorspace == "RGB" else image.reshape(image.shape[:2])
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=quality, subsampling=0)
    return out.getvalue()
