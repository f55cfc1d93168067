"""Pictures of what bench/ measured, for docs/performance.md: plain SVG, readable on light and dark pages.

    pictures.py ratios TABLE.tsv --title TEXT -o RATIOS.svg
    pictures.py roofline PROFILE.json... --title TEXT -o ROOFLINE.svg
    pictures.py classes PROFILE.json...        a table of kernel classes, to standard output
    pictures.py limits TABLE.tsv PROFILE.json...    a table of models beside the least times of their kernels, to standard output

TABLE.tsv is what compare.py --tsv writes (columns model, ingot, ort, openvino, x_best; x_openvino where it is alone). PROFILE.json is what `ingot bench M.onnx --profile --json` prints: of
each kernel how long it takes and what it could take at least (docs/performance.md says what that is computed from), and what the machine can do at most.
For `limits` the files have the names of the table's models.
"""
import argparse
import csv
import html
import json
import math
import pathlib
import re
import statistics

STYLE = """<style>text{font:12px sans-serif;fill:#777}.title{font-size:15px;fill:#888}.axis{stroke:#999;stroke-width:1}.grid{stroke:#999;stroke-width:.4;stroke-dasharray:2 3}
.ahead{fill:#3a86c8}.behind{fill:#d1603d}.roof{stroke:#888;stroke-width:1.5;fill:none}</style>"""
COLOURS = ["#3a86c8", "#d1603d", "#4a9c5d", "#a05cc0", "#c09a2c", "#2aa3a3", "#c05c88", "#777777"]


def svg(width, height, parts):
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n{STYLE}\n' + "\n".join(parts) + "\n</svg>\n"


