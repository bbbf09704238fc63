"""Running times and numbers of nodes (the table that the authors commented out).

A time is the least over runs, because compiling and other work on the machine only ever add to it.
"""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.exhibit import DASH, Exhibit, Table, number
from experiments.figures.means import MADE_UP, PAPER_NAMES, Means, Scene, dataset_label
from experiments.figures.series import COLOURS, GREY, INK
from experiments.figures.style import empty, in_style, panels, plain_log, shared_legend
from experiments.figures.variant import Variant, method_label
from experiments.trial import Row
from hushgrid.release.auto import AUTO

METHODS = ("kd-hybrid-paper", "ug", "privlet", "ag")  # of the paper's table
PAPER = {  # their seconds and nodes, with UG and Privlet at the best size
    ("road", 0.1): ((79.28, 320233), (16.87, 4608), (15.06, 4608), (29.62, 17570)),
    ("road", 1.0): ((63.29, 270781), (15.24, 18432), (16.03, 18432), (33.27, 170041)),
    ("checkin", 0.1): ((39.34, 99265), (10.23, 18432), (10.84, 18432), (19.56, 12620)),
    ("checkin", 1.0): ((42.41, 141601), (11.76, 131072), (19.76, 131072), (21.88, 111666)),
    ("landmark", 0.1): ((34.42, 91459), (9.33, 32768), (11.44, 32768), (16.81, 11917)),
    ("landmark", 1.0): ((38.20, 146191), (12.45, 294912), (34.38, 294912), (19.18, 101425)),
    ("storage", 0.1): ((0.37, 1339), (0.08, 512), (0.12, 512), (0.17, 646)),
    ("storage", 1.0): ((0.47, 2791), (0.09, 4608), (0.34, 4608), (0.19, 3048)),
}


def table(rows: list[Row]) -> Table:
    """Seconds to publish, and nodes, of each method at its suggested size; then the paper's on its own sets."""
    means = Means(rows)
    scenes = _scenes(means)
    return Table(
        headings=("method", *(f"{scene.dataset}, ε = {scene.epsilon:g}" for scene in scenes)),
        lines=(
            *(
                (method_label(name), *(_cell(means, scene, Variant.of(name)) for scene in scenes))
                for name in _run(means)
            ),
            *(
                (f"paper's {method_label(name)}", *(_paper_cell(scene, name) for scene in scenes))
                for name in _papers(scenes)
            ),
        ),
    )


@in_style
def draw(rows: list[Row]) -> Figure:
    """Seconds to publish on a log axis: one panel a set, a mark a method and budget."""
    means = Means(rows)
    scenes = _scenes(means)
    shown = _run(means)
    datasets = list(dict.fromkeys(scene.dataset for scene in scenes))
    if not datasets:
        return empty("not run")
    figure, [line] = panels(1, len(datasets), height=2.8)
    for axes, dataset in zip(line, datasets, strict=True):
        for scene in (scene for scene in scenes if scene.dataset == dataset):
            _marks(axes, means, scene, shown)
        axes.set_yticks(range(len(shown)), [method_label(name) for name in shown] if axes is line[0] else [])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.grid(visible=True, axis="both")
        axes.set_xlabel("seconds to publish")
        axes.set_title(dataset_label(dataset), loc="left")
        plain_log(axes, across=True)
    shared_legend(figure, line)
    return figure


def _scenes(means: Means) -> list[Scene]:
    """Where a method was run as it comes, on points that are not made up."""
    names = _run(means)
    return [
        scene
        for scene in means.paper_scenes()
        if scene.dataset not in MADE_UP and any(means.has(scene, Variant.of(name)) for name in names)
    ]


def _run(means: Means) -> list[str]:
    """Methods that were run as they come, those of the paper's table first; `auto` is one of the others."""
    found = [name for name in means.methods() if name != AUTO]
    return sorted(found, key=lambda name: METHODS.index(name) if name in METHODS else len(METHODS))


def _papers(scenes: list[Scene]) -> list[str]:
    return [name for name in METHODS if any(_paper_cell(scene, name) != DASH for scene in scenes)]


def _cell(means: Means, scene: Scene, variant: Variant) -> str:
    if not means.has(scene, variant):
        return DASH
    seconds = means.least(scene, variant, "publish_seconds")
    return f"{number(seconds, '.2g')} s, {number(means.value(scene, variant, 'nodes'), ',.0f')}"


def _paper_cell(scene: Scene, method: str) -> str:
    found = PAPER.get((PAPER_NAMES.get(scene.dataset, ""), scene.epsilon))
    return "{:g} s, {:,}".format(*found[METHODS.index(method)]) if found else DASH


def _marks(axes: Axes, means: Means, scene: Scene, methods: list[str]) -> None:
    marker = "o" if scene.epsilon < 1 else "D"
    seconds = [means.least(scene, Variant.of(name), "publish_seconds") for name in methods]
    colours = [COLOURS.get(name, INK) for name in methods]
    axes.scatter(seconds, range(len(methods)), c=colours, marker=marker, edgecolors=INK, linewidths=0.5, s=48)
    # The legend is about marks only, so it has no method's colour.
    axes.plot([], [], color=GREY, marker=marker, linestyle="none", label=f"ε = {scene.epsilon:g}")


TIMES_AND_NODES = Exhibit(
    title="Running times and nodes",
    source="the table commented out of Section V-D",
    caption="Seconds to publish from memory, the least over runs, which has no standard error; nodes of the "
    "structure, all levels, the mean.",
    draw=draw,
    table=table,
)
