/** The knowledge server on real edge runtimes, from its index file, with no file system. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { outcomeOf, readScenarios } from '../conformance/results.ts'
import { conformance } from '../conformance/suite.ts'
import { connectV2 } from '../kit/clients/official-v2.client.ts'
import { type RunningRuntime, runtimes, startRuntime } from '../kit/processes/edge-runtimes.ts'

const worker = fileURLToPath(new URL('knowledge-worker.js', import.meta.url))

/** The scenarios of the official suite that need no fixture. */
const withoutFixture: { readonly [revision: string]: readonly string[] } = {
  '2025-11-25': [
    ...['server-initialize', 'ping', 'logging-set-level', 'tools-list', 'resources-list', 'prompts-list'],
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    ...['tools-list', 'resources-list', 'prompts-list', 'sep-2164-resource-not-found', 'dns-rebinding-protection'],
    ...[
      'caching',
      'http-header-validation',
      'server-sse-multiple-streams',
      'input-required-result-unsupported-methods',
    ],
    ...['input-required-result-missing-input-response', 'input-required-result-ignore-extra-params'],
    'input-required-result-validate-input',
  ],
}

describe.each(runtimes)('%s', (runtime) => {
  let running: RunningRuntime
  const url = (): string => `${running.url}/mcp`
  beforeAll(async () => {
    running = await startRuntime(runtime, worker)
  }, 60_000)
  afterAll(() => running?.close())

  test.each(['legacy', { pin: '2026-07-28' }] as const)('the official client searches and reads, %s', async (era) => {
    const peer = await connectV2({ transport: 'http', url: url() }, era)
    onTestFinished(() => peer.close())
    expect(peer.info).toMatchObject({ name: 'sluice-knowledge-base' })
    expect(await peer.call('search_articles', { query: 'desing' })).toMatchObject({
      structuredContent: { articles: expect.arrayContaining([expect.objectContaining({ slug: 'design' })]) },
    })
    expect(await peer.read('article://articles/design')).toMatchObject({
      contents: [{ text: expect.stringMatching(/^# /) }],
    })
  })

  test('a browser page and a foreign host are refused until they are configured', async () => {
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(url(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      })
    expect((await post({})).status).toBe(200)
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403)
  })

  test.each(Object.entries(withoutFixture))('the scenarios that need no fixture pass, %s', async (revision, wanted) => {
    const output = await mkdtemp(join(tmpdir(), 'sluice-conformance-'))
    onTestFinished(() => rm(output, { recursive: true }))
    const { said } = await conformance([
      'server',
      '--url',
      url(),
      '--suite',
      'all',
      '--spec-version',
      revision,
      '-o',
      output,
    ])
    const scenarios = await readScenarios(output, [])
    const passed = scenarios.filter((scenario) => outcomeOf(scenario) === 'pass').map(({ name }) => name)
    expect(passed, said).toEqual(expect.arrayContaining([...wanted]))
    // Other failures are due to missing tools, prompts and resources of the suite.
    const stateless = scenarios.find(({ name }) => name === 'server-stateless')?.checks ?? []
    const failures = stateless.filter(({ status }) => status === 'FAILURE').map(({ errorMessage }) => errorMessage)
    for (const failure of failures) expect(failure).toMatch(/^Not testable/)
  })
})