def text(x, y, words, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{html.escape(words)}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def ratios(arguments):
    """A bar for each model on a logarithmic axis: how many times as fast as the faster of the others (OpenVINO, where only it was measured)."""
    with open(arguments.table, newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        others = "the faster of ONNX Runtime and OpenVINO" if "x_best" in reader.fieldnames else "OpenVINO"
        rows = sorted(((row["model"], float(row.get("x_best") or row["x_openvino"])) for row in reader), key=lambda row: row[1])
    left, top, step, plot = 210, 72, 15, 520
    least, most = min(0.5, rows[0][1]), max(8, rows[-1][1])
    at = lambda ratio: left + plot * math.log(ratio / least) / math.log(most / least)
    bottom = top + step * len(rows)
    parts = [text(10, 22, arguments.title, kind="title"), text(10, 40, f"times as fast as {others}; {len(rows)} models, geometric mean {mean([r for _, r in rows]):.2f}")]
    for tick in (0.5, 0.7, 1, 1.5, 2, 3, 5, 8, 16, 32, 64):
        if least <= tick <= most:
            parts += [line(at(tick), top - 5, at(tick), bottom, "axis" if tick == 1 else "grid"), text(at(tick), top - 8, f"{tick:g}", "middle")]
    for index, (model, ratio) in enumerate(rows):
        y, a, z = top + step * index, min(at(1), at(ratio)), max(at(1), at(ratio))
        parts.append(f'<rect x="{a:.1f}" y="{y + 2:.1f}" width="{max(z - a, 1):.1f}" height="{step - 4}" class="{"ahead" if ratio >= 1 else "behind"}"/>')
        parts += [text(left - 8, y + 12, model, "end"), text(z + 4, y + 12, f"{ratio:.2f}")]
    return svg(left + plot + 60, bottom + 15, parts)


class Kernel:
    def __init__(self, launch):
        least = launch["least"]
        self.kind = re.split(r"[_\d]", launch["kernel"])[0]
        self.share, self.us, self.least_us = launch["share"], launch["us"], least["us"]
        self.flops, self.bytes = least["flops"], least["weight_bytes"] + least["tensor_bytes"]
        self.intensity = self.flops / self.bytes if self.bytes else 0
        self.gflops, self.gbytes = 1e-3 * self.flops / self.us, 1e-3 * self.bytes / self.us


def kernels(profiles):
    return [Kernel(launch) for profile in profiles for launch in profile["profile"] if launch["us"]]


def machine(profiles):
    """What was reached at most while any of them was measured: (GFLOP/s, GB/s by level)."""
    roofs = [profile["roof"] for profile in profiles]
    levels = {level["name"]: max(other["gbytes_per_second"] for roof in roofs for other in roof["levels"] if other["name"] == level["name"]) for level in roofs[0]["levels"]}
    return max(roof["gflops"] for roof in roofs), levels


def roofline(arguments):
    (limit, levels), points = machine(arguments.profiles), [k for k in kernels(arguments.profiles) if k.flops and k.share > 0.002]
    left, top, plot, high = 70, 60, 560, 340
    x = lambda intensity: left + plot * (math.log10(min(max(intensity, 0.1), 1000)) + 1) / 4
    peak = max([limit, *(k.gflops for k in points)]) * 1.3
    least = peak / 1000
    y = lambda gflops: top + high * (1 - math.log(max(gflops, least) / least) / math.log(peak / least))
    parts = [text(10, 22, arguments.title, kind="title"), text(10, 40, "GFLOP/s of each kernel over its floating-point operations by byte; the area is its share of the time")]
    for power in range(-1, 4):
        parts += [line(x(10**power), top, x(10**power), top + high, "grid"), text(x(10**power), top + high + 16, f"{10.0**power:g}", "middle")]
    for tick in (1, 3, 10, 30, 100, 300, 1000):
        if least <= tick <= peak:
            parts += [line(left, y(tick), left + plot, y(tick), "grid"), text(left - 6, y(tick) + 4, f"{tick}", "end")]
    for name, gbytes in levels.items():
        parts.append(line(x(0.1), y(0.1 * gbytes), x(limit / gbytes), y(limit), "roof"))
        parts.append(text(x(0.1) + 6, y(0.1 * gbytes) + 13, f"{name} {gbytes:.0f} GB/s"))
    parts += [line(x(0.1), y(limit), x(1000), y(limit), "roof"), text(left + plot, y(limit) - 6, f"{limit:.0f} GFLOP/s", "end")]
    kinds = sorted({k.kind for k in points}, key=lambda kind: -sum(k.share for k in points if k.kind == kind))
    for k in points:
        colour = COLOURS[min(kinds.index(k.kind), len(COLOURS) - 1)]
        parts.append(f'<circle cx="{x(k.intensity):.1f}" cy="{y(k.gflops):.1f}" r="{2 + 18 * math.sqrt(k.share):.1f}" fill="{colour}" fill-opacity="0.45"/>')
    for index, kind in enumerate(kinds[: len(COLOURS)]):
        parts += [f'<circle cx="{left + plot + 20}" cy="{top + 20 * index}" r="5" fill="{COLOURS[index]}"/>', text(left + plot + 30, top + 4 + 20 * index, kind)]
    return svg(left + plot + 150, top + high + 30, parts)


def classes(arguments):
    groups = {}
    for kernel in kernels(arguments.profiles):
        groups.setdefault(kernel.kind, []).append(kernel)
    whole = sum(k.share for group in groups.values() for k in group)
    lines = ["| kernels | how many | share of the time | GFLOP/s or GB/s, median | share of the roof, by time |", "|---|--:|--:|--:|--:|"]
    for kind, group in sorted(groups.items(), key=lambda item: -sum(k.share for k in item[1])):
        time = sum(k.share for k in group)
        if time < 0.001 * whole:
            continue
        reached = sum(k.share * k.least_us / k.us for k in group) / time
        computes = statistics.median(k.flops for k in group) > 0
        typical = statistics.median(k.gflops if computes else k.gbytes for k in group)
        lines.append(f"| {kind} | {len(group)} | {100 * time / whole:.1f} % | {typical:.0f} {'GFLOP/s' if computes else 'GB/s'} | {100 * reached:.0f} % |")
    return "\n".join(lines) + "\n"


def limits(arguments):
    """For each model the sum of its kernels' times and of the least ones, and the faster of the others divided by both."""
    with open(arguments.table, newline="") as file:
        rows = {row["model"]: row for row in csv.DictReader(file, delimiter="\t")}
    lines = ["| model | ms | least ms | of the limit | the faster other, ms | times as fast | at the limit |", "|---|--:|--:|--:|--:|--:|--:|"]
    for profile in arguments.profiles:
        row = rows[profile["file"]]
        measured, least = (1e-3 * sum(getattr(k, name) for k in kernels([profile])) for name in ("us", "least_us"))
        other = 1e-3 * min(float(row[peer]) for peer in ("ort", "openvino") if row.get(peer))
        lines.append(f"| {profile['file']} | {measured:.2f} | {least:.2f} | {100 * least / measured:.0f} % | {other:.2f} | {other / measured:.2f} | {other / least:.2f} |")
    return "\n".join(lines) + "\n"


def profile(path):
    return {**json.loads(pathlib.Path(path).read_text()), "file": pathlib.Path(path).stem}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for make in (ratios, roofline, classes, limits):
        command = commands.add_parser(make.__name__)
        command.set_defaults(make=make)
        if make in (ratios, limits):
            command.add_argument("table", type=pathlib.Path)
        if make is not ratios:
            command.add_argument("profiles", nargs="+", type=profile)
        if make in (ratios, roofline):
            command.add_argument("--title", required=True), command.add_argument("-o", "--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    made = arguments.make(arguments)
    arguments.out.write_text(made) if "out" in arguments else print(made, end="")


if __name__ == "__main__":
    main()
