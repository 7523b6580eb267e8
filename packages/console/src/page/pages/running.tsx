/** The tasks that run now, with what each last said about itself. */

import type { JSX } from 'preact'
import type { RunningTask } from '../../api/index.ts'
import type { Column } from '../table.tsx'
import { Dim, SubText, Table } from '../table.tsx'
import { clockTime, Visible } from '../ui.tsx'

const columns: readonly Column<RunningTask>[] = [
  {
    name: 'Tool',
    show: ({ tool, server }) => (
      <>
        <Visible text={tool} />
        <SubText>
          <Visible text={server} />
        </SubText>
      </>
    ),
  },
  {
    name: 'Progress',
    show: ({ message }) => (message === undefined ? <Dim>none reported</Dim> : <Visible text={message} />),
  },
  { name: 'Tenant', show: ({ tenant }) => <Visible text={tenant} /> },
  { name: 'Caller', show: ({ caller }) => <Visible text={caller} /> },
  { name: 'Started', right: true, show: ({ startedAt }) => clockTime(startedAt) },
]

export const Running = ({ running }: { readonly running: readonly RunningTask[] }): JSX.Element | null =>
  running.length === 0 ? null : (
    <section class="running">
      <h2>Running tasks</h2>
      <Table label="Running tasks" columns={columns} rows={running} />
    </section>
  )
