"""What a reader has to know before comparing these numbers with the paper's."""

from experiments.report.claim import ALWAYS, GENERALLY, MARGIN, SELDOM

DATASETS = (
    (
        "The paper's own sets (road intersections of two states, landmarks, storage facilities, a sample of Gowalla) "
        "could not be had, but for Gowalla where it was fetched. Others of the same kind stand for them."
    ),
    "uk_postcodes is filled like road and as large, but it is one country, not two states with blank space between.",
    (
        "checkin_gowalla_sub is a filtered part of Gowalla: every user has 15 check-ins or more, 88 % of it is in the "
        "United States (57 % of the whole), and only 5 % of its coordinates are distinct: it sits on 31,803 venues."
    ),
    "us_chains has a quarter of the points of landmark, so its suggested sizes are about half.",
    "us_cvs is as large as storage, in the same domain.",
)
METHODS = (
    (
        "Noise is the exact discrete Laplace distribution, and every method is purely differentially private for one "
        "added or removed record. Privlet has the sensitivity that this needs."
    ),
    "The number of points is not known to a method: a hundredth of the budget goes into it.",
    (
        "AG spreads the difference of its inference over the cells below, which the paper's text says and its formula "
        "does not."
    ),
    "KD-hybrid is kd first and then quadtree, as its authors have it.",
)
RULES = (
    (
        "Each run publishes once and answers 1,200 queries of its own, the same for every method: six sizes, 200 "
        "rectangles each. Errors are means over queries, then over runs. A case is mostly one data set with one "
        "budget, its value a ratio of such means."
    ),
    f"Means that are closer than {MARGIN:.0%} are not told apart: lower means at most {1 - MARGIN:g} times.",
    (
        f"A statement holds if {ALWAYS:.0%} of the cases agree, which is all of them where there are fewer than ten; "
        f"one that says generally or likely, if {GENERALLY:.0%} do. It does not hold if fewer than {SELDOM:.0%} agree. "
        "All between holds in part."
    ),
    "Best sizes are chosen by the same rows that they are then judged by, as in the paper.",
)
