"""One thread beside several: every model of some folders, compiled once, timed in turns with one thread and with more, beside an FMA loop's own scaling in the same rounds.

    threads.py --ingot build/bin/ingot DIR... [--only REGEX] [--threads 2] [--rounds 5] [--seconds 0.2] [--target native] [--compiled FOLDER] [--part K/N] [--kernels] [--tsv FILE]
    threads.py --table FILE...        the table of bench/README.md from what --tsv wrote

A model is a folder with model.onnx and test_data_set_0. `ratio` is the time of one thread by that of several, `share` that by the scaling of the loop
that only multiplies (two processors of a virtual machine may be one core's hyperthreads, and the clock of all cores is lower than that of one). Models
more than 2 % slower with several threads are listed at the end. --compiled keeps the libraries, so that they need not be made while a machine is kept
quiet: a run without --rounds (0) only makes them. `apart` is how long a word takes from one processor to another and back (bench/roundtrip.c), in
nanoseconds: where it is more than 100 they share no cache, and a model of less than half a millisecond may lose by a second thread. A virtual machine's
processors may be moved between two lines of the table. `others` are the seconds of processors that other programs took meanwhile. --kernels prints the kernels that lose most: how much longer each takes than `share` = 1 would.
"""
import argparse
import csv
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile

from compare import compile_command, ingot, read, said, time_text


def taken_by_others():
    """Seconds of processors since the machine's start that went to other programs than this one."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, interrupts, soft = map(int, file.readline().split()[1:8])
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK") - sum(usage.ru_utime + usage.ru_stime for usage in usages)


def library(arguments, folder):
    """The compiled model's manifest; what was compiled before is taken as it is."""
    name = "m_" + re.sub(r"\W", "_", folder.name) + ("_kernels" if arguments.kernels else "")
    manifest = arguments.compiled / f"{name}.json"
    if not manifest.exists():
        ingot([*compile_command(arguments, folder, name, arguments.compiled), *(["--profile"] if arguments.kernels else [])])
    return manifest


def bench(arguments, manifest, folder, threads, *more):
    return ingot([arguments.ingot, "bench", manifest, "--data", folder / "test_data_set_0", "--threads", threads, "--seconds", arguments.seconds, "--json", *more])


def peak(arguments, threads):
    """GFLOP/s of a loop that only multiplies, on so many threads: what `bench --profile` measures of the machine, here with a model of one node."""
    return ingot([arguments.ingot, "bench", arguments.compiled / "m_peak.json", "--threads", threads, "--seconds", 0.01, "--profile", "--json"])["roof"]["gflops"]


def make_peak_model(arguments):
    import onnx
    from onnx import TensorProto, helper

    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [16]) for name in "xy")
    model = helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, arguments.compiled / "peak.onnx")
    ingot([arguments.ingot, "compile", arguments.compiled / "peak.onnx", "--name", "m_peak", "-o", arguments.compiled, "--emit", "shared", "--json", "--profile"])


def apart(arguments):
    return int(subprocess.run([arguments.compiled / "roundtrip"], capture_output=True, text=True).stdout)


def turns(arguments, once):
    """What `once` says for one thread and for several, in alternating order."""
    figures = {1: [], arguments.threads: []}
    for turn in range(arguments.rounds):
        for threads in list(figures)[:: -1 if turn % 2 else 1]:
            figures[threads].append(once(threads))
    return figures


def measure(arguments, folder):
    manifest = library(arguments, folder)
    if not arguments.rounds:
        return None
    before, distance = taken_by_others(), apart(arguments)
    times = turns(arguments, lambda threads: bench(arguments, manifest, folder, threads)["median_us"])
    one, several = (statistics.median(times[threads]) for threads in times)
    row = {"model": folder.name, "one": round(one, 2), "several": round(several, 2), "ratio": round(one / several, 3)}
    return {**row, "apart": max(distance, apart(arguments)), "others": round(taken_by_others() - before, 2)}


