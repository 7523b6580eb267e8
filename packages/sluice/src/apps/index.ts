/**
 * MCP Apps: a tool can show its result as a page inside the client. The page is a resource, and the tool names it. No
 * method is added; a server without apps carries none of this.
 *
 * https://modelcontextprotocol.io/extensions/apps
 */

import type { Params } from '../core/json.ts'
import { resource } from '../protocol/resources.ts'
import type { ToolPage, ToolUi } from '../protocol/tools.ts'

export type { ToolPage, ToolUi } from '../protocol/tools.ts'
export type { AppPage } from './page.ts'
export { appPage } from './page.ts'

/** Origins that the page may use, such as `https://tiles.example.com`. None by default: the page has no network. */
export interface AppCsp {
  /** For `fetch` and WebSocket. */
  readonly connectDomains?: readonly string[]
  /** For scripts, styles, images, fonts and media. */
  readonly resourceDomains?: readonly string[]
  /** For frames inside the page. */
  readonly frameDomains?: readonly string[]
  /** For `<base>`. */
  readonly baseUriDomains?: readonly string[]
}
/** What a page may ask the browser for. A client may refuse it. */
export type AppPermission = 'camera' | 'microphone' | 'geolocation' | 'clipboardWrite'

/** The options of `app`. */
export interface AppDefinition {
  /** Where the page is: `ui://routes/map`. */
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  /** The page, a whole HTML document; `appPage` makes one. */
  readonly html: string | (() => string | Promise<string>)
  readonly csp?: AppCsp
  readonly permissions?: readonly AppPermission[]
  /** A separate origin for the page. Each client says what it accepts. */
  readonly domain?: string
  /** Whether the client draws a border and a background. The client decides by default. */
  readonly prefersBorder?: boolean
  /** Scopes that a caller must all have to read the page. */
  readonly scopes?: readonly string[]
}

const appMediaType = 'text/html;profile=mcp-app'

/** Defines a page that shows the results of a tool: `app({ uri, name, html })`. Pass it to `tool` as "ui". */
export function app(definition: AppDefinition): ToolPage {
  const { uri, name, title, description, html, csp, permissions, domain, prefersBorder, scopes } = definition
  const where = `app "${uri}"`
  if (!/^ui:\/\/[^{}]+$/.test(uri)) throw new TypeError(`${where}: the URI must begin with ui:// and be a single page`)
  const ui: Params = {
    ...(csp && { csp: checkedCsp(csp, where) }),
    ...(permissions && { permissions: toPermissions(permissions, where) }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder }),
  }
  // Clients read it with the page; some show the entry of the list first.
  const meta = { ui }
  const page = resource({
    ...{ uri, name, mimeType: appMediaType, meta },
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(scopes && { scopes }),
    read: async () => ({ text: typeof html === 'string' ? html : await html(), _meta: meta }),
  })
  // The second spelling is deprecated, and still the only one that some clients read.
  return { ...page, toolMeta: { ui: { resourceUri: uri }, 'ui/resourceUri': uri } }
}

/** For a tool that only pages call, such as one that loads more rows. Clients hide it from the model. */
export const appOnly: ToolUi = { toolMeta: { ui: { visibility: ['app'] } } }

/** An origin, with a wildcard for subdomains. Anything else could add a directive to the client's policy. */
const origin = /^(?:https?|wss?):\/\/(?:\*\.)?[a-z0-9.-]+(?::\d+)?$/i
const cspMembers: readonly string[] = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains']

function checkedCsp(csp: AppCsp, where: string): AppCsp {
  for (const [member, domains] of Object.entries(csp)) {
    if (!cspMembers.includes(member)) throw new TypeError(`${where}: "csp.${member}" is unknown`)
    for (const domain of domains)
      if (!origin.test(domain))
        throw new TypeError(
          `${where}: "csp.${member}" has ${JSON.stringify(domain)}; use an origin, as https://a.example`,
        )
  }
  return csp
}

const permissionNames: readonly string[] = ['camera', 'microphone', 'geolocation', 'clipboardWrite']

function toPermissions(permissions: readonly AppPermission[], where: string): Params {
  for (const name of permissions)
    if (!permissionNames.includes(name)) throw new TypeError(`${where}: "permissions" has an unknown "${name}"`)
  return Object.fromEntries(permissions.map((name) => [name, {}]))
}
