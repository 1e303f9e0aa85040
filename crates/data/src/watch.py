"""Smartwatch recordings of seglearn's wheel as idx files with users. Needs nothing but Python."""
import codecs, io, os, pickle, struct, sys, zipfile

LENGTH, STEP = 100, 50  # 2 s at 50 Hz, half of it new
RANGES = [4.0, 4.0, 4.0, 8.0, 8.0, 8.0]  # of ax ay az (g) and wx wy wz (rad/s); what lies beyond is cut
TEST_SHARE = 0.2  # the end of every recording


class Array:
    def __setstate__(self, state):
        _, self.shape, _, self.by_column, self.data = state

    def values(self, kind):
        return struct.unpack("<%d%s" % (len(self.data) // 8, kind), self.data)


class Dtype:
    def __init__(self, *_):
        pass

    def __setstate__(self, _):
        pass


class Reader(pickle.Unpickler):
    """Knows the names in the file, and refuses all others."""

    KNOWN = {
        "numpy.core.multiarray._reconstruct": lambda *_: Array(),
        "numpy.ndarray": Array,
        "numpy.dtype": Dtype,
        "_codecs.encode": codecs.encode,
    }

    def find_class(self, module, name):
        return self.KNOWN[module + "." + name]


npy = zipfile.ZipFile(sys.argv[1]).read("seglearn/data/watch_dataset.npy")
header = 10 + struct.unpack("<H", npy[8:10])[0]
watch = Reader(io.BytesIO(npy[header:])).load().data[0]
labels, subjects = watch["y"].values("q"), watch["subject"].values("q")
parts = {"train": [], "t10k": []}
for recording, label, subject in zip(watch["X"], labels, subjects):
    rows, columns = recording.shape
    values = recording.values("d")
    assert columns == len(RANGES) and recording.by_column
    first_test = int(rows * (1 - TEST_SHARE))
    spans = [("train", 0, first_test), ("t10k", first_test, rows)]
    for part, begin, end in spans:
        for start in range(begin, end - LENGTH + 1, STEP):
            window = bytearray()
            for row in range(start, start + LENGTH):
                for column, most in enumerate(RANGES):
                    value = (values[column * rows + row] / most + 1) / 2 * 255
                    window.append(min(255, max(0, int(value + 0.5) if value > 0 else 0)))
            parts[part].append((window, label, subject))
os.mkdir("watch")
for part, samples in parts.items():
    images = b"".join(window for window, _, _ in samples)
    head = struct.pack(">IIII", 0x803, len(samples), LENGTH, len(RANGES))
    with open("watch/%s-images-idx3-ubyte" % part, "wb") as file:
        file.write(head + images)
    with open("watch/%s-labels-idx1-ubyte" % part, "wb") as file:
        file.write(struct.pack(">II", 0x801, len(samples)) + bytes(label for _, label, _ in samples))
with open("watch/users.csv", "w", newline="\n") as file:
    file.write("user\n" + "".join("subject-%d\n" % subject for _, _, subject in parts["train"]))
