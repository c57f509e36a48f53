/** Tables for a terminal. Pure. */

/**
 * Rows as lines: columns as wide as their widest cell, two blanks between them, none at the end of a line.
 * @param rows as long as the first one, the heading; cells are printable and hold no line ends
 * @param widest characters that a column is widened to at most; longer cells stand as they are
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  widest = Number.POSITIVE_INFINITY,
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.min(
      widest,
      rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0),
    ),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
