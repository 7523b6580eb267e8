import { memoryStore } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import { services } from './deploy.ts'

test.each(['2025-11-25', '2026-07-28'] as const)(
  'on %s it asks where, waits for an approval, and then runs',
  async (revision) => {
    const store = memoryStore()
    const approvals = createApprovals({ store })
    const server = createServer(services, { store, use: [approvals] })
    const client = await testClient(server, {
      revision,
      capabilities: { elicitation: { form: {} } },
      answer: () => ({ action: 'accept', content: { region: 'eu' } }),
    })
    expect(JSON.stringify(await client.call('deploy', { service: 'web' }))).toContain('approval_required')
    const [ticket] = (await approvals.list()).tickets
    expect(ticket).toMatchObject({ status: 'pending', arguments: '{"service":"web"}' })
    const person = { subject: 'olga', via: 'command', tenants: 'all', operator: true } as const
    await approvals.decide(ticket?.id ?? '', { approved: true }, person)
    expect(await client.call('deploy', { service: 'web' })).toMatchObject({
      structuredContent: { service: 'web', region: 'eu' },
    })
  },
)
