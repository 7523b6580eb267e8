/**
 * Reads the exports of the published packages from the emitted declarations.
 *
 * It uses the compiler's own API. TypeDoc needs an older compiler beside it, and spreads one declaration over many
 * tables.
 */

import { join } from 'node:path'
import { type Node, SyntaxKind } from 'typescript/unstable/ast'
import { API, type Symbol as Named, type Project, SymbolFlags } from 'typescript/unstable/sync'
import { published } from '../published.ts'

const root = join(import.meta.dirname, '../..')

/** A named declaration. */
export interface Item {
  readonly name: string
  readonly isType: boolean
  /** Its comment, without the stars. */
  readonly about: string
  readonly code: string
}
export interface Entry {
  /** As it is imported: `sluice/node`. */
  readonly name: string
  readonly about: string
  readonly exports: readonly Item[]
  /** Declarations that those mention and no entry exports. */
  readonly further: readonly Item[]
  /** Declarations that those mention and another entry exports. */
  readonly elsewhere: readonly { readonly name: string; readonly entry: string }[]
}

/** A longer declaration is a table written as a constant, and better read in its file. */
const maxLines = 80
const kinds = SymbolFlags.Interface | SymbolFlags.TypeAlias | SymbolFlags.Class

const withoutStars = (comment: string): string =>
  comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/\n[^\S\n]*\* ?/g, '\n')
    .trim()

const shortened = (code: string): string =>
  code.split('\n').length > maxLines ? `${code.slice(0, code.indexOf('{'))}{ /* … */ }` : code

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1)

/** Returns the declarations of a symbol in our own packages. A variable's comment is at its statement. */
const declarationsOf = (project: Project, symbol: Named): readonly Node[] =>
  symbol.declarations
    .filter(({ path }) => path.startsWith(root) && !path.includes('/node_modules/'))
    .flatMap((handle) => handle.resolve(project) ?? [])
    .map((node) => (node.kind === SyntaxKind.VariableDeclaration ? node.parent.parent : node))

function itemOf(symbol: Named, name: string, nodes: readonly Node[]): Item {
  const comments = nodes.map((node) => withoutStars(node.jsDoc?.at(-1)?.getText() ?? ''))
  const codes = nodes.map((node) => shortened(node.getText().replace(/^export (default )?/, '')))
  const isType = (symbol.flags & SymbolFlags.Value) === 0
  return { name, isType, about: comments.join('\n').trim(), code: codes.join('\n') }
}

export function readEntries(): readonly Entry[] {
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(import.meta.dirname, 'tsconfig.json')] }).getProjects()
    if (!project) throw new Error('The declarations cannot be read')
    return entriesOf(project)
  } finally {
    api.close()
  }
}

function entriesOf(project: Project): readonly Entry[] {
  const { checker, program } = project
  const aimedAt = (symbol: Named): Named =>
    symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  /** Lists what a module exports. A namespace such as `ask` is listed member by member: `ask.form`. */
  const exportsOf = (module: Named): readonly { readonly name: string; readonly to: Named }[] =>
    checker.getExportsOfModule(module).flatMap((symbol) => {
      const to = aimedAt(symbol)
      if (!(to.flags & SymbolFlags.ValueModule)) return [{ name: symbol.name, to }]
      return exportsOf(to).map((member) => ({ ...member, name: `${symbol.name}.${member.name}` }))
    })
  const mentionedIn = (nodes: readonly Node[]): readonly Named[] => {
    const found: Named[] = []
    const visit = (node: Node): undefined => {
      const symbol = node.kind === SyntaxKind.Identifier ? checker.getSymbolAtLocation(node) : undefined
      if (symbol) found.push(aimedAt(symbol))
      node.forEachChild(visit)
    }
    nodes.forEach(visit)
    return found
  }

  const modules = published().flatMap(({ folder, name, exports = {} }) =>
    Object.entries(exports).flatMap(([path, { types }]) => {
      // What the reference names is a promise (docs/versioning.md), and this entry makes none.
      if (types === undefined || path === './internal') return []
      const file = program.getSourceFile(join(folder, types))
      const module = file && checker.getSymbolAtLocation(file)
      if (!module) throw new Error(`${join(folder, types)} is not there: npm run build`)
      const symbols = exportsOf(module)
      const about = withoutStars(/^\/\*\*.*?\*\//s.exec(file.getFullText())?.[0] ?? '')
      return [{ name: name + path.slice(1), about, symbols }]
    }),
  )
  const home = new Map<Named, { readonly name: string; readonly entry: string }>()
  for (const { name: entry, symbols } of modules)
    for (const { name, to } of symbols) if (!home.has(to)) home.set(to, { name, entry })

  return modules.map(({ name, about, symbols }) => {
    const items = symbols.map(({ name, to }) => ({ name, to, nodes: declarationsOf(project, to) }))
    const exported = new Set(symbols.map(({ to }) => to))
    const further = new Map<Named, Item>()
    const elsewhere = new Map<Named, { readonly name: string; readonly entry: string }>()
    const open = items.flatMap(({ nodes }) => mentionedIn(nodes))
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const shown = home.get(next)
      if (exported.has(next) || further.has(next)) continue
      if (shown) elsewhere.set(next, shown)
      const nodes = shown || !(next.flags & kinds) ? [] : declarationsOf(project, next)
      if (nodes.length === 0) continue
      further.set(next, itemOf(next, next.name, nodes))
      // Options are followed completely; the parts of other types are internal.
      if (next.name.endsWith('Options')) open.push(...mentionedIn(nodes))
    }
    return {
      ...{ name, about },
      exports: items.map(({ name, to, nodes }) => itemOf(to, name, nodes)).sort(byName),
      further: [...further.values()].sort(byName),
      elsewhere: [...elsewhere.values()].sort(byName),
    }
  })
}
