"""What a reader has to know before comparing these numbers with the paper's."""

from experiments.report.claim import ALWAYS, GENERALLY, MARGIN, SELDOM, SURE

DATASETS = (
    (
        "The paper's own sets (road intersections of two states, landmarks, storage facilities, a sample of Gowalla) "
        "could not be had, but for Gowalla where it was fetched. Others of the same kind stand for them."
    ),
    "uk_postcodes is filled like road and as large, but it is one country, not two states with blank space between.",
    (
        "two_states is made up: crossroads of two rectangles like Washington and New Mexico, in a box as large as the "
        "paper's. It counts in statements about road only, because it was made to be like it."
    ),
    (
        "The paper's own programs appear to take the domain from the data, which is not private; our domains are "
        "public rectangles. On us_chains a domain that fits the data lowers UG's error 1.3 to 1.5 times."
    ),
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
        "added or removed record. Privlet has the sensitivity that this needs: (1 + log₂ M)² on M cells a side."
    ),
    "The number of points is not known to a method: a hundredth of the budget goes into it.",
    (
        "AG spreads the difference of its inference over the cells below, which the paper's text says and its formula "
        "does not."
    ),
    (
        "Statements about KD-standard and KD-hybrid are judged with the trees as their authors had them: kd first and "
        "then quadtree, 30 % of the budget for medians, nodes below 32 pruned. Our own configuration of each, which is "
        "better, stands beside them in figures."
    ),
    (
        "HTF (Shaham et al., 2021), a tree whose height follows from homogeneity, is not among the rivals: the text of "
        "its paper could not be had, and a version made from its abstract would not be a fair one."
    ),
    (
        "HDMM (McKenna et al., 2018) is not run either: its best fixed strategy is a yardstick of expected error that "
        "needs no data, in experiments/strategies.py."
    ),
)
RULES = (
    (
        "Each run publishes once and answers 1,200 queries of its own, the same for every method: six sizes, 200 "
        "rectangles each. Errors are means over queries, then over runs. A case is mostly one data set with one "
        "budget, its value a ratio of such means."
    ),
    (
        "After ± stands the standard error over runs. Noise and rectangles differ from run to run; a ratio of two "
        "methods is compared run by run, on the same rectangles. No two releases share noise: seeds are a hash of data "
        "set, method, parameters, budget and run."
    ),
    f"Means that are closer than {MARGIN:.0%} are not told apart: lower means at most {1 - MARGIN:g} times.",
    (
        f"A statement holds if {ALWAYS:.0%} of the cases agree, which is all of them where there are fewer than ten; "
        f"one that says generally or likely, if {GENERALLY:.0%} do. It does not hold if fewer than {SELDOM:.0%} agree. "
        "All between holds in part."
    ),
    (
        f"A case within {SURE:g} standard errors of the edge could lie on either side. Where the verdict would change "
        "if all such cases went one way, it says that it is by less than two standard errors. For the size that did "
        "best, and for times, the even and the odd runs have to agree instead."
    ),
    "Best sizes are chosen by the same rows that they are then judged by, as in the paper.",
)
