/** The files of docs/guides/manifests.md are those of docs/deploy, their validators accept them, and the probes work. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { importFrom, installFolder } from '../kit/processes/npm-packages.ts'
import { freePort, requireProgram } from '../kit/processes/programs.ts'
import { startRedis } from '../kit/processes/redis.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const main = new URL('../../packages/cli/bin/sluice.js', import.meta.url).pathname

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-manifests-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

test.each(['sluice.config.yaml', 'sluice.service', 'Dockerfile', 'kubernetes.yaml'])(
  'the page quotes %s unchanged',
  (file) => {
    expect(read('docs/guides/manifests.md')).toContain(`\n${read(`docs/deploy/${file}`).trimEnd()}\n\`\`\``)
  },
)

test('systemd accepts the unit', () => {
  const file = join(aFolder(), 'sluice.service')
  // systemd looks for the program, which is not installed here.
  writeFileSync(file, read('docs/deploy/sluice.service').replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
  const { status, stderr } = spawnSync(requireProgram('systemd-analyze', 'systemd'), ['verify', file], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('the Dockerfile is valid', async () => {
  interface Linter {
    validate(text: string): readonly { readonly message: string }[]
  }
  const linter = await importFrom<Linter & { readonly default?: Linter }>('manifests', 'dockerfile-utils')
  const { validate } = linter.default ?? linter
  expect(validate(read('docs/deploy/Dockerfile')).map(({ message }) => message)).toEqual([])
  expect(validate('FROM node\nFOO bar')).toHaveLength(1)
})

type Node = { readonly [name: string]: unknown }

/** Wraps a value, and collects the paths that are not read. The validator reads every name that it knows. */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const name of Object.keys(value)) unread.add(`${path}/${name}`)
  return new Proxy(value as Node, {
    get(target, name) {
      if (typeof name === 'symbol' || !Object.hasOwn(target, name)) return Reflect.get(target, name) as unknown
      unread.delete(`${path}/${name}`)
      return watched(target[name], `${path}/${name}`, unread)
    },
  })
}

/** Returns what is wrong with an object: errors of the schema, and names that the schema does not have. */
async function problemsOf(object: Node): Promise<readonly string[]> {
  const { apiVersion, kind } = object as { readonly apiVersion: string; readonly kind: string }
  type Model = new (data: unknown) => { validate(): void }
  const folder = join(installFolder('manifests'), 'node_modules/kubernetes-models')
  const module = (await import(join(folder, apiVersion, `${kind}.js`))) as { readonly [kind: string]: Model }
  const Resource = module[kind]
  if (!Resource) return [`unknown kind ${apiVersion} ${kind}`]
  const unread = new Set<string>()
  const resource = new Resource(object)
  const fields = watched({ ...resource }, '', unread) as Node
  try {
    Resource.prototype.validate.call(Object.setPrototypeOf(fields, Resource.prototype) as InstanceType<Model>)
  } catch (thrown) {
    return [(thrown as Error).message]
  }
  return [...unread].map((path) => `${path} is unknown`)
}

test('the schemas of Kubernetes accept the manifest, and know every name in it', async () => {
  const objects = parseAllDocuments(read('docs/deploy/kubernetes.yaml')).map((each) => each.toJS() as Node)
  expect(objects.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Deployment', 'Service', 'PodDisruptionBudget'])
  for (const object of objects) expect(await problemsOf(object)).toEqual([])
  const misspelt = JSON.stringify(objects[1])
  expect(await problemsOf(JSON.parse(misspelt.replace('readinessProbe', 'readinessProb')) as Node)).not.toEqual([])
  expect(await problemsOf(JSON.parse(misspelt.replace('"replicas":3', '"replicas":"3"')) as Node)).not.toEqual([])
})

test('the manifest has the configuration, which runs on Redis and answers to both probes', {
  timeout: 60_000,
}, async () => {
  const [map, deployment] = parseAllDocuments(read('docs/deploy/kubernetes.yaml')).map((each): unknown =>
    each.toJS(),
  ) as [{ data: { 'sluice.config.yaml': string } }, { spec: { template: { spec: Pod } } }]
  interface Pod {
    readonly terminationGracePeriodSeconds: number
    readonly containers: readonly {
      readonly [probe: string]: { readonly exec: { readonly command: readonly string[] } }
    }[]
  }
  const text = read('docs/deploy/sluice.config.yaml')
  expect(map.data['sluice.config.yaml']).toBe(text)
  const { drain } = parse(text) as { drain: { noticeMs: number; graceMs: number } }
  const pod = deployment.spec.template.spec
  expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(drain.noticeMs + drain.graceMs)

  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const [folder, port] = [aFolder(), await freePort()]
  const config = join(folder, 'sluice.config.yaml')
  writeFileSync(config, text.replace('redis://redis:6379', redis.url).replace('noticeMs: 5000', 'noticeMs: 1'))
  writeFileSync(join(folder, 'secret'), 'a'.repeat(64))
  const env = {
    ...{ PATH: process.env['PATH'], SLUICE_DATA: join(folder, 'data'), SLUICE_PORT: String(port) },
    ...{ SLUICE_HOST: '0.0.0.0', SLUICE_SECRET_FILE: join(folder, 'secret') },
  }
  const child = spawn(process.execPath, [main, 'start', '--no-demo', '--config', config], { env, stdio: 'ignore' })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  for (const probe of ['readinessProbe', 'livenessProbe']) {
    const [, ...args] = pod.containers[0]?.[probe]?.exec.command ?? []
    const run = (): number | null =>
      spawnSync(
        process.execPath,
        args.map((each) => each.replace(':3000', `:${port}`)),
      ).status
    await expect.poll(run, { timeout: 30_000, interval: 500 }).toBe(0)
  }
  const examined = execFileSync(process.execPath, [main, 'doctor', '--config', config], { env, encoding: 'utf8' })
  expect(examined).not.toContain('✗')
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
})
