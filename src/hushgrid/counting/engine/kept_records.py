"""Which records of each user are kept, decided in the engine by the rule of `hushgrid.counting.bounding`."""

import narwhals as nw

from hushgrid.counting.bounding import LATTICE_SIDE, KeyedRule
from hushgrid.counting.engine.cell_of_point import LATITUDE, LONGITUDE, USER, place
from hushgrid.counting.engine.engine import Engine, Frame

COLUMN, ROW, OCCURRENCE, RECORD, PRIORITY, RANK = "column", "row", "occurrence", "record", "priority", "rank"
RECORDS = "records"


def kept_records(engine: Engine, records: Frame, rule: KeyedRule) -> Frame:
    """Longitudes and latitudes of the records that a rule keeps.

    Parameters
    ----------
    records : Frame
        Points of the domain, all with a user.

    Privacy
    -------
    The same records as `KeyedRule.keep` chooses: a function of the key and of each user's own records, whatever task
    is run twice, and wherever. The key appears in the query, and so in whatever the engine logs of it.
    """
    side = rule.distinct_side or LATTICE_SIDE
    column, row = place(engine, rule.domain, columns=side, rows=side)
    placed = records.with_columns(column.alias(COLUMN), row.alias(ROW))
    numbered = placed.with_columns(
        (_running_number(LONGITUDE, USER, COLUMN, ROW, by=[LONGITUDE, LATITUDE]) - 1).alias(OCCURRENCE)
    )
    if rule.distinct_side is not None:
        numbered = numbered.filter(nw.col(OCCURRENCE) == 0)
    parts = [
        nw.lit(rule.key.hex()),
        *(nw.col(name).cast(nw.String) for name in (COLUMN, ROW, OCCURRENCE)),
        nw.col(USER),
    ]
    written = numbered.with_columns(nw.concat_str(parts, separator=":").alias(RECORD))
    hashed = engine.with_sha256(written, RECORD, PRIORITY)
    ranked = hashed.with_columns(_running_number(PRIORITY, USER, by=[PRIORITY]).alias(RANK))
    return ranked.filter(nw.col(RANK) <= rule.most).select(LONGITUDE, LATITUDE)


def capped_total(records: Frame, rule: KeyedRule) -> Frame:
    """One number: the records of all users, at most `rule.most_for_total` of each; null if there are none."""
    sizes = records.group_by(USER).agg(nw.len().alias(RECORDS))
    return sizes.select(nw.col(RECORDS).cast(nw.Int64).clip(0, rule.most_for_total)).select(nw.col(RECORDS).sum())


def _running_number(counted: str, *group: str, by: list[str]) -> nw.Expr:
    """Number of each row, from 1, within its group; what is counted is never null."""
    return nw.col(counted).cum_count().over(*group, order_by=by)
