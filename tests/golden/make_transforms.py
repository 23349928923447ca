# SPDX-License-Identifier: Apache-2.0
"""Stores torchvision's transforms of images with given parameters as transforms.gz.

The images are of Fashion-MNIST: grey as they are, and coloured ones, of another size, whose
channels are three of them. torchvision computes coordinates in the images' dtype, tern in float64:
what is resized or under an affine map is float64 here, since its own float32 is up to 1.1e-6, of
affine maps 3e-6, away from it.
"""
import gzip
import math
import os

import numpy
import torch
import torchvision
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

from golden import Golden

FOLDER = os.environ.get("TERN_TEST_DATA", "/usr/share/datasets/fashion-mnist")
MODES = {"nearest": 1, "nearest-exact": 2, "bilinear": 4, "bicubic": 6}
PADS = {"constant": 1, "reflect": 2, "edge": 3}


def read_images(count):
    with gzip.open(os.path.join(FOLDER, "t10k-images-idx3-ubyte.gz")) as file:
        data = file.read(16 + count * 28 * 28)
    return torch.from_numpy(numpy.frombuffer(data, numpy.uint8, offset=16).copy()).reshape(
        count, 1, 28, 28)


GREY = read_images(2)
COLOR = F.resize(read_images(9)[3:].reshape(2, 3, 28, 28), [15, 22]).contiguous()
FLOATS = {"grey": GREY / 255.0, "color": COLOR / 255.0}
BYTES = {"grey": GREY, "color": COLOR}

golden = Golden("transforms", "make_transforms.py",
                f"{__doc__}\ntorchvision {torchvision.__version__.split('+')[0]}")


inputs = []


def input_name(x):
    """The name of the case that holds x, which is written when it is first asked for."""
    for i, (known, _) in enumerate(inputs):
        if known is x:
            return f"input {i}"
    inputs.append((x, golden.case(f"input {len(inputs)}", arrays=[("x", x)])))
    return f"input {len(inputs) - 1}"


def case(name, op, x, y, exact=False, more=(), **words):
    golden.case(name, [("op", op), ("input", input_name(x)), ("exact", exact), *words.items()],
                [*more, ("y", y.to(torch.float32) if y.is_floating_point() else y)])


# ---- whole pixels -------------------------------------------------------------------------------

def crops():
    for kind, images in (("float", FLOATS), ("byte", BYTES)):
        for name, x in images.items():
            fill = [9, 200, 77][:x.shape[1]] if kind == "byte" else [0.25, 0.5, 0.75][:x.shape[1]]
            for mode in PADS:
                for top, left, height, width in ((0, 0, 12, 15), (5, 3, 19, 26), (11, 9, 9, 8)):
                    padded = F.pad(x, [4, 5, 4, 5], fill=fill if mode == "constant" else 0,
                                   padding_mode=mode)
                    case(f"crop {kind} {name} {mode} {top}", "crop", x,
                         F.crop(padded, top, left, height, width), True, top=top - 5,
                         left=left - 4, height=height, width=width, mode=PADS[mode], fill=fill)
            case(f"hflip {kind} {name}", "hflip", x, F.horizontal_flip(x), True)
            case(f"vflip {kind} {name}", "vflip", x, F.vertical_flip(x), True)
            for height, width in ((10, 13), (11, 14), (30, 33), (8, 31)):
                case(f"center {kind} {name} {height} {width}", "center_crop", x,
                     F.center_crop(x, [height, width]), True, height=height, width=width)
            value = torch.tensor(fill, dtype=x.dtype)[:, None, None]
            for i, j, h, w in ((0, 0, 3, 5), (7, 11, 8, 4), (14, 20, 1, 2)):
                case(f"erase {kind} {name} {i}", "erase", x, F.erase(x, i, j, h, w, value), True,
                     top=i, left=j, height=h, width=w, fill=fill)
            for mode in ("nearest", "nearest-exact"):
                for size in ((11, 17), (18, 30)):
                    case(f"resize {kind} {name} {mode} {size[0]}", "resize", x,
                         F.resize(x, list(size), interpolation=mode), True, height=size[0],
                         width=size[1], mode=MODES[mode], antialias=False)


# ---- resizing -----------------------------------------------------------------------------------

def resizes():
    for name, x in FLOATS.items():
        for mode in ("bilinear", "bicubic"):
            for antialias in (True, False):
                for size in ([11, 17], [4, 31], [31, 5], [9], [17]):
                    y = F.resize(x.double(), size, interpolation=mode, antialias=antialias)
                    case(f"resize {name} {mode} {antialias} {size}", "resize", x, y,
                         height=size[0], width=size[1] if len(size) > 1 else 0, mode=MODES[mode],
                         antialias=antialias)
                for top, left, h, w in ((3, 5, 12, 16), (0, 0, 5, 6), (5, 1, 10, 21)):
                    y = F.resized_crop(x.double(), top, left, h, w, [7, 9],
                                       interpolation=mode, antialias=antialias)
                    case(f"resized_crop {name} {mode} {antialias} {top}", "resized_crop", x, y,
                         top=top, left=left, box_height=h, box_width=w, height=7, width=9,
                         mode=MODES[mode], antialias=antialias)


# ---- affine maps --------------------------------------------------------------------------------

