#!/usr/bin/env python3
"""Reads what `aerofed deploy` writes for ground stations with readers that are not ours.

    pip install pymavlink
    cargo run --release -- deploy examples/fleet.json --plan /tmp/m.plan --geojson /tmp/m.geojson --kml /tmp/m.kml
    cargo run --release -- deploy examples/fleet.json --plan /tmp/m.waypoints
    python3 scripts/check_missions.py /tmp/m-0.plan /tmp/m-0.waypoints /tmp/m.geojson /tmp/m.kml

WPL is loaded by pymavlink's mavwp, the others by Python's json and ElementTree. Where a .plan and a .waypoints are given, they must
hold the same items.
"""
import json
import sys
import xml.etree.ElementTree as ElementTree

KML = "{http://www.opengis.net/kml/2.2}"


def check(is_so, what):
    if not is_so:
        sys.exit(f"wrong: {what}")


def waypoints(path):
    from pymavlink import mavwp

    loader = mavwp.MAVWPLoader()
    count = loader.load(path)
    items = [loader.wp(index) for index in range(count)]
    check(count >= 4, f"{path}: {count} items")
    check(items[0].command == 16 and items[0].frame == 0, f"{path}: home")
    check([items[1].command, items[2].command, items[-1].command] == [22, 178, 17], f"{path}: commands")
    for item in items[1:2] + items[3:]:
        check(item.frame == 3 and abs(item.x) <= 90 and abs(item.y) <= 180 and item.z > 0, f"{path}: {item}")
    return [(item.command, item.frame, item.x, item.y, item.z) for item in items[1:]]


def plan(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    check(data["fileType"] == "Plan" and data["version"] == 1, f"{path}: header")
    check(data["geoFence"]["version"] == 2 and data["rallyPoints"]["version"] == 2, f"{path}: versions")
    mission = data["mission"]
    check(mission["version"] == 2 and len(mission["plannedHomePosition"]) == 3, f"{path}: mission")
    for number, item in enumerate(mission["items"], 1):
        check(item["type"] == "SimpleItem" and item["doJumpId"] == number, f"{path}: item {number}")
        check(len(item["params"]) == 7 and item["autoContinue"] is True, f"{path}: item {number}")
    return [(item["command"], item["frame"], *item["params"][4:]) for item in mission["items"]]


def geojson(path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    check(data["type"] == "FeatureCollection" and data["features"], path)
    for feature in data["features"]:
        shape = feature["geometry"]
        places = shape["coordinates"]
        places = {"Point": lambda: [places], "LineString": lambda: places, "Polygon": lambda: places[0]}[shape["type"]]()
        for place in places:
            check(abs(place[0]) <= 180 and abs(place[1]) <= 90, f"{path}: {place}")
        if shape["type"] == "Polygon":
            check(places[0] == places[-1], f"{path}: a ring is open")


def kml(path):
    root = ElementTree.parse(path).getroot()
    check(root.tag == KML + "kml" and root.findall(f".//{KML}Placemark"), path)
    for text in root.iter(KML + "coordinates"):
        for place in text.text.split():
            lon, lat, _ = map(float, place.split(","))
            check(abs(lon) <= 180 and abs(lat) <= 90, f"{path}: {place}")


def main(paths):
    if not paths:
        sys.exit(__doc__)
    kinds = {"plan": plan, "waypoints": waypoints, "txt": waypoints, "geojson": geojson, "kml": kml}
    missions = []
    for path in paths:
        found = kinds[path.rsplit(".", 1)[-1]](path)
        missions += [found] if found else []
        print(f"{path}: fine")
    for a, b in zip(missions, missions[1:]):
        same = len(a) == len(b) and all(abs(x - y) < 1e-5 for one, other in zip(a, b) for x, y in zip(one, other))
        check(same, "missions differ")


main(sys.argv[1:])
