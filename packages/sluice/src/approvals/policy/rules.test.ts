import { expect, test } from 'vitest'
import type { Call } from '../../core/call.ts'
import { aCall } from '../../testing/call.ts'
import type { Rule } from './rules.ts'
import { createRules } from './rules.ts'

function aCallTo(name: string, annotations?: object, approval: Call['target']['policy']['approval'] = 'never'): Call {
  const call = aCall()
  const { policy } = call.target
  return { ...call, target: { ...call.target, name, entry: { annotations }, policy: { ...policy, approval } } }
}
const always = (rule: Omit<Rule, 'approval'>): Rule => ({ ...rule, approval: 'always' })
const matches = (rule: Omit<Rule, 'approval'>, call: Call, server = 'shop'): boolean =>
  createRules([always(rule)]).verdict(call, server).approval === 'always'

test.each([
  ['delete', 'delete', true],
  ['delete', 'Delete', false],
  ['delete', 'delete_all', false],
  ['delete', 'undelete', false],
  ['delete_*', 'delete_all', true],
  ['delete_*', 'delete_', true],
  ['delete_*', 'delete', false],
  ['*_all', 'delete_all', true],
  ['*', 'anything', true],
  ['a*b*c', 'a1b2c', true],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'ac', false],
  ['a*a', 'a', false],
  ['a**b', 'ab', true],
  ['.*', 'x', false],
  ['', 'x', false],
])('the pattern %j matches %j: %s', (tool, name, expected) => {
  expect(matches({ tool }, aCallTo(name))).toBe(expected)
  expect(matches({ tool: ['nothing', tool] }, aCallTo(name))).toBe(expected)
})

test('a pattern with many stars matches in linear time', () => {
  expect(matches({ tool: '*a'.repeat(50) }, aCallTo(`${'a'.repeat(120)}b`))).toBe(false)
})

test('hints that a tool does not state count as dangerous', () => {
  const silent = aCallTo('x')
  expect(matches({ annotations: { destructiveHint: true } }, silent)).toBe(true)
  expect(matches({ annotations: { openWorldHint: true } }, silent)).toBe(true)
  expect(matches({ annotations: { readOnlyHint: true } }, silent)).toBe(false)
  expect(matches({ annotations: { idempotentHint: true } }, silent)).toBe(false)
  expect(matches({ annotations: { destructiveHint: true } }, aCallTo('x', { destructiveHint: 'no' }))).toBe(true)
  expect(matches({ annotations: { destructiveHint: true } }, aCallTo('x', { destructiveHint: false }))).toBe(false)
  expect(matches({ annotations: { destructiveHint: true } }, aCallTo('x', { readOnlyHint: true }))).toBe(false)
})

test('a rule matches only if everything it states matches', () => {
  const call = aCallTo('pay')
  const rule = { tool: 'pay', server: 'shop', tenant: 'default', caller: 'anonymous' }
  expect(matches(rule, call)).toBe(true)
  expect(matches({ ...rule, tool: 'x' }, call)).toBe(false)
  expect(matches({ ...rule, server: 'x' }, call)).toBe(false)
  expect(matches({ ...rule, tenant: 'x' }, call)).toBe(false)
  expect(matches({ ...rule, caller: ['x'] }, call)).toBe(false)
  expect(matches({}, call)).toBe(true)
})

test('the first matching rule decides; without one the tool decides', () => {
  const rules = createRules([
    { tool: 'pay', caller: 'ann', approval: 'never' },
    { tool: 'pay', approval: 'always', needed: 2 },
    { approval: 'tool' },
  ])
  const ann = { ...aCallTo('pay'), caller: { ...aCall().caller, subject: 'ann' } }
  expect(rules.verdict(ann, 'shop')).toMatchObject({ approval: 'never' })
  expect(rules.verdict(aCallTo('pay'), 'shop')).toMatchObject({ approval: 'always', needed: 2 })
  expect(rules.verdict(aCallTo('look'), 'shop')).toMatchObject({ approval: 'tool' })
  expect(createRules().verdict(aCallTo('look'), 'shop')).toMatchObject({ approval: 'tool' })
})

test('a changed rule has another digest, so tickets are bound to their rule', () => {
  const digestOf = (rule: Rule): string => createRules([rule]).verdict(aCallTo('x'), 'shop').digest
  expect(digestOf({ approval: 'always' })).toBe(digestOf({ approval: 'always' }))
  expect(digestOf({ approval: 'always' })).not.toBe(digestOf({ approval: 'always', needed: 2 }))
  expect(digestOf({ approval: 'always' })).not.toBe(digestOf({ approval: 'always', of: ['ann'] }))
})

test('a tool may need approval if any rule gates it for some caller', () => {
  const { target } = aCallTo('pay')
  const gated = aCallTo('pay', {}, 'always').target
  expect(createRules().mayNeedApproval(target, 'shop')).toBe(false)
  expect(createRules().mayNeedApproval(gated, 'shop')).toBe(true)
  expect(createRules([{ approval: 'never' }]).mayNeedApproval(gated, 'shop')).toBe(false)
  expect(createRules([{ caller: 'ann', approval: 'never' }]).mayNeedApproval(gated, 'shop')).toBe(true)
  expect(createRules([{ tenant: 'acme', approval: 'always' }]).mayNeedApproval(target, 'shop')).toBe(true)
  expect(createRules([{ tool: 'x', approval: 'always' }]).mayNeedApproval(target, 'shop')).toBe(false)
})