def kernels(arguments, folder, scaling):
    """The kernels of a model that lose most by not being as much faster as the loop."""
    manifest = library(arguments, folder)
    profiles = turns(arguments, lambda threads: bench(arguments, manifest, folder, threads, "--profile")["profile"])
    times = {}
    for threads, rounds in profiles.items():
        for profile in rounds:
            for entry in profile:
                times.setdefault(entry["launch"], {"kernel": entry["kernel"], "nodes": ", ".join(entry["nodes"])}).setdefault(threads, []).append(entry["us"])
    rows = []
    for entry in times.values():
        one, several = (statistics.median(entry.get(threads, [0])) for threads in profiles)
        rows.append((several - one / scaling, one, several, entry["kernel"], entry["nodes"]))
    sums = [sum(row[k] for row in rows) for k in (1, 2)]
    print(f"{folder.name}: kernels {sums[0]:.1f} us, {sums[1]:.1f} us")
    for lost, one, several, kernel, nodes in sorted(rows, reverse=True)[:12]:
        print(f"  lost {lost:8.2f}  {one:9.2f} -> {several:9.2f} ({one / max(several, 1e-9):4.2f})  {kernel}: {nodes[:110]}")


def table(rows):
    lines = ["| model | one thread | two threads | ratio | of the loop's | apart, ns |", "|---|--:|--:|--:|--:|--:|"]
    for row in sorted(rows, key=lambda row: row["model"]):
        lines.append(f"| {row['model']} | {time_text(row['one'])} | {time_text(row['several'])} | {float(row['ratio']):.2f} | {float(row['share']):.2f} | {row['apart']} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path), parser.add_argument("--ingot", default="build/bin/ingot"), parser.add_argument("--only", default=".")
    parser.add_argument("--threads", type=int, default=2), parser.add_argument("--rounds", type=int, default=0), parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--target"), parser.add_argument("--compiled", type=pathlib.Path), parser.add_argument("--part", default="1/1")
    parser.add_argument("--kernels", action="store_true"), parser.add_argument("--tsv", type=pathlib.Path), parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    if arguments.table:
        return print(table([row for path in arguments.folders for row in read(path)]))
    arguments.ingot = os.path.abspath(arguments.ingot)
    scratch = None
    if not arguments.compiled:
        scratch = tempfile.TemporaryDirectory(prefix="ingot-threads-")
        arguments.compiled = pathlib.Path(scratch.name)
    arguments.compiled.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O2", pathlib.Path(__file__).with_name("roundtrip.c"), "-o", arguments.compiled / "roundtrip", "-pthread"], check=True)
    if not (arguments.compiled / "m_peak.json").exists():
        make_peak_model(arguments)
    part, parts = map(int, arguments.part.split("/"))
    found = [path.parent for folder in arguments.folders for path in sorted(folder.glob("*/model.onnx")) if (path.parent / "test_data_set_0").exists()]
    folders = [folder for folder in found if re.search(arguments.only, folder.name)][part - 1 :: parts]
    scaling = 1.0
    if arguments.rounds:
        peaks = turns(arguments, lambda threads: peak(arguments, threads))
        scaling = statistics.median(peaks[arguments.threads]) / statistics.median(peaks[1])
        print(f"the loop that only multiplies: {scaling:.3f} times as much with {arguments.threads} threads")
    rows = []
    for folder in folders:
        try:
            if arguments.kernels and arguments.rounds:
                kernels(arguments, folder, scaling)
                continue
            row = measure(arguments, folder)
        except Exception as error:  # one model that fails must not end the table
            print(f"{folder.name}: {said(error)}", flush=True)
            continue
        if row:
            rows.append({**row, "share": round(row["ratio"] / scaling, 3)})
            print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    slower = [f"{row['model']} ({row['ratio']})" for row in rows if row["ratio"] < 1 / 1.02]
    if rows:
        print(f"slower with {arguments.threads} threads: {', '.join(slower) or 'none'}")
    if arguments.tsv and rows:
        with open(arguments.tsv, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
