# SPDX-License-Identifier: Apache-2.0
"""Images that can be learnt in a moment."""
import struct


def write_images(folder, name, count, draw):
    """Noise, and a bright band whose height is the label."""
    with open(f"{folder}/{name}-images-idx3-ubyte", "wb") as f:
        f.write(struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28))
        for i in range(count):
            image = bytearray(draw.randbytes(784))
            begin = 28 * (2 * (i % 10) + draw.randrange(4))
            image[begin:begin + 112] = b"\xff" * 112
            f.write(image)
    with open(f"{folder}/{name}-labels-idx1-ubyte", "wb") as f:
        f.write(struct.pack(">4BI", 0, 0, 8, 1, count))
        f.write(bytes(i % 10 for i in range(count)))
