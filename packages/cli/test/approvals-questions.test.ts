/** `sluice approvals` on a ticket whose call asked while it ran. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createApprovals } from 'sluice/approvals'
import { upstream } from 'sluice/gateway-node'
import { sqliteStore } from 'sluice/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { clientOf, servedAlone, token, withTokens } from '../../../test/gateway/kit.ts'
import type { Members } from '../../../test/gateway/raw-upstream.ts'
import { rawTool, rawUpstream, textResult } from '../../../test/gateway/raw-upstream.ts'
import { aFolder, sluice } from './command.ts'

const asked = (message: string): Members => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
})

test('the questions of an upstream and their answers are in the list and on the ticket', async () => {
  const cwd = aFolder()
  mkdirSync(join(cwd, '.sluice'))
  const store = sqliteStore(join(cwd, '.sluice', 'sluice.db'))
  onTestFinished(() => store.close())
  const raw = await rawUpstream({ tools: [rawTool('order')] })
  raw.respond = ({ params }) =>
    params['inputResponses'] === undefined
      ? {
          ...{ resultType: 'input_required', requestState: 'asked' },
          inputRequests: { one: asked('Whose\u202e order?\n   answered'), two: asked('Shall I send it?') },
        }
      : textResult('ordered')
  const rules = [{ approval: 'always', questions: 'relay' }] as const
  const approvals = createApprovals({ store })
  const { url } = await servedAlone(upstream({ name: 'shop', url: raw.url, rules }), {
    store,
    use: [...withTokens, approvals],
  })
  const client = await clientOf(
    url,
    {
      revision: '2026-07-28',
      handlers: {
        form: ({ message }) =>
          String(message).includes('send') ? { action: 'decline' } : { action: 'accept', content: { name: 'Ada' } },
      },
    },
    token('acme.ann'),
  )
  const { _meta } = await client.callTool('order', {})
  const id = String(((_meta as Members)['dev.sluice/approval'] as Members)['request_id'])
  expect((await sluice(cwd, ['approvals', 'show', id])).out).not.toContain('Questions while it ran')
  expect((await sluice(cwd, ['approvals', 'approve', id])).code).toBe(0)
  expect(await client.callTool('order', {})).toMatchObject({ content: [{ text: 'ordered' }] })

  expect((await sluice(cwd, ['approvals', 'show', id])).out).toContain(`
Questions while it ran. The approval does not cover the answers.
1. "shop asks: Whose[U+202E RLO] order?\\n   answered"
   answered: {
     "name": "Ada"
   }
2. "shop asks: Shall I send it?"
   declined
`)
  expect((await sluice(cwd, ['approvals', 'list'])).out).toMatch(/ done, 2 questions +shop\/order /)
})
