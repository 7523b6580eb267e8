/** A configuration with an authorization server: its tokens, and API keys beside them, determine the tenant of a call. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { connectTo, textOf } from '../../../test/kit/clients/binary.client.ts'
import { startIssuer } from '../../../test/kit/servers/issuer.fixture.ts'
import { aFolder, serveHttp, sluice } from './command.ts'

const audience = 'https://fitness.example.com/fitness/mcp'

test('sluice serve fitness accepts tokens of a real issuer and API keys, each for one athlete', async () => {
  const issuer = await startIssuer([audience], 'fitness', { alice: { tenants: ['alice'] }, bob: { tenants: ['bob'] } })
  onTestFinished(() => issuer.close())
  const cwd = aFolder()
  const authenticate = { jwt: [{ issuer: issuer.url, audience, jwks: `${issuer.url}/jwks` }] }
  writeFileSync(join(cwd, 'sluice.config.json'), JSON.stringify({ authenticate }))
  const { url } = await serveHttp(cwd, ['fitness'])

  const clients = {
    alice: await connectTo(url, await issuer.token(audience, undefined, 'alice')),
    bob: await connectTo(url, await issuer.token(audience, undefined, 'bob')),
  }
  for (const [name, client] of Object.entries(clients))
    await textOf(client, 'calculate_personalized_zones', { name: `This is ${name}` })
  for (const [name, client] of Object.entries(clients))
    expect(await textOf(client, 'get_athlete')).toContain(`This is ${name}`)

  const made = await sluice(cwd, ['keys', 'create', 'carol', '--tenant', 'alice', '--json'])
  const carol = await connectTo(url, (JSON.parse(made.out) as { secret: string }).secret)
  expect(await textOf(carol, 'get_athlete')).toContain('This is alice')

  const anonymous = await connectTo(url)
  expect((await anonymous.listTools()).tools).toHaveLength(23)
  await expect(textOf(anonymous, 'get_athlete')).rejects.toThrow('Authentication required')
})
