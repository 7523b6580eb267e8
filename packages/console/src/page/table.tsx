/** A table with named columns. The first column is the row's header. */

import type { ComponentChildren, JSX } from 'preact'
import { TableBox } from './ui.tsx'

export interface Column<Row> {
  readonly name: string
  readonly show: (row: Row) => ComponentChildren
  /** Aligns right, for numbers and buttons. */
  readonly right?: boolean
  /** Shows the name only to screen readers, because buttons explain themselves. */
  readonly visuallyHidden?: boolean
  readonly tone?: (row: Row) => string
}

export function Table<Row extends { readonly id: string }>(props: {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** Whether the row is no longer in force. */
  readonly isOver?: (row: Row) => boolean
}): JSX.Element {
  const { label, columns, rows, isOver } = props
  return (
    <TableBox label={label}>
      <table class="table cards-on-phone">
        <thead>
          <tr>
            {columns.map(({ name, right, visuallyHidden }) => (
              <th key={name} scope="col" class={right && !visuallyHidden ? 'right' : undefined}>
                {visuallyHidden ? <span class="unseen">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} class={isOver?.(row) ? 'over' : undefined}>
              {columns.map((column, at) => cellOf(row, column, at === 0))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

function cellOf<Row>(row: Row, { name, show, right, tone }: Column<Row>, isFirst: boolean): JSX.Element {
  if (isFirst)
    return (
      <th key={name} scope="row">
        {show(row)}
      </th>
    )
  const classes = [right ? 'right' : '', tone?.(row) ?? ''].filter((each) => each !== '').join(' ')
  return (
    <td key={name} data-label={name} class={classes === '' ? undefined : classes}>
      {show(row)}
    </td>
  )
}

export const Dim = ({ children }: { readonly children: ComponentChildren }): JSX.Element => (
  <span class="dim">{children}</span>
)
export const SubText = ({ children }: { readonly children: ComponentChildren }): JSX.Element => (
  <span class="dim sub">{children}</span>
)
