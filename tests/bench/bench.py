#!/usr/bin/python3
"""Every figure of docs/benchmarks.md, muster beside its peers in the same run.

    bench.py [--muster PROGRAM] [--before PROGRAM] [--launchers "muster bash …"] [--json FILE] [FIGURE …]

The launchers take turns, so that a disturbance of the machine meets all of them alike; what is told
is the median.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time

import check_figures
import copy_figures
import elastic_figures
import figures
import http_figures
import making_figures
import mirror_figures
import operator_figures
import pass_figures
import pod_logs
import serve_figures
import server_figures
import status_figures
import step_figures
import tensorflow_figures
from launchers import all_launchers, streams_apart_and_together


class Figure:
    """One row of the table, or several where a measurement gives several numbers."""

    def __init__(self, name, title, unit, target, measure, runs, budget=12, contenders=None):
        self.name, self.title, self.unit, self.target = name, title, unit, target
        self.measure, self.runs = measure, runs
        self.budget = budget  # seconds after which a slow launcher is not measured again
        self.contenders = contenders  # who takes part instead of the launchers


FIGURES = [
    Figure("start-2", "start of 2 workers", "ms", "2 x bash",
           lambda launcher: figures.measure_start(launcher, 2), 60),
    Figure("start-64", "start of 64 workers", "ms", "1.6 x bash",
           lambda launcher: figures.measure_start(launcher, 64), 25),
    Figure("memory", "memory while 2 workers run", "MB", "6 MB",
           lambda launcher: figures.measure_memory(launcher, 2), 3),
    Figure("stop", "TERM to the end, 2 workers", "ms", "10 ms",
           lambda launcher: figures.measure_stop(launcher, 2), 20),
    Figure("restart", "SIGKILL of one worker to 2 new ones", "ms", "25 ms",
           lambda launcher: figures.measure_restart(launcher, 2), 15),
    Figure("left-behind", "workers alive 1 s after SIGKILL of the launcher", "of 4", "0",
           lambda launcher: figures.measure_left_behind(launcher, 4), 3),
    Figure("lines", "8 workers x 200,000 lines of 100 bytes", "", "1 s, 1 s of processor, no fault",
           lambda launcher: figures.measure_lines(launcher, 8, 200000), 7),
    Figure("lines-each", "8 workers x 200,000 lines, each written for itself", "", "0.75 x parallel, no fault",
           lambda launcher: figures.measure_lines(launcher, 8, 200000, "each"), 7),
    Figure("lines-64", "64 workers x 25,000 lines, each written for itself", "", "0.75 x parallel, no fault",
           lambda launcher: figures.measure_lines(launcher, 64, 25000, "each"), 7),
    Figure("lines-apart", "8 workers x 200,000 lines, half to stderr, each written for itself", "", "1.1 x the two streams together",
           lambda launcher: figures.measure_lines(launcher, 8, 100000, "each", writers=2), 15, 60, streams_apart_and_together),
    Figure("lines-memory", "memory while 8 workers print", "MB", "10 MB",
           lambda launcher: figures.measure_lines_memory(launcher, 8, 200000), 2),
    Figure("paced", "64 workers x 10,000 lines a second", "", "half a core, no fault",
           lambda launcher: figures.measure_paced_lines(launcher, 64, 10000), 3),
    Figure("ps", "ps -a with 1,000 jobs", "ms", "20 ms", figures.JobList(1000), 30),
    Figure("pass-1000", "one change in a job of 1,000 replicas: processor time of a pass", "ms", "5 ms",
           lambda launcher: pass_figures.measure_pass(launcher, 1000), 3),
    Figure("wake-ups", "wake-ups of an idle launcher", "per second", "0",
           lambda launcher: figures.measure_wake_ups(launcher, 2), 1),
    Figure("tensorflow", "two-worker example, start to end", "s", "bash, within noise",
           tensorflow_figures.measure_training, 3, 200),
    Figure("tensorflow-death", "SIGKILL of one of two TensorFlow workers", "s",
           "new processes 8 s before TensorFlow notices",
           tensorflow_figures.measure_death, 2, 200),
    *(Figure(f"torch-{workers}", f"a step of PyTorch, {workers} worker{'s' * (workers > 1)}", "ms", "1.05 x torchrun",
             lambda launcher, workers=workers: step_figures.measure_torch(launcher, workers), 5, 200,
             step_figures.torch_launchers) for workers in (1, 2, 4)),
    *(Figure(f"steps-{workers}", f"a step of TensorFlow, {workers} workers", "ms", "",
             lambda launcher, workers=workers: step_figures.measure_tensorflow(launcher, workers), 5, 200,
             step_figures.tensorflow_launchers) for workers in (2, 4)),
    Figure("server", "one TensorFlow server", "", "a fifth of the time, two thirds of the memory",
           server_figures.measure_one, 9, 60, server_figures.contenders),
    Figure("servers-8", "8 TensorFlow servers up", "s", "2.5 s",
           lambda contender: server_figures.measure_cluster(contender, 8), 5, 30,
           server_figures.contenders),
    Figure("check-none", "check without a model", "s", "10 s",
           lambda launcher: check_figures.measure_check(launcher, "--model", "none"), 5, 60),
    Figure("check-mnist", "check with the model mnist", "s", "40 s",
           lambda launcher: check_figures.measure_check(launcher, "--model", "mnist"), 3, 200),
    Figure("elastic-agent", "an agent", "", "10 ms, 6 MB", elastic_figures.measure_agent, 5, 60,
           elastic_figures.contenders),
    Figure("elastic-agent-tls", "an agent with TLS", "", "", elastic_figures.measure_agent, 5, 60,
           elastic_figures.contenders_with_tls),
    Figure("elastic-loss-tls", "with TLS, SIGKILL of one of 3 agents to 2 new workers", "ms", "1 s",
           elastic_figures.measure_loss, 5, 60, elastic_figures.contenders_with_tls),
    Figure("elastic-32-tls", "32 agents with TLS meet, exec of the first to 32 workers", "ms", "",
           lambda contender: elastic_figures.measure_meeting(contender, 32), 3, 60, elastic_figures.contenders_with_tls),
    Figure("elastic-restart-alone", "SIGKILL of one of 2 workers of a machine to 2 new ones", "ms", "10 ms",
           elastic_figures.measure_restart_alone, 9, 60, elastic_figures.contenders),
    Figure("elastic-restart", "SIGKILL of one of 2 machines' workers to 2 new ones", "ms", "100 ms",
           elastic_figures.measure_restart, 9, 60, elastic_figures.contenders),
    Figure("elastic-loss", "SIGKILL of one of 3 agents to 2 new workers", "ms", "1 s",
           elastic_figures.measure_loss, 5, 60, elastic_figures.contenders),
    Figure("elastic-freeze", "SIGSTOP of one of 3 machines to 2 new workers, lease 5 s", "ms", "6 s",
           elastic_figures.measure_freeze, 3, 60, elastic_figures.contenders),
    Figure("elastic-first", "the first agent under 1:2, window of 1 s, exec to its worker", "ms", "the window",
           elastic_figures.measure_first, 5, 60, elastic_figures.contenders),
    Figure("elastic-growth", "a second machine comes, to 2 new workers", "ms", "", elastic_figures.measure_growth, 5, 60,
           elastic_figures.contenders),
    Figure("elastic-32", "32 agents meet, exec of the first to 32 workers", "ms", "",
           lambda contender: elastic_figures.measure_meeting(contender, 32), 3, 60, elastic_figures.contenders),
    Figure("elastic-128", "128 agents meet, exec of the first to 128 workers", "ms", "",
           lambda contender: elastic_figures.measure_meeting(contender, 128), 3, 60, elastic_figures.contenders_of_many),
    *(Figure(f"elastic-meet-{jobs * members}", f"{jobs * members:,} members in {jobs} job{'s' * (jobs > 1)} meet", "", target,
             lambda contender, jobs=jobs, members=members: elastic_figures.measure_rendezvous(contender, jobs, members),
             5, 60, elastic_figures.orchestrators)
      for jobs, members, target in ((1, 32, "100 ms"), (1, 128, "150 ms"), (1, 1000, "1 s"), (100, 100, "10 s, 200 MB"))),
    Figure("http", "HTTP server, 32 connections", "", "0.9 x evhttp",
           lambda server: http_figures.measure_answers(server, 100000), 15, 120, http_figures.servers),
    Figure("http-idle", "10,000 idle connections of the HTTP server", "MB", "60 MB",
           lambda server: http_figures.measure_idle(server, 10000), 3, 60, http_figures.servers),
    Figure("pod-logs", "logs of 100 Pods x 1,000 lines a second", "", "half a core, each line once",
           pod_logs.measure, 3, 60, pod_logs.followers),
    Figure("pod-server", "the server in a Pod", "", "5 ms, 2 MB", serve_figures.measure_pod_server, 15, 30, serve_figures.pod_servers),
    # From here on this process is in the network of a cluster (bench_cluster.py).
    Figure("round-trips", "job of 4 Pods, 0.2 s a round trip", "", "3 round trips",
           lambda maker: making_figures.measure_round_trips(maker, 4), 5, 60, making_figures.makers),
    Figure("pods-4", "job of 4 Pods", "", "", lambda maker: making_figures.measure_making(maker, 4), 9, 60,
           making_figures.makers),
    Figure("pods-500", "job of 500 Pods", "", "1.1 x bare loop; 20 MB",
           lambda maker: making_figures.measure_making(maker, 500), 3, 200, making_figures.makers_of_many),
    Figure("status-1000", "job of 1,000 Pods, one fails", "", "20 ms",
           lambda muster: status_figures.measure_status(muster, 1000), 1, 600, status_figures.status_makers),
    Figure("operator-100", "100 jobs of 10 workers", "", "1.1 x bare loop",
           lambda operator: operator_figures.measure_jobs(operator, 100, 10), 3, 300, operator_figures.all_operators),
    Figure("operator-500", "500 jobs of 10 workers", "", "1.1 x bare loop, 4 s, 30 MB; Running after 100 ms, 1 s",
           lambda operator: operator_figures.measure_jobs(operator, 500, 10), 2, 300, operator_figures.operators_of_many),
    Figure("operator-services", "500 jobs of 10 workers and one Service", "", "1.1 x bare loop",
           lambda operator: operator_figures.measure_jobs(operator, 500, 10, 1), 2, 300,
           operator_figures.operators_of_one_service),
    Figure("operator-4", "one job of 4 workers", "", "50 ms, 50 ms",
           lambda operator: operator_figures.measure_one_job(operator, 4), 3, 300, operator_figures.operators),
    Figure("operator-history", "10,000 jobs that have ended", "", "5 s, 0.5 %",
           lambda operator: operator_figures.measure_history(operator, 10000), 1, 600, operator_figures.operators),
    Figure("serve-first", "a request to the first line of exec.py in the last of 4 Pods", "s", "0.5 s more than run",
           lambda starter: serve_figures.measure_first_line(starter, 4), 5, 120, serve_figures.starters),
    Figure("serve-100", "100 jobs of 4 workers, by HTTP requests", "", "1.1 x bare loop; idle 14 MB",
           lambda server: serve_figures.measure_creates(server, 100, 4), 3, 300, serve_figures.servers),
    Figure("mirror", "10,000 Pods mirrored", "", "3 s, 30 MB, 10 ms",
           lambda mirror: mirror_figures.measure_mirror(mirror, 10000), 3, 200, mirror_figures.mirrors),
    Figure("copy", "300 MB copied", "", "kubectl", copy_figures.measure_copy, 3, 200, copy_figures.copiers),
]


def measure_all(figure, launchers):
    """{launcher's name: [what each of its runs gave]}, the launchers in turns."""
    samples = {launcher.name: [] for launcher in launchers}
    spent = dict.fromkeys(samples, 0.0)
    for _ in range(figure.runs):
        for launcher in launchers:
            if spent[launcher.name] > figure.budget:
                continue
            begin = time.monotonic()
            try:
                sample = figure.measure(launcher)
            except TimeoutError as error:
                said = f"{figure.name} of {launcher.name}: {error}"
                if launcher.name == "muster":
                    sys.exit(said)
                print(said, file=sys.stderr, flush=True)  # a peer may be as slow as it likes
                sample = None
            spent[launcher.name] += time.monotonic() - begin
            if sample is None:
                spent[launcher.name] = float("inf")
            else:
                samples[launcher.name].append(sample)
    return {name: runs for name, runs in samples.items() if runs}


def rows_of(figure, samples):
    """(title, unit, {launcher's name: median}) for each number that the measurement gives."""
    if not any(isinstance(runs[0], dict) for runs in samples.values()):
        yield figure.title, figure.unit, {name: statistics.median(runs)
                                          for name, runs in samples.items()}
        return
    for key in dict.fromkeys(key for runs in samples.values() for key in runs[0]):
        yield f"{figure.title}: {key}", figure.unit, {
            name: statistics.median(run[key] for run in runs)
            for name, runs in samples.items() if key in runs[0]}


def format_number(number):
    if number == int(number):
        return f"{int(number):,}"
    return f"{number:,.2f}" if number < 10 else f"{number:,.1f}"


def format_row(title, unit, target, medians):
    peers = sorted((value, name) for name, value in medians.items() if name != "muster")
    ours = medians.get("muster")
    cells = [title + (f" ({unit})" if unit else ""),
             "-" if ours is None else f"**{format_number(ours)}**"]
    if peers:
        best, name = peers[0]
        cells += [f"{name} {format_number(best)}",
                  f"{ours / best:.2f}" if ours is not None and best else "-"]
    else:
        cells += ["-", "-"]
    cells += [target, ", ".join(f"{name} {format_number(value)}" for value, name in peers[1:])]
    return "| " + " | ".join(cells) + " |"


# README's table: what a row is called there, the figure, which of its numbers, and how it is written.
COMPARISON = [
    ("start of 64 workers", "start-64", None, "ms"),
    ("memory while 2 workers run", "memory", None, "MB"),
    ("1,600,000 lines of 8 workers, merged", "lines", "seconds", "s"),
    ("… each written for itself", "lines-each", "seconds", "s"),
    ("one of 2 workers killed: both new ones run", "restart", None, "ms"),
    ("launcher killed: workers of 4 left alive", "left-behind", None, ""),
]
COLUMNS = {"muster": "muster", "bash": "bash", "parallel": "GNU parallel", "mpirun": "OpenMPI", "honcho": "honcho",
           "torchrun": "torchrun"}


def amount_text(number, unit):
    """Three digits at most: 6.1 ms, 165 ms, 3.7 s."""
    if unit == "ms" and number >= 1000:
        number, unit = number / 1000, "s"
    return f"{number:.2g} {unit}".strip() if number < 100 else f"{number:,.0f} {unit}".strip()


def cell_of(runs, key, unit):
    if not runs:
        return ""
    text = amount_text(statistics.median(run[key] if key else run for run in runs), unit)
    faults = statistics.median(run["faults"] for run in runs) if key and "faults" in runs[0] else 0
    return text + (f", {faults:,.0f} lines lost" if faults else "")


def comparison(measured):
    """README's table of the figures that were measured, as Markdown."""
    lines = ["| | " + " | ".join(COLUMNS.values()) + " |", "|" + "---|" * (len(COLUMNS) + 1)]
    for title, figure, key, unit in COMPARISON:
        if figure in measured:
            runs = measured[figure]["runs"]
            cells = [cell_of(runs.get(name), key, unit) for name in COLUMNS]
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--muster", default="build/muster")
    parser.add_argument("--before", help="an earlier muster, which takes part as a peer")
    parser.add_argument("--launchers", help="these alone; all that are installed otherwise")
    parser.add_argument("--json", help="writes every single run here")
    parser.add_argument("--comparison", help="writes README's table here")
    parser.add_argument("figures", nargs="*", metavar="FIGURE",
                        help="all, or some of: " + ", ".join(figure.name for figure in FIGURES))
    arguments = parser.parse_args()
    chosen = [figure for figure in FIGURES
              if not arguments.figures or figure.name in arguments.figures]
    muster = os.path.abspath(arguments.muster)
    launchers = all_launchers(muster, arguments.before and os.path.abspath(arguments.before))
    if arguments.launchers:
        launchers = [one for one in launchers if one.name in arguments.launchers.split()]

    print("| figure | muster | best peer | ratio | target | other peers |\n|---|---|---|---|---|---|")
    record = {"machine": {"cores": os.cpu_count(), "kernel": platform.release()}, "figures": {}}
    for figure in chosen:
        samples = measure_all(figure, figure.contenders(muster) if figure.contenders else launchers)
        record["figures"][figure.name] = {"title": figure.title, "unit": figure.unit,
                                          "target": figure.target, "runs": samples}
        for title, unit, medians in rows_of(figure, samples):
            print(format_row(title, unit, figure.target, medians), flush=True)
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump(record, file, indent=1)
    if arguments.comparison:
        with open(arguments.comparison, "w", encoding="utf-8") as file:
            file.write(comparison(record["figures"]))


if __name__ == "__main__":
    sys.exit(main())
