/** Ten MCP servers of others, in four protocol revisions and three languages: called directly and through the gateway. */

import type { Params, ServerDefinition } from 'sluice'
import type { Client, QuestionHandlers } from 'sluice/client'
import { connect } from 'sluice/client'
import { stdioTransport } from 'sluice/client-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { afterAll, expect, test } from 'vitest'
import { clientOf, eras, served } from './kit.ts'
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
  readonly prompts: readonly Params[]
  readonly resources: readonly Params[]
  readonly templates: readonly Params[]
  /** What the first resource contains. */
  readonly contents: unknown
}

/** Lists everything, calls, and reads the first resource. The answer is what a model reads of the result. */
async function look(client: Client, { calls, varying }: Referee): Promise<Seen> {
  // Tasks of 2025-11-25 end at the gateway, which is the client of them.
  const tools = (await all(client.tools())).map(({ execution: _, ...tool }) => tool)
  let result: Params = {}
  for (const [tool, args] of calls) result = await client.callTool(tool, args)
  const { content, structuredContent, isError = false } = result
  const answer = JSON.stringify({ content, structuredContent, isError })
  const { prompts, resources } = client.agreement.capabilities
  const found = resources ? await all(client.resources()) : []
  const uri = found[0]?.['uri']
  return {
    tools,
    answer: JSON.parse(varying ? answer.replaceAll(varying, '0') : answer),
    prompts: prompts ? await all(client.prompts()) : [],
    resources: found,
    // A template without variables is a resource. The gateway lists such a URI once.
    templates: resources ? (await all(client.resourceTemplates())).filter((each) => each['uriTemplate'] !== uri) : [],
    contents: uri === undefined ? undefined : (await client.request('resources/read', { uri }))['contents'],
  }
}

async function all(list: AsyncIterable<Params>): Promise<readonly Params[]> {
  const entries: Params[] = []
  for await (const entry of list) entries.push(entry)
  return entries
}

/** Some servers take ten seconds to start on a busy machine. */
const patienceMs = 60_000

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
  const one = upstream({ name, command, args, env, scope: 'shared', startMs: patienceMs, discoverMs: patienceMs })
  const { endpoints } = gateway({ name: 'team', version: '1.0.0', upstreams: [one], startMs: patienceMs })
  const url = await served(endpoints[name] as ServerDefinition)
  for (const revision of eras) {
    const client = await clientOf(url, { revision, handlers })
    expect(client.agreement.revision).toBe(revision)
    expect(await look(client, row)).toEqual(direct.get(name))
  }
})
