/** Joins the compiled modules of one package into few files, with esbuild. Types stay as `tsc` made them. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'
import { build } from 'esbuild'

/** A file that contains whole modules, and the name of each of their exports in it. */
export interface Joined {
  readonly file: string
  readonly names: ReadonlyMap<string, readonly (readonly [own: string, joined: string])[]>
}

export interface Modules {
  /** Returns the modules of ours that a module imports, directly or not, itself included. */
  reach(entry: string): ReadonlySet<string>
  /** The modules that are loaded on demand. */
  readonly onDemand: ReadonlySet<string>
}

export interface Bundler {
  modulesOf(entries: readonly string[]): Promise<Modules>
  toJoined(file: string, modules: Iterable<string>): Promise<Joined>
  /** Writes a joined file. It may import those that were joined before it. */
  writeJoined(joined: Joined, before?: readonly Joined[]): Promise<void>
  /** Writes a file per entry with what is not joined. esbuild splits off what entries share among themselves. */
  writeEntries(entries: readonly string[], joined: readonly Joined[], plugins?: readonly Plugin[]): Promise<void>
}

/** A file that only passes names on from one of the joined ones. */
const linkPattern = /^(?:\/\/ .*\n|\n)*import \{[^}]+\} from "(sluice:[\w.]+)";\s*export \{[^}]+\};\s*$/

/** `inlined` are packages whose code becomes part of ours. */
export function createBundler(root: string, inlined: readonly string[] = []): Bundler {
  const [dist, lib] = [join(root, 'dist'), join(root, 'lib')]
  const keepPackages: Plugin = {
    name: 'keep-packages',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
        kind === 'entry-point' || path.startsWith('sluice:') || inlined.includes(path)
          ? undefined
          : { path, external: true, sideEffects: false },
      )
    },
  }
  const defaults = {
    absWorkingDir: dist,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    platform: 'neutral',
    logLevel: 'warning',
    write: false,
  } satisfies BuildOptions

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

  /** Leaves modules that are loaded on demand in their own files. A joined file would contain them otherwise. */
  const keepOnDemand: Plugin = {
    name: 'keep-on-demand',
    setup({ onResolve }) {
      onResolve({ filter: /^\./ }, ({ path, kind, resolveDir }) =>
        kind === 'dynamic-import'
          ? { path: `sluice:${relative(dist, join(resolveDir, path))}`, external: true }
          : undefined,
      )
    },
  }

  /** Writes esbuild's output, with the relative path from each file to the joined ones. */
  async function write({ plugins = [], ...options }: BuildOptions): Promise<void> {
    const { outputFiles = [] } = await build({ ...defaults, ...options, plugins: [...plugins, keepPackages] })
    const links = new Map<string, string>()
    for (const { path, text } of outputFiles) {
      const [, joined] = / as /.test(text) ? [] : (linkPattern.exec(text) ?? [])
      if (joined !== undefined) links.set(basename(path), joined)
    }
    for (const { path, text } of outputFiles) {
      // Nothing imports it, because each import of it names the joined file instead. That is one file less to open.
      if (links.has(basename(path))) continue
      const there = (_: string, file: string): string => `"./${relative(dirname(path), join(lib, file))}"`
      mkdirSync(dirname(path), { recursive: true })
      const linked = withProducts(
        withoutFacades(
          text
            // Our modules have no side effects, and bundlers warn of an import without names.
            .replace(/^import "[./]+chunk-\w+\.js";\n/gm, '')
            .replace(/"[./]+(chunk-\w+\.js)"/g, (chunk, name: string) => JSON.stringify(links.get(name)) ?? chunk),
        ),
      )
      writeFileSync(path, linked.replace(/"sluice:([\w./-]+)"/g, there).replaceAll('"./../', '"../'))
    }
  }

  return {
    async modulesOf(entries) {
      const { metafile } = await build({
        ...{ ...defaults, entryPoints: [...entries], outdir: lib, metafile: true, plugins: [keepPackages] },
      })
      const importsOf = (module: string) => (metafile.inputs[module]?.imports ?? []).filter(({ external }) => !external)
      const onDemand = Object.keys(metafile.inputs).flatMap((module) =>
        importsOf(module).flatMap(({ kind, path }) => (kind === 'dynamic-import' ? [path] : [])),
      )
      return {
        onDemand: new Set(onDemand),
        reach(entry) {
          const found = new Set<string>()
          const open = [entry]
          for (let next = open.pop(); next !== undefined; next = open.pop()) {
            if (found.has(next)) continue
            found.add(next)
            for (const { kind, path } of importsOf(next)) if (kind !== 'dynamic-import') open.push(path)
          }
          return found
        },
      }
    },
    async toJoined(file, modules) {
      const { metafile } = await build({
        ...{ absWorkingDir: dist, outdir: dist, entryPoints: [...modules], format: 'esm' },
        ...{ write: false, metafile: true, allowOverwrite: true },
      })
      const names = Object.values(metafile.outputs).map(({ entryPoint = '', exports }) => {
        const prefix = entryPoint.replace(/\.js$/, '').replace(/\W/g, '_')
        return [entryPoint, exports.map((own) => [own, `${prefix}$${own}`] as const)] as const
      })
      return { file, names: new Map(names) }
    },
    writeJoined: ({ file, names }, before = []) =>
      write({
        outfile: join(lib, file),
        plugins: [keepOnDemand, linkJoined(before)],
        stdin: {
          resolveDir: dist,
          contents: [...names]
            .filter(([, exports]) => exports.length > 0)
            .map(
              ([module, exports]) =>
                `export { ${exports.map(([own, within]) => `${own} as ${within}`)} } from './${module}'`,
            )
            .join('\n'),
        },
      }),
    writeEntries: (entries, joined, plugins = []) =>
      write({
        ...{ entryPoints: [...entries], outbase: dist, outdir: lib, splitting: true },
        plugins: [...plugins, linkJoined(joined)],
      }),
  }
}

/**
 * Gets built-in modules without an import. An import reads every export, also those that load more when they are read:
 * `node:http` loads all of fetch, `node:fs` its promises. That takes longer than all our code.
 */
const withoutFacades = (text: string): string =>
  withoutChildProcess(text)
    .replace(/^import \{ (.+) \} from ("node:[\w/]+");$/gm, (_, names: string, from: string) => {
      return `const { ${names.replaceAll(' as ', ': ')} } = process.getBuiltinModule(${from});`
    })
    .replace(/^import (\w+) from ("node:[\w/]+");$/gm, 'const $1 = process.getBuiltinModule($2);')

/** Gets the module when it is used. Commander imports it for subcommands that are programs, and we have none. */
const withoutChildProcess = (text: string): string => {
  const statement = 'import childProcess from "node:child_process";\n'
  return text.includes(statement)
    ? text.replace(statement, '').replaceAll('childProcess.', 'process.getBuiltinModule("node:child_process").')
    : text
}

/** Computes constants such as `8 * 1024`. Bundlers keep a product, also in a program that does not use it. */
const withProducts = (text: string): string =>
  text.replace(
    /^(var \w+ = | {2}\w+: )([\de]+(?: \* [\de]+)+)(?=[,;]?$)/gm,
    (_, head: string, product: string) =>
      head + product.split(' * ').reduce((value, factor) => value * Number(factor), 1),
  )
