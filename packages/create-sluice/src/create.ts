/** Creates a new project from the files of a template, with the project's name in them. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readmeOf } from './readme.ts'

export const templates = ['node', 'workerd'] as const
export type Template = (typeof templates)[number]

/** Node runs TypeScript without a flag from this version on, and the projects have no build step for Node. */
const minNode = '22.18'

export interface CreateOptions {
  readonly folder: string
  readonly template: Template
  /** The dependency on sluice: a version, or a tarball to try an unpublished build. */
  readonly sluice?: string
}

const templateRoot = fileURLToPath(new URL('../template/', import.meta.url))

/** Creates the project in a new or empty folder only, so that no existing file is overwritten. */
export function create({ folder, template, sluice = '^0.1.0' }: CreateOptions): readonly string[] {
  const target = resolve(folder)
  const name = basename(target)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/-+$/, '')
  if (!/^[a-z0-9]/.test(name))
    throw new Error(`"${basename(target)}" is not a valid package name; start it with a letter or a digit`)
  if (existsSync(target) && readdirSync(target).some((file) => file !== '.git'))
    throw new Error(`${target} is not empty; choose another folder`)
  mkdirSync(target, { recursive: true })
  for (const part of ['common', template]) cpSync(join(templateRoot, part), target, { recursive: true })
  for (const file of readdirSync(target).filter((each) => each !== '.git')) {
    const path = join(target, file.replaceAll('NAME', name))
    renameSync(join(target, file), path)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('NAME', name))
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(packageOf(name, template, sluice), undefined, 2)}\n`)
  writeFileSync(join(target, 'README.md'), readmeOf(name, template, target))
  // npm leaves these names out of packages, so they cannot be files of the template.
  writeFileSync(join(target, '.gitignore'), `${ignored.join('\n')}\n`)
  writeFileSync(join(target, '.npmrc'), 'engine-strict=true\n')
  return readdirSync(target)
    .filter((file) => file !== '.git')
    .sort()
}

/** Files that are made by programs, or that hold secrets. */
const ignored = ['node_modules/', 'dist/', '.sluice/', '.wrangler/', '.env*', '.dev.vars', '*.log']

const packageOf = (name: string, template: Template, sluice: string): object => ({
  name,
  version: '0.1.0',
  private: true,
  type: 'module',
  engines: { node: `>=${minNode}` },
  scripts:
    template === 'node'
      ? { start: 'node main.ts', test: 'node --test', check: 'tsc' }
      : {
          build: 'esbuild worker.ts --bundle --format=esm --conditions=workerd --outfile=dist/worker.js',
          start: 'npm run build && workerd serve workerd.capnp',
          test: 'node --test',
          check: 'tsc',
        },
  dependencies: { sluice, zod: '^4.6.0' },
  devDependencies: {
    '@types/node': '^24.0.0',
    typescript: '^7.0.0',
    ...(template === 'workerd' && { esbuild: '^0.28.0', workerd: '^1.20261023.1' }),
  },
})
