#!/usr/bin/python3
"""Draws what happened to an elastic job: its loss, and how many machines trained, over time.

    MUSTER_RECORDING=recording.json script/test all system tests/system/test_elastic_tensorflow.py
    elastic_picture.py recording.json docs/elastic.svg

Needs matplotlib.
"""

import datetime
import json
import re
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "muster"
import matplotlib.pyplot as plt  # noqa: E402

EPOCH = re.compile(r"\| (\S+Z) epoch \d+/\d+: loss ([\d.]+)")


def seconds(moment):
    return datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def together(events):
    """Events of the same moment share a place."""
    places = []
    for moment, what in events:
        if places and moment - places[-1][0] < 3:
            places[-1][1] += "\n" + what
        else:
            places.append([moment, what])
    return places


def machines_of(job, begin):
    """Times and numbers of machines, as steps."""
    worlds = job["worlds"]
    times = [seconds(world["formedAt"]) - begin for world in worlds] + [seconds(job.get("endedAt") or job["now"]) - begin]
    return times, [world["members"] for world in worlds] + [worlds[-1]["members"]]


def draw(recording, path):
    job, events = recording["job"], recording["events"]
    begin = seconds(job["worlds"][0]["formedAt"])
    losses = [(seconds(found[1]) - begin, float(found[2])) for found in map(EPOCH.search, recording["log"].splitlines()) if found]
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(9, 4.6), height_ratios=(3, 1), layout="constrained")
    above.plot(*zip(*losses), color="#2b6cb0", marker=".", markersize=4, linewidth=1)
    above.set_yscale("log")
    above.set_ylabel("loss after each epoch")
    below.step(*machines_of(job, begin), where="post", color="#2f855a", linewidth=2)
    below.set_ylabel("machines")
    below.set_yticks(range(0, job["max"] + 1))
    below.set_xlabel("seconds since the first world")
    for number, (moment, what) in enumerate(together(events)):
        for axes in (above, below):
            axes.axvline(moment - begin, color="#a0aec0", linewidth=0.8, linestyle="--")
        above.text(moment - begin + 0.4, 0.97 - 0.07 * (number % 3), what, va="top", fontsize=8, transform=above.get_xaxis_transform())
    figure.savefig(path, metadata={"Date": None})


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        draw(json.load(file), sys.argv[2])


main()
