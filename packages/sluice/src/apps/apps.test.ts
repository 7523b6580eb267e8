/** `app()`: what clients read of a tool and its page. `test/apps` shows pages in a browser. */

import { expect, test } from 'vitest'
import type { Params } from '../core/json.ts'
import { createServer } from '../node.ts'
import { log } from '../plugins/log.ts'
import { defineServer } from '../protocol/definition.ts'
import type { Tool, ToolPage, ToolUi } from '../protocol/tools.ts'
import { tool } from '../protocol/tools.ts'
import type { TestClient, TestClientOptions } from '../testing/client.ts'
import { testClient } from '../testing/client.ts'
import type { AppDefinition } from './index.ts'
import { app, appOnly, appPage } from './index.ts'

const html = '<!doctype html><title>Map</title>'
const map = app({
  ...{ uri: 'ui://x/map', name: 'map', html, prefersBorder: true },
  csp: { connectDomains: ['wss://live.example'], resourceDomains: ['https://*.tiles.example:8443'] },
  permissions: ['geolocation', 'clipboardWrite'],
})
const ui = {
  csp: { connectDomains: ['wss://live.example'], resourceDomains: ['https://*.tiles.example:8443'] },
  permissions: { geolocation: {}, clipboardWrite: {} },
  prefersBorder: true,
}
const shown = (name: string, page: ToolPage | ToolUi): Tool =>
  tool({ name, description: 'Shows', ui: page, meta: { own: 1 }, run: () => 'x' })

const connect = (tools: readonly Tool[], options?: TestClientOptions): Promise<TestClient> => {
  const definition = defineServer({ name: 'x', version: '1', tools, resources: [map] })
  return testClient(createServer(definition, { use: [log({ info() {}, warn() {}, error() {} })] }), options)
}
const metaOf = async (client: TestClient): Promise<unknown> =>
  ((await client.request('tools/list'))['tools'] as Params[]).map(({ _meta }) => _meta)

test('a tool names its page in both spellings, and keeps its own metadata', async () => {
  const client = await connect([shown('plan', map), shown('more', appOnly)])
  expect(await metaOf(client)).toEqual([
    { own: 1, ui: { resourceUri: 'ui://x/map' }, 'ui/resourceUri': 'ui://x/map' },
    { own: 1, ui: { visibility: ['app'] } },
  ])
})

test.each(['2025-06-18', '2025-11-25', '2026-07-28'] as const)(
  'on %s the page is served with the tool, once, with its policy and permissions',
  async (revision) => {
    const client = await connect([shown('plan', map), shown('again', map)], { revision })
    const { resources } = await client.request('resources/list')
    expect(resources).toEqual([
      { uri: 'ui://x/map', name: 'map', mimeType: 'text/html;profile=mcp-app', _meta: { ui } },
    ])
    const { contents } = await client.request('resources/read', { uri: 'ui://x/map' })
    expect(contents).toEqual([{ uri: 'ui://x/map', mimeType: 'text/html;profile=mcp-app', text: html, _meta: { ui } }])
  },
)

test('a page need not be listed among the resources of the definition', async () => {
  const definition = defineServer({ name: 'x', version: '1', tools: [shown('plan', map)] })
  const client = await testClient(definition)
  expect(await client.request('resources/read', { uri: 'ui://x/map' })).toMatchObject({ contents: [{ text: html }] })
})

test('a page may be made when it is read', async () => {
  let reads = 0
  const made = app({ uri: 'ui://x/made', name: 'made', html: async () => `<!doctype html>${++reads}` })
  const client = await testClient(defineServer({ name: 'x', version: '1', tools: [shown('plan', made)] }))
  for (const text of ['<!doctype html>1', '<!doctype html>2'])
    expect(await client.request('resources/read', { uri: 'ui://x/made' })).toMatchObject({ contents: [{ text }] })
})

test.each<readonly [problem: string, definition: Partial<AppDefinition>]>([
  ['the URI must begin with ui://', { uri: 'https://x.example' }],
  ['the URI must begin with ui://', { uri: 'ui://x/{id}' }],
  ['"csp.connectDomains" has "*"', { csp: { connectDomains: ['*'] } }],
  [
    '"csp.resourceDomains" has "https://a.example; script-src *"',
    { csp: { resourceDomains: ['https://a.example; script-src *'] } },
  ],
  ['"csp.frameDomains" has "https://a.example/path"', { csp: { frameDomains: ['https://a.example/path'] } }],
  ['"csp.baseUriDomains" has "\'self\'"', { csp: { baseUriDomains: ["'self'"] } }],
  ['"csp.scriptDomains" is unknown', { csp: { scriptDomains: [] } as never }],
  ['"permissions" has an unknown "usb"', { permissions: ['usb' as never] }],
])('fails at the start: %s', (problem, definition) => {
  expect(() => app({ uri: 'ui://x/a', name: 'a', html, ...definition })).toThrow(problem)
})

test('a page is one document, and text cannot end its style or script', () => {
  const page = appPage({ title: '</title><b>', style: 'b{}', body: '<p>x</p>', script: 'app.onresult = () => {}' })
  expect(page).toMatch(/^<!doctype html>/)
  expect(page).not.toContain('</title><b>')
  expect(page).not.toMatch(/(?:src|href)=/)
  const parts = { title: 'x', style: '', body: '', script: '' }
  expect(() => appPage({ ...parts, style: '</STYLE><script>' })).toThrow('"style" must not contain </STYLE')
  expect(() => appPage({ ...parts, script: '"</script>"' })).toThrow('"script" must not contain </script')
})
