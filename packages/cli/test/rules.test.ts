/** Rules and profiles in the configuration, and `sluice rules test`, which must say what then happens. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { CallExplanation, UpstreamRule } from 'sluice/gateway-node'
import { upstream } from 'sluice/gateway-node'
import { expect, test } from 'vitest'
import { allOf, namesOf } from '../../../test/gateway/kit.ts'
import type { UpstreamRuleSettings } from '../src/config/schema.ts'
import { aFolder, sluice } from './command.ts'
import { anUpstream, behind, type HoldingUpstream, rows, serveRules } from './rules-host.ts'

type Members = { readonly [member: string]: unknown }
const callsOf = ({ raw }: HoldingUpstream): readonly Members[] =>
  raw.requests.filter(({ method }) => method === 'tools/call').map(({ params }) => params)

/** Rules that can be written in any combination. Contradictions have tests below. */
const someRule = fc
  .record(
    {
      tools: fc.constantFrom('echo', 'other', '*', 'e*'),
      tenants: fc.constantFrom('acme', 'globex'),
      callers: fc.constantFrom('ann', 'bob', 'writer'),
      effects: fc.oneof(
        fc.constant({ allow: false }),
        fc.record(
          {
            allow: fc.constant(true),
            rename: fc.constantFrom('a_*', '*-b'),
            describe: fc.constantFrom('One', 'Two'),
            fixed: fc.constant({ mode: 'fixed' }),
            defaults: fc.constant({ text: 'default' }),
            scopes: fc.constantFrom<string[]>(['write'], []),
            approval: fc.constantFrom('always' as const, 'never' as const),
            timeoutMs: fc.constantFrom(30_000, 40_000),
            rate: fc.constantFrom({ burst: 1, perSecond: 0.001 }, { burst: 50, perSecond: 0.001 }),
            maxResultLength: fc.constantFrom(30, 10_000),
            format: fc.constant('toon' as const),
          },
          { requiredKeys: [] },
        ),
      ),
    },
    { requiredKeys: ['effects'] },
  )
  .filter(({ effects }) => Object.keys(effects).length > 0)
  .map(({ effects, ...selectors }): UpstreamRuleSettings => ({ ...selectors, ...effects }))

/** Rules without effect are refused at the start, so they are left out here. */
const someRules = fc.array(someRule, { minLength: 2, maxLength: 8 }).map((rules) => {
  const kept: UpstreamRuleSettings[] = []
  for (const rule of rules) if (isAccepted([...kept, rule])) kept.push(rule)
  return kept
})
function isAccepted(rules: readonly UpstreamRuleSettings[]): boolean {
  try {
    upstream({ name: 'files', url: 'http://localhost/mcp', rules: rules as unknown as readonly UpstreamRule[] })
    return true
  } catch {
    return false
  }
}
const someArguments = fc.constantFrom({ text: 'hi', mode: 'own' }, { text: 'hi' }, { mode: 'own' }, {})

test('rules test says what then happens', async () => {
  const samples = fc.sample(fc.tuple(someRules, someRules, someArguments), { numRuns: 12, seed: 7 })
  const outcomes = new Set<string>()
  for (const [first, second, args] of samples) {
    const upstream = await anUpstream()
    const cwd = aFolder()
    const served = await serveRules(cwd, () => ({
      servers: { files: behind(upstream.raw, ...first), notes: behind(upstream.raw, ...second) },
      profiles: { reader: { tools: { files: 'echo' }, callers: 'bob' } },
    }))
    for (const caller of ['ann', 'bob', 'writer'])
      for (const server of ['files', 'notes'])
        for (const tool of ['echo', 'other']) {
          const before = upstream.raw.requests.length
          const pairs = Object.entries(args).map(([name, value]) => `${name}=${value}`)
          const printed = await sluice(cwd, ['rules', 'test', `${server}/${tool}`, ...pairs, '--as', caller, '--json'])
          expect(printed.code, printed.err).toBe(0)
          // The definitions are stored, so the upstream is left alone.
          expect(upstream.raw.requests.length).toBe(before)
          const said = JSON.parse(printed.out) as CallExplanation
          outcomes.add(said.refusal?.code ?? said.outcome)
          const client = await served.client(caller, server)
          const text = `${JSON.stringify([first, second])} ${caller} ${server}/${tool} ${printed.out}`
          await compare(said, { client, tool, args, upstream, text })
        }
  }
  // The samples are worth something.
  expect([...outcomes].sort()).toEqual(['arguments', 'denied', 'needsApproval', 'profile', 'runs', 'scopes'])
}, 180_000)

interface RealCall {
  readonly client: Awaited<ReturnType<Awaited<ReturnType<typeof serveRules>>['client']>>
  readonly tool: string
  readonly args: Members
  readonly upstream: HoldingUpstream
  readonly text: string
}

