/** Names a server after its command or URL, for its address and for tickets. */

const runners = /^(npx|bunx|uvx|pipx|pnpm|yarn|bun|deno|node|python3?|docker|podman|run|exec|dlx|x)(\.exe|\.cmd)?$/

/** Returns `filesystem` for `npx -y @modelcontextprotocol/server-filesystem ~/notes`; `server` if nothing is better. */
export function nameFor(target: readonly string[]): string {
  const [first = ''] = target
  const words = /^https?:\/\//i.test(first) ? hostWords(first) : [programOf(target)]
  for (const word of words) {
    const name = toName(word)
    if (name !== '') return name
  }
  return 'server'
}

/** Returns the program that a runner such as `npx` starts: the first word that is not the runner's own. */
const programOf = (target: readonly string[]): string =>
  target.find((word) => !word.startsWith('-') && !runners.test(baseOf(word))) ?? target[0] ?? ''

const baseOf = (path: string): string =>
  path
    .replace(/[\\/]+$/, '')
    .split(/[\\/]/)
    .at(-1) ?? ''

/** `api.example.com` is called `example`. An address has no name. */
function hostWords(url: string): readonly string[] {
  const { hostname } = new URL(url)
  if (/^[\d.]+$|^\[/.test(hostname)) return []
  return hostname.split('.').filter((word) => !/^(www|api|mcp)$/i.test(word))
}

const toName = (word: string): string =>
  baseOf(word)
    .toLowerCase()
    .replace(/@[\d.]+.*$|@latest$/, '')
    .replace(/\.(c|m)?[jt]s$|\.py$/, '')
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^(mcp-)?server-|^mcp-|-?mcp(-server)?$|-server$/g, '')
    .replace(/^-+|-+$/g, '')
    .slice(0, 32)