def affines():
    for name, x in FLOATS.items():
        fill = [0.3, 0.6, 0.9][:x.shape[1]]
        for mode in ("nearest", "bilinear"):
            for i, (angle, translate, scale, shear) in enumerate((
                    (10.3, [0, 0], 1.0, [0.0, 0.0]), (-33.1, [3, -2], 1.17, [0.0, 0.0]),
                    (0.0, [5, 4], 1.0, [0.0, 0.0]), (5.7, [-1, 2], 0.81, [12.3, -7.9]),
                    (171.9, [0, 9], 0.6, [-31.7, 4.1]))):
                y = F.affine(x.double(), angle, translate, scale, shear, interpolation=mode,
                             fill=fill)
                case(f"affine {name} {mode} {i}", "affine", x, y, mode == "nearest", angle=angle,
                     translate=translate, scale=scale, shear=shear, center=[0, 0],
                     mode=MODES[mode], fill=fill)
            for angle in (17.2, -101.3):
                y = F.rotate(x.double(), angle, interpolation=mode, fill=fill)
                case(f"rotate {name} {mode} {angle}", "affine", x, y, mode == "nearest",
                     angle=-angle, translate=[0, 0], scale=1, shear=[0, 0], center=[0, 0],
                     mode=MODES[mode], fill=fill)
            shear = math.degrees(math.atan(0.33))
            y = F.affine(x.double(), 0.0, [0, 0], 1.0, [shear, 0.0], interpolation=mode, fill=fill,
                         center=[0, 0])
            case(f"shear {name} {mode}", "affine", x, y, mode == "nearest", angle=0,
                 translate=[0, 0], scale=1, shear=[shear, 0],
                 center=[-x.shape[3] / 2, -x.shape[2] / 2], mode=MODES[mode], fill=fill)


# ---- colours ------------------------------------------------------------------------------------

ADJUSTMENTS = (("brightness", F.adjust_brightness, (0, 0.37, 1.8)),
               ("contrast", F.adjust_contrast, (0, 0.37, 1.8)),
               ("saturation", F.adjust_saturation, (0, 0.37, 1.8)),
               ("hue", F.adjust_hue, (-0.5, -0.13, 0.07, 0.41)),
               ("sharpness", F.adjust_sharpness, (0, 0.37, 1.99)),
               ("posterize", F.posterize, (0, 2, 5, 8)),
               ("solarize", F.solarize, (0, 0.4, 1.0)),
               ("autocontrast", lambda x, _: F.autocontrast(x), (0,)),
               ("equalize", lambda x, _: F.equalize(x), (0,)))


def colors():
    flat = FLOATS["color"].clone()
    flat[:, 1] = 0.5 # a channel of one value
    for name, x in {**FLOATS, "flat": flat * 0.8 + 0.1, "small": FLOATS["color"][:, :, 8:11, 9:12],
                    "thin": FLOATS["color"][:, :, 8:10]}.items():
        for kind, (word, function, amounts) in enumerate(ADJUSTMENTS):
            for amount in amounts:
                case(f"{word} {name} {amount}", "adjust", x, function(x, amount), kind=kind + 1,
                     amount=amount)
    for name, x in FLOATS.items():
        for channels in (1, 3):
            case(f"grayscale {name} {channels}", "grayscale", x,
                 F.rgb_to_grayscale(x, channels).contiguous(), channels=channels)


# ---- values and mixtures ------------------------------------------------------------------------

def values():
    for name, x in FLOATS.items():
        mean, std = [0.485, 0.456, 0.406][:x.shape[1]], [0.229, 0.224, 0.225][:x.shape[1]]
        case(f"normalize {name}", "normalize", x, F.normalize(x, mean, std), True, mean=mean,
             std=std)
        case(f"to_float {name}", "to_float", BYTES[name],
             F.to_dtype(BYTES[name], torch.float32, scale=True))


def mixtures():
    labels = torch.tensor([3, 1])
    for name, x in FLOATS.items():
        mixup, cutmix = v2.MixUp(num_classes=5), v2.CutMix(num_classes=5)
        for lam in (0.3, 0.97):
            params = {"labels": labels, "lam": lam, "batch_size": 2}
            case(f"mixup {name} {lam}", "mixup", x, mixup.transform(x, params),
                 more=[("labels", mixup.transform(labels, params))], amount=lam)
        for box in ((0, 0, 9, 4), (7, 3, 20, 15)):
            params = {"labels": labels, "box": box, "lam_adjusted": 0, "batch_size": 2}
            x1, y1, x2, y2 = box
            case(f"cutmix {name} {x1}", "cutmix", x, cutmix.transform(x, params), True, top=y1,
                 left=x1, height=y2 - y1, width=x2 - x1)


# ---- TrivialAugment -----------------------------------------------------------------------------

def trivial_augment():
    """Each change by two strengths, to either side: the words are what is drawn."""
    x, fill = FLOATS["color"], [0.3, 0.6, 0.9]
    augment = v2.TrivialAugmentWide(interpolation="bilinear", fill=fill)
    for kind, (name, (strengths, signed)) in enumerate(augment._AUGMENTATION_SPACE.items()):
        strengths = strengths(31, *x.shape[-2:])
        for bin in (7, 29) if strengths is not None else (0,):
            for sign in (1, -1) if signed else (1,):
                strength = sign * float(strengths[bin]) if strengths is not None else 0.0
                moved = 1 <= kind <= 5
                y = augment._apply_image_or_video_transform(
                    x.double() if moved else x, name, strength, augment.interpolation,
                    augment._fill)
                case(f"trivial augment {name} {bin} {sign}", "trivial_augment", x, y, kind=kind,
                     bin=bin, negative=sign < 0, fill=fill)


if __name__ == "__main__":
    torch.manual_seed(0)
    crops()
    resizes()
    affines()
    colors()
    values()
    mixtures()
    trivial_augment()
    golden.write()
