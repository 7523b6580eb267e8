import { ask, once } from 'sluice'
import { approvals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import { services } from './deploy.ts'

test.each(['2025-11-25', '2026-07-28'] as const)(
  'on %s it asks where, waits for an approval, and then runs',
  async (revision) => {
    const desk = approvals()
    const server = createServer(services, { ask: ask(), approvals: desk, once: once() })
    const client = await testClient(server, {
      revision,
      capabilities: { elicitation: { form: {} } },
      answer: () => ({ action: 'accept', content: { region: 'eu' } }),
    })
    expect(JSON.stringify(await client.call('deploy', { service: 'web' }))).toContain('approval_required')
    const [ticket] = (await desk.list()).tickets
    expect(ticket).toMatchObject({ status: 'pending', arguments: '{"service":"web"}' })
    const person = { subject: 'olga', via: 'command', tenants: 'all', operator: true } as const
    await desk.decide(ticket?.id ?? '', { approved: true }, person)
    expect(await client.call('deploy', { service: 'web' })).toMatchObject({
      structuredContent: { service: 'web', region: 'eu' },
    })
  },
)
