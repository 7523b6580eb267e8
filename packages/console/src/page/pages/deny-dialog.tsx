/** Denies several tickets at once, and revokes the keys that made them if the operator wants it. */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Ticket, TicketSummary } from '../../api/index.ts'
import { callApi, problemOf } from '../client.ts'
import { Problem, Visible } from '../ui.tsx'
import { NoteField } from './note-field.tsx'

export type Deniable = Pick<Ticket | TicketSummary, 'id' | 'digest' | 'tool' | 'caller' | 'key'>

export function DenyDialog(props: {
  readonly tickets: readonly Deniable[]
  readonly mayRevoke: boolean
  readonly onClose: () => void
  readonly onDone: (message: string) => void
}): JSX.Element {
  const { tickets, onDone } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  const keys = [...new Set(tickets.flatMap(({ key }) => key ?? []))]
  const tools = [...new Set(tickets.map(({ tool }) => tool))]
  const callers = [...new Set(tickets.map(({ caller }) => caller))]

  async function deny(revoke: boolean): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      // The keys end first, so that they make no new tickets meanwhile.
      if (revoke) for (const id of keys) await callApi('revokeKey', { id })
      let failed = 0
      for (const { id, digest } of tickets)
        await callApi('decideTicket', { id, digest, approved: false, ...(note !== '' && { note }) }).catch(() => {
          failed++
        })
      onDone(summaryOf(tickets.length - failed, failed, revoke ? keys.length : 0))
    } catch (thrown) {
      setProblem(problemOf(thrown))
    } finally {
      setBusy(false)
    }
  }
  const start = (revoke: boolean) => (): void => {
    deny(revoke).catch((thrown: unknown) => setProblem(problemOf(thrown)))
  }
  return (
    <dialog ref={dialog} aria-labelledby="deny-title" onClose={props.onClose}>
      <h2 id="deny-title">{tickets.length === 1 ? 'Deny this ticket?' : `Deny ${tickets.length} tickets?`}</h2>
      <p>
        <Visible text={tools.slice(0, 5).join(', ')} />
        {tools.length > 5 && ` and ${tools.length - 5} more tools`}, asked by{' '}
        <Visible text={callers.slice(0, 5).join(', ')} />
        {callers.length > 5 && ` and ${callers.length - 5} more`}.
      </p>
      <NoteField note={note} onNote={setNote} />
      <Problem text={problem} />
      {props.mayRevoke && keys.length > 0 && (
        <p class="dim">
          Revoking {keys.length === 1 ? 'the key' : `${keys.length} keys`} refuses every further call everywhere within
          five seconds. It cannot be undone.
        </p>
      )}
      <div class="actions">
        <button type="button" class="button" disabled={busy} onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        {props.mayRevoke && keys.length > 0 && (
          <button type="button" class="button danger" disabled={busy} onClick={start(true)}>
            Deny and revoke {keys.length === 1 ? 'the key' : `${keys.length} keys`}
          </button>
        )}
        <button type="button" class="button danger" disabled={busy} onClick={start(false)}>
          {tickets.length === 1 ? 'Deny' : `Deny ${tickets.length}`}
        </button>
      </div>
    </dialog>
  )
}

function summaryOf(denied: number, failed: number, revoked: number): string {
  const parts = [
    `Denied ${denied} ${denied === 1 ? 'ticket' : 'tickets'}.`,
    ...(failed > 0 ? [`${failed} could not be denied: they were decided or have expired.`] : []),
    ...(revoked > 0 ? [`Revoked ${revoked} ${revoked === 1 ? 'key' : 'keys'}.`] : []),
  ]
  return parts.join(' ')
}
