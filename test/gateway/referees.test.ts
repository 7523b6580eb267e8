/** Ten MCP servers of others, in four protocol revisions and three languages: called directly and through the gateway. */

import type { Params } from 'sluice'
import type { Client, QuestionHandlers } from 'sluice/client'
import { connect } from 'sluice/client'
import { stdioTransport } from 'sluice/client-node'
import { upstream } from 'sluice/gateway-node'
import { afterAll, expect, test } from 'vitest'
import { clientOf, eras, servedAlone } from './kit.ts'
import { prepareReferees, type Referee } from './referee-servers.ts'

const { rows, remove } = prepareReferees()
afterAll(remove)

/** Declares every capability, because some servers list more tools then. */
const handlers: QuestionHandlers = {
  form: () => ({ action: 'decline' }),
  url: () => ({ action: 'decline' }),
  sampling: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: '' } }),
  roots: () => ({ roots: [] }),
}

interface Seen {
  readonly tools: readonly Params[]
  readonly answer: unknown
}

/** Lists the tools and calls. The answer is what a model reads of the result. */
async function look(
  client: Client,
  { calls, varying }: Referee,
  toName = (tool: string): string => tool,
): Promise<Seen> {
  const tools: Params[] = []
  // Tasks of 2025-11-25 end at the gateway, which is the client of them.
  for await (const { execution: _, ...tool } of client.tools()) tools.push(tool)
  let result: Params = {}
  for (const [tool, args] of calls) result = await client.callTool(toName(tool), args)
  const { content, structuredContent, isError = false } = result
  const answer = JSON.stringify({ content, structuredContent, isError })
  return { tools, answer: JSON.parse(varying ? answer.replaceAll(varying, '0') : answer) }
}

const direct = new Map<string, Seen>()

test.each(rows)('$name is discovered, listed and called directly, in $revision', async (row) => {
  const { command, args, env = {} } = row
  const client = await connect(stdioTransport({ command, args, env }), { handlers })
  try {
    expect(client.agreement.revision).toBe(row.revision)
    const seen = await look(client, row)
    expect(seen.tools).toHaveLength(row.tools)
    expect(JSON.stringify(seen.answer)).toContain(row.answer)
    expect(seen.answer).toMatchObject({ isError: false })
    direct.set(row.name, seen)
  } finally {
    await client.close()
  }
})

test.each(rows)('$name is listed and called through the gateway by clients of both eras, as directly', async (row) => {
  const { name, command, args, env = {} } = row
  const { url } = await servedAlone(upstream({ name, command, args, env, scope: 'shared' }))
  for (const revision of eras) {
    const client = await clientOf(url, { revision, handlers })
    expect(client.agreement.revision).toBe(revision)
    const { tools, answer } = await look(client, row)
    expect(answer).toEqual(direct.get(name)?.answer)
    expect(tools).toEqual(direct.get(name)?.tools)
  }
})