/** Makes the call, and compares everything that a client and the upstream see. */
async function compare(said: CallExplanation, { client, tool, args, upstream, text }: RealCall): Promise<void> {
  const { outcome, refusal, listedAs } = said
  const names = (await namesOf(client.tools())) as string[]
  const isSeen = refusal === undefined || refusal.code === 'arguments'
  if (listedAs !== undefined) expect(names, text).toContain(listedAs)
  if (!isSeen)
    expect(
      names.filter((name) => name.includes(tool)),
      text,
    ).toEqual([])
  const called = listedAs ?? names.find((name) => name.includes(tool)) ?? tool
  const before = callsOf(upstream).length
  const answer = JSON.stringify(await client.callTool(called, args).catch((thrown: unknown) => String(thrown)))
  const sent = callsOf(upstream).slice(before)
  if (outcome !== 'runs') {
    expect(sent, text).toEqual([])
    const expected =
      outcome === 'needsApproval'
        ? 'approval_required'
        : refusal?.code === 'arguments'
          ? 'Invalid params'
          : 'Unknown tool'
    return expect(answer, text).toContain(expected)
  }
  expect(sent, text).toMatchObject([{ name: tool, arguments: said.arguments }])
  expect(Object.keys((sent[0]?.['arguments'] ?? {}) as Members).sort()).toEqual(
    Object.keys(said.arguments ?? {}).sort(),
  )
  if (said.maxResultLength === 30) expect(answer, text).toContain('larger than 30 characters')
  else if (said.format) expect(answer, text).toContain('rows[3]')
  else expect(answer, text).toContain(JSON.stringify(rows[0]))
  const second = JSON.stringify(await client.callTool(called, args).catch((thrown: unknown) => String(thrown)))
  expect(second.includes('Too many calls'), text).toBe(said.rate?.burst === 1)
}

test('rules test prints the rules in their order, and what applies', async () => {
  const upstream = await anUpstream()
  const cwd = aFolder()
  const { keys } = await serveRules(cwd, () => ({
    servers: {
      files: behind(
        upstream.raw,
        { tools: 'echo', tenants: 'acme', fixed: { mode: 'safe' }, rename: 'shout', timeoutMs: 5000 },
        { tools: 'e*', approval: 'always', timeoutMs: 9000 },
        { tools: 'other', allow: false },
      ),
    },
  }))
  const { out, code } = await sluice(cwd, ['rules', 'test', 'echo', 'text=hi', '--as', keys['ann']?.id ?? ''])
  expect(code).toBe(0)
  expect(out.split('\n')).toEqual([
    `files/echo as ann (key ${keys['ann']?.id}) of tenant acme with no scopes`,
    '',
    'RULE                    FOR                        DECIDES                   DECIDED BY AN EARLIER RULE',
    'servers.files.rules[0]  tool echo for tenant acme  rename, fixed, timeoutMs  –',
    'servers.files.rules[1]  tool e*                    approval                  timeoutMs',
    '',
    'Result: waits for an approval',
    '  name       shout',
    '  arguments  {"text":"hi","mode":"safe"}',
    '  scopes     none needed',
    '  approval   always',
    '  timeout    5000 ms',
    '  rate       20 per second, at most 120 at once (rateLimit)',
    '  size       at most 4194304 characters',
    '  format     as the upstream sends it',
    '',
  ])
  // A tool is found by the name that the caller sees, too.
  expect((await sluice(cwd, ['rules', 'test', 'shout', '--as', 'ann'])).out).toContain('files/echo as ann')
  const denied = await sluice(cwd, ['rules', 'test', 'files/other', '--as', 'ann'])
  expect(denied.out).toContain('Result: refused. rules[2] refuses it')
  expect(await sluice(cwd, ['rules', 'test', 'ecko', '--as', 'ann'])).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('did you mean "echo"?') },
  })
  expect(await sluice(cwd, ['rules', 'test', 'echo', '--as', 'anne'])).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('did you mean "ann"?') },
  })
  expect(await sluice(cwd, ['rules', 'test', 'file/echo', '--as', 'ann'])).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('did you mean "files"?') },
  })
})

test('rules test needs no secrets of an upstream whose definitions are stored', async () => {
  const upstream = await anUpstream()
  const cwd = aFolder()
  const settings = behind(upstream.raw, { tools: 'echo', approval: 'always' })
  await serveRules(cwd, () => ({ servers: { files: settings } }))
  const headers = { 'x-api-key': `\${env:SECRET_OF_THE_SERVICE}` }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers: { files: { ...settings, headers } } }))
  expect(await sluice(cwd, ['rules', 'test', 'files/echo', '--as', 'ann'])).toMatchObject({
    ...{ code: 0, err: '', out: expect.stringContaining('Result: waits for an approval') },
  })
})

