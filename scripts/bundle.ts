/**
 * Joins the compiled modules into few files: `core.js` for what runs anywhere and most servers use, `host.js` for what
 * they use on Node, and a file per entry with the rest. Node spends longer finding and opening a file than running it,
 * so both are one file each. esbuild splits off what further entries share among themselves. Types and sources stay as
 * `tsc` made them.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'
import { build } from 'esbuild'
import pkg from '../packages/sluice/package.json' with { type: 'json' }

const root = join(import.meta.dirname, '../packages/sluice')
const [dist, lib] = [join(root, 'dist'), join(root, 'lib')]
const entries = Object.values(pkg.exports).map(({ default: path }) => path.replace('./lib/', ''))
/** The store contract starts it as a separate process. */
const programs = ['stores/contract-child.js']
/** Stays a file, so that `export * as ask` stays one: as an object it would bring every question into every worker. */
const namespaces = ['protocol/ask.js']
/** Entries that need Node: what only they share may too. */
const onNode = new Set(['node.js', 'main.js', 'transports/node/websocket.js', 'testing/index.js', ...programs])
const onNodeToo = /^(operate\/console|stores|client\/node|gateway\/node|skills\/node)\//

const defaults: BuildOptions = {
  absWorkingDir: dist,
  bundle: true,
  packages: 'external',
  format: 'esm',
  target: 'es2024',
  platform: 'neutral',
  external: ['node:*'],
  sourcemap: true,
  // The sources are in the package.
  sourcesContent: false,
  logLevel: 'warning',
}

/** Returns the modules of ours that each module imports, directly or not, itself included. */
async function reachableFrom(from: readonly string[]): Promise<(entry: string) => ReadonlySet<string>> {
  const { metafile } = await build({ ...defaults, entryPoints: [...from], outdir: lib, write: false, metafile: true })
  return function reach(entry) {
    const found = new Set<string>()
    const open = [entry]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (found.has(next)) continue
      found.add(next)
      for (const { path, external } of metafile.inputs[next]?.imports ?? []) if (!external) open.push(path)
    }
    return found
  }
}

/** A file that contains whole modules, and the name of each of their exports in it. */
interface Joined {
  readonly file: string
  readonly names: ReadonlyMap<string, readonly (readonly [own: string, joined: string])[]>
}
async function toJoined(file: string, modules: Iterable<string>): Promise<Joined> {
  const { metafile } = await build({
    ...{ absWorkingDir: dist, outdir: dist, entryPoints: [...modules], format: 'esm' },
    ...{ write: false, metafile: true, allowOverwrite: true },
  })
  const names = Object.values(metafile.outputs).map(({ entryPoint = '', exports }) => {
    const prefix = entryPoint.replace(/\.js$/, '').replace(/\W/g, '_')
    return [entryPoint, exports.map((own) => [own, `${prefix}$${own}`] as const)] as const
  })
  return { file, names: new Map(names) }
}

/** Instead of a module that stands in one of these, what leads there. */
const linkJoined = (joined: readonly Joined[]): Plugin => ({
  name: 'link-joined',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^sluice:/ }, ({ path }) => ({ path, external: true, sideEffects: false }))
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const module = relative(dist, path)
      const home = joined.find(({ names }) => names.has(module))
      const names = home?.names.get(module)
      if (!home || !names) return undefined
      const list = names.map(([own, within]) => `${within} as ${own}`).join(', ')
      return { contents: names.length > 0 ? `export { ${list} } from 'sluice:${home.file}'` : '', loader: 'js' }
    })
  },
})

/** Writes esbuild's output, with the relative path from each file to the joined ones. */
async function write(options: BuildOptions): Promise<void> {
  const { outputFiles = [] } = await build({ ...defaults, ...options, write: false })
  for (const { path, text } of outputFiles) {
    const there = (_: string, file: string): string => `"./${relative(dirname(path), join(lib, file))}"`
    mkdirSync(dirname(path), { recursive: true })
    // The import of a joined file replaces a module whose compiled form is not published; its source is.
    const linked = path.endsWith('.map')
      ? text.replace(/dist\/([^"]+)\.js"/g, 'src/$1.ts"')
      : // Our modules have no side effects, and bundlers warn of an import without names. The line stays, for the map.
        text.replace(/^import "[./]+chunk-\w+\.js";$/gm, '')
    writeFileSync(path, linked.replace(/"sluice:([\w.]+)"/g, there).replaceAll('"./../', '"../'))
  }
}

const barrel = ({ file, names }: Joined): BuildOptions => ({
  outfile: join(lib, file),
  stdin: {
    resolveDir: dist,
    contents: [...names]
      .filter(([, exports]) => exports.length > 0)
      .map(
        ([module, exports]) => `export { ${exports.map(([own, within]) => `${own} as ${within}`)} } from './${module}'`,
      )
      .join('\n'),
  },
})

/** Leaves namespaces of the root entry in their own files. */
const keepNamespaces: Plugin = {
  name: 'keep-namespaces',
  setup({ onResolve }) {
    onResolve({ filter: /\/ask\.js$/ }, ({ path, importer }) =>
      relative(dist, importer) === 'index.js' ? { path, external: true, sideEffects: false } : undefined,
    )
  },
}

rmSync(lib, { recursive: true, force: true })
const all = [...entries, ...programs, ...namespaces]
const reach = await reachableFrom(all)
const portable = ['index.js', 'plugins/index.js', 'audit.js', 'extend.js', 'transports/fetch.js']
const core = await toJoined(
  'core.js',
  new Set(portable.flatMap((entry) => [...reach(entry)]).filter((module) => module !== 'index.js')),
)
const alsoPortable = new Set(
  all.filter((entry) => !onNode.has(entry) && !onNodeToo.test(entry)).flatMap((entry) => [...reach(entry)]),
)
const host = await toJoined(
  'host.js',
  [...reach('node.js')].filter((module) => !alsoPortable.has(module)),
)
await write(barrel(core))
await write({ ...barrel(host), plugins: [linkJoined([core])] })
await write({
  entryPoints: all,
  outbase: dist,
  outdir: lib,
  splitting: true,
  plugins: [keepNamespaces, linkJoined([core, host])],
})
