/** The audit records as sentences, one row each. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AuditRecord } from '../../api/index.ts'
import { outcomeTone, outcomeWord } from '../outcomes.ts'
import { Chip, dateTime, TableBox, Visible } from '../ui.tsx'
import { isPlainClick } from './requests.tsx'

export const AuditRecords = (props: {
  readonly records: readonly AuditRecord[]
  readonly withTenant: boolean
}): JSX.Element => (
  <TableBox label="Audit records">
    <table class="table audit cards-on-phone">
      <caption class="unseen">Audit records, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">What happened</th>
          {props.withTenant && <th scope="col">Tenant</th>}
          <th scope="col">Outcome</th>
          <th scope="col" class="right">
            No.
          </th>
          <th scope="col">
            <span class="unseen">All fields</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {props.records.map((record) => (
          <RecordRow key={`${record.tenant} ${record.seq}`} record={record} withTenant={props.withTenant} />
        ))}
      </tbody>
    </table>
  </TableBox>
)

function RecordRow({
  record,
  withTenant,
}: {
  readonly record: AuditRecord
  readonly withTenant: boolean
}): JSX.Element {
  const [open, setOpen] = useState(false)
  const { tenant, seq, at, hash, fields, kind } = record
  const outcome = fields['outcome'] ?? fields['reason'] ?? ''
  const { ticket } = fields
  return (
    <>
      <tr class="opens" onClick={(event) => isPlainClick(event) && setOpen(!open)}>
        <td class="time">{dateTime(at)}</td>
        <td class="what">
          <Visible text={sentenceOf(record)} />
          {ticket !== undefined && (
            <>
              {' '}
              <a href={`#/approvals/${encodeURIComponent(ticket)}`}>ticket</a>
            </>
          )}
        </td>
        {withTenant && (
          <td data-label="Tenant">
            <Visible text={tenant} />
          </td>
        )}
        <td>{outcome !== '' && <Chip tone={outcomeTone(outcome)}>{outcomeWord(outcome)}</Chip>}</td>
        <td class="right dim" data-label="No.">
          {seq}
        </td>
        <td class="right">
          <button type="button" class="button small quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Less' : 'More'}
            <span class="unseen"> of record {seq}</span>
          </button>
        </td>
      </tr>
      {open && (
        <tr class="fields">
          <td colSpan={withTenant ? 6 : 5}>
            <dl class="facts">
              {Object.entries({ kind, ...fields, hash }).map(([name, value]) => (
                <div key={name}>
                  <dt>
                    <Visible text={name} />
                  </dt>
                  <dd>
                    <code>
                      <Visible text={value} />
                    </code>
                  </dd>
                </div>
              ))}
            </dl>
          </td>
        </tr>
      )}
    </>
  )
}

type Fields = AuditRecord['fields']

const callerName = (caller: string | undefined): string => caller || 'An unknown caller'

/** A record in words, in the past tense, because a caller may be named "you". The raw fields are in the opened row. */
const sentences: { readonly [kind: string]: (fields: Fields) => string } = {
  started: ({ caller, target }) => `${callerName(caller)} started ${target}`,
  ended: ({ caller, target }) => `${callerName(caller)} called ${target}`,
  proposed: ({ caller, tool }) => `${caller} asked for an approval of ${tool}`,
  decided: ({ by, approved, via }) => `${by} ${approved === 'true' ? 'approved' : 'denied'} a call, via ${via}`,
  takenBack: ({ by, via }) => `${by} took back an approval, via ${via}`,
  decisionRefused: ({ by, approved, via }) =>
    `${by} may not ${approved === 'true' ? 'approve' : 'deny'} this call, via ${via}`,
  spent: () => 'An approved call began',
  withdrawn: ({ by, via }) => `${by} withdrew its own call, via ${via}`,
  void: () => 'An approval became void, because what the call acts on changed',
  granted: ({ by, caller, tool }) => `${by} allowed ${caller} to call ${tool} for a while`,
  grantUsed: ({ tool }) => `A standing grant let ${tool} run`,
  revoked: ({ by, tool }) => `${by} ended a standing grant of ${tool}`,
  resolved: ({ by, verdict }) => `${by} found out about a call in doubt: it ${verdict}`,
  'key revoked': ({ by, prefix, subject }) => `${by} revoked the key ${prefix}… of ${subject}`,
  'tool tried': ({ by, tool, subject }) => `${by} tried ${tool}${subject === undefined ? '' : ` as ${subject}`}`,
  'definition accepted': ({ by, definition, upstream }) => `${by} accepted ${definition} of ${upstream}`,
  'definition rejected': ({ by, definition, upstream }) => `${by} rejected ${definition} of ${upstream}`,
  'definition decision refused': ({ by, decision, definition, upstream }) =>
    `${by} may not have ${definition} of ${upstream} ${decision}`,
  'definitions accepted at first use': ({ definitions, upstream }) =>
    `Definitions of ${upstream} were accepted at first use: ${definitions}`,
  'connection quarantined': ({ upstream, definition }) =>
    `A connection to ${upstream} was set apart, because ${definition} differs there`,
  'upstream sign-in started': ({ caller, upstream }) => `${caller} started a sign-in to ${upstream}`,
  'upstream code refused': ({ caller, upstream }) => `${caller} typed a wrong code for ${upstream}`,
  'upstream signed in': ({ caller, upstream }) => `${caller} signed in to ${upstream}`,
  'upstream signed out': ({ caller, upstream }) => `${caller} signed out of ${upstream}`,
  'upstream restarted': ({ by, upstream }) => `${by} restarted ${upstream}`,
  questionAsked: ({ upstream, target }) => `${upstream} asked a question during ${target}`,
  questionAnswered: ({ upstream, target }) => `A question of ${upstream} during ${target} was answered`,
  'person added': ({ by, person }) => `${by} added the person ${person}`,
  'person removed': ({ by, person }) => `${by} removed the person ${person}`,
  dropped: ({ records }) => `Records were lost, because the store was too slow: ${records}`,
  pruned: () => 'Older records were removed, and a checkpoint was signed',
}

const sentenceOf = ({ kind, fields }: AuditRecord): string =>
  Object.hasOwn(sentences, kind) ? (sentences[kind]?.(fields) ?? kind) : kind
