/** Prints the result for people: aligned tables, then the promised figures with reached or not. */
import { formatNumber, type Goal, reached, type Table } from './figures.ts'

/** Aligns the first column left and figures right, so that digits line up. */
function align(rows: readonly (readonly string[])[], left: number): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column < left ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `  ${line}`)
    .join('\n')
}

/** Counts the text columns: those in which a cell below the heading starts with a letter. */
const wordColumns = ({ rows }: Table): number => {
  const isWord = (column: number) => rows.some((row) => /^[a-z]/i.test(row[column] ?? ''))
  let column = 1
  while (isWord(column)) column++
  return column
}

export const tableText = (table: Table): string =>
  [
    table.title,
    ...(table.notes ?? []).map((note) => `  (${note})`),
    align([table.columns, ...table.rows], wordColumns(table)),
  ].join('\n')

export function goalsText(goals: readonly Goal[]): string {
  const rows = goals.map((goal) => {
    const limit = goal.atLeast === undefined ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`
    const measured = goal.measured === undefined ? 'not measured' : `${formatNumber(goal.measured)}${goal.unit}`
    return [goal.figure, `${limit}${goal.unit}`, measured, reached(goal) ? 'yes' : 'no']
  })
  return `promised\n${align([['', 'promise', 'measured', 'reached'], ...rows], 2)}`
}
