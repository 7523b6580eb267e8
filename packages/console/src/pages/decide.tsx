/** What a person can do with a ticket: approve or deny it, allow the like for a while, say what became of it. */

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
  const isOver = ticket.expiresAt <= now
  const yes = useRef<HTMLButtonElement>(null)
  const no = useRef<HTMLButtonElement>(null)
  const may = ticket.mayDecide && !isOver

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
  /** A key brings the button under the finger; pressing it is another key. */
  useEffect(() => {
    const hearKey = (event: KeyboardEvent): void => {
      const at = event.target as HTMLElement
      if (event.ctrlKey || event.metaKey || event.altKey || /^(input|textarea|select)$/i.test(at.tagName)) return
      if (event.key === 'a') yes.current?.focus()
      else if (event.key === 'd') no.current?.focus()
    }
    addEventListener('keydown', hearKey)
    return () => removeEventListener('keydown', hearKey)
  }, [])

  return (
    <div class="decide">
      <Problem text={problem} />
      <p class="dim" role="status">
        {isOver
          ? 'Its time is up: nothing can be decided any more.'
          : !ticket.mayDecide
            ? whyDisabled(ticket)
            : whole
              ? ''
              : 'Showing all arguments…'}
      </p>
      <label class="note">
        <span class="unseen">Note</span>
        <input
          value={note}
          maxLength={1000}
          placeholder="A note, kept with the decision"
          disabled={!may}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
      </label>
      <button
        ref={no}
        type="button"
        class="button danger"
        disabled={!may || busy}
        onClick={() => {
          decide(false).catch((thrown: unknown) => setProblem(problemOf(thrown)))
        }}
      >
        Deny <kbd>D</kbd>
      </button>
      <button
        ref={yes}
        type="button"
        class="button primary"
        disabled={!may || busy || !whole || serverNow() >= ticket.expiresAt}
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

/** "Always allow", said out loud. Not there where the operator has not turned it on. One person's word does not stand for several. */
export function GrantForm({ ticket }: { readonly ticket: Ticket }): JSX.Element | null {
  const { data } = useQuery(() => callApi('listGrants', {}), '')
  const [which, setWhich] = useState<'exactly' | 'any'>('exactly')
  const [lastMs, setLastMs] = useState<number>(grantDurations[0][1])
  const [said, setSaid] = useState<string>()
  const offered = grantDurations.filter(([, ms]) => ms <= (data?.longestMs ?? 0))
  if (offered.length === 0) return null
  const grant = (): void => {
    callApi('createGrant', { id: ticket.id, arguments: which, lastMs }).then(
      () => setSaid('Granted. It is listed under Tenants, where it can be ended. This ticket still waits.'),
      (thrown: unknown) => setSaid(problemOf(thrown)),
    )
  }
  return (
    <details class="block allow">
      <summary>Do not ask again for a while</summary>
      <div class="inline">
        <Select
          label="Arguments"
          value={which}
          options={[
            ['exactly', 'with exactly these arguments'],
            ['any', 'with any arguments'],
          ]}
          onChoose={(value) => setWhich(value === 'any' ? 'any' : 'exactly')}
        />
        <Select
          label="For how long"
          value={String(lastMs)}
          options={offered.map(([word, ms]) => [String(ms), `for ${word}`] as const)}
          onChoose={(value) => setLastMs(Number(value))}
        />
        <button type="button" class="button" onClick={grant}>
          Let {ticket.caller} call {ticket.tool}
        </button>
      </div>
      {said !== undefined && <p role="status">{said}</p>}
    </details>
  )
}

/** It was begun and nobody knows whether it had its effect: somebody has to look, and say. */
export function InDoubtForm(props: {
  readonly ticket: Ticket
  readonly onResolved: (ticket: Ticket) => void
}): JSX.Element {
  const [problem, setProblem] = useState<string>()
  const say = (verdict: 'ran' | 'did not run') => (): void => {
    callApi('resolveTicket', { id: props.ticket.id, verdict }).then(props.onResolved, (thrown: unknown) =>
      setProblem(problemOf(thrown)),
    )
  }
  return (
    <div class="decide">
      <Problem text={problem} />
      <p>The process ended while this ran. It does not run again by itself: find out whether it had its effect.</p>
      <span />
      <button type="button" class="button" onClick={say('did not run')}>
        It did not run
      </button>
      <button type="button" class="button primary" onClick={say('ran')}>
        It ran
      </button>
    </div>
  )
}

function whyDisabled({ approver, of, decisions }: Ticket): string {
  if (decisions.length > 0) return 'You have decided; others have to, too.'
  if (of) return `Only ${of.join(', ')} may decide this.`
  return approver === 'other'
    ? 'Somebody else has to decide this: you asked for it, or you may not decide.'
    : 'You may look, not decide.'
}
