/** Captures the apps of routes and fitness as PNGs for docs/apps.md, in Chromium, with the official host code. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { HostClient } from '../test/kit/clients/app-host.client.ts'
import { showApp } from '../test/kit/clients/app-host.client.ts'
import { startChromium } from '../test/kit/processes/chromium.ts'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'sluice-pictures-'))
const browser = await startChromium()

async function connect(server: string): Promise<Client> {
  const client = new Client({ name: 'pictures', version: '1' })
  const args = [join(root, `servers/${server}/dist/main.js`), '--data', folder]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  return client
}

async function take(name: string, client: Client, tool: string, input: object, theme: 'light' | 'dark'): Promise<void> {
  const { page, frame } = await showApp(browser, client as unknown as HostClient, tool, { ...input }, { theme })
  await frame.locator('polyline').first().waitFor()
  // The host sets the height of the frame once the app reports it.
  await page.waitForTimeout(400)
  await page.locator('iframe').screenshot({ path: join(root, `docs/pictures/app-${name}-${theme}.png`) })
  await page.close()
}

const [routes, fitness] = [await connect('routes'), await connect('fitness')]
try {
  await fitness.callTool({ name: 'connect_provider', arguments: { provider: 'synthetic' } })
  for (const theme of ['light', 'dark'] as const) {
    const trip = { origin: 'Hanoi', destination: 'Ho Chi Minh City', waypoints: ['Da Nang'], language: 'en' }
    await take('routes', routes, 'calculate_route', trip, theme)
    await take('fitness', fitness, 'analyze_training_load', { days: 90 }, theme)
  }
} finally {
  await Promise.all([routes.close(), fitness.close(), browser.close()])
  rmSync(folder, { recursive: true })
}
