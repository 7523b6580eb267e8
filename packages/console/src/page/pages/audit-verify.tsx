/** Verifies the hash chains of one or all tenants, one after the other. */

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AuditCheckResult } from '../../api/index.ts'
import { callApi, problemOf } from '../client.ts'
import { Chip, number, plural, Visible } from '../ui.tsx'

interface Verdict {
  readonly tenant: string
  readonly result: AuditCheckResult
}

export function Verify({ tenants }: { readonly tenants: readonly string[] }): JSX.Element {
  const [verdicts, setVerdicts] = useState<readonly Verdict[] | string>()
  const [busy, setBusy] = useState(false)
  async function verify(): Promise<void> {
    setBusy(true)
    try {
      const found: Verdict[] = []
      for (const tenant of tenants) found.push({ tenant, result: await callApi('verifyAudit', { tenant }) })
      setVerdicts(found)
    } catch (thrown) {
      setVerdicts(problemOf(thrown))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={busy || tenants.length === 0}
        onClick={() => {
          verify().catch((thrown: unknown) => setVerdicts(problemOf(thrown)))
        }}
      >
        {tenants.length > 1 ? 'Verify chains' : 'Verify chain'}
      </button>
      <span role="status" class="verdict">
        {verdicts !== undefined && <VerdictChip verdicts={verdicts} />}
      </span>
    </>
  )
}

function VerdictChip({ verdicts }: { readonly verdicts: readonly Verdict[] | string }): JSX.Element {
  if (typeof verdicts === 'string') return <Chip tone="bad">{verdicts}</Chip>
  const broken = verdicts.find(({ result }) => !result.intact || result.checkpoint?.defect !== undefined)
  if (broken)
    return (
      <Chip tone="bad">
        <Visible text={broken.tenant} />: {defectOf(broken.result)}
      </Chip>
    )
  const records = verdicts.reduce((sum, { result }) => sum + (result.records ?? 0), 0)
  const [only, ...others] = verdicts
  const from = others.length === 0 ? only?.result.checkpoint : undefined
  return (
    <Chip tone="good">
      <span title={others.length === 0 ? `Head ${only?.result.head ?? ''}` : undefined}>
        {others.length > 0 && `${number(verdicts.length)} tenants, `}
        {plural(records, 'record')}
        {from && `, from ${number(from.seq + 1)} on`}, intact
      </span>
    </Chip>
  )
}

const defectOf = ({ checkpoint, seq, problem }: AuditCheckResult): string =>
  checkpoint?.defect
    ? `record ${checkpoint.defect.seq} was ${checkpoint.defect.problem} when it was pruned`
    : `record ${seq} is ${problem}`
