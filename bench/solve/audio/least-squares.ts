/** A straight line through examples, with a penalty on large factors: the count from features of a part. */

export type Estimate = (features: readonly number[]) => number;

const PENALTY = 1;

export function leastSquares(examples: readonly { features: readonly number[]; count: number }[]): Estimate {
  const width = (examples[0]?.features.length ?? 0) + 1;
  const means = Array.from({ length: width - 1 }, (_, at) => mean(examples.map(({ features }) => features[at]!)));
  const scales = means.map(
    (middle, at) => Math.sqrt(mean(examples.map(({ features }) => (features[at]! - middle) ** 2))) || 1,
  );
  const scaled = (features: readonly number[]): number[] => [
    1,
    ...features.map((value, at) => (value - means[at]!) / scales[at]!),
  ];
  // Normal equations, with the right side as the last column.
  const rows = Array.from({ length: width }, (_, row) =>
    Array.from({ length: width + 1 }, (_unused, column) => (row === column && row > 0 ? PENALTY : 0)),
  );
  for (const { features, count } of examples) {
    const values = [...scaled(features), count];
    for (let row = 0; row < width; row++) {
      for (let column = 0; column <= width; column++) rows[row]![column]! += values[row]! * values[column]!;
    }
  }
  const factors = solved(rows);
  return (features) => scaled(features).reduce((sum, value, at) => sum + value * factors[at]!, 0);
}

/** Gauss–Jordan with the largest pivot. */
function solved(rows: number[][]): number[] {
  for (let column = 0; column < rows.length; column++) {
    let pivot = column;
    for (let at = column; at < rows.length; at++) {
      if (Math.abs(rows[at]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = at;
    }
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    for (const [at, row] of rows.entries()) {
      if (at === column) continue;
      const factor = row[column]! / rows[column]![column]!;
      for (let place = column; place < row.length; place++) row[place]! -= factor * rows[column]![place]!;
    }
  }
  return rows.map((row, at) => row.at(-1)! / row[at]!);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
