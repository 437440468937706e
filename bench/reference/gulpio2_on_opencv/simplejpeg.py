"""What GulpIO2 takes of the package `simplejpeg`, by OpenCV, which Debian has and simplejpeg not.

Both are libjpeg-turbo. GulpIO2 asks for the fast DCT and upsampling, which OpenCV does not offer; in that library
they gain nothing where there is SIMD. `IMREAD_UNCHANGED` keeps gray images gray.
"""

import cv2
import numpy as np

cv2.setNumThreads(0)  # as many processes as there are to be, of a thread each


def decode_jpeg_header(data):
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_8)
    return image.shape[0] * 8, image.shape[1] * 8, "YCbCr", ""


def decode_jpeg(data, colorspace="RGB", fastdct=False, fastupsample=False):
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def encode_jpeg(image, quality=85, colorspace="RGB"):
    if colorspace == "RGB":
        image = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    _, jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return jpeg.tobytes()
