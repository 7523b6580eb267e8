/**
 * The cost of a URI: an anonymous caller's is never matched, a long one is refused, and a template reads only its own.
 */

import { authenticate, defineServer, resource } from 'sluice'
import { createServer } from 'sluice/node'
import { describe, expect, test } from 'vitest'
import { anonymous } from '../../packages/sluice/src/core/call.ts'
import type { UriTemplate } from '../../packages/sluice/src/core/uri-template.ts'
import { parseTemplate } from '../../packages/sluice/src/core/uri-template.ts'
import type { Resource } from '../../packages/sluice/src/protocol/resources.ts'

const verifier = {
  verify: async (token: string) => (token === 'good' ? { ...anonymous, subject: 'a', credential: 'c' } : undefined),
}

/** A template that counts how often a URI is compared with it. */
function counted(uri: string, counts: { matches: number }): Resource {
  const made = resource({ uri, name: uri, read: () => 'read' })
  const template: UriTemplate = {
    ...parseTemplate(uri),
    match(text) {
      counts.matches++
      return parseTemplate(uri).match(text)
    },
  }
  return { ...made, template }
}

function serving() {
  const counts = { matches: 0 }
  const resources = Array.from({ length: 30 }, (_, at) => counted(`kind${at}://{+path}`, counts))
  const server = createServer(defineServer({ name: 'x', version: '1', resources }), {
    use: [authenticate({ verifiers: [verifier] })],
  })
  const ask = (method: string, params: object, token?: string) =>
    server.handle(
      { jsonrpc: '2.0', id: 1, method, params },
      {
        via: {
          transport: 'http',
          peer: '',
          header: (name) => (name === 'authorization' && token ? `Bearer ${token}` : undefined),
        },
      },
    )
  return { counts, ask }
}

describe.each(['resources/read', 'resources/subscribe'])('%s', (method) => {
  test.each([undefined, 'bad'])(
    'with the token %s is refused before its URI is compared with anything',
    async (token) => {
      const { counts, ask } = serving()
      expect(await ask(method, { uri: `kind29://${'ü'.repeat(1000)}` }, token)).toMatchObject({
        error: { data: { reason: 'unauthorized' } },
      })
      expect(counts.matches).toBe(0)
    },
  )

  test('an authenticated caller reaches the resource', async () => {
    const { ask } = serving()
    expect(await ask(method, { uri: 'kind29://a/b' }, 'good')).toHaveProperty('result')
    expect(await ask(method, { uri: 'other://a/b' }, 'good')).toMatchObject({
      error: { data: { reason: 'resourceNotFound' } },
    })
  })

  test('a URI of more than 4096 characters is refused without being compared', async () => {
    const { counts, ask } = serving()
    expect(await ask(method, { uri: `kind29://${'a'.repeat(4096)}` }, 'good')).toMatchObject({
      error: { code: -32602, message: 'Invalid params: uri is longer than 4096 characters' },
    })
    expect(counts.matches).toBe(0)
  })
})

test('a subscription to a URI of more than 4096 characters is refused', async () => {
  const { counts, ask } = serving()
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const notifications = { resourceSubscriptions: [`kind29://${'a'.repeat(4096)}`] }
  expect(await ask('subscriptions/listen', { notifications, _meta }, 'good')).toMatchObject({
    error: { code: expect.any(Number) },
  })
  expect(counts.matches).toBe(0)
})

/** Returns what was percent-encoded while `work` ran. */
async function encodedBy(work: () => unknown): Promise<readonly string[]> {
  const encoded: string[] = []
  const original = globalThis.encodeURIComponent
  globalThis.encodeURIComponent = (text) => {
    encoded.push(String(text))
    return original(text)
  }
  try {
    await work()
  } finally {
    globalThis.encodeURIComponent = original
  }
  return encoded
}

test('a template encodes no URI that does not start with its own prefix', async () => {
  const { match } = parseTemplate('note://{+path}')
  expect(await encodedBy(() => match(`other://${'ü'.repeat(100)}`))).toEqual([])
  // The template's own text may be kept encoded.
  expect(parseTemplate('note://über/{id}').match('note://über/1')).toEqual({ id: '1' })
})

test('a URI is encoded once to find its resource and once to read it, whatever the number of templates', async () => {
  const resources = Array.from({ length: 30 }, (_, at) =>
    resource({ uri: `note://{+path}/${at}`, name: `n${at}`, read: () => 'read' }),
  )
  const server = createServer(defineServer({ name: 'x', version: '1', resources }))
  const params = { uri: `note://${'ü'.repeat(100)}/29` }
  const encoded = await encodedBy(async () =>
    expect(await server.handle({ jsonrpc: '2.0', id: 1, method: 'resources/read', params })).toHaveProperty('result'),
  )
  expect(encoded).toHaveLength(2)
})
