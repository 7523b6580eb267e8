/** The actions on a ticket: approve or deny it, allow similar calls for a while, or resolve it if it is in doubt. */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Operator, Ticket } from '../../api/index.ts'
import { callApi, problemOf } from '../client.ts'
import { serverNow, useNow, useQuery } from '../hooks.ts'
import { Problem, Select, Visible } from '../ui.tsx'
import { NoteField } from './note-field.tsx'

/** A ticket that opened under a moving finger must not be approved by it. */
const guardMs = 700

export function DecisionForm(props: {
  readonly ticket: Ticket
  readonly operator: Operator
  /** The listings whose end has not been on screen. */
  readonly unseen: readonly string[]
  readonly onDecided: (ticket: Ticket) => void
  readonly onDeny: (ticket: Ticket) => void
}): JSX.Element {
  const { ticket, operator, unseen, onDecided } = props
  const [note, setNote] = useState('')
  const [busy, setBusy] = useState(false)
  const [isGuarded, setGuarded] = useState(true)
  const [problem, setProblem] = useState<string>()
  const now = useNow()
  const isExpired = ticket.expiresAt <= now
  const approveButton = useRef<HTMLButtonElement>(null)
  const denyButton = useRef<HTMLButtonElement>(null)
  const mayDecide = ticket.mayDecide && !isExpired
  const mayApprove = mayDecide && !busy && !isGuarded && unseen.length === 0 && serverNow() < ticket.expiresAt
  useEffect(() => {
    const timer = setTimeout(() => setGuarded(false), guardMs)
    return () => clearTimeout(timer)
  }, [])

  async function decide(approved: boolean, grant?: GrantTerms): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    try {
      const { id, digest } = ticket
      const decided = await callApi('decideTicket', { id, digest, approved, ...(note !== '' && { note }) })
      if (grant) await callApi('createGrant', { id, ...grant })
      onDecided(decided)
    } catch (thrown) {
      setProblem(problemOf(thrown))
    } finally {
      setBusy(false)
    }
  }
  const start = (approved: boolean, grant?: GrantTerms): void => {
    decide(approved, grant).catch((thrown: unknown) => setProblem(problemOf(thrown)))
  }
  /** A shortcut only focuses a button. Pressing it takes another key, so that a single keystroke decides nothing. */
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const at = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || at.closest('input, textarea, select, dialog')) return
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
          : ticket.mayDecide
            ? stillToRead(unseen)
            : whyDisabled(ticket)}
      </p>
      <NoteField note={note} disabled={!mayDecide} onNote={setNote} />
      <button
        ref={denyButton}
        type="button"
        class="button danger"
        disabled={!mayDecide || busy}
        onClick={() => start(false)}
      >
        Deny <kbd>D</kbd>
      </button>
      <button
        ref={approveButton}
        type="button"
        class="button primary"
        disabled={!mayApprove}
        onClick={() => start(true)}
      >
        Approve <kbd>A</kbd>
      </button>
      {mayDecide && (
        <div class="decide-more">
          {ticket.key !== undefined && operator.scopes.includes('keys:manage') && (
            <button type="button" class="button small quiet" onClick={() => props.onDeny(ticket)}>
              Deny and revoke the key…
            </button>
          )}
          {ticket.needed === 1 && operator.scopes.includes('approvals:decide') && (
            <GrantOffer ticket={ticket} mayApprove={mayApprove} onApprove={(grant) => start(true, grant)} />
          )}
        </div>
      )}
    </div>
  )
}

const stillToRead = (unseen: readonly string[]): string => {
  const [first, ...others] = unseen
  if (first === undefined) return ''
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `To approve, scroll to the end of ${first}${more}.`
}

interface GrantTerms {
  readonly arguments: 'exactly' | 'any'
  readonly lastMs: number
}

const grantDurations = [
  ['ten minutes', 600_000],
  ['an hour', 3_600_000],
  ['a day', 86_400_000],
  ['a week', 604_800_000],
] as const

/** Offers to approve and not to ask again. Hidden if the operator has not turned grants on. */
function GrantOffer(props: {
  readonly ticket: Ticket
  readonly mayApprove: boolean
  readonly onApprove: (grant: GrantTerms) => void
}): JSX.Element | null {
  const { caller, tool } = props.ticket
  const { data } = useQuery(() => callApi('listGrants', {}), '')
  const [scope, setScope] = useState<GrantTerms['arguments']>('exactly')
  const [lastMs, setLastMs] = useState<number>(grantDurations[0][1])
  const offered = grantDurations.filter(([, ms]) => ms <= (data?.longestMs ?? 0))
  if (offered.length === 0) return null
  return (
    <details class="allow">
      <summary>Approve, and do not ask again…</summary>
      <div class="inline">
        <span>
          Allow <Visible text={caller} /> to call <Visible text={tool} />
        </span>
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
        <button
          type="button"
          class="button"
          disabled={!props.mayApprove}
          onClick={() => props.onApprove({ arguments: scope, lastMs })}
        >
          Approve and allow
        </button>
      </div>
      <p class="dim">The Tenants page lists what is allowed, and ends it at once.</p>
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
