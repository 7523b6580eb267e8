/** The actions on a ticket: approve or deny it, grant similar calls, or resolve it if it is in doubt. */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Ticket } from '../../../sluice/src/operate/console/api.ts'
import { callApi, problemOf } from '../client.ts'
import { serverNow, useNow, useQuery } from '../hooks.ts'
import { Problem, Select } from '../ui.tsx'

export function DecisionForm(props: {
  readonly ticket: Ticket
  readonly whole: boolean
  readonly onDecided: (ticket: Ticket) => void
}): JSX.Element {
  const { ticket, whole, onDecided } = props
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const now = useNow()
  const isExpired = ticket.expiresAt <= now
  const approveButton = useRef<HTMLButtonElement>(null)
  const denyButton = useRef<HTMLButtonElement>(null)
  const mayDecide = ticket.mayDecide && !isExpired

  async function decide(approved: boolean): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      const { id, digest } = ticket
      onDecided(await callApi('decideTicket', { id, digest, approved, ...(note !== '' && { note }) }))
    } catch (thrown) {
      setProblem(problemOf(thrown))
    } finally {
      setBusy(false)
    }
  }
  /** A shortcut only focuses a button. Pressing it takes another key, so that a single keystroke decides nothing. */
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const at = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || /^(input|textarea|select)$/i.test(at.tagName)) return
      if (event.key === 'a') approveButton.current?.focus()
      else if (event.key === 'd') denyButton.current?.focus()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])

  return (
    <div class="decide">
      <Problem text={problem} />
      <p class="dim" role="status">
        {isExpired
          ? 'This ticket has expired and can no longer be decided.'
          : !ticket.mayDecide
            ? whyDisabled(ticket)
            : whole
              ? ''
              : 'Loading all arguments…'}
      </p>
      <label class="note">
        <span class="unseen">Note</span>
        <input
          value={note}
          maxLength={1000}
          placeholder="A note for the record"
          disabled={!mayDecide}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </label>
      <button
        ref={denyButton}
        type="button"
        class="button danger"
        disabled={!mayDecide || busy}
        onClick={() => {
          decide(false).catch((thrown: unknown) => setProblem(problemOf(thrown)))
        }}
      >
        Deny <kbd>D</kbd>
      </button>
      <button
        ref={approveButton}
        type="button"
        class="button primary"
        disabled={!mayDecide || busy || !whole || serverNow() >= ticket.expiresAt}
        onClick={() => {
          decide(true).catch((thrown: unknown) => setProblem(problemOf(thrown)))
        }}
      >
        Approve <kbd>A</kbd>
      </button>
    </div>
  )
}

const grantDurations = [
  ['an hour', 3_600_000],
  ['a day', 86_400_000],
  ['a week', 604_800_000],
] as const

/** Creates a grant. Hidden if the operator has not turned grants on, or if several people must approve. */
export function GrantForm({ ticket }: { readonly ticket: Ticket }): JSX.Element | null {
  const { data } = useQuery(() => callApi('listGrants', {}), '')
  const [scope, setScope] = useState<'exactly' | 'any'>('exactly')
  const [lastMs, setLastMs] = useState<number>(grantDurations[0][1])
  const [message, setMessage] = useState<string>()
  const offered = grantDurations.filter(([, ms]) => ms <= (data?.longestMs ?? 0))
  if (offered.length === 0) return null
  const grant = (): void => {
    callApi('createGrant', { id: ticket.id, arguments: scope, lastMs }).then(
      () => setMessage('Granted. You can revoke the grant on the Tenants page. This ticket is still pending.'),
      (thrown: unknown) => setMessage(problemOf(thrown)),
    )
  }
  return (
    <details class="block allow">
      <summary>Allow similar calls for a limited time</summary>
      <div class="inline">
        <Select
          label="Arguments"
          value={scope}
          options={[
            ['exactly', 'with exactly these arguments'],
            ['any', 'with any arguments'],
          ]}
          onChoose={(value) => setScope(value === 'any' ? 'any' : 'exactly')}
        />
        <Select
          label="Duration"
          value={String(lastMs)}
          options={offered.map(([word, ms]) => [String(ms), `for ${word}`] as const)}
          onChoose={(value) => setLastMs(Number(value))}
        />
        <button type="button" class="button" onClick={grant}>
          Allow {ticket.caller} to call {ticket.tool}
        </button>
      </div>
      {message !== undefined && <p role="status">{message}</p>}
    </details>
  )
}

/** Resolves a ticket in doubt. It was started, and a person must find out whether it had its effect. */
export function InDoubtForm(props: {
  readonly ticket: Ticket
  readonly onResolved: (ticket: Ticket) => void
}): JSX.Element {
  const [problem, setProblem] = useState<string>()
  const resolve = (verdict: 'ran' | 'did not run') => (): void => {
    callApi('resolveTicket', { id: props.ticket.id, verdict }).then(props.onResolved, (thrown: unknown) =>
      setProblem(problemOf(thrown)),
    )
  }
  return (
    <div class="decide">
      <Problem text={problem} />
      <p>The process ended while this call ran. It does not run again by itself. Find out whether it had its effect.</p>
      <span />
      <button type="button" class="button" onClick={resolve('did not run')}>
        It did not run
      </button>
      <button type="button" class="button primary" onClick={resolve('ran')}>
        It ran
      </button>
    </div>
  )
}

function whyDisabled({ approver, of, decisions }: Ticket): string {
  if (decisions.length > 0) return 'You have decided. Other people must decide too.'
  if (of) return `Only ${of.join(', ')} may decide this.`
  return approver === 'other'
    ? 'Another person must decide this: you asked for it, or you lack the permission.'
    : 'You lack the permission to decide this.'
}
