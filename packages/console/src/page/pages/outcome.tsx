/** What became of a ticket, in a sentence, with a way to take an approval back and to the next ticket. */

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Ticket } from '../../api/index.ts'
import { callApi, problemOf } from '../client.ts'
import { minuteTime, Problem, Visible } from '../ui.tsx'

export interface NextTicket {
  readonly id: string
  /** The number of tickets that wait. */
  readonly count: number
}

export function Outcome(props: {
  readonly ticket: Ticket
  readonly operator: string
  readonly next: NextTicket | undefined
  /** Whether this page just decided it. The focus then goes to the next step. */
  readonly wasDecidedHere: boolean
  readonly onDecided: (ticket: Ticket) => void
  readonly onOpen: (id: string) => void
}): JSX.Element {
  const { ticket, operator, next, wasDecidedHere } = props
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const nextButton = useRef<HTMLButtonElement>(null)
  const takeBackButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (wasDecidedHere) (nextButton.current ?? takeBackButton.current)?.focus()
  }, [wasDecidedHere, next === undefined])
  const takeBack = (): void => {
    setBusy(true)
    setProblem(undefined)
    callApi('takeBackTicket', { id: ticket.id })
      .then(props.onDecided, (thrown: unknown) => setProblem(problemOf(thrown)))
      .finally(() => setBusy(false))
      .catch((thrown: unknown) => setProblem(problemOf(thrown)))
  }
  return (
    <div class="decide">
      <Problem text={problem} />
      <p class="outcome">
        <Visible text={sentenceOf(ticket, operator)} />
      </p>
      <span />
      {ticket.mayTakeBack ? (
        <button ref={takeBackButton} type="button" class="button danger" disabled={busy} onClick={takeBack}>
          Take back
        </button>
      ) : (
        <span />
      )}
      {next && (
        <button ref={nextButton} type="button" class="button primary" onClick={() => props.onOpen(next.id)}>
          Next ({next.count})
        </button>
      )}
    </div>
  )
}

/** The sentence that a screen reader says after a decision. */
export const announcementOf = (ticket: Ticket, operator: string): string => sentenceOf(ticket, operator)

function sentenceOf(ticket: Ticket, operator: string): string {
  const { status, caller, tool, runUntil, withdrawn } = ticket
  const until = runUntil === undefined ? '' : `, until ${minuteTime(runUntil)}`
  const sentences: { readonly [each in Ticket['status']]: string } = {
    pending: missingPeople(ticket) ?? 'This ticket is not decided.',
    approved: `Approved. ${caller} may run ${tool} once${until}.`,
    denied: wasTakenBack(ticket) ? `Taken back. ${caller} cannot run it.` : deniedSentence(ticket, operator),
    running: `Approved. ${tool} is running.`,
    done: `${tool} ran.`,
    failed: `${tool} ran and failed.`,
    expired: 'The time ran out. It did not run.',
    void: withdrawn ? `${caller} withdrew it. It did not run.` : 'What it acts on changed, so it did not run.',
    'in doubt': 'It is unknown whether it ran.',
  }
  return sentences[status]
}

const deniedSentence = ({ caller, decisions }: Ticket, operator: string): string => {
  const denial = decisions.findLast(({ approved }) => !approved)
  const by = denial === undefined || denial.by === operator ? 'Denied' : `Denied by ${denial.by}`
  return `${by}. ${caller} cannot run it${denial?.note === undefined ? '' : ', and gets the note'}.`
}

const wasTakenBack = ({ decisions }: Ticket): boolean => {
  const last = decisions.at(-1)
  return last?.approved === false && decisions.some(({ by, approved }) => approved && by === last.by)
}

/** Returns `1 of 2, one more person must approve`; `undefined` if one person is enough. */
export function missingPeople({ needed, decisions }: Pick<Ticket, 'needed' | 'decisions'>): string | undefined {
  if (needed === 1) return undefined
  const approvals = decisions.filter(({ approved }) => approved).length
  const missing = Math.max(0, needed - approvals)
  const people = missing === 1 ? 'one more person' : `${missing} more people`
  return `${approvals} of ${needed}${missing === 0 ? '' : `, ${people} must approve`}.`
}
