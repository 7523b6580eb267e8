/** Runs one tool in a test, without a server to define first. */

import type { Params } from '../core/json.ts'
import { defineServer } from '../protocol/definition.ts'
import type { Tool } from '../protocol/tools.ts'
import type { TestClientOptions } from './client.ts'
import { testClient } from './client.ts'
import type { TestToolResult } from './tool-result.ts'

/**
 * Runs a tool with its checks, as a call would: `(await run(deploy, { service: 'web' })).text()`. A gated tool is
 * approved by default.
 */
export async function run(tool: Tool, input: Params = {}, options: TestClientOptions = {}): Promise<TestToolResult> {
  const definition = defineServer({ name: 'test', version: '1.0.0', tools: [tool] })
  const client = await testClient(definition, { approve: () => true, ...options })
  try {
    return await client.call(tool.name, input)
  } finally {
    client.close()
  }
}
