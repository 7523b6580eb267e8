/**
 * A client that shows apps: the official host code (`@modelcontextprotocol/ext-apps`) in a page of Chromium, around the
 * app in a sandboxed frame of another origin. Nothing leaves the browser: the requests of the app are listed.
 */

import { build } from 'esbuild'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import type { Params } from 'sluice'
import { installFolder } from '../processes/npm-packages.ts'

/** As much of a client as the host needs; the official ones have it. */
export interface HostClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string; readonly _meta?: Params | undefined }[] }>
  callTool(params: { name: string; arguments?: { [name: string]: unknown } }): Promise<unknown>
  readResource(params: { uri: string }): Promise<{ readonly contents: readonly unknown[] }>
}

export interface AppView {
  readonly page: Page
  readonly frame: FrameLocator
  /** What the host sent to the server for the app. */
  readonly forwarded: readonly { readonly method: string; readonly params: Params }[]
  /** Addresses that the app tried to load. */
  readonly loaded: readonly string[]
  /** Errors of the app's scripts. */
  readonly thrown: readonly string[]
  changeTheme(theme: 'light' | 'dark'): Promise<void>
}

export interface AppViewOptions {
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  /** Changes the result before the app gets it. */
  readonly change?: (result: Params) => Params
}

const hostAddress = 'https://host.test/'
const appAddress = 'https://app.test/'

const hostProgram = `
import { AppBridge, getToolUiResourceUri, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'
let bridge
window.uriOf = (tool) => getToolUiResourceUri(tool)
window.openApp = async (src, input, result, theme) => {
  const frame = document.querySelector('iframe')
  bridge = new AppBridge(null, { name: 'test-host', version: '1' }, { serverTools: {}, serverResources: {} }, { hostContext: { theme } })
  bridge.oncalltool = (params) => window.forward('tools/call', params)
  bridge.onreadresource = (params) => window.forward('resources/read', params)
  bridge.addEventListener('sizechange', ({ height }) => { if (height) frame.style.height = height + 'px' })
  const initialized = new Promise((resolve) => bridge.addEventListener('initialized', resolve))
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.src = src
  await initialized
  await bridge.sendToolInput({ arguments: input })
  await bridge.sendToolResult(result)
}
window.changeTheme = (theme) => bridge.sendHostContextChange({ theme })
`

const hostPage = (script: string): string =>
  `<!doctype html><html><body style="margin:0"><iframe sandbox="allow-scripts" style="border:0;width:100%;height:200px"></iframe><script>${script.replaceAll('</script', '<\\/script')}</script></body></html>`

let host: Promise<string> | undefined
async function buildHost(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: hostProgram, resolveDir: installFolder('ext-apps') },
    ...{ bundle: true, minify: true, write: false, format: 'iife', platform: 'browser', logLevel: 'silent' },
  })
  return hostPage(outputFiles[0]?.text ?? '')
}

/** The policy that the specification gives a host for an app without a declaration, and with one. */
function policyOf(ui: Params): string {
  const csp = (ui['csp'] ?? {}) as { readonly [member: string]: readonly string[] }
  const of = (member: string): string => (csp[member] ?? []).join(' ')
  return [
    "default-src 'none'",
    `script-src 'self' 'unsafe-inline' ${of('resourceDomains')}`,
    `style-src 'self' 'unsafe-inline' ${of('resourceDomains')}`,
    `img-src 'self' data: ${of('resourceDomains')}`,
    `connect-src ${of('connectDomains') || "'none'"}`,
    `frame-src ${of('frameDomains') || "'none'"}`,
    `base-uri ${of('baseUriDomains') || "'self'"}`,
  ].join('; ')
}

/** Calls the tool, reads the app it names and shows the result in it. The caller closes `page`. */
export async function showApp(
  browser: Browser,
  client: HostClient,
  name: string,
  input: Params,
  { theme = 'light', width = 760, change = (result) => result }: AppViewOptions = {},
): Promise<AppView> {
  host ??= buildHost()
  const hostHtml = await host
  const page = await browser.newPage({ viewport: { width, height: 760 }, colorScheme: 'light' })
  const forwarded: { method: string; params: Params }[] = []
  const loaded: string[] = []
  const thrown: string[] = []
  page.on('pageerror', ({ message }) => thrown.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') thrown.push(message.text())
  })
  await page.exposeFunction('forward', async (method: string, params: { name: string; uri: string }) => {
    forwarded.push({ method, params: { ...params } })
    return method === 'tools/call' ? client.callTool(params) : client.readResource(params)
  })
  let served: { readonly html: string; readonly policy: string } | undefined
  await page.route('**/*', async (route) => {
    const url = route.request().url()
    if (url === hostAddress) return route.fulfill({ contentType: 'text/html', body: hostHtml })
    if (url === appAddress && served)
      return route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': served.policy },
        body: served.html,
      })
    loaded.push(url)
    return route.abort()
  })
  await page.goto(hostAddress)
  const { tools } = await client.listTools()
  const tool = tools.find((each) => each.name === name)
  const uri = String(await page.evaluate(`uriOf(${JSON.stringify(tool)})`))
  const [contents] = (await client.readResource({ uri })).contents as readonly {
    text: string
    _meta?: { ui?: Params }
  }[]
  served = { html: contents?.text ?? '', policy: policyOf(contents?._meta?.ui ?? {}) }
  const result = change((await client.callTool({ name, arguments: { ...input } })) as Params)
  const opening = JSON.stringify([appAddress, input, result, theme])
  await page.evaluate(`openApp(...${opening})`)
  return {
    ...{ page, frame: page.frameLocator('iframe'), forwarded, loaded, thrown },
    async changeTheme(to) {
      await page.evaluate(`changeTheme(${JSON.stringify(to)})`)
    },
  }
}