test('a profile has an address, and a caller that is bound to it sees only its tools everywhere', async () => {
  const [one, two] = [await anUpstream(), await anUpstream()]
  const served = await serveRules(aFolder(), ({ bob }) => ({
    servers: {
      files: behind(one.raw, { tools: 'other', allow: false }),
      notes: behind(two.raw, { tools: 'echo', rename: 'say', fixed: { mode: 'safe' } }),
    },
    profiles: {
      single: { tools: { notes: ['ec*'] } },
      // Rules hold in profiles too: the profile names a tool that a rule denies.
      both: { tools: { files: '*', notes: 'echo' }, callers: bob?.id },
    },
  }))
  const list = async (caller: string, endpoint: string): Promise<unknown[]> =>
    namesOf((await served.client(caller, endpoint)).tools())
  expect(await list('ann', 'single')).toEqual(['say'])
  expect(await list('ann', 'both')).toEqual(['files_echo', 'notes_say'])
  expect(await list('ann', '')).toEqual(['files_echo', 'notes_say', 'notes_other'])
  expect(await list('bob', '')).toEqual(['files_echo', 'notes_say'])
  expect(await list('bob', 'notes')).toEqual(['say'])
  expect(await list('bob', 'files')).toEqual(['echo'])
  const client = await served.client('bob', 'both')
  await client.callTool('notes_say', { text: 'hi' })
  expect(callsOf(two)).toMatchObject([{ name: 'echo', arguments: { text: 'hi', mode: 'safe' } }])
  await expect(client.callTool('notes_other', {})).rejects.toMatchObject({ data: { reason: 'unknownTool' } })
  const [entry] = await allOf((await served.client('bob', 'notes')).tools())
  expect(JSON.stringify(entry)).not.toContain('mode')
})

test.each([
  [
    { rules: [{ tools: 'ecko', allow: false }] },
    'servers.files.rules[0].tools: files has no tool "ecko"; did you mean "echo"?',
  ],
  [
    { rules: [{ tools: 'echo', fixed: { mod: 'x' } }] },
    'servers.files.rules[0].fixed.mod: the tool has no such argument; did you mean "mode"?',
  ],
  [
    { rules: [{ tools: 'echo', fixed: { mode: 5 } }] },
    'servers.files.rules[0].fixed.mode: the tool does not accept the value',
  ],
  [{ rules: [{ tool: 'echo', allow: false }] }, 'servers.files.rules[0].tool: unknown setting; did you mean "tools"?'],
  [
    { rules: [{ tools: 'echo', allow: false, approval: 'always' }] },
    'servers.files.rules[0].approval: "allow: false" refuses the tool',
  ],
  [{ rules: [{ rename: 'same' }] }, 'servers.files.rules[0].rename: several tools would get the same name'],
  [{ rules: [{ tools: 'echo', rename: 'a b' }] }, 'servers.files.rules[0].rename: a name has 1 to 128'],
  [
    {
      rules: [
        { tools: 'echo', rename: 'x' },
        { tools: 'other', rename: 'x' },
      ],
    },
    'servers.files.rules[1].rename: rules[0] gives another tool the same name',
  ],
  [
    { rules: [{ fixed: { mode: 'a' }, defaults: { mode: 'b' } }] },
    'servers.files.rules[0].defaults.mode: the same argument is fixed',
  ],
  [
    { rules: [{ timeoutMs: 5 }, { tools: 'echo', timeoutMs: 9 }] },
    'servers.files.rules[1]: rules[0] matches the same calls and decides the same first',
  ],
  [{ rules: [{ tools: 'echo' }] }, 'servers.files.rules[0]: the rule decides nothing'],
  [
    { rules: [], profiles: { reader: { tools: { file: '*' } } } },
    'profiles.reader.tools.file: no server with a command or URL has this name; did you mean "files"?',
  ],
  [
    { rules: [], profiles: { reader: { tools: { files: 'ecko' } } } },
    'profiles.reader.tools.files: files has no tool "ecko"; did you mean "echo"?',
  ],
  [{ rules: [], profiles: { files: { tools: { files: 'echo' } } } }, 'profiles.files: the name is taken by a server'],
  [
    { rules: [{ rate: { burst: 1, perSecond: 1 } }], rateLimit: null },
    'servers.files.rules[0].rate: needs "rateLimit"',
  ],
])('a mistake in a rule or profile stops the start: %j', async ({ rules, ...settings }, message) => {
  const { raw } = await anUpstream()
  const cwd = aFolder()
  const servers = { files: { url: raw.url, rules } }
  const file = join(cwd, 'sluice.config.json')
  writeFileSync(file, JSON.stringify({ servers, ...settings }))
  const { code, err } = await sluice(cwd, ['rules', 'test', 'echo'])
  expect(err).toContain(message)
  expect(err).toContain(file)
  expect(code).toBe(2)
})

test('start refuses a rule for a tool that the upstream does not have', async () => {
  const { raw } = await anUpstream()
  const cwd = aFolder()
  const servers = { files: { url: raw.url, rules: [{ tools: 'ecko', allow: false }] } }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ servers, port: 0, console: null }))
  const { code, err } = await sluice(cwd, ['start'])
  expect(err).toContain('servers.files.rules[0].tools: files has no tool "ecko"; did you mean "echo"?')
  expect(code).toBe(2)
})
