/** The knowledge server as people run it: the official client starts it over stdio or reaches it over HTTP. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createServer, nodeClock, serveHttp } from 'sluice/node'
import { customLayer } from 'sluice/plugins'
import { describe, expect, onTestFinished, test } from 'vitest'
import { open } from '../../servers/knowledge/src/index.ts'
import type { OfficialClient, ReceivedNotification } from '../kit/clients/official.client.ts'
import { connectV2 } from '../kit/clients/official-v2.client.ts'
import { aFolder, anArticle, writeFiles } from '../kit/generators/markdown-folder.ts'

const program = fileURLToPath(new URL('../../servers/knowledge/dist/main.js', import.meta.url))
const silent = { info() {}, warn() {}, error() {} }
/** Without system events the server finds a change by polling, every ten seconds. */
const patience = 120_000
const eras = ['legacy', { pin: '2026-07-28' }] as const
type Era = (typeof eras)[number]

async function overStdio(folder: string, era: Era): Promise<OfficialClient> {
  const peer = await connectV2(
    { transport: 'stdio', command: process.execPath, args: [program, folder], stderr: 'ignore' },
    era,
  )
  onTestFinished(() => peer.close())
  return peer
}

async function overHttp(folder: string, era: Era): Promise<OfficialClient> {
  const opened = await open({ folder, argument: folder, env: {}, logger: silent, clock: nodeClock })
  const server = createServer(opened.definition, { use: (opened.layers ?? []).map(customLayer) })
  opened.started?.(server)
  const serving = await serveHttp(server, { port: 0 })
  const peer = await connectV2({ transport: 'http', url: serving.url }, era)
  onTestFinished(async () => {
    await peer.close()
    await serving.close()
    await opened.close()
  })
  return peer
}

const transports = { stdio: overStdio, HTTP: overHttp }
const table = Object.entries(transports).flatMap(([way, connect]) => eras.map((era) => ({ way, era, connect })))

describe.each(table)('over $way, $era', ({ era, connect }) => {
  test('a client lists, searches, gets, reads, completes and asks', async () => {
    const folder = await aFolder({
      'concepts/context.md': anArticle('Context'),
      'concepts/plan.md': anArticle('Plan', 'status: Draft'),
      'practices/review.md': anArticle('Review', 'status: Experimental'),
    })
    const peer = await connect(folder, era)
    expect(await peer.call('list_articles')).toMatchObject({
      isError: false,
      content: [{ text: '- [concepts/context] Context\n- [practices/review] Review' }],
      structuredContent: { total: 2 },
    })
    expect(await peer.call('search_articles', { query: 'reveiw' })).toMatchObject({
      content: [{ text: '- [practices/review] Review' }],
    })
    expect(await peer.call('get_article', { slug: 'context' })).toMatchObject({
      content: [{ text: '# Context\n\nAbout context.' }, { text: 'Cite this article as [concepts/context]' }],
    })
    expect(await peer.call('get_article', { slug: 'plan' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("Article 'plan' not found or not available.") }],
    })
    expect((await peer.list('resources')).map(({ uri }) => uri)).toEqual([
      'article://concepts/context',
      'article://practices/review',
    ])
    expect(await peer.read('article://concepts/context')).toMatchObject({ contents: [{ mimeType: 'text/markdown' }] })
    const ref = { type: 'ref/resource' as const, uri: 'article://{collection}/{slug}' }
    expect(await peer.complete(ref, { name: 'slug', value: 'r' })).toMatchObject({ values: ['review'] })
    expect(await peer.getPrompt('answer_with_citations', { question: 'What is context?' })).toMatchObject({
      messages: [{}, { content: { resource: { uri: 'article://concepts/context' } } }],
    })
  })

  test('it is notified of files that change on disk', { timeout: patience }, async () => {
    const folder = await aFolder({ 'a.md': anArticle('A'), 'b.md': anArticle('B') })
    const peer = await connect(folder, era)
    const watch = await peer.subscribe({ lists: ['resources', 'tools'], uris: ['article://articles/a'] })
    const isUpdate = ({ method, params }: ReceivedNotification): boolean =>
      method === 'notifications/resources/updated' && params['uri'] === 'article://articles/a'
    const isList = ({ method }: ReceivedNotification): boolean => method === 'notifications/resources/list_changed'

    await writeFiles(folder, { 'a.md': `${anArticle('A')} And more.` })
    await peer.received.next(isUpdate)
    expect(peer.received.all.filter(isList)).toEqual([])
    expect(await peer.call('get_article', { slug: 'a' })).toMatchObject({
      content: [{ text: '# A\n\nAbout a.\n And more.' }, { text: 'Cite this article as [articles/a]' }],
    })

    await writeFiles(folder, { 'later/c.md': anArticle('C') })
    await peer.received.next(isList)
    expect(await peer.call('search_articles', { query: 'c' })).toMatchObject({ content: [{ text: '- [later/c] C' }] })

    peer.received.clear()
    await rm(join(folder, 'b.md'))
    await peer.received.next(isList)
    expect(await peer.call('get_article', { slug: 'b' })).toMatchObject({ isError: true })
    await watch.stop()
  })
})

test('a folder that is removed and comes back is served again', { timeout: patience }, async () => {
  const folder = await aFolder({ 'a.md': anArticle('A') })
  const peer = await overHttp(folder, 'legacy')
  const isList = ({ method }: ReceivedNotification): boolean => method === 'notifications/resources/list_changed'
  await rm(folder, { recursive: true })
  await writeFiles(folder, { 'b.md': anArticle('B') })
  for (;;) {
    const news = peer.received.nextNew(isList)
    const uris = (await peer.list('resources')).map(({ uri }) => uri)
    if (uris.length === 1 && uris[0] === 'article://articles/b') return
    await news
  }
})
