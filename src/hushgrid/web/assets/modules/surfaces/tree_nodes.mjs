// The nodes of a tree, numbered breadth first: boxes from splits, counts and variances from leaves and measurements.

/** First child of every node. */
export function firstChildrenOf(splits) {
  const first = new Int32Array(splits.columns.length);
  let next = 1;
  for (let node = 0; node < first.length; node++) {
    first[node] = next;
    next += splits.columns[node] * splits.rows[node];
  }
  return first;
}

/** Left, bottom, right and top line of every node: even divisions, corrected by `right` and `top`. */
export function boxesOf(splits, first, { right, top }, lattice) {
  const boxes = new Int32Array(4 * first.length);
  boxes.set([0, 0, lattice.columns, lattice.rows]);
  for (let node = 0; node < first.length; node++) {
    const [columns, rows] = [splits.columns[node], splits.rows[node]];
    if (columns === 0) continue;
    const [west, south, east, north] = boxes.subarray(4 * node, 4 * node + 4);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const child = first[node] + row * columns + column;
        boxes[4 * child] = column === 0 ? west : boxes[4 * (child - 1) + 2];
        boxes[4 * child + 1] = row === 0 ? south : boxes[4 * (child - columns) + 3];
        boxes[4 * child + 2] = west + Math.floor(((east - west) * (column + 1)) / columns) + right[child - 1];
        boxes[4 * child + 3] = south + Math.floor(((north - south) * (row + 1)) / rows) + top[child - 1];
      }
    }
  }
  return boxes;
}

/** Counts of all nodes: `units` of the leaves in the order of the nodes, and the sums of the children. */
export function countsOf(splits, first, units, step) {
  const counts = new Float64Array(first.length);
  let leaf = 0;
  splits.columns.forEach((columns, node) => {
    if (columns === 0) counts[node] = units[leaf++];
  });
  for (let node = first.length - 1; node >= 0; node--) {
    const stop = first[node] + splits.columns[node] * splits.rows[node];
    for (let child = first[node]; child < stop; child++) counts[node] += counts[child];
  }
  return counts.map((count) => count * step);
}

/**
 * Variance of every node's estimate from itself and below it, infinite where nothing was measured; of its children, the
 * sum of the finite ones and the number of infinite ones.
 */
export function variancesBelow(splits, first, precisions) {
  const variances = new Float64Array(first.length);
  const known = new Float64Array(first.length);
  const unknown = new Int32Array(first.length);
  for (let node = first.length - 1; node >= 0; node--) {
    let precision = precisions[node];
    const stop = first[node] + splits.columns[node] * splits.rows[node];
    for (let child = first[node]; child < stop; child++) {
      if (variances[child] < Infinity) known[node] += variances[child];
      else unknown[node] += 1;
    }
    if (stop > first[node] && unknown[node] === 0) precision += 1 / known[node];
    variances[node] = precision > 0 ? 1 / precision : Infinity;
  }
  return { variances, known, unknown };
}

/**
 * Variance of every node's count once all of them agree: V_child (1 - s) + s**2 V_parent, s the child's share of its
 * parent's surplus.
 */
export function finalVariances(splits, first, { variances, known, unknown }) {
  const final = Float64Array.from(variances);
  for (let node = 0; node < first.length; node++) {
    const stop = first[node] + splits.columns[node] * splits.rows[node];
    for (let child = first[node]; child < stop; child++) {
      if (variances[child] === Infinity) {
        final[child] = (final[node] + known[node]) / unknown[node] ** 2;
      } else {
        const share = unknown[node] ? 0 : variances[child] / known[node];
        final[child] = variances[child] * (1 - share) + share * share * final[node];
      }
    }
  }
  return final;
}
