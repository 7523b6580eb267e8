/** Ten MCP servers of others, in four protocol revisions and three languages: called directly and through the gateway. */

import type { Params } from 'sluice'
import type { Client, QuestionHandlers } from 'sluice/client'
import { connect } from 'sluice/client'
import { stdioTransport } from 'sluice/client-node'
import { afterAll, expect, test } from 'vitest'
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
  for await (const tool of client.tools()) tools.push(tool)
  let result: Params = {}
  for (const [tool, args] of calls) result = await client.callTool(toName(tool), args)
  const { content, structuredContent, isError = false } = result
  const answer = JSON.stringify({ content, structuredContent, isError })
  return { tools, answer: JSON.parse(varying ? answer.replaceAll(varying, '0') : answer) }
}

test.each(rows)('$name is discovered, listed and called directly, in $revision', async (row) => {
  const { command, args, env = {} } = row
  const client = await connect(stdioTransport({ command, args, env }), { handlers })
  try {
    expect(client.agreement.revision).toBe(row.revision)
    const { tools, answer } = await look(client, row)
    expect(tools).toHaveLength(row.tools)
    expect(JSON.stringify(answer)).toContain(row.answer)
    expect(answer).toMatchObject({ isError: false })
  } finally {
    await client.close()
  }
})
